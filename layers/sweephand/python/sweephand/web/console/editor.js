// Writes a job: a form for all of its fields, the whole definition as JSON beside it, and what the schedule means.

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { may } from "./access.js";
import { call, getSome, inNamespace } from "./api.js";
import { DATA_FIELD, DESCRIPTION_FIELD, JOB_GROUPS, NAME_FIELD, CLOCK_PARTS, TARGET_FIELD, TIME_GROUPS, ZONE_FIELD } from "./editor_fields.js";
import { FoldedGroup, FormField, pointerOf } from "./editor_inputs.js";
import { PreviewPart, ScheduleFields, usePreview } from "./editor_schedule.js";
import { fieldsOfTarget } from "./editor_target.js";
import { isSame, mergedOver, placeOf, valueAt, withValue } from "./editor_value.js";
import { choicesOf, Field, SaveBar, savesByKey } from "./form.js";
import { definitionOf } from "./job.js";
import { isObject, typedJson, writeJson } from "./json.js";
import { useDeed, useStored } from "./live.js";
import { Head, Loaded, ProblemNote, Trail } from "./parts.js";
import { goTo, jobLink, linkTo } from "./route.js";
import { counted, viewerZone } from "./time.js";

/** What a new job begins as. */
const NEW_JOB = { schedule: "0 9 * * MON-FRI", timezone: "UTC", target: { type: "http", url: "https://" } };

const SINGLE_FIELDS = [NAME_FIELD, DESCRIPTION_FIELD, ["schedule"], ZONE_FIELD, TARGET_FIELD, DATA_FIELD];
const JOB_FIELDS = [...SINGLE_FIELDS, ...CLOCK_PARTS, ...[...TIME_GROUPS, ...JOB_GROUPS].flatMap(({ fields }) => fields)];
const TARGET_POINTERS = ["/target", "/onComplete", "/onAlert"];

/** The label by which `sweephand apply` names the file of a job, before a digest. */
const FILE_LABEL = "sweephand-file";

/** What was written and not saved, by key and job. Who looks something up on another screen finds it again. */
const unsaved = new Map();

export function Editor({ me, namespace, name }) {
  const stored = useStored(name && inNamespace(namespace, "jobs", name), { value: { ...NEW_JOB, timezone: viewerZone() }, etag: null });
  return html`<${Trail} namespace=${namespace} screen="jobs" title="Jobs" name=${name} /><${Head} title=${name ? `Edit ${name}` : "New job"} />
    <${Loaded} live=${stored} what="the job" show=${({ value, etag }) => html`<${Form} me=${me} namespace=${namespace} name=${name} job=${value} etag=${etag} />`} />`;
}

