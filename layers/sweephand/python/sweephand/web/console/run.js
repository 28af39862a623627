// One run: how it stands and what to do, its attempts, what was sent, and what came back.

import { html, useState } from "./vendor/preact.js";
import { may } from "./access.js";
import { get, inNamespace } from "./api.js";
import { Attempts } from "./attempts.js";
import { RunDeed, runVerbOf, useJobOnce } from "./job_deeds.js";
import { typedJson, writeJson } from "./json.js";
import { useLive } from "./live.js";
import { Command, Facts, Loaded, StateMark, Trail, Verb, When } from "./parts.js";
import { curlOf, requestText } from "./request.js";
import { linkTo, runLink } from "./route.js";
import { counted, inZone, lateness } from "./time.js";
import { Timed, useZone } from "./zone.js";

export function Run({ me, namespace, name, id }) {
  const path = inNamespace(namespace, "jobs", name, "runs", id);
  const [asked, setAsked] = useState(null);
  const [attempt, setAttempt] = useState(0);
  const once = useJobOnce(namespace, name);
  const live = useLive(async () => {
    const [run, job] = await Promise.all([get(path, { include: "neighbours" }), once.read()]);
    return { run, job };
  }, path);
  const { zone, choice } = useZone(live.value?.job);
  const close = (next) => {
    if (next) setAttempt(next);
    setAsked(null);
    live.reload();
  };
  return html`<${Trail} namespace=${namespace} screen="jobs" title="Jobs" name=${name}>${live.value ? choice : null}<//>
    <${Loaded} live=${live} what="the run" show=${({ run, job }) => html`
      <div class="head"><h1>Run <span class="mono">${run.id}</span></h1><${StateMark} state=${run.state} />
        <${Beside} namespace=${namespace} name=${name} found=${run.neighbours} zone=${zone} /></div>
      <${Outcome} namespace=${namespace} name=${name} run=${run} job=${job} zone=${zone} coming=${attempt > run.attempts ? attempt : 0}
        onAsk=${may(me, "write") ? setAsked : null} />
      <${Attempts} run=${run} zone=${zone} />
      <div class="columns sent">
        <${Request} run=${run} job=${job} zone=${zone} />
        <${LastAnswer} run=${run} /></div>
      <${Facts} rows=${factsOfRun(run)} />
      <${Repeat} run=${run} job=${job} />
      ${asked ? html`<${RunDeed} verb=${asked} namespace=${namespace} name=${name} run=${run} onClose=${close} />` : null}`} />`;
}

/** The runs of the job before and after this one. */
function Beside({ namespace, name, found, zone }) {
  const link = (title, run) => (run ? html`<a class="button" href=${runLink(namespace, name, run.id)}
    aria-label=${`${title} run, ${run.state}, due ${inZone(run.dueAt, zone)}`}>${title} <${StateMark} state=${run.state} /></a>`
    : html`<span class="soft">No ${title.toLowerCase()} run</span>`);
  return html`<nav class="verbs beside" aria-label="Other runs of the job">${link("Previous", found.before)}${link("Next", found.after)}</nav>`;
}

const OUTCOME_KINDS = { succeeded: "is-good", failed: "is-bad", retrying: "is-warn", skipped: "is-warn", cancelled: "is-warn", waiting: "is-warn" };

/** How the run stands, in a sentence, and what can be done about it. `coming` is the attempt that a redrive has asked for. */
function Outcome({ namespace, name, run, job, zone, coming, onAsk }) {
  const verb = runVerbOf(run, job);
  const reason = run.reason && html` <span class="long"><${Timed} text=${/[.!?]$/.test(run.reason) ? run.reason : `${run.reason}.`} zone=${zone} /></span>`;
  const isOfSchedule = /^\d/.test(run.id);
  return html`<div class=${`beat ${OUTCOME_KINDS[run.state] || "is-busy"}`}><p>${sentenceOf(run, zone)}${reason}${run.state === "failed" && !coming
      ? job ? /redrive/i.test(run.reason) ? null : " Mend the cause, then redrive it." : " Its job is deleted, so it cannot be redriven." : null}</p>
    ${coming ? html`<p role="status">Attempt ${coming} is on its way.</p>` : null}
    <div class="verbs">${onAsk && verb && !coming ? html`<${Verb} title=${verb === "redrive" ? "Redrive" : "Cancel the run"} kind=${verb === "redrive" ? "main" : "danger"} onClick=${() => onAsk(verb)} />` : null}
      ${run.policy ? html`<a class="button" href=${linkTo([namespace, "policies", run.policy])}>Open the policy</a>` : null}
      ${run.skippedFor ? html`<a class="button" href=${runLink(namespace, name, run.skippedFor)}>Open the run that was not over</a>` : null}
      ${isOfSchedule ? html`<a class="button" href=${linkTo([namespace, "jobs", name, "why"], { at: run.dueAt })}>Why?</a>` : null}</div></div>`;
}

