// The first screen of a namespace: four numbers, then what fails, which jobs are next, what waits and is paused, the last hour, and the next day.

import { html, useState } from "./vendor/preact.js";
import { call, get, getSome, inNamespace, pathOf, throughPages } from "./api.js";
import { Chart, Spark } from "./chart.js";
import { failedByAnswer, groupsOf, runsOf } from "./failures.js";
import { FirstJob } from "./first_job.js";
import { JobTable } from "./job_table.js";
import { lastHour, lateOf, Lately } from "./last_hour.js";
import { useLive } from "./live.js";
import { Empty, Loaded, Table, When } from "./parts.js";
import { POLICIES_SHOWN, Waiting, policyLimits, wholePolicies } from "./policies.js";
import { jobLink, leadTo, linkTo } from "./route.js";
import { atLeast, count, counted, countPlus, fromNow, inZone, lateness, stackNow, viewerZone } from "./time.js";

const HOUR_MS = 3_600_000;
const HOURS = 24;

/** A call counts between a few dozen jobs and 1,000. Beyond so many jobs the forecast is shown as partial. */
const FORECAST_JOBS_MAX = 10_000;

/** A forecast reads all jobs, and what it says of the next day hardly changes in a minute. */
const FORECAST_REFRESH_MS = 60_000;

/** The jobs among which a call looks for paused ones. */
const LOOKED_AT = 1_000;

/** How many jobs are shown, and among how many the next ones are looked for. The newest runs of each of the latter are read. */
const JOBS_SHOWN = 8;
const JOBS_READ = 50;

export function Overview({ me, namespace }) {
  const [part, setPart] = useState(null);
  const forecast = useLive(() => nextDay(namespace, setPart), `forecast ${namespace}`, FORECAST_REFRESH_MS);
  const paused = useLive(() => getSome(inNamespace(namespace, "jobs"), { state: "paused" }, { calls: 1 }), `paused ${namespace}`);
  const failing = useLive(() => lastDay(namespace), `failing ${namespace}`);
  const jobs = useLive(() => getSome(inNamespace(namespace, "jobs"), { include: "health" }, { most: JOBS_READ, calls: 1 }), `jobs ${namespace}`);
  const policies = useLive(() => wholePolicies(namespace), `policies ${namespace}`);
  const hour = useLive(async () => (me.stats ? lastHour(namespace) : []), `stats ${namespace}`);
  return html`<${StackHead} title="Overview" />
    <ul class="tiles" aria-label="What needs a look">
      <${FailedTile} namespace=${namespace} live=${failing} /><${LateTile} me=${me} namespace=${namespace} live=${hour} />
      <${WaitingTile} namespace=${namespace} live=${policies} /><${PausedTile} namespace=${namespace} jobs=${paused} policies=${policies} /></ul>
    <section aria-labelledby="failing-title"><h2 id="failing-title">What failed in the last 24 hours</h2>
      <${Loaded} live=${failing} what="the failures" show=${(found) => html`<${Failing} namespace=${namespace} found=${found} />`} /></section>
    <${Loaded} live=${jobs} what="the jobs" show=${(found) => html`<${NextJobs} me=${me} namespace=${namespace} found=${found} />`} />
    <div class="columns">
      <section aria-labelledby="flow-title"><h2 id="flow-title">Flow policies</h2>
        <${Loaded} live=${policies} what="the policies" show=${(found) => html`<${Flow} namespace=${namespace} found=${found} />`} /></section>
      <section aria-labelledby="paused-title"><h2 id="paused-title">Paused jobs</h2>
        <${Loaded} live=${paused} what="the paused jobs" show=${(found) => html`<${Paused} namespace=${namespace} found=${found} />`} /></section>
    </div>
    <${Lately} me=${me} hour=${hour} failing=${failing.value} />
    <section aria-labelledby="day-title"><h2 id="day-title">The next 24 hours</h2>
      <${Loaded} live=${{ ...forecast, value: forecast.value ?? part }} what="the forecast" show=${(found) => html`<${Hours} found=${found} />`} /></section>`;
}

/** The health of the stack. A stack that does not tick answers 503, which is no failure of the call. */
async function heartbeat() {
  try {
    return (await call("GET", pathOf("health"))).value;
  } catch (problem) {
    if (problem.status !== 503) throw problem;
    return { status: "stopped", detail: problem.message };
  }
}

