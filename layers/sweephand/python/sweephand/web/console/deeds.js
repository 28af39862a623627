// What an operator does with one job or one run, and the dialogs that ask first.

import { html, useRef, useState } from "./vendor/preact.js";
import { call, get, inNamespace, Problem } from "./api.js";
import { pauseOf, UntilField } from "./bulk.js";
import { readJson } from "./exact.js";
import { Ask, Field } from "./parts.js";
import { goTo, linkTo } from "./route.js";
import { counted } from "./time.js";

/** What came of a deed that makes triggers. */
export function Told({ namespace, name, answer }) {
  const run = (id) => html`<a href=${linkTo([namespace, "jobs", name, "runs", id])}>${id}</a>`;
  if (answer.triggerId) return html`<p class="told" role="status">The run ${run(answer.id)} is on its way.</p>`;
  if (answer.firstId) return html`<p class="told" role="status">${counted(answer.count, "run")} on the way, the first is ${run(answer.firstId)}.</p>`;
  return answer.count === 0 ? html`<p class="told" role="status">Nothing fell due in that range.</p>` : null;
}

/** What can be done with a job. */
export function Verbs({ job, onAsk }) {
  const button = (verb, title, kind = "") => html`<button type="button" class=${kind} onClick=${() => onAsk(verb)}>${title}</button>`;
  return html`<div class="verbs">
    ${job.state === "paused" ? button("resume", "Resume", "main") : job.state === "active" ? button("pause", "Pause") : null}
    ${button("trigger", "Run now")}
    ${job.schedule ? button("backfill", "Backfill") : null}
    <a class="button" href=${linkTo([job.namespace, "jobs", job.name, "edit"])}>Edit</a>
    ${button("delete", "Delete", "danger")}</div>`;
}

/** The dialog of one verb. `onClose` gets the API's answer once the deed is done. */
export function Deed({ verb, job, namespace, onClose }) {
  const path = inNamespace(namespace, "jobs", job.name);
  const [given, setGiven] = useState({ reason: "", until: "", catchup: "", data: "", from: "", to: "" });
  const set = (name) => (event) => setGiven({ ...given, [name]: event.target.value });
  const answer = useRef(null);
  const post = async (body) => {
    answer.current = (await call("POST", `${path}/${verb}`, { body })).value;
  };
  const close = () => onClose(answer.current);
  const ask = (title, word, deed, inner, more = {}) => html`<${Ask} title=${title} verb=${word} deed=${deed} onClose=${close} ...${more}>${inner}<//>`;
  if (verb === "pause") {
    return ask(`Pause ${job.name}?`, "Pause", () => post(pauseOf(given)), html`<p>Nothing of it fires until it is resumed.</p>
      <${Field} id="reason" label="Reason (optional)"><input id="reason" value=${given.reason} onInput=${set("reason")} /><//>
      <${UntilField} value=${given.until} onInput=${set("until")} />`);
  }
  if (verb === "resume") {
    return ask(`Resume ${job.name}?`, "Resume", () => post({ catchup: given.catchup || undefined }), html`
      <${Field} id="catchup" label="Of the triggers that it missed"><select id="catchup" value=${given.catchup} onChange=${set("catchup")}>
        <option value="">as the job's catch-up rule says</option><option value="latest">fire the newest</option>
        <option value="all">fire all</option><option value="none">fire none</option></select><//>`);
  }
  if (verb === "trigger") {
    return ask(`Run ${job.name} now?`, "Run now", () => post(given.data.trim() ? { data: jsonOf(given.data) } : {}), html`
      <p>Sweephand delivers one trigger at once${job.batch ? ", with all of its batch" : ""}.</p>
      <${Field} id="data" label="Data (optional)" hint="JSON that the consumer gets in place of the job's own data.">
        <textarea id="data" rows="5" spellcheck=${false} value=${given.data} onInput=${set("data")}></textarea><//>`);
  }
  if (verb === "backfill") {
    const instant = (text) => (text ? new Date(text).toISOString() : text);
    return ask(`Backfill ${job.name}`, "Backfill", () => post({ from: instant(given.from), to: instant(given.to) }), html`
      <p>Each due time of the range fires again, as a run of its own. The times are those of your zone.</p>
      ${["from", "to"].map((each) => html`<${Field} id=${each} label=${each === "from" ? "From" : "To, not included"}>
        <input id=${each} type="datetime-local" step="1" required value=${given[each]} onInput=${set(each)} /><//>`)}`);
  }
  const remove = async () => {
    await call("DELETE", path);
    goTo(linkTo([namespace, "jobs"]));
  };
  return ask(`Delete ${job.name}?`, "Delete", remove, html`<p>What it still owed is not delivered. Its runs stay until they expire.</p>`,
    { danger: true, typed: job.name });
}

/** A JSON value that a person typed. Throws a Problem that says where it is wrong. */
function jsonOf(text) {
  try {
    return readJson(text);
  } catch (error) {
    throw new Problem(0, `This is no JSON: ${error.message}`);
  }
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
