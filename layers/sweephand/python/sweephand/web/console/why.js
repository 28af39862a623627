// Why a job fired at an instant, or did not: the verdict of the API with its evidence.

import { html, useState } from "./vendor/preact.js";
import { get, inNamespace } from "./api.js";
import { writeJson } from "./exact.js";
import { useLive } from "./live.js";
import { Facts, Loaded, StateMark, When } from "./parts.js";
import { goTo, linkTo } from "./route.js";

/** Verdicts of which somebody should look further. What the job's own definition or a person said is none. */
const WENT_WRONG = new Set(["failed", "misfire", "switched-off", "stopped", "not-swept"]);

export function Why({ namespace, name, query }) {
  const at = query.get("at") || "";
  const live = useLive(() => get(inNamespace(namespace, "jobs", name, "explain"), { at }), JSON.stringify([namespace, name, at]));
  const [given, setGiven] = useState("");
  const look = (instant) => goTo(linkTo([namespace, "jobs", name, "why"], { at: instant }));
  const submit = (event) => {
    event.preventDefault();
    const found = new Date(given);
    if (!Number.isNaN(found.getTime())) look(found.toISOString());
  };
  return html`<p class="trail"><a href=${linkTo([namespace, "jobs"])}>Jobs</a> / <a href=${linkTo([namespace, "jobs", name])}>${name}</a></p>
    <div class="head"><h1>Why?</h1></div>
    <form class="filter" onSubmit=${submit}><label>Look at an instant of your zone
      <input type="datetime-local" step="1" value=${given} onInput=${(event) => setGiven(event.target.value)} /></label><button>Explain</button></form>
    <${Loaded} live=${live} what="the reason" show=${(found) => html`<${Verdict} namespace=${namespace} name=${name} found=${found} onLook=${look} />`} />`;
}

function Verdict({ namespace, name, found, onLook }) {
  const kind = found.verdict === "delivered" ? "is-good" : WENT_WRONG.has(found.verdict) ? "is-bad" : "is-warn";
  const near = (label, instant) => instant && [label, html`<button type="button" onClick=${() => onLook(instant)}><${When} at=${instant} /></button>`];
  const { run } = found;
  const rows = [
    ["Asked about", html`<${When} at=${found.at} />`],
    ["Due", found.dueAt && html`<${When} at=${found.dueAt} />`],
    near("Due time before", found.nearest?.before),
    near("Due time after", found.nearest?.after),
    ["Run", run && html`<span><a class="mono" href=${linkTo([namespace, "jobs", name, "runs", run.id])}>${run.id}</a> <${StateMark} state=${run.state} /></span>`],
    ["What comes next", found.next && html`<span>${found.next.step} ${found.next.at ? html`<${When} at=${found.next.at} />` : null}</span>`],
    ["Records", found.history === "not-kept" ? "of that time are not kept any more" : null],
  ];
  const evidence = Object.entries(found.evidence || {});
  return html`<div class=${`beat ${kind}`}><strong class="verdict">${found.verdict}</strong><p>${found.summary}</p></div>
    <${Facts} rows=${rows.filter(Boolean)} />
    ${evidence.length ? html`<section><h2>Evidence</h2><${Facts} rows=${evidence.map(([title, value]) => [WORDS[title] || title, html`<${Evidence} value=${value} />`])} /></section>` : null}`;
}

const WORDS = { standstill: "The stack stood still", change: "Change of the job", resumed: "Resumed", clockChange: "Clock change",
  waitsFor: "The other run", limit: "Limit", policy: "Policy", jitter: "Jitter", calendar: "Calendar" };

/** A piece of evidence: a text, or an object with its fields. */
function Evidence({ value }) {
  if (value === null || typeof value !== "object" || !Object.getPrototypeOf(value) || value.text !== undefined) return String(value);
  return html`<ul class="plainlist">${Object.entries(value).filter(([, each]) => each !== null).map(([title, each]) => html`<li key=${title}><span class="soft">${`${title}: `}</span>${typeof each === "string" ? each : writeJson(each)}</li>`)}</ul>`;
}
