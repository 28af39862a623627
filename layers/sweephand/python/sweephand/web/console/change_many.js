// The calls that change many jobs or runs: those that were chosen, or all that a filter selects.

import { call, forEachOf, get, getAll, inNamespace, PAGE_MAX, Problem, throughPages } from "./api.js";
import { labelsOf } from "./form.js";
import { counted } from "./time.js";

/** What is done with jobs or runs, as the words of buttons. */
export const VERB_WORDS = { pause: "Pause", resume: "Resume", redrive: "Redrive", delete: "Delete", cancel: "Cancel" };
const VERBS_DONE = { pause: "paused", resume: "resumed", redrive: "redriven", delete: "deleted", cancel: "cancelled" };

/** What is told once so many jobs or runs were changed. */
export function doneText(verb, number, noun) {
  const stays = verb === "redrive" ? " Each run stays failed until its next attempt begins." : "";
  return `${counted(number, noun)} ${VERBS_DONE[verb]}.${stays}`;
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

/** How much all calls of `send` have found. `onCount` is told after each. It is partial if there may be more. */
async function countThrough(send, onCount, calls) {
  let total = 0;
  const left = await throughPages(send, (page) => {
    total += page.count ?? page.items.length;
    onCount(total);
  }, { calls });
  return { count: total, isPartial: Boolean(left) };
}

/** How many jobs fit a filter. */
export function countMatching(namespace, filter, onCount, calls) {
  return countThrough((cursor) => get(inNamespace(namespace, "jobs"), { ...filter, limit: PAGE_MAX, cursor }), onCount, calls);
}

/** A selection as the body of a bulk call. What is empty is left out. */
function selectionOf({ label = [], ...fields }) {
  return { ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value)), labels: labelsOf(label) };
}

/** Redrives or cancels all runs that a selection has, or pauses or resumes its jobs, call by call. Returns how many there were. */
export async function changeAll(namespace, verb, selection, onCount) {
  const body = selectionOf(selection);
  const send = async (cursor) => (await call("POST", inNamespace(namespace, verb), { body: { ...body, cursor: cursor || undefined } })).value;
  return (await countThrough(send, onCount)).count;
}

/** How many runs `redrive` or `cancel` would change. Nothing is changed. */
export const countRuns = (namespace, verb, selection, onCount) => changeAll(namespace, verb, { ...selection, dryRun: true }, onCount);

/** Apply a verb to all jobs that a filter selects by prefix and labels. */
export async function changeMatching(namespace, verb, { prefix, label }, pause, onCount) {
  if (verb !== "delete") return changeAll(namespace, verb, { prefix, label, ...(verb === "pause" ? pause : {}) }, onCount);
  const send = async (cursor) => (await call("DELETE", inNamespace(namespace, "jobs"), { query: { prefix, label, cursor } })).value;
  return (await countThrough(send, onCount)).count;
}

/** Throws a Problem that names what a task failed for. What has changed meanwhile by itself, `isDone`, is none. */
function refuseFailed(problems, noun, nameOf, isDone) {
  const real = problems.filter(({ problem }) => !isDone(problem));
  if (!real.length) return;
  throw new Problem(0, `It did not work for ${counted(real.length, noun)}.`,
    real.slice(0, 20).map(({ item, problem }) => ({ pointer: nameOf(item), detail: problem.errors[0]?.detail ?? problem.message })));
}

/** Apply a verb to each named job. Returns how many jobs were changed, or how many runs redriven. */
export async function changeNamed(namespace, verb, names, pause, onDone) {
  const one = (name, method, ...rest) => call(method, inNamespace(namespace, "jobs", name, ...rest),
    method === "POST" && verb === "pause" ? { body: pause } : {});
  let runs = 0;
  const problems = await forEachOf(names, async (name) => {
    if (verb === "delete") await one(name, "DELETE");
    else if (verb === "redrive") runs += await redriveFailed(namespace, name);
    else await one(name, "POST", verb);
  }, onDone);
  refuseFailed(problems, "job", (name) => name, ({ status }) => verb === "delete" && status === 404);
  return verb === "redrive" ? runs : names.length - problems.length;
}

/** Redrive every failed run of one job. Returns how many. */
async function redriveFailed(namespace, name) {
  const runs = await getAll(inNamespace(namespace, "jobs", name, "runs"), { state: "failed" }, Infinity);
  return changeEach(namespace, "redrive", runs.map((run) => ({ ...run, job: name })));
}

/** Redrives or cancels each of these runs. One that has changed meanwhile is no problem. Returns how many were changed. */
export async function changeEach(namespace, verb, runs, onDone) {
  const problems = await forEachOf(runs, (run) => call("POST", inNamespace(namespace, "jobs", run.job, "runs", run.id, verb)), onDone);
  refuseFailed(problems, "run", (run) => `${run.job} ${run.id}`, ({ status }) => status === 409);
  return runs.length - problems.length;
}
