// The next due times of a schedule, with what the clock changes and a calendar do to them.

import { html } from "./vendor/preact.js";
import { Away, Empty, Table } from "./parts.js";
import { dateText, inZone, viewerZone, wallClock } from "./time.js";

const CHANGE = {
  "gap-shifted": "The clock skips the local time this day, so it fires when the gap ends.",
  "overlap-first": "The clock shows this local time twice this day. This is the first.",
  "overlap-last": "The clock shows this local time twice this day. This is the last.",
  "gap-skipped": "Does not fire: the clock skips this local time this day.",
  "overlap-skipped": "Does not fire: the clock shows this local time twice, and the other one fires.",
  "calendar-owed": "The calendar was changed. This stands for a due time that was then past.",
  "calendar-fired": "Does not fire: the calendar was changed, and this has fired on another day.",
};

/** What a clock change or the calendar does to a due time, in words. */
function changeOf({ reason, movedFrom, day }) {
  if (movedFrom) return `Moved from ${dateText(movedFrom.date)}: ${movedFrom.reason}.`;
  return day ? `Does not fire on this day: ${day.reason}.` : CHANGE[reason];
}

/**
 * Due times in the job's zone, the viewer's and UTC. `found` is the API's answer, `zone` the job's zone. `pause`
 * is null unless the job is paused: none fires before its `until`, if it has one.
 */
export function Fires({ found, zone = "UTC", pause = null }) {
  const rows = [...found.occurrences, ...found.skipped.map((each) => ({ ...each, isSkipped: true }))]
    .sort((one, other) => Date.parse(one.utc) - Date.parse(other.utc));
  if (!rows.length) return html`<${Empty} title="Nothing more falls due." />`;
  const others = [...new Set([viewerZone(), "UTC"])].filter((each) => each !== zone)
    .map((each) => [each, each === "UTC" ? "UTC" : `${each} (yours)`]);
  const isHeld = (row) => pause && !(Date.parse(row.utc) >= Date.parse(pause.until));
  const coming = (row) => (row.isSkipped ? "skipped" : isHeld(row) ? "paused" : html`<${Away} at=${row.utc} isDue />`);
  return html`<${Table} label="Next due times" className="fires" head=${[zone, ...others.map(([, title]) => title), ""]}>
    ${rows.map((row) => html`<tr key=${row.utc + row.isSkipped} class=${row.isSkipped ? "is-skipped" : isHeld(row) ? "is-held" : ""}>
      <td>${wallClock(row.local)}${row.reason ? html`<span class="change">${changeOf(row)}</span>` : null}</td>
      ${others.map(([each]) => html`<td class="soft">${inZone(row.utc, each)}</td>`)}
      <td class="soft">${coming(row)}</td></tr>`)}<//>`;
}
