// Writes a window: when it opens, for which jobs, and what becomes of what falls due in it.

import { html } from "./vendor/preact.js";
import { call, inNamespace, pathOf } from "./api.js";
import { choicesOf, entriesIn, InputField, labelEntries, labelsOf, SaveBar, savesByKey, textOf, unplaced, useForm, useRefusalFocus } from "./form.js";
import { writeJson } from "./json.js";
import { useAnswer, useDeed, useStored } from "./live.js";
import { Empty, Head, Loaded, ProblemNote, Trail } from "./parts.js";
import { goTo, linkTo } from "./route.js";
import { instantIn, inZone, viewerZone, wallOf } from "./time.js";

const PLACES = ["/from", "/to", "/schedule", "/timezone", "/duration", "/then", "/spread", "/prefix", "/labels", "/name"];
const NEXT_SHOWN = 5;

export function WindowEditor({ namespace, name }) {
  const stored = useStored(name && inNamespace(namespace, "windows", name), { value: {}, etag: null });
  return html`<${Trail} namespace=${namespace} screen="windows" title="Windows" /><${Head} title=${name ? `Edit ${name}` : "New window"} />
    <${Loaded} live=${stored} what="the window" show=${({ value, etag }) => html`
      <${WindowForm} namespace=${namespace} name=${name} stored=${value} etag=${etag} />`} />`;
}

/** An instant as an input shows it, to the second. */
const wallAt = (instant) => wallOf(instant, viewerZone(), 19);

function WindowForm({ namespace, name, stored, etag }) {
  const labels = labelEntries(stored.labels);
  const form = useForm({
    name: "", kind: stored.from ? "once" : "again", from: wallAt(stored.from), to: wallAt(stored.to),
    schedule: stored.schedule || (name ? "" : "0 1 * * *"), timezone: stored.timezone || viewerZone(), duration: stored.duration || (name ? "" : "2h"),
    then: stored.then || "hold", spread: stored.spread || "1m", prefix: stored.prefix || "", labels: labels.join(" "),
  });
  const { given } = form;
  const { isBusy, problem, run } = useDeed();
  useRefusalFocus(problem);
  const isOnce = given.kind === "once";
  // What was not touched is sent as it was stored: a local time can mean two instants.
  const instant = (field) => (stored[field] && wallAt(stored[field]) === given[field] ? stored[field] : instantIn(given[field]) ?? textOf(given[field]));
  const times = isOnce ? { from: instant("from"), to: instant("to") } : { schedule: textOf(given.schedule), timezone: textOf(given.timezone), duration: textOf(given.duration) };
  const save = (event) => {
    event.preventDefault();
    run(async () => {
      await call("PUT", inNamespace(namespace, "windows", name || given.name.trim()), {
        body: { ...times, then: given.then, spread: textOf(given.spread), prefix: textOf(given.prefix), labels: labelsOf(entriesIn(given.labels, labels)) },
        over: etag,
      });
      goTo(linkTo([namespace, "windows"]));
    });
  };
  const input = (field, label, more) => html`<${InputField} form=${form} problem=${problem} name=${field} at=${`/${field}`} label=${label} ...${more} />`;
  return html`<form onSubmit=${save} onKeyDown=${savesByKey}>
    <${ProblemNote} problem=${unplaced(problem, PLACES)} />
    <div class="columns"><div>
      ${name ? null : input("name", "Name", { required: true })}
      ${input("kind", "It opens", { kind: "select", children: choicesOf([["again", "again and again"], ["once", "once"]]) })}
      ${isOnce ? html`<div class="pair">${input("from", "From", { kind: "datetime-local", step: 1, hint: `In ${viewerZone()}.` })}${input("to", "To", { kind: "datetime-local", step: 1 })}</div>` : html`
        ${input("schedule", "Schedule", { hint: "When it opens, such as 0 22 * * * or @daily." })}
        <div class="pair">${input("timezone", "Time zone")}${input("duration", "Open for", { hint: "For example 2h. At most 14 days." })}</div>`}
      ${input("prefix", "Only jobs whose names begin with", { hint: "Empty: all jobs." })}
      ${input("labels", "Only jobs with the labels", { placeholder: "uses:warehouse", hint: "All of them. Empty: all jobs." })}
      ${input("then", "What falls due in it", { kind: "select", children: choicesOf([["hold", "waits, and is delivered after it"], ["skip", "is skipped"]]) })}
      ${given.then === "hold" ? input("spread", "What it held is delivered within", { hint: "So that the consumer is not flooded. At most 24h." }) : null}
    </div><section aria-labelledby="next-title"><h2 id="next-title">When it would be open</h2>
      ${isOnce ? html`<p>${times.from && times.to ? `${inZone(times.from, viewerZone())} to ${inZone(times.to, viewerZone())}` : "Give both times."}</p>`
        : html`<${NextOpenings} schedule=${given.schedule.trim()} timezone=${given.timezone.trim()} />`}</section></div>
    <${SaveBar} isNew=${!name} isBusy=${isBusy} cancel=${linkTo([namespace, "windows"])} /></form>`;
}

/** When a schedule opens a window next. */
function NextOpenings({ schedule, timezone }) {
  const live = useAnswer(pathOf("occurrences"), schedule && writeJson({ schedule, timezone: timezone || undefined, limit: NEXT_SHOWN }));
  return html`<${Loaded} live=${live} what="the openings" show=${(found) => (found.occurrences?.length ? html`<p><strong>${found.description}</strong></p>
    <ol class="plainlist">${found.occurrences.map(({ utc }) => html`<li key=${utc}>${inZone(utc, timezone || "UTC")}</li>`)}</ol>` : html`<${Empty} title="It does not open." />`)} />`;
}