/** The title of an overview. Beside it stands that the stack ticks, in one small line, and below it what is wrong with the stack as a whole. */
export function StackHead({ title }) {
  const live = useLive(heartbeat, "health");
  const { status, enabled, heartbeatAgeSeconds } = live.value || {};
  return html`<div class="head"><h1>${title}</h1>${status === "ok" && enabled ? html`<p class="pulse"><strong>The stack ticks.</strong>
      <span class="soft"> Its last tick was ${counted(Math.round(Number(String(heartbeatAgeSeconds))), "second")} ago.</span></p>` : null}</div>
    <${Loaded} live=${live} what="the heartbeat" show=${(found) => html`<${StackTrouble} found=${found} />`} />`;
}

function StackTrouble({ found }) {
  if (found.status !== "ok") return html`<div class="beat is-bad" role="alert"><strong>The stack does not tick.</strong> ${found.detail}</div>`;
  if (found.enabled) return null;
  return html`<div class="beat is-warn"><strong>The stack is switched off.</strong> It keeps jobs and triggers, and delivers them later.
    Off since <${When} at=${found.offSince} />.</div>`;
}

/** A number that leads to what it counts. `value` is null while it is not known, and `tone` says how bad it is. */
export function Tile({ title, value, detail, tone, link, onClick, spark }) {
  return html`<li><a class=${`tile is-${tone}`} href=${link} onClick=${onClick}><span class="title">${title}</span>
    <strong>${value ?? "–"}</strong>${spark ? html`<${Spark} values=${spark} tone=${tone} />` : null}<span class="detail">${detail}</span></a></li>`;
}

/** What is said of a number of which nothing was found: `none`, unless there may be some. */
export const noneText = (isPartial, none) => (isPartial ? "Not all were looked at." : none);

/** What a tile shows as long as it has no number. */
const unknown = (live) => ({ tone: "calm", detail: live.problem ? "Could not be loaded." : "Counting …" });

const failuresLink = (namespace, state) => linkTo([namespace, "failures"], { state: state === "failed" ? "" : state });

function FailedTile({ namespace, live }) {
  if (!live.value) return html`<${Tile} title="Failed" link=${failuresLink(namespace, "failed")} ...${unknown(live)} />`;
  const { failed, retrying } = live.value;
  const link = failuresLink(namespace, !failed.items.length && retrying.items.length ? "retrying" : "failed");
  const jobs = new Set(failed.items.map((run) => run.job)).size;
  const more = retrying.items.length ? ` ${countPlus(retrying.items.length, retrying.isPartial)} will be tried again.` : "";
  const detail = failed.items.length ? `Runs of ${counted(jobs, "job")}, in the last 24 hours.${more}` : noneText(failed.isPartial, "No run in the last 24 hours.") + more;
  return html`<${Tile} title="Failed" link=${link} value=${countPlus(failed.items.length, failed.isPartial)} tone=${failed.items.length ? "bad" : retrying.items.length ? "warn" : "calm"}
    detail=${detail} spark=${failed.items.length ? hourly(failed.items) : null} />`;
}

/** How many runs were due in each of the last 24 hours. */
function hourly(runs) {
  const hours = Array(HOURS).fill(0);
  for (const run of runs) hours[Math.min(HOURS - 1, Math.max(0, HOURS - 1 - Math.floor((stackNow() - Date.parse(run.dueAt)) / HOUR_MS)))] += 1;
  return hours;
}

function LateTile({ me, namespace, live }) {
  const place = { title: "Late", link: linkTo([namespace, "overview"]), onClick: showLately };
  if (!me.stats) return html`<${Tile} ...${place} tone="calm" detail="This stack does not count deliveries." />`;
  if (!live.value) return html`<${Tile} ...${place} ...${unknown(live)} />`;
  const { late, of, worst, each } = lateOf(live.value);
  const detail = late ? `Of ${count(of)} in the last hour, by up to ${lateness(worst)}.` : of ? `All ${count(of)} of the last hour began within a second.` : "Nothing was delivered in the last hour.";
  return html`<${Tile} ...${place} value=${count(late)} tone=${late ? "warn" : "calm"} detail=${detail} spark=${late ? each : null} />`;
}

/** The charts are below, on the same screen. */
function showLately(event) {
  event.preventDefault();
  leadTo("lately-title");
}

function WaitingTile({ namespace, live }) {
  const link = linkTo([namespace, "policies"]);
  if (!live.value) return html`<${Tile} title="Waiting" link=${link} ...${unknown(live)} />`;
  const { items, isPartial } = live.value;
  const held = items.filter((each) => each.waiting);
  const uncounted = items.filter((each) => each.by).length;
  const isExact = !isPartial && !uncounted && items.every((each) => each.waitingIsExact);
  const total = held.reduce((sum, each) => sum + each.waiting, 0);
  const since = held.map((each) => each.waitingSince).filter(Boolean).sort()[0];
  const where = held.length === 1 ? held[0].name : `${count(held.length)} policies`;
  const keyed = uncounted ? ` ${uncounted === 1 ? "One with a limit for each key is" : `${count(uncounted)} with a limit for each key are`} not counted.` : "";
  const detail = !items.length ? "No policy limits this namespace." : `${held.length ? `Under ${where}, the first since ${fromNow(since)}.` : noneText(isPartial, "No trigger waits under a policy.")}${keyed}`;
  return html`<${Tile} title="Waiting" link=${link} value=${countPlus(total, !isExact)} tone=${held.length ? "busy" : "calm"} detail=${detail} />`;
}

