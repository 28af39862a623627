// The pieces that several screens are made of.

import { html, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { count, fromDue, fromNow, inZone, viewerZone } from "./time.js";
import { unplaced, useRefusalFocus } from "./form.js";
import { loadedAt, useDeed, useTicking } from "./live.js";

/** A state in words, with its colour as a second sign. */
export function StateMark({ state, title }) {
  return html`<span class=${`state is-${state}`} title=${title}>${state}</span>`;
}

/**
 * An instant in the viewer's zone, and how far from now. Null shows a dash. `isDue` says that something happens at
 * that instant, so a past one is late.
 */
export function When({ at, zone = viewerZone(), isDue = false }) {
  if (!at) return html`<span class="soft">–</span>`;
  return html`<time datetime=${at} title=${`${at} (UTC)`}>${inZone(at, zone)} <span class="soft"><${Away} at=${at} isDue=${isDue} /></span></time>`;
}

/** How far an instant is from now, kept true. What was to come when it was first shown does not turn into the past. */
export function Away({ at, isDue = false }) {
  const first = useRef({});
  if (first.current.at !== at) first.current = { at, wasAhead: Date.parse(at) > Date.now() };
  return useTicking(() => (isDue || first.current.wasAhead ? fromDue(at, loadedAt()) : fromNow(at)));
}

/** Why something could not be loaded or done, with the fields that were refused. */
export function ProblemNote({ problem, onRetry }) {
  if (!problem) return null;
  return html`<div class="problem" role="alert">
    <p>${problem.message}</p>
    ${problem.errors?.length ? html`<ul>${problem.errors.map((each) => html`
      <li><code>${each.pointer || "/"}</code> ${each.detail}</li>`)}</ul>` : null}
    ${onRetry ? html`<button type="button" onClick=${onRetry}>Try again</button>` : null}
  </div>`;
}

/** What a screen shows before its first answer: grey lines where the rows will be. */
export function Loading({ what }) {
  return html`<div class="loading" role="status"><span class="unseen">Loading ${what} …</span>
    ${[1, 2, 3, 4].map((each) => html`<span class="bone" key=${each} aria-hidden="true"></span>`)}</div>`;
}

/** The value of `live` by `show`, or what there is instead of it. A problem is shown above an older value. */
export function Loaded({ live, what, show }) {
  const { value, problem, reload } = live;
  return [
    problem ? html`<${ProblemNote} problem=${problem} onRetry=${reload} />` : null,
    value === null ? (problem ? null : html`<${Loading} what=${what} />`) : show(value),
  ];
}

/** A short text where a list has nothing. */
export function Empty({ title, children }) {
  return html`<div class="empty"><p><strong>${title}</strong></p>${children}</div>`;
}

/** Names and values, two columns. A row whose value is null is left out. */
export function Facts({ rows }) {
  return html`<dl class="facts">${rows.filter(([, value]) => value !== null && value !== undefined).map(([name, value]) => html`
    <div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** A table. On a narrow screen its rows are cards, or it scrolls sideways by itself. */
export function Table({ label, head, children, className }) {
  const table = useRef();
  useLayoutEffect(() => nameCells(table.current));
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${label}><table ref=${table} class=${className}>
    <thead><tr>${head.map((each) => html`<th scope="col">${each}</th>`)}</tr></thead>
    <tbody>${children}</tbody></table></div>`;
}

/** Tell each cell the title of its column. On a narrow screen a row is a card, and each cell shows that title. */
function nameCells(table) {
  const titles = [...table.tHead.rows[0].cells].map((each) => each.textContent.trim());
  for (const row of table.tBodies[0].rows) {
    let column = 0;
    for (const cell of row.cells) {
      if (cell.dataset.title !== titles[column]) cell.dataset.title = titles[column];
      column += cell.colSpan;
    }
  }
}

/** A part of a whole, in words and as a bar. */
export function Share({ label, part, whole }) {
  return html`<span class="use">${count(part)} of ${count(whole)} <progress aria-label=${label} value=${Math.min(part, whole)} max=${whole}></progress></span>`;
}

/** Below a list that grows: how much of it is shown, and the button that shows more. `shown` says the former. */
export function More({ list, noun, shown }) {
  const { items, isPartial } = list.value;
  if (!isPartial && !list.hasGrown) return null;
  return html`<div class="pager">
    ${isPartial ? html`<button type="button" onClick=${list.more}>${list.isGrowing ? "Loading …" : `More ${noun}`}</button>` : null}
    <span class="soft" role="status">${isPartial ? shown(count(items.length)) : `All ${count(items.length)} are shown.`}</span></div>`;
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

/** A text that can be copied, where the browser lets a page copy. */
export function Command({ text, label }) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
  };
  return html`<div class="command"><pre tabindex="0" role="region" aria-label=${label}><code>${text}</code></pre>
    ${navigator.clipboard ? html`<button type="button" onClick=${copy}>${isCopied ? "Copied" : "Copy"}</button>` : null}</div>`;
}

/**
 * A dialog that asks before something is done. It ends by Escape, by Cancel, or when `deed` is done; a problem
 * stays in it. With `typed`, that text has to be typed first. If `children` is a function it gets the problem, and
 * shows at its inputs what was refused of `fields`.
 */
export function Ask({ title, verb, danger, typed, deed, onClose, fields = [], children }) {
  const dialog = useRef();
  const [text, setText] = useState("");
  const { isBusy, problem, run } = useDeed();
  useLayoutEffect(() => {
    dialog.current.showModal();
  }, []);
  useRefusalFocus(problem);
  const submit = async (event) => {
    event.preventDefault();
    if (await run(deed)) onClose();
  };
  return html`<dialog ref=${dialog} onClose=${onClose} aria-labelledby="ask-title">
    <form onSubmit=${submit}>
      <h2 id="ask-title">${title}</h2>
      ${typeof children === "function" ? children(problem) : children}
      ${typed ? html`<${Field} id="ask-typed" label=${["Type ", html`<code>${typed}</code>`, " to confirm"]}>
        <input id="ask-typed" autocomplete="off" spellcheck=${false} value=${text} onInput=${(event) => setText(event.target.value)} />
      <//>` : null}
      <${ProblemNote} problem=${unplaced(problem, fields)} />
      <div class="buttons">
        <button type="button" onClick=${() => dialog.current.close()}>Cancel</button>
        <button class=${danger ? "danger" : "main"} disabled=${isBusy || (typed && text !== typed)}>${isBusy ? "Working …" : verb}</button>
      </div>
    </form>
  </dialog>`;
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
