// The last hour: what deliveries counted in each minute, and what can be shown where they do not count.

import { html } from "./vendor/preact.js";
import { get, inNamespace } from "./api.js";
import { Empty, Loaded } from "./parts.js";
import { useLive } from "./live.js";
import { count, counted, inZone, lateness, viewerZone } from "./time.js";

const MINUTES = 60;
const MINUTE_MS = 60_000;
const SLOT_OF_MINUTE = 10;
const PLOT_WIDTH = MINUTES * SLOT_OF_MINUTE;
const PLOT_HEIGHT = 72;

/** What came of attempts: the fields of a minute, their class and their word, from the bottom up. */
const PARTS_OF_MINUTE = [
  [["succeeded", "running"], "taken", "delivered"],
  [["retrying"], "retried", "to be tried again"],
  [["failed", "faults"], "failed", "failed"],
  [["skipped"], "passed", "skipped"],
];

/** `failing` are the newest runs that failed or are tried again, which the screen reads in any case. */
export function Lately({ me, namespace, failing }) {
  return html`<section aria-labelledby="lately-title"><h2 id="lately-title">The last hour</h2>
    ${me.stats ? html`<${Counted} namespace=${namespace} />` : html`<${NotCounted} failing=${failing} />`}</section>`;
}

function Counted({ namespace }) {
  const live = useLive(() => lastHour(namespace), `stats ${namespace}`);
  return html`<${Loaded} live=${live} what="the last hour" show=${(minutes) => minutes.every((each) => attemptsOf(each) === 0)
    ? html`<${Empty} title="Nothing was delivered in the last hour." />`
    : html`<${OutcomesPicture} minutes=${minutes} /><${LatenessOfMinutes} minutes=${minutes} />`} />`;
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
async function lastHour(namespace) {
  const now = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS;
  const since = now - (MINUTES - 1) * MINUTE_MS;
  const query = { from: new Date(since).toISOString(), to: new Date(now + MINUTE_MS).toISOString(), step: "1m" };
  const minutes = Array.from({ length: MINUTES }, (_, at) => ({ at: new Date(since + at * MINUTE_MS).toISOString() }));
  let cursor = "";
  do {
    const found = await get(inNamespace(namespace, "stats"), { ...query, cursor });
    for (const each of found.steps) minutes[(Date.parse(each.at) - since) / MINUTE_MS] = each;
    cursor = found.nextCursor;
  } while (cursor);
  return minutes;
}

const partOf = (minute, fields) => fields.reduce((sum, field) => sum + Number(minute[field] || 0), 0);
const attemptsOf = (minute) => PARTS_OF_MINUTE.reduce((sum, [fields]) => sum + partOf(minute, fields), 0);
const minuteText = (at) => inZone(at, viewerZone()).split(" ").pop().slice(0, 5);

/** A column for each minute: what was delivered, what failed, and so on, one above the other. */
function OutcomesPicture({ minutes }) {
  const most = Math.max(...minutes.map(attemptsOf));
  const sums = PARTS_OF_MINUTE.map(([fields, kind, word]) => [minutes.reduce((sum, each) => sum + partOf(each, fields), 0), kind, word]);
  const text = `${sums.filter(([sum], at) => sum || at === 0).map(([sum, , word]) => `${count(sum)} ${word}`).join(", ")}. The fullest minute had ${count(most)}.`;
  const height = (number) => ((PLOT_HEIGHT - 6) * number) / most;
  const column = (minute, at) => {
    let top = PLOT_HEIGHT;
    return PARTS_OF_MINUTE.map(([fields, kind]) => {
      const size = height(partOf(minute, fields));
      top -= size;
      return size ? html`<rect class=${kind} x=${at * SLOT_OF_MINUTE} width=${SLOT_OF_MINUTE - 2} y=${top} height=${size} />` : null;
    });
  };
  return html`<figure class="lateness"><svg viewBox=${`0 0 ${PLOT_WIDTH} ${PLOT_HEIGHT}`} role="img" aria-label=${`Outcomes in each minute: ${text}`}
      preserveAspectRatio="none">${minutes.map((minute, at) => html`<g key=${minute.at}><title>${`${minuteText(minute.at)}: ${counted(attemptsOf(minute), "trigger")}`}</title>${column(minute, at)}</g>`)}</svg>
    <figcaption class="soft">${sums.filter(([sum]) => sum).map(([sum, kind, word]) => html`<span class=${`key ${kind}`} key=${kind}>${count(sum)} ${word}</span> `)}
      A column is a minute, from ${minuteText(minutes[0].at)} on. The fullest one has ${count(most)}.</figcaption></figure>`;
}

/** How late first attempts were: a column up to the bound of 99 of a hundred in each minute, and a mark at half. */
function LatenessOfMinutes({ minutes }) {
  const late = minutes.filter((each) => each.p99Ms !== undefined && each.p99Ms !== null);
  if (!late.length) return null;
  const worst = Math.max(1000, ...late.map((each) => Number(each.p99Ms)));
  const height = (ms) => PLOT_HEIGHT - 6 - ((PLOT_HEIGHT - 12) * Math.log10(1 + Number(ms))) / Math.log10(1 + worst);
  const classes = new Map();
  for (const { atMostMs, attempts } of late.flatMap((each) => each.lateness)) {
    classes.set(Number(atMostMs), (classes.get(Number(atMostMs)) || 0) + Number(attempts));
  }
  const text = `Half of the triggers began at most ${lateness(boundOf(classes, 0.5))} late, 99 of a hundred at most ${lateness(boundOf(classes, 0.99))}.`;
  return html`<figure class="lateness"><svg viewBox=${`0 0 ${PLOT_WIDTH} ${PLOT_HEIGHT}`} role="img" aria-label=${`Lateness in each minute: ${text}`}
      preserveAspectRatio="none">
      <line x1="0" x2=${PLOT_WIDTH} y1=${height(1000)} y2=${height(1000)} class="second" />
      ${minutes.map((each, at) => (late.includes(each) ? html`<g key=${each.at}><title>${`${minuteText(each.at)}: at most ${lateness(Number(each.p99Ms))}`}</title>
        <rect class=${each.p99Ms > 1000 ? "late" : "prompt"} x=${at * SLOT_OF_MINUTE} width=${SLOT_OF_MINUTE - 2} y=${height(each.p99Ms)} height=${PLOT_HEIGHT - height(each.p99Ms)} />
        <rect class="half" x=${at * SLOT_OF_MINUTE} width=${SLOT_OF_MINUTE - 2} y=${height(each.p50Ms)} height="2" /></g>` : null))}
    </svg><figcaption class="soft">${text} The line is one second. Figures are bounds, too high by up to two thirds.</figcaption></figure>`;
}

/** The bound within which such a share of all attempts began. */
function boundOf(classes, share) {
  let left = Math.ceil([...classes.values()].reduce((sum, each) => sum + each, 0) * share);
  for (const bound of [...classes.keys()].sort((one, other) => one - other)) {
    left -= classes.get(bound);
    if (left <= 0) return bound;
  }
  return null;
}