function PausedTile({ namespace, jobs, policies }) {
  const link = linkTo([namespace, "jobs"], { state: "paused" });
  if (!jobs.value || !policies.value) return html`<${Tile} title="Paused" link=${link} ...${unknown(jobs.value ? policies : jobs)} />`;
  const held = policies.value.items.filter((each) => each.state !== "active");
  const names = jobs.value.items;
  const total = names.length + held.length;
  const isPartial = jobs.value.isPartial || policies.value.isPartial;
  const parts = [names.length ? counted(names.length, "job") : null, ...held.map((each) => `the policy ${each.name}${each.state === "broken" ? ", whose consumer is out" : ""}`)];
  return html`<${Tile} title="Paused" link=${names.length || !held.length ? link : linkTo([namespace, "policies"])} value=${countPlus(total, isPartial)}
    tone=${total ? "warn" : "calm"} detail=${total ? `${parts.filter(Boolean).slice(0, 3).join(", ")}.` : noneText(isPartial, "No job and no policy.")} />`;
}

/**
 * How many triggers fall due in each hour, from the beginning of this hour on. Many jobs take several calls:
 * `onPart` gets what the calls up to now have counted.
 */
async function nextDay(namespace, onPart) {
  const now = stackNow();
  const since = new Date(Math.ceil((now - HOUR_MS + 1) / HOUR_MS) * HOUR_MS);
  const query = { from: since.toISOString(), to: new Date(since.getTime() + HOURS * HOUR_MS).toISOString(), bucket: "1h" };
  const hours = Array.from({ length: HOURS }, (_, at) => ({ at: new Date(since.getTime() + at * HOUR_MS).toISOString(), triggers: 0 }));
  let [jobs, paused] = [0, 0];
  const left = await throughPages((cursor) => get(inNamespace(namespace, "forecast"), { ...query, cursor }), (found) => {
    for (const each of found.buckets) hours[Math.floor((Date.parse(each.at) - since.getTime()) / HOUR_MS)].triggers += Number(String(each.triggers));
    jobs += found.jobs;
    paused += found.paused;
    if (found.nextCursor) onPart({ hours: hours.map((each) => ({ ...each })), jobs, paused, isCounting: true });
    return jobs + paused >= FORECAST_JOBS_MAX;
  });
  return { hours, jobs, paused, isPartial: Boolean(left) };
}

/** What falls due in each hour, and in words how sure that is. */
function Hours({ found: { hours, jobs, paused, isPartial, isCounting } }) {
  const triggers = hours.map((each) => each.triggers);
  const fullest = triggers.indexOf(Math.max(...triggers));
  const scope = `${counted(jobs, "job")}${paused ? `, and ${count(paused)} paused` : ""}`;
  const rest = isPartial ? " There are more jobs than were counted." : isCounting ? " More jobs are being counted." : "";
  const answer = `${counted(triggers.reduce((sum, each) => sum + each, 0), "trigger")} of ${scope}.${rest}`;
  if (!triggers[fullest]) return html`<p>${answer}</p>`;
  const begins = inZone(hours[fullest].at, viewerZone()).split(" ").pop().slice(0, 5);
  return html`<${Chart} title="How much falls due in the next 24 hours?" unit="triggers" axis="triggers in each hour" x=${hours.map((each) => each.at)}
    series=${[{ name: "triggers", values: triggers, kind: "bars", tone: "busy" }]} answer=${`${answer} The fullest hour begins at ${begins}, with ${count(triggers[fullest])}.`} />`;
}

/** The newest runs that were due in the last day and failed, or are tried again. One request for each state. */
async function lastDay(namespace) {
  const [failed, retrying] = await Promise.all([runsOf(namespace, "failed", 1, 1), runsOf(namespace, "retrying", 1, 1)]);
  return { failed, retrying };
}

const ANSWERS_SHOWN = 5;
const JOBS_OF_AN_ANSWER = 3;

