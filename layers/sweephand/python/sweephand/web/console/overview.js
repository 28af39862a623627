// The first screen of a namespace: four numbers, then what fails, what waits and is paused, the last hour, and the next day.

import { html, useState } from "./vendor/preact.js";
import { call, get, getSome, inNamespace, pathOf, throughPages } from "./api.js";
import { Chart, Spark } from "./chart.js";
import { groupsOf, runsOf } from "./failures.js";
import { lastHour, lateOf, Lately } from "./last_hour.js";
import { useLive } from "./live.js";
import { Empty, Loaded, Table, When } from "./parts.js";
import { POLICIES_SHOWN, Waiting, policyLimits, wholePolicies } from "./policies.js";
import { jobLink, leadTo, linkTo } from "./route.js";
import { answerText } from "./runs.js";
import { atLeast, count, counted, countPlus, fromNow, inZone, lateness, stackNow, viewerZone } from "./time.js";

const HOUR_MS = 3_600_000;
const HOURS = 24;

/** A call counts between a few dozen jobs and 1,000. Beyond so many jobs the forecast is shown as partial. */
const FORECAST_JOBS_MAX = 10_000;

/** A forecast reads all jobs, and what it says of the next day hardly changes in a minute. */
const FORECAST_REFRESH_MS = 60_000;

/** The jobs among which a call looks for paused ones. */
const LOOKED_AT = 1_000;

export function Overview({ me, namespace }) {
  const health = useLive(heartbeat, "health");
  const [part, setPart] = useState(null);
  const forecast = useLive(() => nextDay(namespace, setPart), `forecast ${namespace}`, FORECAST_REFRESH_MS);
  const paused = useLive(() => getSome(inNamespace(namespace, "jobs"), { state: "paused" }, { calls: 1 }), `paused ${namespace}`);
  const failing = useLive(() => lastDay(namespace), `failing ${namespace}`);
  const policies = useLive(() => wholePolicies(namespace), `policies ${namespace}`);
  const hour = useLive(async () => (me.stats ? lastHour(namespace) : []), `stats ${namespace}`);
  return html`<div class="head"><h1>Overview</h1>${health.value?.status === "ok" && health.value.enabled ? html`<${Beat} found=${health.value} />` : null}</div>
    <${Loaded} live=${health} what="the heartbeat" show=${(found) => html`<${StackTrouble} found=${found} />`} />
    <ul class="tiles" aria-label="What needs a look">
      <${FailedTile} namespace=${namespace} live=${failing} /><${LateTile} me=${me} namespace=${namespace} live=${hour} />
      <${WaitingTile} namespace=${namespace} live=${policies} /><${PausedTile} namespace=${namespace} jobs=${paused} policies=${policies} /></ul>
    <section aria-labelledby="failing-title"><h2 id="failing-title">What failed in the last 24 hours</h2>
      <${Loaded} live=${failing} what="the failures" show=${(found) => html`<${Failing} namespace=${namespace} found=${found} />`} /></section>
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
export async function heartbeat() {
  try {
    return (await call("GET", pathOf("health"))).value;
  } catch (problem) {
    if (problem.status !== 503) throw problem;
    return { status: "stopped", detail: problem.message };
  }
}

/** That the stack ticks, in one small line. */
export function Beat({ found }) {
  const age = Math.round(Number(String(found.heartbeatAgeSeconds)));
  return html`<p class="pulse"><strong>The stack ticks.</strong> <span class="soft">Its last tick was ${counted(age, "second")} ago.</span></p>`;
}

/** What is wrong with the stack as a whole, above all else. */
export function StackTrouble({ found }) {
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

/** What a tile shows as long as it has no number. */
const unknown = (live) => ({ tone: "calm", detail: live.problem ? "Could not be loaded." : "Counting …" });

function FailedTile({ namespace, live }) {
  const link = linkTo([namespace, "failures"]);
  if (!live.value) return html`<${Tile} title="Failed" link=${link} ...${unknown(live)} />`;
  const { failed, retrying } = live.value;
  const jobs = new Set(failed.items.map((run) => run.job)).size;
  const more = retrying.items.length ? ` ${countPlus(retrying.items.length, retrying.isPartial)} will be tried again.` : "";
  const detail = failed.items.length ? `Runs of ${counted(jobs, "job")}, in the last 24 hours.${more}` : `No run in the last 24 hours.${more}`;
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
  const detail = !items.length ? "No policy limits this namespace." : `${held.length ? `Under ${where}, the first since ${fromNow(since)}.` : "No trigger waits under a policy."}${keyed}`;
  return html`<${Tile} title="Waiting" link=${link} value=${countPlus(total, !isExact)} tone=${held.length ? "busy" : "calm"} detail=${detail} />`;
}

function PausedTile({ namespace, jobs, policies }) {
  const link = linkTo([namespace, "jobs"], { state: "paused" });
  if (!jobs.value || !policies.value) return html`<${Tile} title="Paused" link=${link} ...${unknown(jobs.value ? policies : jobs)} />`;
  const held = policies.value.items.filter((each) => each.state !== "active");
  const names = jobs.value.items;
  const total = names.length + held.length;
  const parts = [names.length ? counted(names.length, "job") : null, ...held.map((each) => `the policy ${each.name}${each.state === "broken" ? ", whose consumer is out" : ""}`)];
  return html`<${Tile} title="Paused" link=${names.length || !held.length ? link : linkTo([namespace, "policies"])} value=${countPlus(total, jobs.value.isPartial || policies.value.isPartial)}
    tone=${total ? "warn" : "calm"} detail=${total ? `${parts.filter(Boolean).slice(0, 3).join(", ")}.` : "No job and no policy."} />`;
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

function Failing({ namespace, found: { failed, retrying } }) {
  const said = (runs) => atLeast(runs.items.length, runs.isPartial);
  if (!failed.items.length && !retrying.items.length) return html`<p class="soft">No run has failed.</p>`;
  const groups = groupsOf(failed.items, (run) => run.job).slice(0, 5);
  return html`<p><a href=${linkTo([namespace, "failures"])}>${said(failed)} failed</a>, and ${said(retrying)} will be tried again.</p>
    ${groups.length ? html`<${Table} label="Jobs whose runs failed" head=${["Job", "Failed", "Last due", "Last answer"]}>${groups.map(([job, [last, ...older]]) => html`<tr key=${job}>
      <td class="name"><a href=${jobLink(namespace, job)}>${job}</a></td><td class="number">${count(older.length + 1)}</td>
      <td><${When} at=${last.dueAt} /></td><td class="answer">${answerText(last)}</td></tr>`)}<//>` : null}`;
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
