// The inputs of the editor's form, one for each kind of field, and the folded groups of fields.
//
// `form` has the definition as `value`, `write(pointer, value)`, `wrongs(pointer)`, and the names that can be chosen.

import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { saidOf } from "./editor_fields.js";
import { TargetInput } from "./editor_target.js";
import { useDraft, valueAt } from "./editor_value.js";
import { Field } from "./form.js";
import { Exact, entriesOf, isObject, objectOf, readJson, typedJson, writeJson } from "./json.js";
import { instantOf, wallOf } from "./time.js";

const JSON_NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

const isTyped = (value) => typeof value === "string";
const isRef = (value) => isObject(value) && Object.keys(value).join() === "secretRef" && isTyped(value.secretRef);

/** What else than a text a kind of field can show. Any other value is changed in the JSON. */
const CAN_SHOW = {
  number: (value) => typeof value === "number" || value instanceof Exact,
  choice: (value) => typeof value === "boolean",
  secret: isRef,
  json: () => true,
  target: isObject,
  labels: (value) => isObject(value) && Object.values(value).every(isTyped),
  headers: (value) => isObject(value) && Object.values(value).every((each) => isTyped(each) || isRef(each)),
};
const NEVER_TEXT = ["secret", "target", "labels", "headers"];

/** The pointer of a field's path below the pointer of its object. */
export const pointerOf = ([path], base = "") => `${base}/${path.replaceAll(".", "/")}`;

/** One field: its label, its input, and what the API refuses about it. `spec` is its list in the table of fields. */
export function FormField({ form, spec, base, more }) {
  const [, label, kind, needs, hint] = spec;
  const pointer = pointerOf(spec, base);
  const value = valueAt(form.value, pointer) ?? (kind === "json" ? valueAt(form.value, pointer) : undefined);
  const Input = { text: TextInput, duration: TextInput, number: TextInput, instant: InstantInput, zone: NameInput, name: NameInput, choice: ChoiceInput,
    secret: NameInput, json: JsonInput, target: TargetInput, labels: RowsInput, headers: RowsInput }[kind];
  const errors = form.wrongs(pointer);
  if (value !== undefined && !(isTyped(value) ? !NEVER_TEXT.includes(kind) : CAN_SHOW[kind]?.(value))) {
    return html`<${Field} id=${pointer} label=${label} errors=${errors} hint="Change it in the JSON."><input id=${pointer} disabled value=${writeJson(value).replace(/\s+/g, " ")} /><//>`;
  }
  const input = html`<${Input} form=${form} kind=${kind} pointer=${pointer} label=${label} value=${value} needs=${needs} errors=${errors}
    shared=${{ id: pointer, "aria-describedby": `${pointer}-about`, "aria-invalid": errors.length ? "true" : null, autocomplete: "off", spellcheck: false, ...more }}
    onWrite=${(next) => form.write(pointer, next)} />`;
  if (["target", "labels", "headers"].includes(kind)) return input;
  const name = value && (kind === "secret" ? value.secretRef : value);
  return html`<${Field} id=${pointer} label=${label} errors=${errors} hint=${unknownName(form, kind === "secret" ? "secrets" : needs, name) || hint}>${input}<//>`;
}

/** Says that a name is in no list of the namespace, if the list is whole. */
function unknownName(form, list, name) {
  const found = form.names[list];
  if (!found || found.isPartial || list === "zones") return null;
  if (!found.names.length) return `This namespace has no ${list}.`;
  return name && !found.names.includes(name) ? `This namespace has no such name among its ${list}.` : null;
}

function TextInput({ kind, value, needs, shared, onWrite }) {
  const read = (text) => (kind === "number" && JSON_NUMBER.test(text) ? readJson(text) : text || undefined);
  return html`<input ...${shared} inputmode=${kind === "number" ? "decimal" : null} placeholder=${needs && `default: ${needs}`}
    value=${value === undefined ? "" : String(value)} onInput=${(event) => onWrite(read(event.target.value))} />`;
}

/** A name out of a list, which is loaded once somebody comes here. Others can be typed: the list may not be whole. */
function NameInput({ form, kind, value, needs, shared, onWrite }) {
  const list = { zone: "zones", secret: "secrets" }[kind] || needs;
  const write = (text) => onWrite(text === "" ? undefined : kind === "secret" ? { secretRef: text } : text);
  return html`<input ...${shared} list=${`names-${list}`} placeholder=${kind !== "name" && needs ? `default: ${needs}` : null} value=${(kind === "secret" ? value?.secretRef : value) || ""}
    onFocus=${() => form.ask(list)} onInput=${(event) => write(event.target.value)} />`;
}

function ChoiceInput({ value, needs, shared, onWrite }) {
  const now = value === undefined ? "" : String(value);
  const values = Object.keys(needs);
  const write = (text) => onWrite(text === "" ? undefined : ["true", "false"].includes(text) ? text === "true" : text);
  return html`<select ...${shared} value=${now} onChange=${(event) => write(event.target.value)}>
    <option value="" selected=${now === ""}>default: ${needs[values[0]]}</option>
    ${[...new Set([...values, now])].filter(Boolean).map((each) => html`<option key=${each} value=${each} selected=${each === now}>${needs[each] || each}</option>`)}</select>`;
}

/** An instant or a duration as text, and beside it a clock that writes an instant in the zone of the job. */
export function InstantInput({ form, label, value, needs, shared, onWrite }) {
  const zone = valueAt(form.value, "/timezone") || "UTC";
  return html`<div class="with-clock"><input ...${shared} placeholder=${needs ? `default: ${needs}` : "2027-03-01T09:00:00Z or 90m"} value=${value || ""}
      onInput=${(event) => onWrite(event.target.value || undefined)} />
    <input type="datetime-local" aria-label=${`${label}, by the clock of ${zone}`} title=${`By the clock of ${zone}`} value=${wallOf(value, zone)}
      onInput=${(event) => onWrite(instantOf(event.target.value, zone) || undefined)} /></div>`;
}

