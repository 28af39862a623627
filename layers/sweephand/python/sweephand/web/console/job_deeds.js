// What an operator does with one job or one run, and the dialogs that ask first.

import { html, useRef } from "./vendor/preact.js";
import { call, get, inNamespace, Problem } from "./api.js";
import { Ask, Remove } from "./ask.js";
import { pauseOf, PauseFields } from "./ask_many.js";
import { choicesOf, InputField, useForm } from "./form.js";
import { typedJson } from "./json.js";
import { Verb } from "./parts.js";
import { goTo, linkTo, runLink } from "./route.js";
import { counted, instantIn, yesterday } from "./time.js";

/** What came of a deed that makes triggers or attempts. */
export function Told({ namespace, name, answer }) {
  const run = (id) => html`<a href=${runLink(namespace, name, id)}>${id}</a>`;
  const text = answer.triggerId ? html`The run ${run(answer.id)} is on its way.`
    : answer.firstId ? html`${counted(answer.count, "run")} on the way, the first is ${run(answer.firstId)}.`
      : answer.attempt ? `Attempt ${answer.attempt} is on its way.` : answer.count === 0 ? "Nothing fell due in that range." : null;
  return text && html`<p class="told" role="status">${text}</p>`;
}

/** What can be done with a job. */
export function Verbs({ job, onAsk }) {
  const verb = (name, title, kind) => html`<${Verb} title=${title} kind=${kind} onClick=${() => onAsk(name)} />`;
  return html`<div class="verbs">
    ${job.state === "paused" ? verb("resume", "Resume", "main") : job.state === "active" ? verb("pause", "Pause") : null}
    ${verb("trigger", "Run now")}${job.schedule ? verb("backfill", "Backfill") : null}
    <a class="button" href=${linkTo([job.namespace, "jobs", job.name, "edit"])}>Edit</a>${verb("delete", "Delete", "danger")}</div>`;
}

/** The dialog of one verb. `onClose` gets the API's answer once the deed is done. */
export function Deed({ verb, job, namespace, onClose }) {
  const path = inNamespace(namespace, "jobs", job.name);
  const [from, to] = yesterday();
  const form = useForm({ reason: "", until: "", catchup: "", data: "", from, to });
  const { given } = form;
  const answer = useRef(null);
  const remove = async () => {
    await call("DELETE", path);
    goTo(linkTo([namespace, "jobs"]));
  };
  if (verb === "delete") {
    return html`<${Remove} name=${job.name} deed=${remove} onClose=${() => onClose()}>What it still owed is not delivered. Its runs stay until they expire.<//>`;
  }
  const input = (problem, name, label, more) => html`<${InputField} form=${form} problem=${problem} name=${name} at=${`/${name}`} label=${label} ...${more} />`;
  const [title, word, bodyOf, show] = {
    pause: [`Pause ${job.name}?`, "Pause", () => pauseOf(given), (problem) => html`
      <p>Nothing of it fires until it is resumed.</p><${PauseFields} form=${form} problem=${problem} />`],
    resume: [`Resume ${job.name}?`, "Resume", () => ({ catchup: given.catchup || undefined }), (problem) => input(problem, "catchup", "Of the triggers that it missed", { kind: "select",
      children: choicesOf([["", "as the job's catch-up rule says"], ["latest", "fire the newest"], ["all", "fire all"], ["none", "fire none"]]) })],
    trigger: [`Run ${job.name} now?`, "Run now", () => (given.data.trim() ? { data: jsonOf(given.data) } : {}), (problem) => html`
      <p>Sweephand delivers one trigger at once${job.batch ? ", with all of its batch" : ""}.</p>
      ${input(problem, "data", "Data (optional)", { kind: "textarea", rows: 5, hint: "JSON that the consumer gets in place of the job's own data." })}`],
    backfill: [`Backfill ${job.name}`, "Backfill", () => ({ from: instantIn(given.from) ?? given.from, to: instantIn(given.to) ?? given.to }), (problem) => html`
      <p>Each due time of the range fires again, as a run of its own. The times are those of your zone.</p>
      ${["from", "to"].map((each) => input(problem, each, each === "from" ? "From" : "To, not included", { kind: "datetime-local", step: 1, required: true }))}`],
  }[verb];
  const deed = async () => {
    answer.current = (await call("POST", `${path}/${verb}`, { body: bodyOf() })).value;
  };
  return html`<${Ask} title=${title} verb=${word} deed=${deed} onClose=${() => onClose(answer.current)} fields=${Object.keys(given).map((each) => `/${each}`)}>${show}<//>`;
}

/** A JSON value that a person typed. Throws a Problem that says where it is wrong. */
function jsonOf(text) {
  const { value, mistake } = typedJson(text);
  if (mistake) throw new Problem(0, mistake);
  return value;
}

/** The dialog that redrives or cancels a run. `onClose` gets the number of the next attempt, if there is one. */
export function RunDeed({ verb, namespace, name, run, onClose }) {
  const answer = useRef(null);
  const deed = async () => {
    answer.current = (await call("POST", inNamespace(namespace, "jobs", name, "runs", run.id, verb))).value;
  };
  const close = () => onClose(answer.current?.attempt);
  return verb === "redrive" ? html`<${Ask} title="Redrive this run?" verb="Redrive" deed=${deed} onClose=${close}>
      <p>Sweephand tries it again at once, under the same trigger id.</p><//>`
    : html`<${Ask} title="Cancel this run?" verb="Cancel the run" danger=${true} deed=${deed} onClose=${close}>
      <p>No further attempt of it begins.</p><//>`;
}

/** Whether a run can be redriven or cancelled, by its state. A run is redriven if its job is there. */
export const runVerbOf = (run, job) => ({ failed: job && "redrive", running: "cancel", retrying: "cancel" }[run.state]);

/**
 * Reads a job once, although its screen loads itself again and again. It is null if the job is deleted: what is
 * known of its runs outlives it. `forget` lets the next call read it again.
 */
export function useJobOnce(namespace, name) {
  const reading = useRef(null);
  const forget = () => { reading.current = null; };
  const read = () => {
    reading.current ??= get(inNamespace(namespace, "jobs", name)).catch((problem) => {
      if (problem.status === 404) return null;
      forget();
      throw problem;
    });
    return reading.current;
  };
  return { read, forget };
}
