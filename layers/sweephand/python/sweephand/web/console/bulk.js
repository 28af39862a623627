// What is done with many jobs: with those that were chosen, or with all that fit a filter.

import { html, useState } from "./vendor/preact.js";
import { call, forEachOf, get, getAll, inNamespace, Problem } from "./api.js";
import { Ask, Field } from "./parts.js";
import { count, counted } from "./time.js";

const DONE = { pause: "Pause", resume: "Resume", redrive: "Redrive", delete: "Delete" };

/** How many jobs fit a filter. They are counted page by page, and `onCount` is told after each. */
export async function countMatching(namespace, filter, onCount) {
  let total = 0;
  let cursor = "";
  do {
    const page = await get(inNamespace(namespace, "jobs"), { prefix: filter.prefix, label: filter.label, limit: 200, cursor });
    total += page.items.length;
    cursor = page.nextCursor;
    onCount(total);
  } while (cursor);
  return total;
}

/** Asks before a verb is applied to `total` jobs: to those of `names`, or to all that fit `filter`. */
export function BulkAsk({ namespace, verb, names, filter, total, onClose }) {
  const [given, setGiven] = useState({ reason: "", until: "" });
  const set = (name) => (event) => setGiven({ ...given, [name]: event.target.value });
  const [done, setDone] = useState(0);
  const deed = async () => {
    setDone(0);
    if (filter) await toMatching(namespace, verb, filter, pauseOf(given), setDone);
    else await toNamed(namespace, verb, names, pauseOf(given), setDone);
  };
  return html`<${Ask} title=${`${DONE[verb]} ${counted(total, "job")}?`} verb=${`${DONE[verb]} ${count(total)}`} danger=${verb === "delete"}
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
async function toMatching(namespace, verb, filter, pause, onDone) {
  const labels = Object.fromEntries(filter.label.map((each) => each.split(/:(.*)/s).slice(0, 2)));
  const selection = { prefix: filter.prefix || undefined, labels: filter.label.length ? labels : undefined };
  let total = 0;
  let cursor;
  do {
    const { value } = verb === "delete"
      ? await call("DELETE", inNamespace(namespace, "jobs"), { query: { prefix: filter.prefix, label: filter.label, cursor } })
      : await call("POST", inNamespace(namespace, verb), { body: { ...selection, cursor, ...(verb === "pause" ? pause : {}) } });
    total += value.count;
    cursor = value.nextCursor;
    onDone(total);
  } while (cursor);
}

/** Apply a verb to each named job. Throws a Problem that names the jobs it failed for. */
async function toNamed(namespace, verb, names, pause, onDone) {
  const one = (name, method, ...rest) => call(method, inNamespace(namespace, "jobs", name, ...rest),
    method === "POST" && verb === "pause" ? { body: pause } : {});
  const problems = await forEachOf(names, async (name) => {
    if (verb === "delete") await one(name, "DELETE");
    else if (verb === "redrive") await redriveFailed(namespace, name);
    else await one(name, "POST", verb);
  }, onDone);
  const real = problems.filter(({ problem }) => !(verb === "delete" && problem.status === 404));
  if (real.length) {
    throw new Problem(0, `It did not work for ${counted(real.length, "job")}.`,
      real.map(({ item, problem }) => ({ pointer: item, detail: problem.message })));
  }
}

/** Redrive every failed run of one job. */
async function redriveFailed(namespace, name) {
  const runs = await getAll(inNamespace(namespace, "jobs", name, "runs"), { state: "failed" });
  const problems = await forEachOf(runs, (run) => call("POST", inNamespace(namespace, "jobs", name, "runs", run.id, "redrive")));
  if (problems.length) throw problems[0].problem;
}
