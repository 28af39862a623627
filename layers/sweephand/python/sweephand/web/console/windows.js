// The windows of a namespace: when nothing is delivered, on a time line, and what each one is for.

import { html, useRef } from "./vendor/preact.js";
import { may } from "./access.js";
import { call, get, inNamespace, pathOf } from "./api.js";
import { Remove, useAsked } from "./ask.js";
import { choicesOf, labelEntries } from "./form.js";
import { useLive } from "./live.js";
import { Empty, Head, Loaded, StateMark, Table, Verb, When } from "./parts.js";
import { goTo, linkTo } from "./route.js";
import { inZone, viewerZone } from "./time.js";

/** How many days the time line can show: the words, and how many days are between two marks. */
const RANGES = { 1: ["a day", 1 / 8], 14: ["14 days", 1], 91: ["13 weeks", 7] };
const RANGE_DEFAULT = 14;
const DAY_HOURS = 24;
const HOUR_OF_LINE_MS = 3_600_000;

/** The most openings that the API shows in a call. */
const OPENINGS_MAX = 200;

export function Windows({ me, namespace, query }) {
  const days = Object.hasOwn(RANGES, query.get("days")) ? Number(query.get("days")) : RANGE_DEFAULT;
  const known = useRef(new Map());
  const live = useLive(async () => {
    const range = rangeOf(days);
    const { items } = await get(inNamespace(namespace, "windows"));
    const openings = await Promise.all(items.map((each) => openingsOf(each, range, known.current)));
    return { range, windows: items.map((each, at) => ({ ...each, openings: openings[at] })) };
  }, `windows ${namespace} ${days}`);
  const mayWrite = may(me, "write");
  const { asked, ask, close } = useAsked(live.reload);
  const remove = () => call("DELETE", inNamespace(namespace, "windows", asked.name), { over: `"${asked.rev}"` });
  return html`<${Head} title="Windows" verbs=${mayWrite && html`<a class="button main" href=${linkTo([namespace, "new-window"])}>New window</a>`} />
    <${Loaded} live=${live} what="the windows" show=${({ range, windows }) => (windows.length ? html`
      <section aria-labelledby="line-title"><div class="head"><h2 id="line-title">When they are open</h2>
        <label class="inline">Show <select value=${days} onChange=${(event) => goTo(linkTo([namespace, "windows"], { days: event.target.value }))}>
          ${choicesOf(Object.entries(RANGES).map(([each, [words]]) => [each, words]))}</select></label></div>
        <${TimeLine} range=${range} windows=${windows} /></section>
      <section aria-labelledby="windows-title"><h2 id="windows-title">All windows</h2>
      <${Table} label="Windows" head=${["Name", "When", "Opens", "Closes", "For", "What falls due in it", ...(mayWrite ? [""] : [])]}>${windows.map((each) => html`
        <tr key=${each.name}><td class="name"><strong>${each.name}</strong>${each.isOpen ? html` <${StateMark} state="open" />` : null}</td>
          <td><${WindowTimes} window=${each} /></td>
          <td>${each.opensAt ? html`<${When} at=${each.opensAt} />` : html`<span class="soft">over</span>`}</td><td><${When} at=${each.closesAt} /></td>
          <td>${jobsText(each)}</td><td>${fateText(each)}</td>
          ${mayWrite ? html`<td><div class="verbs"><a class="button" aria-label=${`Edit ${each.name}`} href=${linkTo([namespace, "windows", each.name, "edit"])}>Edit</a>
            <${Verb} title="Delete" of=${each.name} kind="danger" onClick=${() => ask(each)} /></div></td>` : null}</tr>`)}<//></section>`
      : html`<${Empty} title=${`No windows in ${namespace} yet.`}><p>A window is a time in which nothing is delivered: a freeze, or a maintenance.</p><//>`)} />
    ${asked ? html`<${Remove} name=${asked.name} deed=${remove} onClose=${close}>${asked.isOpen ? "It is open. What it holds waits until it would have closed, for a day at most." : "From then on it holds nothing."}<//>` : null}`;
}

/** When a window opens, as it was written. */
function WindowTimes({ window }) {
  if (window.from) return "once";
  return html`<code>${window.schedule}</code> for ${window.duration}<span class="under">${window.timezone || "UTC"}</span>`;
}

/** For which jobs a window is. */
function jobsText(window) {
  const parts = [window.prefix ? `names that begin with ${window.prefix}` : "", ...labelEntries(window.labels)].filter(Boolean);
  return parts.length ? parts.join(", ") : "all jobs";
}

const fateText = (window) => (window.then === "skip" ? "is skipped" : `waits, and leaves within ${window.spread} after it`);

/** Whole days of the viewer's zone, from today on. */
function rangeOf(days) {
  const begin = new Date();
  begin.setHours(0, 0, 0, 0);
  // also of a part of a day, by the clock
  const dayAt = (day) => new Date(begin.getFullYear(), begin.getMonth(), begin.getDate(), day * DAY_HOURS).getTime();
  return { days, begin: dayAt(0), end: dayAt(days), dayAt };
}

/** The times in a range at which a window is open. A recurring one takes a call, whose answer is kept in `known`. */
async function openingsOf(window, { begin, end }, known) {
  const length = Date.parse(window.closesAt) - Date.parse(window.opensAt);
  const within = (openings) => openings.filter((each) => each.closes > begin && each.opens < end);
  if (window.from) return { items: within([{ opens: Date.parse(window.from), closes: Date.parse(window.to) }]), isPartial: false };
  if (!length) return { items: [], isPartial: false };
  const key = JSON.stringify([window.name, window.rev, begin, end]);
  if (!known.has(key)) {
    const { value } = await call("POST", pathOf("occurrences"), {
      body: { schedule: window.schedule, timezone: window.timezone, after: new Date(begin - length).toISOString(), limit: OPENINGS_MAX },
    });
    const opens = value.occurrences.map(({ utc }) => Date.parse(utc));
    known.set(key, { items: within(opens.map((at) => ({ opens: at, closes: at + length }))),
      isPartial: opens.length === OPENINGS_MAX && opens[OPENINGS_MAX - 1] < end });
  }
  return known.get(key);
}

const LINE_WIDTH = 1_000;
const LINE_HEIGHT = 20;

/** A row for each window, with a bar for each time at which it is open. A line is now. */
function TimeLine({ range, windows }) {
  const place = (at) => (LINE_WIDTH * (Math.min(Math.max(at, range.begin), range.end) - range.begin)) / (range.end - range.begin);
  const now = place(Date.now());
  const step = RANGES[range.days][1];
  const marks = Array.from({ length: range.days / step }, (_, at) => at * step);
  const columns = marks.map((mark) => `minmax(0, ${(range.dayAt(mark + step) - range.dayAt(mark)) / HOUR_OF_LINE_MS}fr)`).join(" "); // a day of a clock change is shorter or longer
  const title = (mark) => (step < 1 ? `${String(mark * DAY_HOURS).padStart(2, "0")}:00` : dayTitle(range.dayAt(mark)));
  const line = (x, kind) => html`<line class=${kind} x1=${x} x2=${x} y1="0" y2=${LINE_HEIGHT} />`;
  return html`<div class="timeline"><ol class="axis" style=${{ gridTemplateColumns: columns }} aria-hidden="true">${marks.map((mark) => html`<li key=${mark}>${title(mark)}</li>`)}</ol>
    ${windows.map((each) => html`<div class="lane" key=${each.name}><span class="cut">${each.name}</span>
      <svg viewBox=${`0 0 ${LINE_WIDTH} ${LINE_HEIGHT}`} preserveAspectRatio="none" role="img" aria-label=${`${each.name}: ${openingsText(each.openings)}`}>
        ${marks.map((mark) => line(place(range.dayAt(mark)), "mark"))}
        ${each.openings.items.map(({ opens, closes }) => html`<rect class=${each.then} x=${place(opens)} width=${Math.max(2, place(closes) - place(opens))} y="3" height=${LINE_HEIGHT - 6} rx="1.5">
          <title>${spanText(opens, closes)}</title></rect>`)}
        ${line(now, "now")}</svg></div>`)}
    <p class="soft small"><span class="key is-busy">what falls due waits</span> <span class="key is-warn">what falls due is skipped</span> <span class="key is-bad">now</span>
      Times are in ${viewerZone()}.${windows.some(({ openings }) => openings.isPartial) ? ` Of each window the next ${OPENINGS_MAX} openings are shown.` : ""}</p></div>`;
}

const dayTitle = (at) => inZone(at, viewerZone()).split(" ").slice(0, 2).join(" ");

function spanText(opens, closes) {
  return `${inZone(opens, viewerZone())} to ${inZone(closes, viewerZone())}`;
}

/** What a row of the time line shows, in words. */
function openingsText({ items }) {
  if (!items.length) return "not open in this time";
  return `open ${spanText(items[0].opens, items[0].closes)}${items.length > 1 ? `, and ${items.length - 1} more times` : ""}`;
}
