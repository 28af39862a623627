// The calendars of a namespace: their list, one as a year at a glance, and the editor of one.

import { html, useState } from "./vendor/preact.js";
import { may } from "./access.js";
import { call, get, getSome, inNamespace } from "./api.js";
import { Remove } from "./ask.js";
import { Field, SaveBar, savesByKey } from "./form.js";
import { typedJson, writeJson } from "./json.js";
import { useAnswer, useDeed, useLive, useStored } from "./live.js";
import { Empty, Facts, Head, Loaded, ProblemNote, Table, Trail, Verb, When } from "./parts.js";
import { goTo, linkTo } from "./route.js";
import { counted, dateText, wallOf } from "./time.js";

/** The list is read in so many pages. */
const LISTED_PAGES = 5;
const CALENDAR_FIELDS = ["weekend", "holidays", "ics", "closed", "open"];
const NEW_CALENDAR = { holidays: [{ country: "FR" }] };
const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const WEEK = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const DAY_MS = 86_400_000;

const isoDay = (ms) => new Date(ms).toISOString().slice(0, 10);

/** How far jobs are, in words. */
function followText(calendar) {
  if (calendar.state === "following") return `some jobs still have its former days, ${counted(calendar.jobsChanged, "job")} followed`;
  return "all jobs have its days";
}

export function Calendars({ me, namespace }) {
  const live = useLive(() => getSome(inNamespace(namespace, "calendars"), {}, { calls: LISTED_PAGES }), `calendars ${namespace}`);
  return html`<${Head} title="Calendars" verbs=${may(me, "write") && html`<a class="button main" href=${linkTo([namespace, "new-calendar"])}>New calendar</a>`} />
    <${Loaded} live=${live} what="the calendars" show=${({ items, isPartial }) => (items.length ? [html`
      <${Table} label="Calendars" head=${["Name", "Known until", "Jobs", "Last written"]}>${items.map((each) => html`
        <tr key=${each.name}><td class="name"><a href=${linkTo([namespace, "calendars", each.name])}>${each.name}</a></td>
          <td>${each.knownUntil || "–"}</td><td>${followText(each)}</td><td><${When} at=${each.updatedAt} /></td></tr>`)}<//>`,
      isPartial ? html`<p class="soft">The first ${items.length} by name are shown.</p>` : null] : html`<${Empty} title=${`No calendars in ${namespace} yet.`}>
        <p>A calendar says which days are closed. A job names it by <code>calendar</code>.</p><//>`)} />`;
}

export function Calendar({ me, namespace, name, query }) {
  const path = inNamespace(namespace, "calendars", name);
  const year = Number(/^\d{4}$/.exec(query.get("year") || "")?.[0] || new Date().getFullYear());
  const [isAsked, setAsked] = useState(false);
  const live = useLive(async () => {
    const [calendar, { days }] = await Promise.all([get(path), get(`${path}/days`, { from: `${year}-01-01`, days: 366 })]);
    return { calendar, days: days.filter(({ date }) => date.startsWith(year)) };
  }, `${path} ${year}`);
  const remove = async () => {
    await call("DELETE", path);
    goTo(linkTo([namespace, "calendars"]));
  };
  const link = (other) => html`<a class="button" href=${linkTo([namespace, "calendars", name], { year: String(other) })}>${other}</a>`;
  return html`<${Trail} namespace=${namespace} screen="calendars" title="Calendars" />
    <${Head} title=${name} className="mono" verbs=${may(me, "write") && html`<a class="button" href=${linkTo([namespace, "calendars", name, "edit"])}>Edit</a>
      <${Verb} title="Delete" kind="danger" onClick=${() => setAsked(true)} />`} />
    <${Loaded} live=${live} what="the calendar" show=${({ calendar, days }) => html`
      <${Facts} rows=${[["Jobs", followText(calendar)], ["Known until", calendar.knownUntil], ["Holidays by", calendar.source],
        ["Last written", html`<span><code class="long">${calendar.owner}</code>, <${When} at=${calendar.updatedAt} /></span>`]]} />
      <section aria-labelledby="year-title"><div class="head"><h2 id="year-title">${year}</h2><nav class="verbs" aria-label="Years">${link(year - 1)}${link(year + 1)}</nav></div>
        <p class="legend"><span class="day is-weekend">weekend</span> <span class="day is-holiday">closed</span> <span class="day is-opened">open</span></p>
        <div class="year">${MONTHS.map((title, month) => html`<${Month} key=${title} year=${year} month=${month} days=${days} />`)}</div></section>
      <section aria-labelledby="named-title"><h2 id="named-title">Days with a reason of their own</h2>
        <${NamedDays} days=${days.filter(({ reason }) => reason !== "weekend")} /></section>`} />
    ${isAsked ? html`<${Remove} name=${name} deed=${remove} onClose=${() => setAsked(false)}>A calendar that jobs name cannot be deleted.<//>` : null}`;
}

/** A month as a table of weeks. */
function Month({ year, month, days }) {
  const named = new Map(days.map((each) => [each.date, each]));
  const first = Date.UTC(year, month, 1);
  const before = (new Date(first).getUTCDay() + 6) % 7;
  const length = new Date(Date.UTC(year, month + 1, 0)).getUTCDate();
  const today = wallOf(new Date().toISOString()).slice(0, 10);
  const weeks = Array.from({ length: Math.ceil((before + length) / 7) }, (_, week) => WEEK.map((_, place) => week * 7 + place - before));
  return html`<table class="month"><caption>${MONTHS[month]}</caption>
    <thead><tr>${WEEK.map((each) => html`<th scope="col"><abbr title=${each}>${each.slice(0, 2)}</abbr></th>`)}</tr></thead>
    <tbody>${weeks.map((week) => html`<tr>${week.map((day) => (day < 0 || day >= length ? html`<td></td>` : html`
      <${MonthDay} number=${day + 1} found=${named.get(isoDay(first + day * DAY_MS))} isToday=${isoDay(first + day * DAY_MS) === today} />`))}</tr>`)}</tbody></table>`;
}

function MonthDay({ number, found, isToday }) {
  const current = isToday ? "date" : null;
  if (!found) return html`<td aria-current=${current}>${number}</td>`;
  const kind = !found.isClosed ? "is-opened" : found.reason === "weekend" ? "is-weekend" : "is-holiday";
  const state = found.isClosed ? "closed" : "open";
  return html`<td class=${`day ${kind}`} aria-current=${current} title=${found.reason}>${number}<span class="unseen">${state}${found.reason === state ? "" : `: ${found.reason}`}</span></td>`;
}

/** Days with their reasons, in rows. */
function NamedDays({ days }) {
  if (!days.length) return html`<${Empty} title="No days." />`;
  return html`<${Table} label="Days" head=${["Day", "State", "Reason"]}>${days.map((each) => html`<tr key=${each.date}>
    <td>${dateText(each.date)}</td><td>${each.isClosed ? "closed" : "open"}</td><td>${each.reason}</td></tr>`)}<//>`;
}

