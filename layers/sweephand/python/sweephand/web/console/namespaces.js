// All namespaces of a key at once: four numbers, then a line for each namespace, the sick ones first.

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { get, pathOf, throughPages } from "./api.js";
import { Spark } from "./chart.js";
import { FirstJob } from "./first_job.js";
import { useLive } from "./live.js";
import { noneText, StackHead, Tile } from "./overview.js";
import { Loaded, Table, When } from "./parts.js";
import { linkTo } from "./route.js";
import { count, counted, countPlus, fromNow, lateness } from "./time.js";

/** A namespace costs the stack some twenty reads. So a call asks for so many, and the screen for so many in all. */
const NAMESPACES_IN_A_CALL = 25;
const NAMESPACES_MAX = 200;
const NAMESPACES_REFRESH_MS = 60_000;

/** To count paused jobs, the stack reads up to 1,000 jobs of each namespace. So that is done seldom. */
const JOBS_REFRESH_MS = 600_000;

export function Everywhere({ me }) {
  const known = useRef({ at: null, paused: new Map() });
  const [part, setPart] = useState(null);
  const live = useLive(() => everyNamespace(known.current, setPart), "every namespace", NAMESPACES_REFRESH_MS);
  useEffect(() => {
    if (live.value && !live.value.hasJobs) live.reload();
  }, [live.value]);
  return html`<${StackHead} title="All namespaces" />
    <${Loaded} live=${{ ...live, value: live.value ?? part }} what="the namespaces" show=${(found) => (found.items.length ? html`
      <${Totals} found=${found} /><${NamespaceTable} items=${found.items} />` : html`<${FirstJob} me=${me} />`)} />`;
}

/**
 * The overviews of up to 200 namespaces, the sick ones first. `known` keeps how many jobs are paused, and whether
 * there may be more. That is counted again when it is ten minutes old, but not by the first load. `onPart` gets
 * what was read up to now.
 */
async function everyNamespace(known, onPart) {
  const isFirst = known.at === null;
  const include = !isFirst && Date.now() - known.at >= JOBS_REFRESH_MS ? "jobs" : "";
  known.at ??= 0;
  const items = [];
  const left = await throughPages((cursor) => get(pathOf("overview"), { limit: NAMESPACES_IN_A_CALL, include, cursor }), (found) => {
    for (const each of found.items) {
      if (each.jobs) known.paused.set(each.namespace, { pausedJobs: each.jobs.paused, hasMore: each.partial });
      items.push({ ...each, pausedJobs: null, ...known.paused.get(each.namespace) });
    }
    if (found.nextCursor && isFirst) onPart({ items: bySickness(items), hasJobs: true, isPartial: true });
    return items.length >= NAMESPACES_MAX;
  });
  if (include) known.at = Date.now();
  return { items: bySickness(items), hasJobs: known.at > 0, isPartial: Boolean(left) };
}

/** What counts as trouble, the worst first. */
const TROUBLES = [(each) => each.failingJobs, (each) => each.failed, (each) => each.retrying, (each) => each.running, (each) => each.lastHour?.late ?? 0];

/** What somebody may have wanted so. It is shown, and is no trouble. */
const HOLDS = [(each) => each.waiting, pausedIn];

function pausedIn(each) {
  return (each.pausedJobs ?? 0) + each.pausedPolicies;
}

const hasAny = (each, kinds) => kinds.some((kind) => kind(each) > 0);

function bySickness(items) {
  return [...items].sort((one, other) => {
    const kind = [...TROUBLES, ...HOLDS].find((each) => each(one) !== each(other));
    return kind ? kind(other) - kind(one) : one.namespace.localeCompare(other.namespace);
  });
}

const sumBy = (items, number) => items.reduce((sum, each) => sum + number(each), 0);

/** How many failures of all namespaces were due in each part of the time. */
const failuresOf = (items) => items[0].failuresOverTime.map((_, at) => sumBy(items, (each) => each.failuresOverTime[at]));

