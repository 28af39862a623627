// The last hour: what deliveries counted in each minute, and what can be shown where they do not count.

import { html } from "./vendor/preact.js";
import { get, inNamespace, throughPages } from "./api.js";
import { Chart } from "./chart.js";
import { Empty, Loaded } from "./parts.js";
import { count, lateness, stackNow } from "./time.js";

const MINUTES = 60;
const MINUTE_MS = 60_000;

/** A delivery is late if it begins more than so many milliseconds after its due time. */
export const LATE_MS = 1_000;

/** What came of attempts: the fields of a minute, their tone and their word, from the bottom up. */
const PARTS_OF_MINUTE = [
  [["failed", "faults"], "bad", "failed"],
  [["retrying"], "warn", "to be tried again"],
  [["succeeded", "running"], "good", "delivered"],
  [["skipped"], "still", "skipped"],
];

/** `hour` are the minutes of a stack that counts. `failing` are the newest runs that failed or are tried again. */
export function Lately({ me, hour, failing }) {
  return html`<section aria-labelledby="lately-title"><h2 id="lately-title" tabindex="-1">The last hour</h2>
    ${me.stats ? html`<${Loaded} live=${hour} what="the last hour" show=${(minutes) => (minutes.every((each) => attemptsOf(each) === 0)
      ? html`<${Empty} title="Nothing was delivered in the last hour." />`
      : html`<${Outcomes} minutes=${minutes} /><${Lateness} minutes=${minutes} />`)} />` : html`<${NotCounted} failing=${failing} />`}</section>`;
}

/** Without counts there are only the runs that the screen has read. */
function NotCounted({ failing }) {
  const known = failing ? [...failing.failed.items, ...failing.retrying.items].map((run) => run.latenessMs).filter((each) => each !== null) : [];
  return html`<p>This stack does not count what it delivers. Set its parameter <code>Stats</code> to <code>on</code> to see here how late
    triggers were, and what came of them in each minute. Each job shows how late its own runs were.</p>
    ${known.length ? html`<p class="soft">Of the runs of the last day that failed or are tried again, the newest ${count(known.length)} began at most
      ${" "}${lateness(Math.max(...known.map(Number)))} late.</p>` : null}`;
}

/** The minutes up to this one, oldest first. One without counts has only its instant. */
export async function lastHour(namespace) {
  const now = Math.floor(stackNow() / MINUTE_MS) * MINUTE_MS;
  const since = now - (MINUTES - 1) * MINUTE_MS;
  const query = { from: new Date(since).toISOString(), to: new Date(now + MINUTE_MS).toISOString(), step: "1m" };
  const minutes = Array.from({ length: MINUTES }, (_, at) => ({ at: new Date(since + at * MINUTE_MS).toISOString() }));
  await throughPages((cursor) => get(inNamespace(namespace, "stats"), { ...query, cursor }), (found) => {
    for (const each of found.steps) minutes[(Date.parse(each.at) - since) / MINUTE_MS] = each;
  });
  return minutes;
}

const partOf = (minute, fields) => fields.reduce((sum, field) => sum + Number(minute[field] || 0), 0);
const attemptsOf = (minute) => PARTS_OF_MINUTE.reduce((sum, [fields]) => sum + partOf(minute, fields), 0);

/** First attempts by the bound of their lateness, of all minutes together. */
function classesOf(minutes) {
  const classes = new Map();
  for (const { atMostMs, attempts } of minutes.flatMap((each) => each.lateness || [])) {
    classes.set(Number(atMostMs), (classes.get(Number(atMostMs)) || 0) + Number(attempts));
  }
  return classes;
}

const sumOf = (numbers) => [...numbers].reduce((sum, each) => sum + each, 0);

/** How many first attempts a minute had that began late. */
const lateIn = (minute) => sumOf((minute.lateness || []).filter((each) => each.atMostMs > LATE_MS).map((each) => Number(each.attempts)));

/** The late deliveries of the minutes: their number, of how many, the bound of the worst, and how many in each minute. */
export function lateOf(minutes) {
  const classes = classesOf(minutes);
  const each = minutes.map(lateIn);
  return { late: sumOf(each), of: sumOf(classes.values()), worst: classes.size ? Math.max(...classes.keys()) : null, each };
}

function Outcomes({ minutes }) {
  const series = PARTS_OF_MINUTE.map(([fields, tone, name]) => ({ name, tone, kind: "bars", values: minutes.map((each) => partOf(each, fields)) }));
  const shown = series.filter(({ name, values }) => name === "delivered" || values.some(Boolean));
  const most = Math.max(...minutes.map(attemptsOf));
  return html`<${Chart} title="What came of the deliveries of the last hour?" unit="deliveries" axis="deliveries in each minute" x=${minutes.map((each) => each.at)} series=${shown}
    answer=${`${shown.map(({ name, values }) => `${count(sumOf(values))} ${name}`).join(", ")}. The fullest minute had ${count(most)}.`} />`;
}

function Lateness({ minutes }) {
  const classes = classesOf(minutes);
  if (!classes.size) return null;
  const { late, of } = lateOf(minutes);
  const line = (name, field, tone) => ({ name, tone, kind: "line", values: minutes.map((each) => each[field] ?? null) });
  const share = late ? `${count(late)} of ${count(of)} began more than a second late` : `All ${count(of)} began within a second`;
  return html`<${Chart} title="How late did deliveries begin in the last hour?" unit="ms" axis="time after the due time" isLog=${true} limit=${{ value: LATE_MS, text: "late above 1 s" }}
    x=${minutes.map((each) => each.at)} series=${[line("half of them within", "p50Ms", "busy"), line("99 of 100 within", "p99Ms", "warn")]}
    answer=${`${share}: half within ${lateness(boundOf(classes, 0.5))}, 99 of 100 within ${lateness(boundOf(classes, 0.99))}. The figures are bounds, too high by up to two thirds.`} />`;
}

/** The bound within which such a share of all attempts began. */
function boundOf(classes, share) {
  let left = Math.ceil(sumOf(classes.values()) * share);
  for (const bound of [...classes.keys()].sort((one, other) => one - other)) {
    left -= classes.get(bound);
    if (left <= 0) return bound;
  }
  return null;
}