/** Writes a calendar as JSON. The API says meanwhile which days it would have, and which of them change. */
export function CalendarEditor({ namespace, name }) {
  const stored = useStored(name && inNamespace(namespace, "calendars", name), { value: NEW_CALENDAR, etag: null });
  return html`<${Trail} namespace=${namespace} screen="calendars" title="Calendars" name=${name} /><${Head} title=${name ? `Edit ${name}` : "New calendar"} />
    <${Loaded} live=${stored} what="the calendar" show=${({ value, etag }) => html`
      <${CalendarForm} namespace=${namespace} name=${name} stored=${value} etag=${etag} />`} />`;
}

function CalendarForm({ namespace, name, stored, etag }) {
  const [text, setText] = useState(() => writeJson(Object.fromEntries(CALENDAR_FIELDS.filter((each) => each in stored).map((each) => [each, stored[each]]))));
  const [newName, setNewName] = useState("");
  const { isBusy, problem, run } = useDeed();
  const { mistake } = typedJson(text);
  const save = (event) => {
    event.preventDefault();
    run(async () => {
      const chosen = name || newName.trim();
      await call("PUT", inNamespace(namespace, "calendars", chosen), { text, over: etag });
      goTo(linkTo([namespace, "calendars", chosen]));
    });
  };
  return html`<form onSubmit=${save} onKeyDown=${savesByKey}>
    <${ProblemNote} problem=${problem} />
    <div class="columns"><div>
      ${name ? null : html`<${Field} id="calendar-name" label="Name">
        <input id="calendar-name" required autocomplete="off" spellcheck=${false} value=${newName} onInput=${(event) => setNewName(event.target.value)} /><//>`}
      <${Field} id="json" label="The calendar (JSON)" hint="weekend, holidays or ics, closed and open." errors=${mistake ? [mistake] : []}>
        <textarea id="json" rows="18" spellcheck=${false} value=${text} onInput=${(event) => setText(event.target.value)}></textarea><//></div>
      <section aria-labelledby="preview-title"><h2 id="preview-title">${name ? "What would change" : "Its next days"}</h2>
        ${mistake ? null : html`<${CalendarPreview} namespace=${namespace} name=${name} text=${text} />`}</section></div>
    <${SaveBar} isNew=${!name} isBusy=${isBusy} isUnreadable=${mistake !== null} cancel=${linkTo([namespace, "calendars", ...(name ? [name] : [])])} /></form>`;
}

/** Days that would change, or the next ones of a new calendar. */
function CalendarPreview({ namespace, name, text }) {
  // The name of a calendar that is not written yet changes nothing of its days.
  const live = useAnswer(`${inNamespace(namespace, "calendars", name || "new")}/preview`, text);
  return html`<${Loaded} live=${live} what="the days" show=${(found) => html`<${NamedDays} days=${name ? found.changes : found.nextDays} />`} />`;
}
