// The dialogs that ask before many jobs or runs are changed, and the count before them.

import { html, useState } from "./vendor/preact.js";
import { getSome, inNamespace, Problem } from "./api.js";
import { Ask } from "./ask.js";
import { changeAll, changeMatching, changeNamed, countRuns, doneText, VERB_WORDS } from "./change_many.js";
import { InputField, textOf, useForm } from "./form.js";
import { useDeed } from "./live.js";
import { ProblemNote, Verb } from "./parts.js";
import { count, counted, instantIn, inZone, stackNow, viewerZone } from "./time.js";

/** What an operator does to runs in each state. */
export const VERB_OF_STATE = { failed: "redrive", retrying: "cancel", running: "cancel", skipped: null };

/** Counts before a dialog asks. `begin` takes what counts, which tells how many it has found, and `status` shows that. */
export function useCount() {
  const [counting, setCounting] = useState(null);
  const { problem, run } = useDeed();
  const begin = (deed) => run(async () => {
    try {
      setCounting(0);
      await deed(setCounting);
    } finally {
      setCounting(null);
    }
  });
  return { begin, problem, status: counting === null ? null : html`<span role="status">Counting … ${count(counting)}</span>` };
}

/** A dialog names so many. Before more of them are ended, their number has to be typed. */
const NAMED_MAX = 10;

/**
 * Asks before `total` jobs or runs are changed. `deed` is told what to call after each, and returns how many were
 * changed. `about` says what that means, `lines` what is selected, and `names` which ones.
 */
function AskMany({ verb, noun, total, about, danger, lines = [], names = [], deed, onTold, onClose, children }) {
  const [done, setDone] = useState(0);
  const change = async () => {
    setDone(0);
    onTold(doneText(verb, await deed(setDone), verb === "redrive" ? "run" : noun));
  };
  return html`<${Ask} title=${`${VERB_WORDS[verb]} ${counted(total, noun)}?`} verb=${`${VERB_WORDS[verb]} ${count(total)}`} danger=${danger}
    typed=${danger && total > NAMED_MAX ? String(total) : null} deed=${change} onClose=${onClose}>${(problem) => html`
    <p>${about}</p>
    ${lines.map((line) => html`<p key=${line} class="soft long">${line}</p>`)}
    ${names.length ? html`<ul class="names">${names.slice(0, NAMED_MAX).map((each) => html`<li><code>${each}</code></li>`)}
      ${names.length > NAMED_MAX ? html`<li class="soft">and ${count(names.length - NAMED_MAX)} more</li>` : null}</ul>` : null}
    ${typeof children === "function" ? children(problem) : children}
    ${done ? html`<p role="status">${count(done)} so far</p>` : null}`}<//>`;
}

/** What becomes of jobs. */
const ABOUT_JOBS = {
  pause: "Nothing of these jobs fires until they are resumed.",
  resume: "The catch-up rule of each job decides which of its missed triggers fire.",
  redrive: "Each failed run of these jobs is tried again, under the same trigger id.",
  delete: "The jobs are gone, and what they still owed is not delivered. Their runs stay until they expire.",
};

/** Asks before a verb is applied to `total` jobs: to those of `names`, or to all that fit `filter`. A redrive of the latter counts runs. */
export function AskJobs({ namespace, verb, names, filter, total, onTold, onClose }) {
  const form = useForm({ reason: "", until: "" });
  const deed = (onDone) => (filter ? changeMatching(namespace, verb, filter, pauseOf(form.given), onDone) : changeNamed(namespace, verb, names, pauseOf(form.given), onDone));
  return html`<${AskMany} verb=${verb} noun=${filter && verb === "redrive" ? "run" : "job"} total=${total} about=${ABOUT_JOBS[verb]} danger=${verb === "delete"}
    names=${names} deed=${deed} onTold=${onTold} onClose=${onClose}
    lines=${filter ? [[filter.prefix ? `Names that begin with ${filter.prefix}` : "", ...filter.label].filter(Boolean).join(", ")] : []}>${(problem) => html`
    ${verb === "pause" ? html`<${PauseFields} form=${form} problem=${problem} />` : null}`}<//>`;
}

/** Why, and until when something is paused. */
export function PauseFields({ form, problem }) {
  return html`<${InputField} form=${form} problem=${problem} name="reason" at="/reason" label="Reason (optional)" />
    <${InputField} form=${form} problem=${problem} name="until" at="/until" label="Until (optional)" kind="datetime-local" hint="It is resumed by itself then, in your zone's time." />`;
}

/** What these fields say, as a request. */
export const pauseOf = ({ reason, until }) => ({ reason: textOf(reason), until: instantIn(until) ?? textOf(until) });

/** What becomes of runs. */
const ABOUT_RUNS = { redrive: "Sweephand tries each of them again at once, under the same trigger id.", cancel: "No further attempt of them begins." };

/** A run as a dialog names it. */
export const namedRun = (run) => `${run.job}, due ${inZone(run.dueAt, viewerZone())}`;

/** Asks before runs are redriven or cancelled. Of a span, `lines` say what is selected, and `counts` how many runs each namespace has. */
export function AskRuns({ verb, counts = [], ...rest }) {
  return html`<${AskMany} verb=${verb} noun="run" about=${ABOUT_RUNS[verb]} danger=${verb === "cancel"} ...${rest}>
    ${counts.length > 1 ? html`<ul class="names">${counts.map(([namespace, number]) => html`<li key=${namespace}><code>${namespace}</code> ${count(number)}</li>`)}</ul>` : null}<//>`;
}

/** The button that counts the runs of a span and then asks. The span ends at the click, so that what is counted is what is done. */
export function CountSpan({ namespaces, verb, filter, onAsk }) {
  const { begin, problem, status } = useCount();
  const start = () => begin(async (onCount) => {
    const { state, ...selection } = filter();
    const all = { ...selection, until: selection.until || new Date(stackNow()).toISOString(), ...(verb === "cancel" ? { state } : {}) };
    const counts = [];
    let total = 0;
    for (const namespace of namespaces) {
      const found = await countRuns(namespace, verb, all, (part) => onCount(total + part));
      total += found;
      if (found) counts.push([namespace, found]);
    }
    if (!total) throw new Problem(0, `The API found no run in this span to ${verb}. Jobs may be deleted, or runs may have changed.`);
    const few = verb === "cancel" && total <= NAMED_MAX ? counts : [];
    const named = await Promise.all(few.map(([namespace]) => getSome(inNamespace(namespace, "runs"), all, { most: NAMED_MAX })));
    onAsk({ total, counts, names: named.flatMap(({ items }) => items.map(namedRun)), lines: linesOf(all), deed: (onDone) => changeSpan(verb, all, counts, onDone) });
  });
  return html`${status || html`<${Verb} title=${`${VERB_WORDS[verb]} all in this span …`} kind="main" onClick=${start} />`}<${ProblemNote} problem=${problem} />`;
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
    changed += await changeAll(namespace, verb, selection, (part) => onDone(before + part));
  }
  return changed;
}
