// Instants and durations in words.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A clock of a browser that is off by less counts as right: answers take a while, and say the second alone. */
const CLOCK_OFF_MS = 5 * MINUTE;

let clockOff = 0;

/** What time it is, in ms. If the browser's clock is wrong, it is that of the stack. */
export const stackNow = () => Date.now() + clockOff;

/** Compares the browser's clock with the time at which the stack has just answered, in the words of HTTP. */
export function compareClock(date) {
  const off = Date.parse(date) - Date.now();
  clockOff = Math.abs(off) > CLOCK_OFF_MS ? off : 0;
}

/** The zone of whoever looks. */
export const viewerZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

const formats = new Map();

function formatIn(zone) {
  if (!formats.has(zone)) {
    const options = { weekday: "short", day: "2-digit", month: "short", hour: "2-digit", minute: "2-digit", second: "2-digit",
      year: "numeric", hourCycle: "h23", timeZone: zone };
    let found;
    try {
      found = new Intl.DateTimeFormat("en-GB", options);
    } catch {
      // a zone that this browser does not know
      found = new Intl.DateTimeFormat("en-GB", { ...options, timeZone: "UTC" });
    }
    formats.set(zone, found);
  }
  return formats.get(zone);
}

/** The zone, or UTC for one that this browser does not know. */
export const knownZone = (zone) => formatIn(zone).resolvedOptions().timeZone;

/** An instant in a zone: `Mon 23 Nov 02:30:00`. The year is shown unless it is the present one. What is no instant stays as it is. */
export function inZone(instant, zone) {
  const at = new Date(instant);
  if (Number.isNaN(at.getTime())) return String(instant);
  const part = Object.fromEntries(formatIn(zone).formatToParts(at).map((each) => [each.type, each.value]));
  const year = part.year === String(new Date().getFullYear()) ? "" : ` ${part.year}`;
  return `${part.weekday} ${part.day} ${part.month}${year} ${part.hour}:${part.minute}:${part.second}`;
}

/** A day of a calendar: `Fri 24 Dec 2027`. The year is shown unless it is the present one. */
export function dateText(date) {
  return inZone(`${date}T00:00:00Z`, "UTC").replace(/ 00:00:00$/, "");
}

/** The wall clock in the text of an instant with its offset, as the API shows local times. */
export function wallClock(local) {
  const [, date, time, offset = ""] = /^(\S+?)T(\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)?$/.exec(local) || [];
  if (!date) return local;
  const text = inZone(`${date}T${time}Z`, "UTC");
  return offset ? `${text} ${offset === "Z" ? "+00:00" : offset}` : text;
}

/** How far the clock of a zone is from UTC at an instant, as in RFC 3339. A zone that this browser does not know counts as UTC. */
function offsetAt(instant, zone) {
  try {
    const parts = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" }).formatToParts(instant);
    return parts.find(({ type }) => type === "timeZoneName").value.slice(3, 9) || "Z";
  } catch {
    return "Z";
  }
}

/** What the clock of a zone shows at an instant of so many ms, as the ms of UTC. */
function shownAt(ms, zone) {
  return ms - Date.parse(`1970-01-01T00:00:00${offsetAt(ms, zone)}`);
}

/** What the clock of a zone shows at an instant: `2027-03-01T09:00`, or to the second. It is empty for a text that is no instant. */
export function wallOf(text, zone = viewerZone(), digits = 16) {
  const instant = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : NaN;
  return Number.isNaN(instant) ? "" : new Date(shownAt(instant, zone)).toISOString().slice(0, digits);
}

/** When yesterday began and ended by the viewer's clock, as it shows that. */
export function yesterday() {
  const today = wallOf(new Date(stackNow()).toISOString(), undefined, 10);
  return [Date.parse(today) - DAY, Date.parse(today)].map((at) => new Date(at).toISOString().slice(0, 16));
}

/**
 * The instant at which the clock of a zone shows a text such as `2026-12-24T18:00`; undefined if it is no such text.
 * Of a time that comes twice it is the first, and of one that is skipped the same time after the gap began.
 */
export function instantIn(text, zone = viewerZone()) {
  const wall = Date.parse(`${text}Z`);
  if (Number.isNaN(wall)) return undefined;
  const found = [wall - DAY, wall + DAY].map((near) => wall - (shownAt(near, zone) - near));
  return new Date(found.find((each) => shownAt(each, zone) === wall) ?? found[0]).toISOString();
}

/** That instant as somebody in the zone writes it: `2027-03-01T09:00:00+01:00`. Undefined for no time. */
export function instantOf(text, zone) {
  const at = instantIn(text, zone);
  return at && `${wallOf(at, zone)}:00${offsetAt(Date.parse(at), zone)}`;
}

/** How far an instant is from now: `in 3 h`, `5 min ago`. */
export function fromNow(instant, now = stackNow()) {
  const away = Date.parse(instant) - now;
  const size = Math.abs(away);
  if (size < SECOND) return "now";
  return away > 0 ? `in ${roughly(size)}` : `${roughly(size)} ago`;
}

/** An answer that is younger than a due time by less tells nothing: the stack was delivering. */
const DUE_FOR_MS = 2 * SECOND;

/**
 * How far a due time is from now. What is past is due while nothing newer is known, and late if an answer of
 * `readAt` says that it still has to come.
 */
export function fromDue(instant, readAt, now = stackNow()) {
  const due = Date.parse(instant);
  if (due > now) return fromNow(instant, now);
  return (readAt ?? 0) - due < DUE_FOR_MS ? "due now" : `late by ${roughly(now - due)}`;
}

/** A time span in its largest unit. */
export function roughly(ms) {
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} days`;
}

/** A lateness: `140 ms`, `2.3 s`, `5 min`. */
export function lateness(ms) {
  if (ms === null || ms === undefined) return "–";
  if (ms < SECOND) return `${ms} ms`;
  return ms < MINUTE ? `${(ms / SECOND).toFixed(1)} s` : roughly(ms);
}

/** A count with thin spaces between its thousands. */
export function count(number) {
  return String(number).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** A count and its noun. */
export function counted(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** A count of which there may be more, in words, and as a tile and a figure show it. */
export const atLeast = (number, isPartial) => `${isPartial ? "at least " : ""}${count(number)}`;
export const countPlus = (number, isPartial) => `${count(number)}${isPartial ? "+" : ""}`;
