// One job: what it is, what came of its runs, when it fires next, and what was changed of it.

import { html, useRef, useState } from "./vendor/preact.js";
import { may } from "./access.js";
import { get, inNamespace } from "./api.js";
import { Batches } from "./batches.js";
import { Changes } from "./changes.js";
import { Fires } from "./due_times.js";
import { Deed, Told, Verbs } from "./job_deeds.js";
import { scheduleText } from "./job_table.js";
import { writeJson } from "./json.js";
import { useLive } from "./live.js";
import { Empty, Facts, Loaded, StateMark, Trail, When } from "./parts.js";
import { linkTo, runLink } from "./route.js";
import { Runs } from "./runs.js";
import { useZone } from "./zone.js";
import { stackNow } from "./time.js";

export function Job({ me, namespace, name, query }) {
  const path = inNamespace(namespace, "jobs", name);
  const [version, setVersion] = useState(0);
  const [asked, setAsked] = useState(null);
  const [told, setTold] = useState(null);
  const readAll = useJobReader(path);
  const live = useLive(readAll, path);
  const { zone, choice } = useZone(live.value?.job);
  const close = (answer) => {
    setAsked(null);
    if (!answer) return;
    setTold(answer);
    setVersion(version + 1);
    live.reload();
  };
  return html`<${Trail} namespace=${namespace} screen="jobs" title="Jobs">${live.value ? choice : null}<//>
    <${Loaded} live=${live} what="the job" show=${({ job, fires, changes }) => html`
      <div class="head"><h1 class="mono">${job.name}</h1><${StateMark} state=${job.state} />
        ${may(me, "write") ? html`<${Verbs} job=${job} onAsk=${setAsked} />` : null}</div>
      ${told ? html`<${Told} namespace=${namespace} name=${name} answer=${told} />` : null}
      ${job.description ? html`<p>${job.description}</p>` : null}
      <${Notes} job=${job} zone=${zone} />
      <${Facts} rows=${factsOf(namespace, job, fires, zone)} />
      ${job.batch ? html`<${Batches} namespace=${namespace} job=${{ ...job, timezone: zone }} version=${version} />` : null}
      <${Runs} me=${me} namespace=${namespace} job=${job} zone=${zone} state=${query.get("state") || ""} version=${version} />
      <section aria-labelledby="fires-title"><h2 id="fires-title">Next due times</h2>
        <${DueTimes} job=${job} fires=${fires} zone=${zone} /></section>
      <section aria-labelledby="changes-title"><h2 id="changes-title">Changes</h2><${Changes} changes=${changes} zone=${zone} /></section>
      <section><h2>Definition</h2><pre tabindex="0" role="region" aria-label="Definition"><code>${writeJson(definitionOf(job))}</code></pre></section>
      ${asked ? html`<${Deed} verb=${asked} job=${job} onClose=${close} namespace=${namespace} />` : null}`} />`;
}

/** A calendar may be changed without a change of its job. So due times are read again after so long in any case. */
const DUE_TIMES_KEPT_MS = 300_000;

/**
 * A function that reads a job with its due times and its changes. It reads the due times again once one has
 * passed or the job has another next one, and the changes again once the job was changed.
 */
function useJobReader(path) {
  const kept = useRef({});
  return async () => {
    const job = await get(path);
    const { updatedAt, nextRun, firstAt, readAt } = kept.current;
    const isChanged = updatedAt !== job.updatedAt;
    const now = stackNow();
    const hasMoved = isChanged || nextRun !== job.nextRun || Date.parse(firstAt) <= now || now - readAt > DUE_TIMES_KEPT_MS;
    const [fires, changes] = await Promise.all([
      job.onDemand ? null : hasMoved ? get(`${path}/occurrences`, { limit: 10 }) : kept.current.fires,
      isChanged ? get(`${path}/changes`, { limit: 10 }).then((page) => page.items) : kept.current.changes,
    ]);
    kept.current = { updatedAt: job.updatedAt, nextRun: job.nextRun, firstAt: fires?.occurrences[0]?.utc, readAt: hasMoved ? now : readAt, fires, changes };
    return { job, fires, changes };
  };
}