/** The form and the text are two views of one definition. The text rules: it may hold what the form has no field for. */
function Form({ me, namespace, name, job, etag }) {
  const place = JSON.stringify([me.id, namespace, name]);
  const [kept, setKept] = useState(unsaved.get(place));
  const [base, setBase] = useState(kept?.base || { definition: definitionOf(job), etag });
  const [text, setText] = useState(() => kept?.text || writeJson(base.definition));
  const [newName, setNewName] = useState(kept?.newName || "");
  const [met, setMet] = useState(null);
  const { isBusy, problem, run } = useDeed();
  const { names, ask } = useNames(me, namespace);
  const { value, mistake } = useDefinition(text);
  const preview = usePreview(value, namespace);
  const sent = useRef({});
  const whole = name ? value : { name: newName, ...value };
  const errors = errorsOf(problem, sent.current, whole, preview);
  const owners = ownersOf(errors, value);
  const form = {
    value, names, ask,
    replace: (next) => setText(writeJson(next)),
    write: (pointer, next) => setText(writeJson(withValue(value, pointer, next))),
    wrongs: (pointer) => [...new Set(errors.filter((_, place) => owners[place] === pointer).map(({ detail }) => detail))],
    countWrong: (pointer) => owners.filter((each) => each && `${each}/`.startsWith(`${pointer}/`)).length,
  };
  const save = (event) => {
    event.preventDefault();
    run(async () => {
      sent.current = whole;
      const target = inNamespace(namespace, "jobs", name || newName.trim());
      try {
        await call("PUT", target, { text, over: base.etag });
      } catch (refused) {
        if (refused.status !== 412 || !name) throw refused;
        const found = await call("GET", target);
        const theirs = definitionOf(found.value);
        const merged = mergedOver(base.definition, value, theirs);
        setBase({ definition: theirs, etag: found.etag });
        setText(writeJson(merged.value));
        setMet(merged);
        return;
      }
      unsaved.delete(place);
      goTo(jobLink(namespace, name || newName.trim()));
    });
  };
  const beginAgain = () => {
    setKept(null);
    setBase({ definition: definitionOf(job), etag });
    setText(writeJson(definitionOf(job)));
    setNewName("");
  };
  const isWritten = text !== writeJson(base.definition) || newName !== "";
  useEffect(() => {
    if (isWritten) unsaved.set(place, { base, text, newName });
    else unsaved.delete(place);
  }, [base, text, newName]);
  const element = useRef();
  useEffect(() => {
    if (!problem) return;
    const wrong = element.current.querySelector(".is-wrong :is(input, select, textarea, button)");
    if (wrong) wrong.focus();
    // what stands at no field is above all fields
    else element.current.scrollIntoView();
  }, [problem]);
  useEffect(() => {
    if (met) element.current.scrollIntoView();
  }, [met]);
  const stray = (each) => errors.filter((error, place) => !owners[place] && each.includes(error));
  const others = stray(problem?.errors || []);
  const unknown = Object.keys(value).filter((each) => !JOB_FIELDS.some(([path]) => path.split(".")[0] === each));
  const state = mistake ? "The JSON cannot be read." : errors.length ? `${counted(errors.length, "field")} refused.` : isWritten ? "Not saved yet." : "";
  return html`<form class="editor" ref=${element} onSubmit=${save} onKeyDown=${savesByKey}>
    <${OwnerNote} job=${{ ...job, labels: base.definition.labels }} />
    ${kept ? html`<p class="note">This is what you wrote before. It is not saved. <button type="button" onClick=${beginAgain}>Begin again</button></p>` : null}
    ${met ? html`<${MetNote} met=${met} />` : null}
    ${problem && (others.length || !problem.errors?.length) ? html`<${ProblemNote} problem=${{ message: problem.message, errors: others }} />` : null}
    <div class="two-views"><fieldset class="plainset" disabled=${mistake !== null}>
      ${name ? null : html`<${FormField} form=${{ ...form, value: { name: newName }, write: (_, next) => setNewName(next || "") }} spec=${NAME_FIELD} more=${{ required: true }} />`}
      <${FormField} form=${form} spec=${DESCRIPTION_FIELD} />
      <section aria-labelledby="when-title"><h2 id="when-title">When</h2><${ScheduleFields} form=${form}>
        <${PreviewPart} preview=${preview} definition=${value} others=${stray(preview.problem?.errors || [])} /><//></section>
      <section aria-labelledby="what-title"><h2 id="what-title">Where and what</h2>
        <div class="fields"><${FormField} form=${form} spec=${TARGET_FIELD} /><${FormField} form=${form} spec=${DATA_FIELD} /></div></section>
      <section aria-labelledby="how-title"><h2 id="how-title">Options</h2>
        ${JOB_GROUPS.map((group) => html`<${FoldedGroup} key=${group.title} form=${form} ...${group} />`)}
        ${unknown.length ? html`<p class="hint">In the JSON alone: ${unknown.join(", ")}.</p>` : null}</section>
      ${Object.entries(names).map(([list, found]) => html`<datalist key=${list} id=${`names-${list}`}>${choicesOf(found.names.map((each) => [each]))}</datalist>`)}
    </fieldset><${JsonView} text=${text} mistake=${mistake} errors=${errors} onWrite=${setText} /></div>
    <${SaveBar} isNew=${!name} isBusy=${isBusy} isUnreadable=${mistake !== null} isWrong=${mistake || errors.length > 0} state=${state}
      cancel=${linkTo([namespace, "jobs", ...(name ? [name] : [])])} onCancel=${() => unsaved.delete(place)} />
  </form>`;
}

/** The definition in a text, and why it cannot be read. Until it can, the last one counts. */
function useDefinition(text) {
  const last = useRef({});
  const { value, mistake } = typedJson(text);
  if (isObject(value)) last.current = value;
  return { value: last.current, mistake: mistake || (isObject(value) ? null : "A job is a JSON object.") };
}

