// One run: what was sent, what came back, how late it was, and what an operator does with it.

import { html, useState } from "./vendor/preact.js";
import { may } from "./access.js";
import { call, get, inNamespace } from "./api.js";
import { curlOf } from "./curl.js";
import { writeJson } from "./exact.js";
import { useLive } from "./live.js";
import { Ask, Command, Facts, Loaded, StateMark, When } from "./parts.js";
import { linkTo } from "./route.js";
import { lateness } from "./time.js";

const REDRIVABLE = new Set(["failed"]);
const CANCELLABLE = new Set(["running", "retrying"]);

export function Run({ me, namespace, name, id }) {
  const path = inNamespace(namespace, "jobs", name, "runs", id);
  const [asked, setAsked] = useState(null);
  const [told, setTold] = useState("");
  const live = useLive(async () => {
    const run = await get(path);
    const job = await get(inNamespace(namespace, "jobs", name)).catch(() => null); // a run outlives its job
    return { run, job };
  }, path);
  const redrive = async () => {
    const { value } = await call("POST", `${path}/redrive`);
    setTold(`Attempt ${value.attempt} is on its way.`);
  };
  const close = () => {
    setAsked(null);
    live.reload();
  };
  return html`<p class="trail"><a href=${linkTo([namespace, "jobs"])}>Jobs</a> / <a href=${linkTo([namespace, "jobs", name])}>${name}</a></p>
    <${Loaded} live=${live} what="the run" show=${({ run, job }) => html`
      <div class="head"><h1>Run <span class="mono">${run.id}</span></h1><${StateMark} state=${run.state} />
        ${may(me, "write") ? html`<div class="verbs">
          ${REDRIVABLE.has(run.state) ? html`<button type="button" class="main" onClick=${() => setAsked("redrive")}>Redrive</button>` : null}
          ${CANCELLABLE.has(run.state) ? html`<button type="button" class="danger" onClick=${() => setAsked("cancel")}>Cancel the run</button>` : null}</div>` : null}</div>
      ${told ? html`<p class="told" role="status">${told}</p>` : null}
      ${run.reason ? html`<p class="note">${run.reason}</p>` : null}
      <${Facts} rows=${factsOfRun(run, job)} />
      ${run.answer ? html`<section><h2>Last answer</h2><pre tabindex="0" role="region" aria-label="Last answer"><code>${run.answer}</code></pre></section>` : null}
      ${run.result !== undefined ? html`<section><h2>Result</h2><pre tabindex="0" role="region" aria-label="Result"><code>${writeJson(run.result)}</code></pre></section>` : null}
      <${Repeat} run=${run} job=${job} />
      ${asked === "redrive" ? html`<${Ask} title="Redrive this run?" verb="Redrive" deed=${redrive} onClose=${close}>
        <p>Sweephand tries it again at once, under the same trigger id.</p><//>` : null}
      ${asked === "cancel" ? html`<${Ask} title="Cancel this run?" verb="Cancel the run" danger=${true} deed=${() => call("POST", `${path}/cancel`)} onClose=${close}>
        <p>No further attempt of it begins.</p><//>` : null}`} />`;
}

function factsOfRun(run, job) {
  const zone = job?.timezone;
  const at = (instant) => instant && html`<${When} at=${instant} zone=${zone} />`;
  const failure = run.lastFailure;
  return [
    ["Due", at(run.dueAt)],
    ["Started", at(run.startedAt)],
    ["Lateness", run.latenessMs === null ? null : lateness(run.latenessMs)],
    ["Ended", at(run.endedAt)],
    ["Attempts", String(run.attempts)],
    ["Next attempt", at(run.nextAttemptAt)],
    ["Heartbeat by", at(run.heartbeatBy)],
    ["Must end by", at(run.runUntil)],
    ["Waits for policy", run.policy],
    ["Response code", run.responseCode === null ? null : String(run.responseCode)],
    ["Last failure", failure && `Attempt ${failure.attempt}: ${failure.reason}`],
    ["Stands for", run.count ? html`<span>${run.count} due times, up to ${at(run.lastDueAt)}</span>` : null],
    ["Trigger id", html`<code class="long">${run.triggerId}</code>`],
    ["Trace id", run.traceparent && html`<code class="long">${run.traceparent.split("-")[1]}</code>`],
  ];
}

function Repeat({ run, job }) {
  const text = job && curlOf(job, run);
  if (!text) return null;
  return html`<section><h2>Repeat the request by hand</h2>
    <p class="soft">This is the request of the job as it is now, without its signature. A consumer that checks signatures refuses it.</p>
    <${Command} text=${text} label="A curl command" /></section>`;
}