/** The four numbers of all namespaces. Each leads to the namespace that has most of it. */
function Totals({ found: { items, isPartial } }) {
  const tile = (title, number, screen, tone, said, { query = {}, spark = null, isLeast = false } = {}) => {
    const having = items.filter((each) => number(each) > 0).sort((one, other) => number(other) - number(one));
    const link = having.length ? linkTo([having[0].namespace, screen], query) : "#/";
    const where = having.length > 1 ? `In ${count(having.length)} namespaces, most in ${having[0].namespace}.` : `In ${having[0]?.namespace}.`;
    return html`<${Tile} title=${title} link=${link} value=${countPlus(sumBy(items, number), isLeast || isPartial)} tone=${having.length ? tone : "calm"} detail=${having.length ? where : noneText(isLeast || isPartial, said)} spark=${having.length ? spark : null} />`;
  };
  const counts = items.some((each) => each.lastHour);
  return html`<ul class="tiles" aria-label="What needs a look">
    ${tile("Failed", (each) => each.failed, "failures", "bad", "No run in the last 24 hours.", { spark: failuresOf(items), isLeast: items.some((each) => each.partial) })}
    ${counts ? tile("Late", (each) => each.lastHour?.late ?? 0, "overview", "warn", "Each delivery of the last hour began within a second.")
      : html`<${Tile} title="Late" link="#/" tone="calm" detail="This stack does not count deliveries." />`}
    ${tile("Waiting", (each) => each.waiting, "policies", "busy", "No trigger waits under a policy.", { isLeast: items.some((each) => !each.waitingIsExact) })}
    ${items.some((each) => each.pausedJobs === null) ? html`<${Tile} title="Paused" link="#/" tone="calm" detail="Counting …" />`
      : tile("Paused", pausedIn, "jobs", "warn", "No job and no policy.", { query: { state: "paused" }, isLeast: items.some((each) => each.hasMore) })}</ul>
    ${isPartial ? html`<p class="soft" role="status">${counted(items.length, "namespace")} up to now, in the order of their names.</p>` : null}`;
}

const ROWS_BEFORE_SEARCH = 8;

function NamespaceTable({ items }) {
  const [text, setText] = useState("");
  const shown = items.filter((each) => each.namespace.includes(text.trim()));
  const sick = shown.filter((each) => hasAny(each, TROUBLES)).length;
  const calm = items.some((each) => each.lastHour) ? "Nothing fails, and nothing is late" : "Nothing fails";
  return html`<section aria-labelledby="namespaces-title"><div class="head"><h2 id="namespaces-title">${sick ? `${counted(sick, "namespace")} in trouble` : calm}</h2>
      ${items.length > ROWS_BEFORE_SEARCH ? html`<label class="inline">Name contains <input type="search" value=${text} autocomplete="off" spellcheck=${false}
        onInput=${(event) => setText(event.target.value)} /></label>` : null}</div>
    <${Table} label="Namespaces" className="namespaces" head=${["Namespace", "Failing jobs", "Failed", "In retry", "No heartbeat", "Late", "Waiting", "Paused", "Failures since yesterday", "Newest failure"]}>${shown.map((each) => html`
      <${NamespaceRow} key=${each.namespace} each=${each} />`)}<//></section>`;
}

function NamespaceRow({ each }) {
  const { namespace, partial } = each;
  const number = (name, value, screen, tone, query = {}, isPartial = false, title = null) => html`<td class="number">${value === null ? html`<span class="soft">–</span>`
    : value > 0 ? html`<a class=${`figure is-${tone}`} title=${title} href=${linkTo([namespace, screen], query)}>${countPlus(value, isPartial)}</a>` : html`<span class="soft">0</span>`}</td>`;
  return html`<tr class=${hasAny(each, [...TROUBLES, ...HOLDS]) ? "" : "is-calm"}>
    <td class="name"><a href=${linkTo([namespace, "overview"])}>${namespace}</a></td>
    ${number("Failing jobs", each.failingJobs, "failures", "bad", {}, partial)}${number("Failed", each.failed, "failures", "bad", {}, partial)}${number("In retry", each.retrying, "failures", "warn", {}, partial)}
    ${number("No heartbeat", each.running, "failures", "warn", {}, partial)}
    ${number("Late", each.lastHour ? each.lastHour.late : null, "overview", "warn", {}, false, each.lastHour?.late ? `Of ${count(each.lastHour.attempts)}, by up to ${lateness(each.lastHour.maxMs)}` : null)}
    ${number("Waiting", each.waiting, "policies", "busy", {}, !each.waitingIsExact, each.waitingSince && `The first since ${fromNow(each.waitingSince)}`)}
    ${number("Paused", each.pausedJobs === null && !each.pausedPolicies ? null : pausedIn(each), each.pausedJobs ? "jobs" : "policies", "warn", each.pausedJobs ? { state: "paused" } : {}, each.hasMore)}
    <td>${each.failuresOverTime.some(Boolean) ? html`<${Spark} values=${each.failuresOverTime} tone="bad" />` : null}</td>
    <td><${When} at=${each.newestFailureAt} /></td></tr>`;
}