/** What the API refuses: of the last save what still stands as it was sent, and of the times what the preview says. */
function errorsOf(problem, sent, value, preview) {
  const refused = (problem?.errors || []).filter(({ pointer }) => isSame(valueAt(sent, pointer), valueAt(value, pointer)));
  const known = new Set(refused.map(({ pointer }) => pointer));
  return [...refused, ...(preview.problem?.errors || []).filter(({ pointer }) => !known.has(pointer))];
}

/** The pointer of the field that shows each error: the innermost around it. Undefined if no field is around it. */
function ownersOf(errors, value) {
  if (!errors.length) return [];
  const pointers = [...JOB_FIELDS.map((spec) => pointerOf(spec)), ...TARGET_POINTERS.flatMap((base) => fieldsOfTarget(valueAt(value, base)).map((spec) => pointerOf(spec, base)))]
    .sort((one, other) => other.length - one.length);
  return errors.map((error) => pointers.find((each) => `${error.pointer}/`.startsWith(`${each}/`)));
}

/** The names that a field can choose from. A list is loaded when somebody first comes to such a field. */
function useNames(me, namespace) {
  const [names, setNames] = useState({});
  const asked = useRef(new Set());
  const ask = async (list) => {
    if (asked.current.has(list) || (list === "secrets" && !may(me, "admin"))) return;
    asked.current.add(list);
    try {
      const found = list === "zones" ? { names: [...new Set(["UTC", ...Intl.supportedValuesOf("timeZone")])] } : await getSome(inNamespace(namespace, list), {}, { calls: 1 });
      setNames((old) => ({ ...old, [list]: { names: found.items?.map((each) => each.name), ...found } }));
    } catch {
      // the name can be typed, and the next visit asks again
      asked.current.delete(list);
    }
  };
  return { names, ask };
}

/** Says who else writes this job: a file, a template, or a client of EventBridge Scheduler. */
function OwnerNote({ job }) {
  const file = /^(.*) \S+$/.exec(job.labels?.[FILE_LABEL] || "")?.[1];
  const [, stack, resource] = /^arn:[^:]+:cloudformation:[^/]*\/([^/]+)\/.*\/([^/]+)$/.exec(job.owner || "") || [];
  return [
    file ? html`<p class="note">The file <code>${file}</code> owns this job. Change it there. After a change here, the next <code>apply</code> of the file refuses this job,
      and with <code>--take-over</code> it overwrites your change.</p>` : null,
    stack ? html`<p class="note">The resource ${resource} of the CloudFormation stack <code>${stack}</code> owns this job. Change it there: the next change of the resource overwrites yours.</p>` : null,
    job.eventbridge ? html`<p class="note">A client of EventBridge Scheduler wrote this job. After a change here, that API answers 409 for it.</p>` : null,
  ];
}

/** Says what came of a save that met the change of somebody else. */
function MetNote({ met: { taken, both } }) {
  const list = (names) => html`<code>${names.join(", ")}</code>`;
  return html`<div class="note" role="alert"><p>Somebody else changed this job meanwhile. Nothing was saved.</p>
    ${taken.length ? html`<p>Their change of ${list(taken)} is in the form now, beside yours.</p>` : null}
    ${both.length ? html`<p>You both changed ${list(both)}. The form has yours: saving it overwrites theirs.</p>` : null}
    <p>Read it, then save again.</p></div>`;
}

/** The definition as JSON, and the lines that the API refuses. */
function JsonView({ text, mistake, errors, onWrite }) {
  const area = useRef();
  const show = (place) => {
    const end = text.indexOf("\n", place);
    area.current.focus();
    area.current.setSelectionRange(place, end < 0 ? text.length : end);
    area.current.scrollTop = (text.slice(0, place).split("\n").length - 4) * parseFloat(getComputedStyle(area.current).lineHeight);
  };
  return html`<div class="json-view"><${Field} id="json" label="The whole definition (JSON)" errors=${mistake ? [mistake] : []}>
      <textarea id="json" ref=${area} aria-describedby="json-about" rows="24" wrap="off" spellcheck=${false} value=${text} onInput=${(event) => onWrite(event.target.value)}></textarea><//>
    ${errors.length && !mistake ? html`<ul class="plainlist refused" aria-label="Refused lines">${errors.map(({ pointer, detail }) => {
      const place = placeOf(text, pointer);
      return html`<li key=${pointer + detail}><button type="button" class="plain" onClick=${() => show(place)}>Line ${text.slice(0, place).split("\n").length}</button>
        <code>${pointer || "/"}</code> ${detail}</li>`;
    })}</ul>` : null}</div>`;
}
