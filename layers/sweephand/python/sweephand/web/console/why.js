// Why a job fired at an instant, or did not: the verdict of the API, what can be done about it, and its evidence.

import { html, useState } from "./vendor/preact.js";
import { may } from "./access.js";
import { get, inNamespace } from "./api.js";
import { Changes } from "./changes.js";
import { Notes } from "./job.js";
import { Deed, RunDeed, runVerbOf, Told, useJobOnce } from "./job_deeds.js";
import { writeJson } from "./json.js";
import { useLive } from "./live.js";
import { Facts, Head, Loaded, StateMark, Trail, Verb, When } from "./parts.js";
import { goTo, linkTo, runLink } from "./route.js";
import { instantIn } from "./time.js";
import { Timed, useZone } from "./zone.js";

/** Verdicts of which somebody should look further. What the job's own definition or a person said is none. */
const WENT_WRONG = new Set(["failed", "misfire", "switched-off", "stopped", "not-swept"]);

export function Why({ me, namespace, name, query }) {
  const at = query.get("at") || "";
  const once = useJobOnce(namespace, name);
  const live = useLive(async () => {
    const [found, job] = await Promise.all([get(inNamespace(namespace, "jobs", name, "explain"), { at }), once.read()]);
    return { found, job };
  }, JSON.stringify([namespace, name, at]));
  const { zone, choice } = useZone(live.value?.job);
  const [given, setGiven] = useState("");
  const [asked, setAsked] = useState(null);
  const [told, setTold] = useState(null);
  const look = (instant) => goTo(linkTo([namespace, "jobs", name, "why"], { at: instant }));
  const submit = (event) => {
    event.preventDefault();
    const instant = instantIn(given, zone);
    if (instant) look(instant);
  };
  const close = (answer) => {
    setAsked(null);
    if (!answer) return;
    setTold(answer);
    once.forget();
    live.reload();
  };
  return html`<${Trail} namespace=${namespace} screen="jobs" title="Jobs" name=${name}>${live.value ? choice : null}<//><${Head} title="Why?" />
    <div><${Loaded} live=${live} what="the reason" show=${({ found, job }) => html`
      ${told ? html`<${Told} namespace=${namespace} name=${name} answer=${told} />` : null}
      ${job && !at && found.verdict !== "paused" ? html`<${Notes} job=${job} zone=${zone} />` : null}
      <${Verdict} found=${found} zone=${zone}>
        <${Actions} me=${me} namespace=${namespace} name=${name} found=${found} job=${job} onAsk=${setAsked} /><//>
      <${Proof} namespace=${namespace} name=${name} found=${found} zone=${zone} onLook=${look} />
      ${asked?.run ? html`<${RunDeed} verb=${asked.verb} namespace=${namespace} name=${name} run=${asked.run} onClose=${(attempt) => close(attempt && { attempt })} />`
        : asked ? html`<${Deed} verb=${asked.verb} job=${job} namespace=${namespace} onClose=${close} />` : null}`} /></div>
    <form class="filter look" onSubmit=${submit}><label>Look at another instant, in ${zone}
      <input type="datetime-local" step="1" value=${given} onInput=${(event) => setGiven(event.target.value)} /></label><button>Explain</button></form>`;
}

function Verdict({ found, zone, children }) {
  const kind = found.verdict === "delivered" ? "is-good" : WENT_WRONG.has(found.verdict) ? "is-bad" : "is-warn";
  const { next } = found;
  return html`<div class=${`beat ${kind}`}><strong class="verdict">${found.verdict}</strong><p><${Timed} text=${found.summary} zone=${zone} /></p>
    ${next ? html`<p><strong>Next:</strong> ${next.step}${next.at ? html` <${When} at=${next.at} zone=${zone} isDue />` : null}</p>` : null}${children}</div>`;
}

/** Verdicts that the schedule gives: what changes them is the definition. */
const OF_SCHEDULE = new Set(["on-demand", "before-due-time", "after-ttl", "repeats-used", "not-scheduled", "calendar", "clock-change", "jitter"]);

/** Verdicts after which somebody may want a trigger now, because the one in question did not come or is not due. */
const RUN_NOW = new Set([...OF_SCHEDULE, "paused", "misfire", "overlap", "window", "waiting-window", "cancelled", "scheduled", "not-kept"]);

