// What is done with many jobs: with those that were chosen, or with all that fit a filter.

import { html, useState } from "./vendor/preact.js";
import { call, forEachOf, get, getAll, inNamespace, PAGE_MAX, Problem } from "./api.js";
import { Ask, Field } from "./parts.js";
import { count, counted } from "./time.js";

/** What is done with jobs or runs, as the words of buttons. */
export const VERB_WORDS = { pause: "Pause", resume: "Resume", redrive: "Redrive", delete: "Delete", cancel: "Cancel" };
const VERBS_DONE = { pause: "paused", resume: "resumed", redrive: "redriven", delete: "deleted", cancel: "cancelled" };

/** What is told once so many jobs or runs were changed. */
export function doneText(verb, number, noun) {
  const stays = verb === "redrive" ? " Each run stays failed until its next attempt begins." : "";
  return `${counted(number, noun)} ${VERBS_DONE[verb]}.${stays}`;
}

/** Makes a call again from where it has stopped, until all is done or `calls` were made. `send` gets a cursor, and returns how many it found. */
async function throughAll(send, onCount, calls = Infinity) {
  let total = 0;
  let cursor = "";
  let made = 0;
  do {
    const { count: found, nextCursor } = await send(cursor);
    total += found;
    cursor = nextCursor;
    made += 1;
    onCount(total);
  } while (cursor && made < calls);
  return { count: total, isPartial: Boolean(cursor) };
}

/** How many jobs fit a filter. They are counted page by page, and `onCount` is told after each. It is partial if there may be more. */
export function countMatching(namespace, filter, onCount, calls) {
  return throughAll(async (cursor) => {
    const { items, nextCursor } = await get(inNamespace(namespace, "jobs"), { ...filter, limit: PAGE_MAX, cursor });
    return { count: items.length, nextCursor };
  }, onCount, calls);
}

/** What is chosen once `names` are chosen too, or are not any more. */
export function chosenWith(chosen, names, isOn) {
  const next = new Set(chosen);
  for (const name of names) {
    if (isOn) next.add(name);
    else next.delete(name);
  }
  return next;
}

/** The labels in a text field, each as `name:value`. */
export const labelsIn = (text) => text.split(/[\s,]+/).filter(Boolean);

/** Labels as a bulk call takes them. The list of a filter has each as `name:value`. */
const labelsOf = (label) => Object.fromEntries(label.map((each) => each.split(/:(.*)/s).slice(0, 2)));

/** The same selection as the body of a bulk call. What is empty is left out. */
function selectionOf({ label = [], ...fields }) {
  const given = Object.fromEntries(Object.entries(fields).filter(([, value]) => value));
  return label.length ? { ...given, labels: labelsOf(label) } : given;
}

/** Applies a verb to all that a selection has, call by call. Returns how many there were. */
async function postToAll(namespace, verb, selection, onCount) {
  const body = selectionOf(selection);
  const send = async (cursor) => (await call("POST", inNamespace(namespace, verb), { body: { ...body, cursor: cursor || undefined } })).value;
  return (await throughAll(send, onCount)).count;
}

/** How many runs `redrive` or `cancel` would change. Nothing is changed. */
export const countRuns = (namespace, verb, selection, onCount) => postToAll(namespace, verb, { ...selection, dryRun: true }, onCount);

/** Redrives or cancels all runs that a selection has. Returns how many. */
export const changeRuns = postToAll;