/** How many failed and are tried again, each with its link, and the former by their answers: one cause fails many jobs. */
function Failing({ namespace, found: { failed, retrying } }) {
  if (!failed.items.length && !retrying.items.length) return html`<p class="soft">${noneText(failed.isPartial || retrying.isPartial, "No run has failed.")}</p>`;
  const number = (state, { items, isPartial }, words) => {
    const text = `${atLeast(items.length, isPartial)} ${words}`;
    return items.length ? html`<a href=${failuresLink(namespace, state)}>${text}</a>` : text;
  };
  const answers = failedByAnswer(namespace, failed.items).slice(0, ANSWERS_SHOWN).map(([answer, runs, link]) => [answer, runs, link, groupsOf(runs, (run) => run.job)]);
  return html`<p>${number("failed", failed, "failed")}, and ${number("retrying", retrying, "will be tried again")}.</p>
    ${answers.length ? html`<${Table} label="Runs that failed, by their answer" head=${["Job", "Failed", "Last due"]} isGrouped>${answers.map(([answer, runs, link, jobs]) => html`<tbody key=${answer}>
      <tr class="part"><th scope="rowgroup" colspan="3"><a href=${link}>${answer}</a> <span class="soft">${counted(runs.length, "run")} of ${counted(jobs.length, "job")}</span></th></tr>
      ${jobs.slice(0, JOBS_OF_AN_ANSWER).map(([job, [last, ...older]]) => html`<tr key=${job}>
        <td class="name"><a href=${jobLink(namespace, job)}>${job}</a></td><td class="number">${count(older.length + 1)}</td><td><${When} at=${last.dueAt} /></td></tr>`)}</tbody>`)}<//>` : null}`;
}

/** When a job fires next, in ms. One that does not stands behind all others. */
const dueOf = (job) => (job.state === "active" && job.nextRun ? Date.parse(job.nextRun) : Number.MAX_VALUE);

function NextJobs({ me, namespace, found: { items, isPartial } }) {
  if (!items.length && !isPartial) return html`<${FirstJob} me=${me} namespace=${namespace} />`;
  const next = [...items].sort((one, other) => dueOf(one) - dueOf(other)).slice(0, JOBS_SHOWN);
  return html`<section aria-labelledby="jobs-title"><div class="head"><h2 id="jobs-title">Jobs, the next first</h2><a href=${linkTo([namespace, "jobs"])}>All jobs</a></div>
    <${JobTable} namespace=${namespace} groups=${[["", next]]} isShort />
    ${isPartial ? html`<p>These are the next of the first ${count(items.length)} jobs by name.</p>` : null}</section>`;
}

function Paused({ namespace, found: { items: jobs, isPartial } }) {
  const all = html`<a href=${linkTo([namespace, "jobs"], { state: "paused" })}>All paused jobs</a>`;
  const looked = `the first ${count(LOOKED_AT)} jobs by name`;
  if (!jobs.length && !isPartial) return html`<p class="soft">No job is paused.</p>`;
  if (!jobs.length) return html`<${Empty} title=${`None of ${looked} is paused.`}><p>Others may be. ${all}</p><//>`;
  return html`<${Table} label="Paused jobs" head=${["Name", "Paused", "Until", "Reason"]}>${jobs.slice(0, 10).map((job) => html`<tr key=${job.name}>
      <td class="name"><a href=${jobLink(namespace, job.name)}>${job.name}</a></td><td><${When} at=${job.pausedAt} /></td>
      <td><${When} at=${job.pausedUntil} /></td>
      <td class="answer">${job.pauseReason || html`<span class="soft">–</span>`}</td></tr>`)}<//>
    ${isPartial ? html`<p>These are among ${looked}. Others may be paused too. ${all}</p>` : jobs.length > 10 ? html`<p>${all}</p>` : null}`;
}

function Flow({ namespace, found: { items: policies, isPartial } }) {
  if (!policies.length) return html`<p class="soft">No flow policies.</p>`;
  const waiting = [...policies].sort((one, other) => (other.waiting ?? 0) - (one.waiting ?? 0)).slice(0, 10);
  return html`<${Table} label="Flow policies" head=${["Name", "Waiting", "Waiting since"]}>${waiting.map((policy) => html`<tr key=${policy.name}>
      <td class="name"><a href=${linkTo([namespace, "policies", policy.name])}>${policy.name}</a><span class="under">${policyLimits(policy)}${policy.state === "active" ? "" : `, ${policy.state}`}</span></td>
      <td class="number"><${Waiting} policy=${policy} /></td><td><${When} at=${policy.waitingSince} /></td></tr>`)}<//>
    ${isPartial ? html`<p>These are among the first ${count(POLICIES_SHOWN)} policies by name. Triggers may wait under others too. <a href=${linkTo([namespace, "policies"])}>Show the policies</a></p>` : null}`;
}