/** What is unusual about a job, above all else. */
export function Notes({ job, zone }) {
  const blocks = {
    paused: `Its policy ${job.policy} is paused, so its triggers wait. Resume that policy, or give the job another one.`,
    broken: `The consumer of its policy ${job.policy} is out of order, so its triggers wait. They go on when a probe gets an answer.`,
    missing: `There is no policy ${job.policy}, so its triggers wait. Write that policy again, or give the job another one.`,
    off: "Flow policies are off in this stack, so the triggers of this job wait.",
  };
  return [
    job.state === "paused" ? html`<p class="note">Paused <${When} at=${job.pausedAt} zone=${zone} />${job.pausedUntil
      ? html`, until <${When} at=${job.pausedUntil} zone=${zone} isDue />` : ""}${job.pauseReason ? `: ${job.pauseReason}` : ""}</p>` : null,
    job.policyBlock ? html`<p class="note">${blocks[job.policyBlock]} <a class="button" href=${linkTo([job.namespace, "policies", job.policy])}>Open the policy</a></p>` : null,
  ];
}

/** The next due times. Of a paused job they would be those. */
function DueTimes({ job, fires, zone }) {
  if (job.onDemand) return html`<${Empty} title="This job fires only on demand." />`;
  if (!fires.occurrences.length) return html`<${Empty} title="The series has ended." />`;
  const until = job.pausedUntil ? html`until the pause ends, <${When} at=${job.pausedUntil} zone=${zone} isDue />` : "while the job is paused";
  return html`${job.state === "paused" ? html`<p><strong>None fires ${until}:</strong> these would be its due times.</p>` : null}
    <${Fires} found=${fires} zone=${job.timezone} pause=${job.state === "paused" ? { until: job.pausedUntil } : null} />`;
}

function factsOf(namespace, job, fires, zone) {
  const target = job.target;
  return [
    ["Schedule", [html`<strong>${fires?.description || "Only on demand"}</strong>`, html`<span class="under"><code>${scheduleText(job)}</code> in ${job.timezone || "UTC"}</span>`]],
    ["Next run", job.state === "paused" ? "none while paused" : job.nextRun ? html`<${When} at=${job.nextRun} zone=${zone} isDue />` : "none"],
    ["Last run", job.lastRun ? html`<a href=${runLink(namespace, job.name, job.lastRun.id)}><${When} at=${job.lastRun.dueAt}
      zone=${zone} /></a> <${StateMark} state=${job.lastRun.state} />` : "none yet"],
    ["Target", [html`<code>${target.type}</code> `, html`<span class="long">${target.url || target.queueUrl || target.functionArn || target.topicArn
      || target.stateMachineArn || target.busArn || ""}</span>`]],
    ["Calendar", job.calendar && html`<a href=${linkTo([namespace, "calendars", job.calendar.name])}>${job.calendar.name}</a>`],
    ["Policy", job.policy && html`<a href=${linkTo([namespace, "policies", job.policy])}>${job.policy}</a>`],
    ["Labels", job.labels && Object.entries(job.labels).map(([name, value]) => html`<span class="label">${name}:${value}</span>`)],
    ["Owner", html`<span><code class="long">${job.owner}</code>, <${When} at=${job.createdAt} zone=${zone} /></span>`],
  ];
}

const SET_BY_THE_STACK = new Set(["namespace", "name", "rev", "state", "nextRun", "pausedAt", "pauseReason", "pausedUntil", "resumeCatchup",
  "onDemand", "createdAt", "updatedAt", "owner", "expiresAt", "lastRun", "policyBlock"]);

/** The fields of a job that its owner wrote, as a PUT takes them. */
export function definitionOf(job) {
  return Object.fromEntries(Object.entries(job).filter(([name]) => !SET_BY_THE_STACK.has(name)));
}
