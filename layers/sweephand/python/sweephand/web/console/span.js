// What is done to all runs of a span at once, in one namespace or in several. The API counts them first.

import { html, useState } from "./vendor/preact.js";
import { Problem } from "./api.js";
import { changeRuns, countRuns, doneText, VERB_WORDS } from "./bulk.js";
import { useDeed } from "./live.js";
import { Ask, ProblemNote } from "./parts.js";
import { count, counted, inZone, viewerZone } from "./time.js";

/** What an operator does to runs in each state. */
export const VERB_OF_STATE = { failed: "redrive", retrying: "cancel", running: "cancel", skipped: null };

/** The button that counts the runs of a span and then asks. The span ends at the click, so that what is counted is what is done. */
export function CountSpan({ namespaces, verb, filter, onAsk }) {
  const [counting, setCounting] = useState(null);
  const { problem, run } = useDeed();
  const start = () => run(async () => {
    const { state, ...selection } = filter();
    const all = { ...selection, since: selection.since || new Date(0).toISOString(), until: selection.until || new Date().toISOString(), ...(verb === "cancel" ? { state } : {}) };
    const counts = [];
    let total = 0;
    try {
      for (const namespace of namespaces) {
        setCounting(total);
        const found = await countRuns(namespace, verb, all, (part) => setCounting(total + part));
        total += found;
        if (found) counts.push([namespace, found]);
      }
    } finally {
      setCounting(null);
    }
    if (!total) throw new Problem(0, `The API found no run in this span to ${verb}. Jobs may be deleted, or runs may have changed.`);
    onAsk({ total, counts, lines: linesOf(all), deed: (onDone) => changeSpan(verb, all, counts, onDone) });
  });
  return html`${counting === null ? html`<button type="button" class="main" onClick=${start}>${VERB_WORDS[verb]} all in this span …</button>`
    : html`<span role="status">Counting … ${count(counting)}</span>`}<${ProblemNote} problem=${problem} />`;
}

/**
 * Asks before runs are redriven or cancelled. `deed` is told what to call after each, and returns how many were
 * changed. Of a span, `lines` say what is selected, and `counts` how many runs each namespace has.
 */
export function AskRuns({ verb, total, deed, lines = [], counts = [], onTold, onClose }) {
  const [done, setDone] = useState(0);
  const change = async () => onTold(doneText(verb, await deed(setDone), "run"));
  return html`<${Ask} title=${`${VERB_WORDS[verb]} ${counted(total, "run")}?`} verb=${`${VERB_WORDS[verb]} ${count(total)}`} danger=${verb === "cancel"}
    typed=${verb === "cancel" && lines.length ? String(total) : null} deed=${change} onClose=${onClose}>
    <p>${verb === "redrive" ? "Sweephand tries each of them again at once, under the same trigger id." : "No further attempt of them begins."}</p>
    ${lines.map((line) => html`<p key=${line} class="soft long">${line}</p>`)}
    ${counts.length > 1 ? html`<ul class="names">${counts.map(([namespace, number]) => html`<li key=${namespace}><code>${namespace}</code> ${count(number)}</li>`)}</ul>` : null}
    ${done ? html`<p role="status">${count(done)} so far</p>` : null}<//>`;
}

function linesOf({ since, until, reason, prefix, label }) {
  const at = (instant) => inZone(instant, viewerZone());
  return [`Due from ${at(since)} until ${at(until)} (${viewerZone()})`, reason && `Answer or reason has “${reason}”`, prefix && `Job begins with “${prefix}”`,
    label.length && `Labels ${label.join(", ")}`].filter(Boolean);
}

async function changeSpan(verb, selection, counts, onDone) {
  let changed = 0;
  for (const [namespace] of counts) {
    const before = changed;
    changed += await changeRuns(namespace, verb, selection, (part) => onDone(before + part));
  }
  return changed;
}