/** Asks before a verb is applied to `total` jobs: to those of `names`, or to all that fit `filter`. A redrive of the latter counts runs. */
export function BulkAsk({ namespace, verb, names, filter, total, onTold, onClose }) {
  const [given, setGiven] = useState({ reason: "", until: "" });
  const set = (name) => (event) => setGiven({ ...given, [name]: event.target.value });
  const [done, setDone] = useState(0);
  const deed = async () => {
    setDone(0);
    const number = filter ? await toMatching(namespace, verb, filter, pauseOf(given), setDone) : await toNamed(namespace, verb, names, pauseOf(given), setDone);
    onTold(doneText(verb, number, verb === "redrive" ? "run" : "job"));
  };
  const noun = filter && verb === "redrive" ? "run" : "job";
  return html`<${Ask} title=${`${VERB_WORDS[verb]} ${counted(total, noun)}?`} verb=${`${VERB_WORDS[verb]} ${count(total)}`} danger=${verb === "delete"}
    typed=${verb === "delete" && total > 1 ? String(total) : null} deed=${deed} onClose=${onClose}>
    <p>${about(verb)}</p>
    ${names ? html`<ul class="names">${names.slice(0, 8).map((each) => html`<li key=${each}><code>${each}</code></li>`)}
      ${names.length > 8 ? html`<li class="soft">and ${count(names.length - 8)} more</li>` : null}</ul>` : html`
      <p class="soft">${[filter.prefix ? `Names that begin with ${filter.prefix}` : "", ...filter.label].filter(Boolean).join(", ")}</p>`}
    ${verb === "pause" ? html`<${Field} id="reason" label="Reason (optional)">
      <input id="reason" value=${given.reason} onInput=${set("reason")} /><//>
      <${UntilField} value=${given.until} onInput=${set("until")} />` : null}
    ${done ? html`<p role="status">${count(done)} so far</p>` : null}
  <//>`;
}

/** What a dialog says of a pause, as a request. The time is that of the browser's zone. */
export function pauseOf({ reason, until }) {
  return { reason: reason || undefined, until: until ? new Date(until).toISOString() : undefined };
}

/** When a pause ends by itself. */
export function UntilField({ value, onInput }) {
  return html`<${Field} id="until" label="Until (optional)" hint="It is resumed by itself then, in your zone's time.">
    <input id="until" type="datetime-local" value=${value} onInput=${onInput} /><//>`;
}

function about(verb) {
  return {
    pause: "Nothing of these jobs fires until they are resumed.",
    resume: "The catch-up rule of each job decides which of its missed triggers fire.",
    redrive: "Each failed run of these jobs is tried again, under the same trigger id.",
    delete: "The jobs are gone, and what they still owed is not delivered. Their runs stay until they expire.",
  }[verb];
}

/** Apply a verb by the calls for many, page by page, as the API selects by prefix and labels. */
async function toMatching(namespace, verb, { prefix, label }, pause, onDone) {
  if (verb !== "delete") return postToAll(namespace, verb, { prefix, label, ...(verb === "pause" ? pause : {}) }, onDone);
  const send = async (cursor) => (await call("DELETE", inNamespace(namespace, "jobs"), { query: { prefix, label, cursor } })).value;
  return (await throughAll(send, onDone)).count;
}

/** Apply a verb to each named job. Returns how many jobs were changed, or how many runs redriven. Throws a Problem that names the jobs it failed for. */
async function toNamed(namespace, verb, names, pause, onDone) {
  const one = (name, method, ...rest) => call(method, inNamespace(namespace, "jobs", name, ...rest),
    method === "POST" && verb === "pause" ? { body: pause } : {});
  let runs = 0;
  const problems = await forEachOf(names, async (name) => {
    if (verb === "delete") await one(name, "DELETE");
    else if (verb === "redrive") runs += await redriveFailed(namespace, name);
    else await one(name, "POST", verb);
  }, onDone);
  const real = problems.filter(({ problem }) => !(verb === "delete" && problem.status === 404));
  if (real.length) {
    throw new Problem(0, `It did not work for ${counted(real.length, "job")}.`,
      real.map(({ item, problem }) => ({ pointer: item, detail: problem.errors[0]?.detail ?? problem.message })));
  }
  return verb === "redrive" ? runs : names.length - problems.length;
}

/** Redrive every failed run of one job. Returns how many. */
async function redriveFailed(namespace, name) {
  const runs = await getAll(inNamespace(namespace, "jobs", name, "runs"), { state: "failed" });
  return changeEach(namespace, "redrive", runs.map((run) => ({ ...run, job: name })), () => {});
}

/** Redrives or cancels each of these runs. One that has changed meanwhile is no problem. Returns how many were changed. */
export async function changeEach(namespace, verb, runs, onDone) {
  const problems = await forEachOf(runs, (run) => call("POST", inNamespace(namespace, "jobs", run.job, "runs", run.id, verb)), onDone);
  const real = problems.filter(({ problem }) => problem.status !== 409);
  if (real.length) {
    throw new Problem(0, `It did not work for ${counted(real.length, "run")}.`,
      real.slice(0, 20).map(({ item, problem }) => ({ pointer: `${item.job} ${item.id}`, detail: problem.message })));
  }
  return runs.length - problems.length;
}