function sentenceOf(run, zone) {
  const attempts = counted(run.attempts, "attempt");
  const late = run.latenessMs === null ? "" : ` It began ${lateness(run.latenessMs)} after its due time.`;
  return {
    scheduled: html`It is due <${When} at=${run.dueAt} zone=${zone} isDue />.`,
    enqueued: "It is due and on its way.",
    waiting: run.reason ? null : "It waits.",
    claimed: `Attempt ${run.attempts} is under way.${late}`,
    running: run.heartbeatBy ? html`The consumer works on it. Its next callback is due <${When} at=${run.heartbeatBy} zone=${zone} isDue />, and the run must be over
      by <${When} at=${run.runUntil} zone=${zone} isDue />.` : "The consumer works on it.",
    retrying: html`Attempt ${run.attempts} failed${run.lastFailure ? `: ${run.lastFailure.reason}` : "."}${run.nextAttemptAt ? html` Attempt ${run.attempts + 1} is due <${When} at=${run.nextAttemptAt} zone=${zone} isDue />.` : null}`,
    succeeded: `It succeeded ${run.attempts > 1 ? `with attempt ${run.attempts}` : "at once"}.${late}`,
    failed: `It was given up after ${attempts}.`,
    skipped: run.count ? html`It stands for ${counted(run.count, "due time")} that ${run.count === 1 ? "was" : "were"} skipped, up to <${When} at=${run.lastDueAt} zone=${zone} />.` : "It was skipped.",
    cancelled: `It was cancelled after ${attempts}.`,
  }[run.state];
}

/** What was sent, as far as the job says so now. */
function Request({ run, job, zone }) {
  const isLater = job && run.startedAt && job.updatedAt > run.startedAt;
  return html`<section aria-labelledby="request-title"><h2 id="request-title">Request</h2>${job ? html`
    <pre tabindex="0" role="region" aria-label="What was sent"><code>${requestText(job, run)}</code></pre>
    <p class="soft small">As the job is now, without the signature.${isLater ? html` The job was changed <${When} at=${job.updatedAt} zone=${zone} />,
      after this run began, so the run may have sent something else.` : null}${/^(manual|chained)-/.test(run.id) ? " A run on demand may have had data of its own." : null}</p>`
    : html`<p class="soft">The job is deleted, and a run does not keep what was sent.</p>`}</section>`;
}

/** What the consumer answered at last, and what it gave as the result. */
function LastAnswer({ run }) {
  const failure = run.state === "succeeded" && run.lastFailure;
  return html`<section aria-labelledby="answer-title"><h2 id="answer-title">Answer ${run.responseCode === null ? null : html`<code>${run.responseCode}</code>`}</h2>
    ${run.answer ? html`<pre tabindex="0" role="region" aria-label="Last answer"><code>${indented(run.answer)}</code></pre>`
      : html`<p class="soft">${run.attempts === 0 ? "Nothing was sent yet." : "No body."}</p>`}
    ${failure ? html`<p class="small">Attempt ${failure.attempt} failed: ${failure.reason}</p>` : null}
    ${run.result !== undefined ? html`<h3>Result</h3><pre tabindex="0" role="region" aria-label="Result"><code>${writeJson(run.result)}</code></pre>` : null}</section>`;
}

/** A text that is whole JSON, line by line. Another one stays as it is. */
function indented(text) {
  const { value, mistake } = typedJson(text);
  return mistake ? text : writeJson(value);
}

function factsOfRun(run) {
  return [
    ["Trigger id", html`<code class="long">${run.triggerId}</code>`],
    ["Trace id", run.traceparent && html`<code class="long">${run.traceparent.split("-")[1]}</code>`],
  ];
}

function Repeat({ run, job }) {
  const text = job && curlOf(job, run);
  if (!text) return null;
  return html`<section><h2>Repeat the request by hand</h2>
    <p class="soft">A consumer that checks signatures refuses it.</p>
    <${Command} text=${text} label="A curl command" /></section>`;
}
