// Forms whose fields stand beside what the API refuses of them.

import { html, useEffect, useState } from "./vendor/preact.js";
import { Exact } from "./exact.js";
import { Field } from "./parts.js";

/** What a person has typed into a form: its `given` values by name, and `set(name)`, which takes the event of an input. */
export function useForm(begun) {
  const [given, setGiven] = useState(begun);
  const set = (name) => (event) => setGiven((old) => ({ ...old, [name]: event.target.value }));
  return { given, set, setGiven };
}

/** What was refused of the field `at`, a JSON pointer. A part of it is named before its words. */
export function refusedAt(problem, at) {
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

/** The entries of a text: one a line, or between commas or blanks. Undefined if there is none. */
export function typedEntries(text) {
  const found = text.split(/[\s,]+/).filter(Boolean);
  return found.length ? found : undefined;
}

/** Labels as a person types them: `team:ops uses:warehouse`. */
export const labelsText = (labels) => Object.entries(labels || {}).map(([name, value]) => `${name}:${value}`).join(" ");

/** The labels of such a text. */
export function typedLabels(text) {
  const found = typedEntries(text);
  return found && Object.fromEntries(found.map((each) => {
    const [name, value = ""] = each.split(/:(.*)/s);
    return [name, value];
  }));
}