/** A JSON value. A text that is no JSON yet stays in the input, says where it is wrong, and cannot be saved. */
function JsonInput({ pointer, value, shared, onWrite }) {
  const [text, keep] = useDraft(value, (found) => (found === undefined ? "" : writeJson(found)));
  const input = useRef();
  const { mistake } = valueOf(text);
  useEffect(() => input.current.setCustomValidity(mistake || ""), [mistake]);
  const type = (event) => {
    const typed = event.target.value;
    const found = valueOf(typed);
    const meant = found.mistake ? value : found.value;
    keep(typed, meant);
    onWrite(meant);
  };
  return html`<textarea ref=${input} rows=${Math.min(Math.max(text.split("\n").length, 3), 16)} value=${text} onInput=${type} ...${shared}></textarea>
    ${mistake ? html`<p class="wrong" id=${`${pointer}-mistake`}>${mistake}</p>` : null}`;
}

/** An empty text is right: it stands for no value. */
const valueOf = (text) => (text.trim() ? typedJson(text) : {});

/** Names and texts in rows. The value of a header can also be the name of a secret. */
function RowsInput({ form, kind, pointer, label, value, errors, onWrite }) {
  const one = kind === "labels" ? "label" : "header";
  const [rows, keep] = useDraft(value, (found) => entriesOf(found || {}).map(([name, each]) => [name, isTyped(each) ? each : each.secretRef, !isTyped(each)]));
  const write = (next) => {
    const named = next.filter(([name]) => name);
    const meant = named.length ? objectOf(named.map(([name, each, isSecret]) => [name, isSecret ? { secretRef: each } : each])) : undefined;
    keep(next, meant);
    onWrite(meant);
  };
  const change = (place, column, next) => write(rows.map((row, at) => (at === place ? row.with(column, next) : row)));
  const twice = rows.map(([name]) => name).find((name, place, all) => name && all.indexOf(name) !== place);
  return html`<${InputRows} pointer=${pointer} label=${label} one=${one} errors=${twice ? [...errors, `${twice} stands here twice.`] : errors} rows=${rows} blank=${["", "", false]} onWrite=${write}
    show=${([name, text, isSecret], place) => html`
      <input id=${`${pointer}/${place}`} aria-label=${`Name of ${one} ${place + 1}`} placeholder="name" autocomplete="off" spellcheck=${false} value=${name} onInput=${(event) => change(place, 0, event.target.value)} />
      <input aria-label=${`${isSecret ? "Secret" : "Value"} of ${one} ${place + 1}`} placeholder=${isSecret ? "name of a secret" : "value"} autocomplete="off" spellcheck=${false} value=${text}
        list=${isSecret ? "names-secrets" : null} onFocus=${() => isSecret && form.ask("secrets")} onInput=${(event) => change(place, 1, event.target.value)} />
      ${kind === "headers" ? html`<label class="inline"><input type="checkbox" checked=${isSecret} onChange=${(event) => change(place, 2, event.target.checked)} /> secret</label>` : null}`} />`;
}

/** InputRows that can be added and removed. The keyboard goes to a new row, and back to the button after one was removed. */
export function InputRows({ pointer, label, one, errors, rows, blank, show, onWrite }) {
  const [goal, setGoal] = useState(null);
  useLayoutEffect(() => {
    if (goal) document.getElementById(goal.id)?.focus();
  }, [goal]);
  const add = () => {
    onWrite([...rows, blank]);
    setGoal({ id: `${pointer}/${rows.length}` });
  };
  const remove = (place) => {
    onWrite(rows.filter((_, at) => at !== place));
    setGoal({ id: pointer });
  };
  return html`<fieldset class=${`field rows${errors.length ? " is-wrong" : ""}`}><legend>${label}</legend>
    ${rows.map((row, place) => html`<div class="row" key=${place}>${show(row, place)}
      <button type="button" class="plain" aria-label=${`Remove ${one} ${place + 1}`} onClick=${() => remove(place)}>✕</button></div>`)}
    <button type="button" id=${pointer} onClick=${add}>Add a ${one}</button>
    ${errors.map((each) => html`<p class="wrong" role="alert">${each}</p>`)}</fieldset>`;
}

/** Whether the form stands beside the JSON, and so has room for all groups of a job's fields. */
const hasRoom = () => matchMedia("(min-width: 60rem)").matches;

/**
 * Fields that few jobs need. The closed line says what is set. A group is open where there is room, or if it has
 * something. What the API refuses opens it. The groups of a target, which have a `base`, are closed.
 */
export function FoldedGroup({ form, title, plain, fields, base }) {
  const set = fields.filter((spec) => valueAt(form.value, pointerOf(spec, base)) != null);
  const [isOpen, setOpen] = useState(base === undefined && (hasRoom() || set.length > 0));
  const wrongs = fields.reduce((sum, spec) => sum + form.countWrong(pointerOf(spec, base)), 0);
  return html`<details class="fold" open=${isOpen || wrongs > 0} onToggle=${(event) => setOpen(event.currentTarget.open)}>
    <summary><strong>${title}</strong> ${wrongs ? html`<span class="wrong">${wrongs} refused</span> ` : null}<span class=${set.length ? "set" : "soft"}>${set.length
      ? set.map((spec) => saidOf(spec, valueAt(form.value, pointerOf(spec, base)))).join(" · ") : plain}</span></summary>
    <div class="fields">${fields.map((spec) => html`<${FormField} key=${spec[0]} form=${form} spec=${spec} base=${base} />`)}</div></details>`;
}
