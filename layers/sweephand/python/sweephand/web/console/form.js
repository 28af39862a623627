// Forms whose fields stand beside what the API refuses of them.

import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { Exact } from "./json.js";

/** What a person has typed into a form: its `given` values by name, and `set(name)`, which takes the event of an input. */
export function useForm(begun) {
  const [given, setGiven] = useState(begun);
  const set = (name) => (event) => setGiven((old) => ({ ...old, [name]: event.target.value }));
  return { given, set, setGiven };
}

/**
 * A form whose inputs show `values`, by their names. An input is written when its value here changes, so what somebody
 * types elsewhere in the form stays, and so does the focus.
 */
export function useFields(values) {
  const form = useRef();
  const shown = useRef({});
  useLayoutEffect(() => {
    for (const [name, value] of Object.entries(values)) {
      const input = form.current.elements.namedItem(name);
      if (input && shown.current[name] !== value) input.value = value;
    }
    shown.current = values;
  });
  return form;
}

/** A label and its input. Errors of the API stand at the field. `children` is one element with that id. */
export function Field({ id, label, hint, errors = [], children }) {
  return html`<div class=${`field${errors.length ? " is-wrong" : ""}`}>
    <label for=${id}>${label}</label>
    ${children}
    <div id=${`${id}-about`}>${errors.map((each) => html`<p class="wrong" role="alert">${each}</p>`)}
      ${hint ? html`<p class="hint">${hint}</p>` : null}</div>
  </div>`;
}

/** The choices of a select: each with its value, and in words. */
export const choicesOf = (choices) => choices.map(([value, words]) => html`<option key=${value} value=${value}>${words}</option>`);

/** An input of a filter. */
export const SearchField = ({ name, label, hint, onChange }) => html`<label>${label} <input name=${name} type="search" placeholder=${hint} autocomplete="off" spellcheck=${false} onChange=${onChange} /></label>`;

/** What was refused of the field `at`, a JSON pointer. A part of it is named before its words. */
function refusedAt(problem, at) {
  return (problem?.errors || []).filter(({ pointer }) => pointer === at || pointer.startsWith(`${at}/`))
    .map(({ pointer, detail }) => (pointer === at ? detail : `${pointer.slice(at.length + 1)}: ${detail}`));
}

/** Lead a person to the first input of which something was refused. */
export function useRefusalFocus(problem) {
  useEffect(() => {
    if (problem) document.querySelector("[aria-invalid=true]")?.focus();
  }, [problem]);
}

/** What is to be said above a form whose fields say the rest. Null if they say all. */
export function unplaced(problem, places) {
  if (!problem?.errors?.length) return problem;
  const errors = problem.errors.filter(({ pointer }) => !places.some((at) => pointer === at || pointer.startsWith(`${at}/`)));
  return errors.length ? { message: problem.message, errors } : null;
}

/** The input of a field. `at` is the pointer of what it writes. `kind` is `select`, `textarea` or the type of an input. */
export function InputField({ form, name, at, label, hint, problem, kind = "text", children, ...rest }) {
  const id = `field-${name}`;
  const errors = refusedAt(problem, at);
  const shared = { id, value: form.given[name], onInput: form.set(name), "aria-invalid": errors.length ? "true" : null, "aria-describedby": `${id}-about`, spellcheck: false, ...rest };
  const input = kind === "select" ? html`<select ...${shared}>${children}</select>` : kind === "textarea" ? html`<textarea ...${shared}></textarea>`
    : html`<input type=${kind} autocomplete="off" ...${shared} />`;
  return html`<${Field} id=${id} label=${label} hint=${hint} errors=${errors}>${input}<//>`;
}

/** The number that a text is, to its last digit. Another text is sent as it is, so that the API says what is right. */
export function numberOf(text) {
  const found = text.trim();
  if (!found) return undefined;
  return /^-?\d+(\.\d+)?$/.test(found) ? new Exact(found) : found;
}

/** A text without blanks around it. Undefined if nothing is left. */
export const textOf = (text) => text.trim() || undefined;

/** The entries of a text: one a line, or between commas or blanks. */
export const wordsIn = (text) => text.split(/[\s,]+/).filter(Boolean);

/** The same entries. Undefined if there is none. */
export const typedEntries = (text) => (wordsIn(text).length ? wordsIn(text) : undefined);

/** The entries of labels, such as `team:ops`. A text shows them with blanks between them. */
export const labelEntries = (labels) => Object.entries(labels || {}).map((each) => each.join(":"));

/** The entries of such a text: those that it showed if nobody has changed it, since a label can have blanks itself. */
export const entriesIn = (text, shown) => (text === shown.join(" ") ? shown : wordsIn(text));

/** Labels of such entries, as the API takes them. Undefined if there is none. */
export const labelsOf = (entries) => (entries.length ? Object.fromEntries(entries.map((each) => [...each.split(/:(.*)/s), ""])) : undefined);

/** Saves a form by Ctrl+Enter or Command+Enter, as its `onKeyDown`. */
export const savesByKey = (event) => (event.ctrlKey || event.metaKey) && event.key === "Enter" && event.currentTarget.requestSubmit();

/**
 * The end of an editor's form, always in view: how the form stands, and its buttons. `cancel` leads away from it, and
 * while it `isUnreadable` it cannot be saved.
 */
export function SaveBar({ isNew, isBusy, isUnreadable, isWrong = isUnreadable, state, cancel, onCancel, children }) {
  return html`<div class="savebar"><span class=${isWrong ? "wrong" : "soft"} role="status">${state}</span>${children}
    ${cancel ? html`<a class="button" href=${cancel} onClick=${onCancel}>Cancel</a>` : null}
    <button class="main" title="Ctrl+Enter" disabled=${isBusy || isUnreadable}>${isBusy ? "Saving …" : isNew ? "Create" : "Save"}</button></div>`;
}