/** Verdicts about the whole stack. */
const OF_STACK = new Set(["switched-off", "stopped", "not-swept"]);

/** What the verdict calls for. What the key may not do is not offered, and nothing is done with a deleted job. */
function Actions({ me, namespace, name, found, job, onAsk }) {
  const { verdict, run, evidence } = found;
  const mayWrite = job && may(me, "write");
  // without a next step, it is of an earlier job
  const runVerb = run && found.next && mayWrite && runVerbOf(run, job);
  const link = (title, ...parts) => html`<a class="button" href=${linkTo([namespace, ...parts])}>${title}</a>`;
  const button = (title, asked, kind) => html`<${Verb} title=${title} kind=${kind} onClick=${() => onAsk(asked)} />`;
  return html`<div class="verbs">
    ${runVerb === "redrive" ? button("Redrive", { verb: "redrive", run }, "main") : runVerb ? button("Cancel the run", { verb: "cancel", run }, "danger") : null}
    ${mayWrite && verdict === "paused" && job.state === "paused" ? button("Resume", { verb: "resume" }, "main") : null}
    ${mayWrite && RUN_NOW.has(verdict) ? button("Run now", { verb: "trigger" }) : null}
    ${mayWrite && OF_SCHEDULE.has(verdict) ? link("Edit the job", "jobs", name, "edit") : null}
    ${run ? link("Open the run", "jobs", name, "runs", run.id) : null}
    ${evidence.waitsFor ? link("Open the run that was not over", "jobs", name, "runs", evidence.waitsFor) : null}
    ${evidence.policy ? link("Open the policy", "policies", evidence.policy) : null}
    ${evidence.calendar?.name ? link("Open the calendar", "calendars", evidence.calendar.name) : null}
    ${verdict.endsWith("window") ? link("Open the windows", "windows") : null}
    ${evidence.limit && may(me, "admin") ? link("Open the settings", "settings") : null}
    ${OF_STACK.has(verdict) ? link("Open the overview", "overview") : null}</div>`;
}

/** The due times around the instant, the run, and what speaks for the verdict. */
function Proof({ namespace, name, found, zone, onLook }) {
  const { run, nearest, evidence } = found;
  const near = (label, instant) => [label, instant && html`<button type="button" onClick=${() => onLook(instant)}><${When} at=${instant} zone=${zone} /></button>`];
  const { change, resumed, waitsFor, policy, ...others } = evidence;
  const changes = [resumed, change].filter(Boolean);
  return html`<${Facts} rows=${[
    ["Asked about", html`<${When} at=${found.at} zone=${zone} />`],
    ["Due", found.dueAt && html`<${When} at=${found.dueAt} zone=${zone} />`],
    near("Due time before", nearest.before),
    near("Due time after", nearest.after),
    ["Run", run && html`<span><a class="mono" href=${runLink(namespace, name, run.id)}>${run.id}</a> <${StateMark} state=${run.state} /></span>`],
    ["The other run", waitsFor && html`<code>${waitsFor}</code>`],
    ["Policy", policy],
    ...Object.entries(others).map(([title, value]) => [WORDS[title] || title, html`<${Evidence} value=${value} zone=${zone} />`]),
    ["Records", found.history === "not-kept" ? "of that time are not kept any more" : null],
  ]} />
    ${changes.length ? html`<section><h2>${resumed ? "The pause and its end" : "The change that decided"}</h2><${Changes} changes=${changes} zone=${zone} /></section>` : null}`;
}

const WORDS = { standstill: "The stack stood still", clockChange: "Clock change", limit: "Limit", jitter: "Jitter", calendar: "Calendar" };

/** A piece of evidence: its fields, with instants in the zone of the screen. */
function Evidence({ value, zone }) {
  const said = (each) => (typeof each === "string" ? html`<${Timed} text=${each} zone=${zone} />` : writeJson(each).replace(/[\s{}"]+/g, " "));
  return html`<ul class="plainlist">${Object.entries(value).filter(([, each]) => each !== null).map(([title, each]) => html`
    <li key=${title}><span class="soft">${`${title}: `}</span>${said(each)}</li>`)}</ul>`;
}
