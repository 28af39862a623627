// Writes a window: when it opens, for which jobs, and what becomes of what falls due in it.

import { html, useEffect, useState } from "./vendor/preact.js";
import { call, inNamespace, pathOf } from "./api.js";
import { InputField, typedLabels, labelsText, textOf, unplaced, useForm, useRefusalFocus } from "./form.js";
import { useDeed, useLive, useSettled } from "./live.js";
import { Empty, Loaded, ProblemNote } from "./parts.js";
import { goTo, linkTo } from "./route.js";
import { inZone, localInput, viewerZone } from "./time.js";

const PLACES = ["/from", "/to", "/schedule", "/timezone", "/duration", "/then", "/spread", "/prefix", "/labels", "/name"];
const NEXT_SHOWN = 5;

export function WindowEditor({ namespace, name }) {
  const [loaded, setLoaded] = useState(name ? null : { value: {}, etag: null });
  const { problem, run } = useDeed();
  const load = () => run(async () => setLoaded(await call("GET", inNamespace(namespace, "windows", name))));
  useEffect(() => {
    if (name) load();
  }, []);
  return html`<p class="trail"><a href=${linkTo([namespace, "windows"])}>Windows</a></p>
    ${loaded ? html`<${WindowForm} namespace=${namespace} name=${name} stored=${loaded.value} etag=${loaded.etag} />` : html`<h1>${name}</h1>
      <${Loaded} live=${{ value: null, problem, reload: load }} what="the window" show=${() => null} />`}`;
}

function WindowForm({ namespace, name, stored, etag }) {
  const form = useForm({
    name: "", kind: stored.from ? "once" : "again", from: stored.from ? localInput(stored.from) : "", to: stored.to ? localInput(stored.to) : "",
    schedule: stored.schedule || (name ? "" : "0 1 * * *"), timezone: stored.timezone || viewerZone(), duration: stored.duration || (name ? "" : "2h"),
    then: stored.then || "hold", spread: stored.spread || "1m", prefix: stored.prefix || "", labels: labelsText(stored.labels),
  });
  const { given } = form;
  const { isBusy, problem, run } = useDeed();
  useRefusalFocus(problem);
  const isOnce = given.kind === "once";
  // What was not touched is sent as it was stored: a local time can mean two instants.
  const instant = (field) => (stored[field] && localInput(stored[field]) === given[field] ? stored[field] : given[field] ? new Date(given[field]).toISOString() : undefined);
  const times = isOnce ? { from: instant("from"), to: instant("to") } : { schedule: textOf(given.schedule), timezone: textOf(given.timezone), duration: textOf(given.duration) };
  const save = (event) => {
    event.preventDefault();
    run(async () => {
      await call("PUT", inNamespace(namespace, "windows", name || given.name.trim()), {
        body: { ...times, then: given.then, spread: textOf(given.spread), prefix: textOf(given.prefix), labels: typedLabels(given.labels) },
        headers: etag ? { "if-match": etag } : { "if-none-match": "*" },
      });
      goTo(linkTo([namespace, "windows"]));
    });
  };
  const input = (field, label, more) => html`<${InputField} form=${form} problem=${problem} name=${field} at=${`/${field}`} label=${label} ...${more} />`;
  return html`<form onSubmit=${save}>
    <div class="head"><h1>${name ? `Edit ${name}` : "New window"}</h1><div class="verbs"><a class="button" href=${linkTo([namespace, "windows"])}>Cancel</a>
      <button class="main" disabled=${isBusy}>${isBusy ? "Saving …" : name ? "Save" : "Create"}</button></div></div>
    <${ProblemNote} problem=${unplaced(problem, PLACES)} />
    <div class="columns even"><div>
      ${name ? null : input("name", "Name", { required: true })}
      ${input("kind", "It opens", { kind: "select", children: [html`<option value="again">again and again</option>`, html`<option value="once">once</option>`] })}
      ${isOnce ? html`<div class="pair">${input("from", "From", { kind: "datetime-local", step: 1, hint: `In ${viewerZone()}.` })}${input("to", "To", { kind: "datetime-local", step: 1 })}</div>` : html`
        ${input("schedule", "Schedule", { hint: "When it opens, such as 0 22 * * * or @daily." })}
        <div class="pair">${input("timezone", "Time zone")}${input("duration", "Open for", { hint: "For example 2h. At most 14 days." })}</div>`}
      ${input("prefix", "Only jobs whose names begin with", { hint: "Empty: all jobs." })}
      ${input("labels", "Only jobs with the labels", { placeholder: "uses:warehouse", hint: "All of them. Empty: all jobs." })}
      ${input("then", "What falls due in it", { kind: "select", children: [html`<option value="hold">waits, and is delivered after it</option>`, html`<option value="skip">is skipped</option>`] })}
      ${given.then === "hold" ? input("spread", "What it held is delivered within", { hint: "So that the consumer is not flooded. At most 24h." }) : null}
    </div><section aria-labelledby="next-title"><h2 id="next-title">When it would be open</h2>
      ${isOnce ? html`<p>${times.from && times.to ? `${inZone(times.from, viewerZone())} to ${inZone(times.to, viewerZone())}` : "Give both times."}</p>`
        : html`<${NextOpenings} schedule=${given.schedule.trim()} timezone=${given.timezone.trim()} />`}</section></div></form>`;
}

/** When a schedule opens a window next. */
function NextOpenings({ schedule, timezone }) {
  const settled = useSettled(JSON.stringify({ schedule, timezone: timezone || undefined, limit: NEXT_SHOWN }));
  const live = useLive(async () => (JSON.parse(settled).schedule ? (await call("POST", pathOf("occurrences"), { text: settled })).value : {}), settled, null);
  return html`<${Loaded} live=${live} what="the openings" show=${(found) => (found.occurrences?.length ? html`<p><strong>${found.description}</strong></p>
    <ol class="plainlist">${found.occurrences.map(({ utc }) => html`<li key=${utc}>${inZone(utc, timezone || "UTC")}</li>`)}</ol>` : html`<${Empty} title="It does not open." />`)} />`;
}
