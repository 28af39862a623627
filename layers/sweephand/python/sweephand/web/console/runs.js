// The runs of a job: a strip of outcomes, a picture of their lateness, and a table.

import { html, useEffect, useState } from "./vendor/preact.js";
import { may } from "./access.js";
import { get, inNamespace } from "./api.js";
import { Chart } from "./chart.js";
import { choicesOf } from "./form.js";
import { RunDeed } from "./job_deeds.js";
import { LATE_MS } from "./last_hour.js";
import { useLive } from "./live.js";
import { Empty, Loaded, StateMark, Table, Verb, When, Whole } from "./parts.js";
import { goTo, jobLink, linkTo, runLink } from "./route.js";
import { count, inZone, lateness } from "./time.js";

const RUNS = 60;
const ROWS_AT_FIRST = 10;
const STATES = ["", "failed", "retrying", "running", "succeeded", "skipped", "cancelled", "waiting"];

/** The id of the heading of the runs, for what links to them. */
export const RUNS_TITLE = "runs-title";

/** The newest runs of a job in a state, which is in the address. `version` changes when something was done that makes new ones. */
export function Runs({ me, namespace, job, zone, state, version }) {
  const { name } = job;
  const [page, setPage] = useState({ cursors: [""] });
  const cursors = page.state === state ? page.cursors : [""]; // another state begins at its newest runs
  const setCursors = (next) => setPage({ state, cursors: next });
  const [asked, setAsked] = useState(null);
  const [told, setTold] = useState("");
  const cursor = cursors[cursors.length - 1];
  const load = () => get(inNamespace(namespace, "jobs", name, "runs"), { state, limit: RUNS, cursor });
  const live = useLive(load, JSON.stringify([namespace, name, state, cursor]));
  useEffect(() => {
    if (version) live.reload();
  }, [version]);
  const choose = (event) => goTo(jobLink(namespace, name, { state: event.target.value }));
  const close = (attempt) => {
    if (attempt) setTold(`Attempt ${attempt} of the run is on its way.`);
    setAsked(null);
    live.reload();
  };
  return html`<section aria-labelledby=${RUNS_TITLE}><div class="head"><h2 id=${RUNS_TITLE} tabindex="-1">Runs</h2>
      <a href=${linkTo([namespace, "jobs", name, "why"])}>Why did it fire, or not?</a>
      <label class="inline">State <select value=${state} onChange=${choose}>${choicesOf(STATES.map((each) => [each, each || "any"]))}</select></label></div>
    ${told ? html`<p class="told" role="status">${told}</p>` : null}
    <${Loaded} live=${live} what="the runs" show=${({ items, nextCursor }) => html`
      ${items.length ? html`<${Strip} namespace=${namespace} name=${name} runs=${items} zone=${zone} />
        <${LatenessPicture} runs=${items} zone=${zone} />
        <${RunTable} key=${cursor} namespace=${namespace} name=${name} runs=${items} zone=${zone} onRedrive=${may(me, "write") ? setAsked : null} />`
        : html`<${Empty} title=${state ? `No run here is ${state}.` : "No runs yet."}>
          ${nextCursor ? html`<p>Older pages may have some.</p>` : null}<//>`}
      ${nextCursor || cursors.length > 1 ? html`<nav class="pager" aria-label="Pages of runs">
        <button type="button" disabled=${cursors.length === 1} onClick=${() => setCursors(cursors.slice(0, -1))}>Newer</button>
        <button type="button" disabled=${!nextCursor} onClick=${() => setCursors([...cursors, nextCursor])}>Older</button></nav>` : null}`} />
    ${asked ? html`<${RunDeed} verb="redrive" namespace=${namespace} name=${name} run=${asked} onClose=${close} />` : null}
  </section>`;
}

/** The outcomes, oldest first. Each is a link, and its colour is told in words by its name. */
function Strip({ namespace, name, runs, zone }) {
  return html`<div class="strip" role="group" aria-label="Outcomes, oldest first">${[...runs].reverse().map((run) => html`
    <a key=${run.id} class=${`cell is-${run.state}`} href=${runLink(namespace, name, run.id)}
      title=${`${run.state} · ${inZone(run.dueAt, zone)}`} aria-label=${`${run.state}, due ${inZone(run.dueAt, zone)}`}></a>`)}</div>`;
}

/** How late the first attempts were, each at its due time. */
function LatenessPicture({ runs, zone }) {
  const known = [...runs].reverse().filter((run) => run.latenessMs !== null);
  if (known.length < 3) return null;
  const values = known.map((run) => Number(run.latenessMs));
  const sorted = [...values].sort((one, other) => one - other);
  const text = `Of ${count(known.length)} runs, half began at most ${lateness(sorted[Math.floor(sorted.length / 2)])} after their due time, and the latest ${lateness(sorted[sorted.length - 1])}.`;
  const points = (name, tone, isShown) => ({ name, tone, kind: "points", values: values.map((value) => (isShown(value) ? value : null)) });
  return html`<${Chart} title="How late did runs begin?" answer=${text} unit="ms" axis="lateness of the first attempt" isLog=${true} zone=${zone}
    x=${known.map((run) => run.dueAt)} limit=${{ value: LATE_MS, text: "late above 1 s" }}
    series=${[points("Within a second", "busy", (value) => value <= LATE_MS),
      ...(values.some((value) => value > LATE_MS) ? [points("Later", "warn", (value) => value > LATE_MS)] : [])]} />`;
}

/** The newest runs of the page, and at a click all of them. */
function RunTable({ namespace, name, runs, zone, onRedrive }) {
  const hasVerbs = onRedrive && runs.some((run) => run.state === "failed");
  return html`<${Whole} items=${runs} most=${ROWS_AT_FIRST} show=${(shown) => html`<${Table} label="Runs" className="runs" head=${["Due", "State", "Lateness", "Attempts", "Answer", ...(hasVerbs ? [""] : [])]}>
    ${shown.map((run) => html`<tr key=${run.id}>
      <td><a href=${runLink(namespace, name, run.id)}><${When} at=${run.dueAt} zone=${zone} /></a></td>
      <td><${StateMark} state=${run.state} /></td>
      <td class="number">${lateness(run.latenessMs)}</td>
      <td class="number">${run.attempts}</td>
      <td class="answer">${answerText(run)}</td>
      ${hasVerbs ? html`<td>${run.state === "failed" ? html`<${Verb} title="Redrive" of=${`the run due ${inZone(run.dueAt, zone)}`} onClick=${() => onRedrive(run)} />` : null}</td>` : null}
    </tr>`)}<//>`} />`;
}

/** What the consumer said, or else why the run has failed, is tried again or was skipped. */
export const wordsOfRun = (run) => run.answer || run.reason || (run.state !== "succeeded" && run.lastFailure?.reason) || "";

/** What came of a run, in one line. `edited` changes the words in it. */
export function answerText(run, edited = (words) => words) {
  return [run.responseCode, edited(wordsOfRun(run)), run.count && `${count(run.count)} due times`].filter(Boolean).join(" · ") || "–";
}
