// The pieces that several screens are made of.

import { html, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { loadedAt, useLive, useTicking } from "./live.js";
import { linkTo } from "./route.js";
import { count, fromDue, fromNow, inZone, stackNow, viewerZone } from "./time.js";

/** The title of a screen. `verbs` is what can be done on it, if the key may. */
export function Head({ title, className, verbs, children }) {
  return html`<div class="head"><h1 class=${className}>${title}</h1>${children}${verbs ? html`<div class="verbs">${verbs}</div>` : null}</div>`;
}

/** Where a screen stands below a list: its title, and the one of the list that it is about. `screen` is the name of the list. */
export function Trail({ namespace, screen, title, name, children }) {
  return html`<p class="trail"><a href=${linkTo([namespace, screen])}>${title}</a>${name ? [" / ", html`<a href=${linkTo([namespace, screen, name])}>${name}</a>`] : null}${children}</p>`;
}

/** A button with a verb. `of` is what it is done to, where several buttons have the same verb. */
export function Verb({ title, of, kind = "", onClick }) {
  return html`<button type="button" class=${kind} aria-label=${of ? `${title} ${of}` : null} onClick=${onClick}>${title}</button>`;
}

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
  if (first.current.at !== at) first.current = { at, wasAhead: Date.parse(at) > stackNow() };
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

/** A screen that the browser loads when somebody first opens it: what its module, by `load`, exports as `part`. */
export function Later({ load, part, ...props }) {
  return html`<${Loaded} live=${useLive(load, part, null)} what="the screen" show=${(module) => html`<${module[part]} ...${props} />`} />`;
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

/** A table. On a narrow screen its rows are cards. With `isGrouped` its children are groups of rows. */
export function Table({ label, head, children, className, isGrouped }) {
  const table = useRef();
  useLayoutEffect(() => nameCells(table.current));
  return html`<div class="scroll" tabindex="0" role="group" aria-label=${label}><table ref=${table} class=${className}>
    <thead><tr>${head.map((each) => html`<th scope="col">${each}</th>`)}</tr></thead>
    ${isGrouped ? children : html`<tbody>${children}</tbody>`}</table></div>`;
}

/** Tell each cell the title of its column. On a narrow screen a row is a card, and each cell shows that title. */
function nameCells(table) {
  const titles = [...table.tHead.rows[0].cells].map((each) => each.textContent.trim());
  for (const row of [...table.tBodies].flatMap((each) => [...each.rows])) {
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

/** The first `most` of some items by `show`, and at a click all of them. `noun` is what they are, if the place does not say so. */
export function Whole({ items, most, noun, show }) {
  const [isWhole, setWhole] = useState(false);
  return html`${show(isWhole ? items : items.slice(0, most))}
    ${items.length > most && !isWhole ? html`<p><button type="button" onClick=${() => setWhole(true)}>Show all ${count(items.length)}${noun ? ` ${noun}` : ""}</button></p>` : null}`;
}

/** Below a list that grows: how much of it is shown, and the button that shows more. `shown` says the former. */
export function More({ list, noun, shown }) {
  const { items, isPartial } = list.value;
  if (!isPartial && !list.hasGrown) return null;
  return html`<div class="pager">
    ${isPartial ? html`<button type="button" onClick=${list.more}>${list.isGrowing ? "Loading …" : `More ${noun}`}</button>` : null}
    <span class="soft" role="status">${isPartial ? shown(count(items.length)) : `All ${count(items.length)} are shown.`}</span></div>`;
}

/** A text that can be copied, where the browser lets a page copy. */
export function Command({ text, label }) {
  const [isCopied, setCopied] = useState(false);
  // the browser may refuse: the text can be marked
  const copy = () => navigator.clipboard.writeText(text).then(() => setCopied(true), () => {});
  return html`<div class="command"><pre tabindex="0" role="region" aria-label=${label}><code>${text}</code></pre>
    ${navigator.clipboard ? html`<button type="button" onClick=${copy}>${isCopied ? "Copied" : "Copy"}</button>` : null}</div>`;
}
