// Writes a job: a form for what most jobs have, the whole definition as JSON beside it, and what the schedule means.

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { call, get, inNamespace, pathOf } from "./api.js";
import { readJson, writeJson } from "./exact.js";
import { Fires } from "./fires.js";
import { definitionOf } from "./job.js";
import { useDeed, useLive } from "./live.js";
import { Empty, Field, Loaded, ProblemNote } from "./parts.js";
import { goTo, linkTo } from "./route.js";
import { viewerZone } from "./time.js";

const PREVIEW_AFTER_MS = 350;
const TIMING = ["schedule", "timezone", "dueTime", "ttl", "repeats", "dst", "jitter", "calendar"];

/** What a new job begins as. */
const NEW_JOB = { schedule: "0 9 * * MON-FRI", timezone: "UTC", target: { type: "http", url: "https://" } };

/** The fields of the form: their path in the definition, their label, and a hint. */
const FIELDS = [
  ["description", "Description", ""],
  ["schedule", "Schedule", "Cron, @every 1h30m, rate(5 minutes) or R4/PT3S. Empty for a one-off or a job on demand."],
  ["timezone", "Time zone", ""],
  ["dueTime", "Due time", "When it first fires: an instant, or a time from now such as 10s."],
  ["target.url", "URL of an HTTP target", ""],
  ["policy", "Flow policy", ""],
];

export function Editor({ namespace, name }) {
  const path = name && inNamespace(namespace, "jobs", name);
  const [loaded, setLoaded] = useState(name ? null : { definition: { ...NEW_JOB, timezone: viewerZone() }, etag: null });
  const { problem, run } = useDeed();
  const load = () => run(async () => {
    const { value, etag } = await call("GET", path);
    setLoaded({ definition: definitionOf(value), etag });
  });
  useEffect(() => {
    if (name) load();
  }, []);
  return html`<p class="trail"><a href=${linkTo([namespace, "jobs"])}>Jobs</a>${name ? [" / ", html`<a href=${linkTo([namespace, "jobs", name])}>${name}</a>`] : null}</p>
    ${loaded ? html`<${Form} namespace=${namespace} name=${name} definition=${loaded.definition} etag=${loaded.etag} />` : html`
      <h1>${name}</h1><${Loaded} live=${{ value: null, problem, reload: load }} what="the job" show=${() => null} />`}`;
}

/** The form and the text are two views of one definition. The text rules: it may hold what the form has no field for. */
function Form({ namespace, name, definition, etag }) {
  const [text, setText] = useState(writeJson(definition));
  const [newName, setNewName] = useState("");
  const { isBusy, problem, run } = useDeed();
  const last = useRef(definition);
  let present;
  let mistake = null;
  try {
    present = readJson(text);
    if (present === null || typeof present !== "object" || Array.isArray(present)) throw new SyntaxError("a job is an object");
    last.current = present;
  } catch (error) {
    present = last.current;
    mistake = error.message;
  }
  const write = (field, value) => setText(writeJson(withField(present, field, value)));
  const save = (event) => {
    event.preventDefault();
    run(async () => {
      const target = inNamespace(namespace, "jobs", name || newName.trim());
      await call("PUT", target, { text, headers: etag ? { "if-match": etag } : { "if-none-match": "*" } });
      goTo(linkTo([namespace, "jobs", name || newName.trim()]));
    });
  };
  const wrongs = (field) => (problem?.errors || []).filter((each) => each.pointer === `/${field.replace(".", "/")}`).map((each) => each.detail);
  const shown = new Set([...FIELDS.map(([field]) => `/${field.replace(".", "/")}`), "/name"]);
  const others = problem && { message: problem.message, errors: (problem.errors || []).filter((each) => !shown.has(each.pointer)) };
  return html`<form class="editor" onSubmit=${save}>
    <div class="head"><h1>${name ? `Edit ${name}` : "New job"}</h1><div class="verbs">
      <a class="button" href=${linkTo([namespace, "jobs", ...(name ? [name] : [])])}>Cancel</a>
      <button class="main" disabled=${isBusy || mistake !== null}>${isBusy ? "Saving …" : name ? "Save" : "Create"}</button></div></div>
    <${ProblemNote} problem=${others} />
    <div class="columns even"><div>
      ${name ? null : html`<${Field} id="job-name" label="Name" errors=${wrongs("name")}>
        <input id="job-name" required autocomplete="off" spellcheck=${false} value=${newName} onInput=${(event) => setNewName(event.target.value)} /><//>`}
      ${FIELDS.filter(([field]) => field !== "target.url" || present.target?.type === "http").map(([field, label, hint]) => html`<${TextField} key=${field} field=${field} label=${label} hint=${hint} errors=${wrongs(field)}
        value=${field.split(".").reduce((at, each) => at?.[each], present)} isLocked=${mistake !== null} onWrite=${write} />`)}
    </div><${Field} id="json" label="The whole definition (JSON)" errors=${mistake ? [`This is no JSON: ${mistake}`] : []}>
      <textarea id="json" rows="24" spellcheck=${false} value=${text} onInput=${(event) => setText(event.target.value)}></textarea><//></div>
    <section aria-labelledby="preview-title"><h2 id="preview-title">When it would fire</h2><${Preview} timing=${timingOf(present, namespace)} /></section>
  </form>`;
}

/** A field of the form. What is not text, such as a list of instants, is changed in the JSON alone. */
function TextField({ field, label, hint, errors, value, isLocked, onWrite }) {
  const isText = value === undefined || typeof value === "string";
  return html`<${Field} id=${`field-${field}`} label=${label} errors=${errors} hint=${isText ? hint : "Change it in the JSON."}>
    <input id=${`field-${field}`} autocomplete="off" spellcheck=${false} disabled=${!isText || isLocked} value=${isText ? value || "" : writeJson(value).replace(/\s+/g, " ")}
      onInput=${(event) => onWrite(field, event.target.value)} /><//>`;
}

/** The definition with one field written. A field without text is left out. */
function withField(definition, field, value) {
  const [outer, inner] = field.split(".");
  const next = { ...definition };
  if (inner) next[outer] = { ...next[outer], [inner]: value };
  else if (value === "") delete next[outer];
  else next[outer] = value;
  return next;
}

/** The fields that a preview takes. It looks for a calendar in the namespace. */
function timingOf(definition, namespace) {
  const found = Object.fromEntries(TIMING.filter((each) => each in definition).map((each) => [each, definition[each]]));
  return found.calendar ? { ...found, namespace } : found;
}

/** The next due times of a schedule that is being written, in words and as instants, from the API. */
function Preview({ timing }) {
  const text = writeJson(timing);
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PREVIEW_AFTER_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const isTimed = /"(schedule|dueTime)"/.test(settled);
  const body = `${settled.replace(/\s*}$/, "")},\n  "limit": 5\n}`;
  const live = useLive(async () => (isTimed ? (await call("POST", pathOf("occurrences"), { text: body })).value : {}), settled);
  return html`<${Loaded} live=${live} what="the due times" show=${(found) => (found.occurrences ? html`<p><strong>${found.description}</strong></p>
    <${Fires} found=${found} zone=${timing.timezone} />` : html`<${Empty} title="It fires only on demand." />`)} />`;
}
