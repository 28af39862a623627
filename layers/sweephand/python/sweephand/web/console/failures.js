// All runs of a namespace that failed, are retried, run or were skipped: in a span, by a text, in groups. A choice of
// them, a group, or all of the span are redriven or cancelled.

import { html, useState } from "./vendor/preact.js";
import { may } from "./access.js";
import { getSome, inNamespace } from "./api.js";
import { useAsked } from "./ask.js";
import { AskRuns, CountSpan, namedRun, VERB_OF_STATE } from "./ask_many.js";
import { changeEach, chosenWith, VERB_WORDS } from "./change_many.js";
import { FailuresEverywhere } from "./failures_all.js";
import { choicesOf, entriesIn, SearchField, useFields } from "./form.js";
import { useLive } from "./live.js";
import { Empty, Head, Loaded, Table, Verb, When, Whole } from "./parts.js";
import { goTo, jobLink, linkTo, runLink } from "./route.js";
import { answerText, wordsOfRun } from "./runs.js";
import { count, counted, instantIn, stackNow, wallOf } from "./time.js";

const MINUTE_IN_MS = 60_000;
const DAY_IN_MS = 1440 * MINUTE_IN_MS;
const CALLS = 5;

/** The spans that end now: their names in addresses, in words, and their minutes. */
const FAILURE_SPANS = { "15m": ["15 min", 15], "1h": ["1 h", 60], "6h": ["6 h", 360], "1d": ["1 day", 1440], "7d": ["7 days", 10_080], "30d": ["30 days", 43_200] };
const DEFAULT_SPAN = "1d";

/** What answers have of their own: numbers and ids. Answers that differ in nothing else are one group. */
const OWN_PART = /[\da-f]{8}-[\da-f-]{27}|\b(?=\w*\d)[\da-z_-]{12,}|\d+/gi;
const FAILURE_GROUPS = { job: (run) => run.job, answer: (run) => answerText(run, (words) => words.replace(OWN_PART, "…")) };

/** What the address says: the filter of the API, the span in words, and how runs are grouped. What is nothing of that is passed over. */
function seenIn(query) {
  const [reason, prefix, all] = ["reason", "prefix", "all"].map((name) => query.get(name) || "");
  const [since, until] = ["since", "until"].map((name) => (Number.isNaN(Date.parse(query.get(name))) ? "" : query.get(name)));
  const one = (name, options, usual) => (Object.hasOwn(options, query.get(name)) ? query.get(name) : usual);
  const span = since || until ? "" : one("span", FAILURE_SPANS, DEFAULT_SPAN);
  return { state: one("state", VERB_OF_STATE, "failed"), span, since, until, reason, prefix, label: query.getAll("label"), group: one("group", FAILURE_GROUPS, "job"), all };
}

/** The filter of the API. A span that ends now begins some minutes ago, and one without a beginning with all time. */
function filterOfRuns({ state, span, since, until, reason, prefix, label }) {
  const begin = span ? new Date(stackNow() - FAILURE_SPANS[span][1] * MINUTE_IN_MS).toISOString() : since || new Date(0).toISOString();
  return { state, since: begin, until, reason, prefix, label };
}

const addressOf = (namespace, seen) => linkTo([namespace, "failures"], { ...seen, span: seen.span === DEFAULT_SPAN ? "" : seen.span,
  state: seen.state === "failed" ? "" : seen.state, group: seen.group === "job" ? "" : seen.group });

/** Runs that fit a filter, newest first. They are partial if there may be more. */
const runsThatFit = (namespace, filter, calls = CALLS) => getSome(inNamespace(namespace, "runs"), filter, { calls });

/** The runs in a state that were due in the last days, newest first. It is partial if there may be more. */
export function runsOf(namespace, state, days, calls = CALLS) {
  return runsThatFit(namespace, { state, since: new Date(stackNow() - days * DAY_IN_MS).toISOString() }, calls);
}

/** Runs by what `titleOf` says of each, the largest group first. */
export function groupsOf(runs, titleOf) {
  const found = new Map();
  for (const run of runs) {
    const title = titleOf(run);
    if (!found.has(title)) found.set(title, []);
    found.get(title).push(run);
  }
  return [...found].sort(([, one], [, other]) => other.length - one.length);
}

/** The answer of each of these runs, or what they have in common. */
const answerOf = (runs, title) => (runs.every((run) => answerText(run) === answerText(runs[0])) ? answerText(runs[0]) : title);

/** Failed runs of the last day by their answer: the answer, its runs, and the link that shows them alone. */
export function failedByAnswer(namespace, runs) {
  const seen = seenIn(new URLSearchParams("group=answer"));
  return groupsOf(runs, FAILURE_GROUPS.answer).map(([title, each]) => [answerOf(each, title), each, addressOf(namespace, filterOfGroup(seen, title, each, runs) || seen)]);
}

export function Failures({ me, namespace, query }) {
  const seen = seenIn(query);
  const isEverywhere = Boolean(seen.all) && me.namespace === "*";
  const key = JSON.stringify([namespace, { ...seen, group: "" }]);
  const [told, setTold] = useState({});
  const about = { seen, filter: () => filterOfRuns(seen), verb: may(me, "write") ? VERB_OF_STATE[seen.state] : null, onTold: (text) => setTold({ key, text }) };
  return html`<${Head} title="Failures" />
    <${FailuresForm} namespace=${namespace} seen=${seen} mayAll=${me.namespace === "*"} />
    ${told.key === key ? html`<p class="told" role="status">${told.text}</p>` : null}
    ${isEverywhere ? html`<${FailuresEverywhere} key=${key} ...${about} linkOf=${(each) => addressOf(each, { ...seen, all: "" })} />`
      : html`<${FailuresHere} key=${key} namespace=${namespace} ...${about} />`}`;
}

function FailuresForm({ namespace, seen, mayAll }) {
  const shown = { ...seen, since: wallOf(seen.since), until: wallOf(seen.until), label: seen.label.join(" ") };
  const form = useFields(shown);
  const apply = (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(form.current));
    const instant = (name) => (given[name] === shown[name] ? seen[name] : instantIn(given[name]));
    const times = given.span ? {} : seen.span ? { since: filterOfRuns(seen).since } : { since: instant("since"), until: instant("until") };
    goTo(addressOf(namespace, { ...given, since: "", until: "", ...times, reason: given.reason.trim(), prefix: given.prefix.trim(),
      label: entriesIn(given.label, seen.label) }));
  };
  const choice = (name, label, options) => html`<label>${label} <select name=${name} onChange=${apply}>${choicesOf(options)}</select></label>`;
  const text = (name, label, hint) => html`<${SearchField} name=${name} label=${label} hint=${hint} onChange=${apply} />`;
  // it changes with each digit
  const time = (name, label) => html`<label>${label} <input name=${name} type="datetime-local" onBlur=${apply} /></label>`;
  const same = (words) => words.map((each) => [each, each]);
  return html`<form ref=${form} class="filter even" role="search" onSubmit=${apply}>
    ${choice("state", "State", same(Object.keys(VERB_OF_STATE)))}
    ${choice("span", "Due in the last", [...Object.entries(FAILURE_SPANS).map(([each, [title]]) => [each, title]), ["", "other span …"]])}
    ${seen.span ? null : [time("since", "From"), time("until", "Until")]}
    ${text("reason", "Answer or reason has", "503")}${text("prefix", "Job begins with")}${text("label", "Labels", "team:ops")}
    ${choice("group", "Group by", same(Object.keys(FAILURE_GROUPS)))}
    ${mayAll ? choice("all", "Namespaces", [["", "this one"], ["1", "all"]]) : null}
    <button class="unseen">Apply the filter</button></form>`;
}

const noRunsText = ({ state, span }) => (span ? `No ${state} run was due in the last ${FAILURE_SPANS[span][0]}.` : `No ${state} run was due in this span.`);
const nameOfRun = (run) => `${run.job} ${run.id}`;

function FailuresHere({ namespace, seen, filter, verb, onTold }) {
  const [chosen, setChosen] = useState(new Set());
  const live = useLive(() => runsThatFit(namespace, filter()), "runs");
  const { asked, ask, close } = useAsked(live.reload);
  const askEach = (runs) => ask({ total: runs.length, names: runs.map(namedRun), deed: async (onDone) => {
    const changed = await changeEach(namespace, verb, runs, onDone);
    setChosen(new Set());
    return changed;
  } });
  const isNarrow = seen.reason || seen.prefix || seen.label.length;
  return html`<${Loaded} live=${live} what="the runs" show=${(found) => {
    const some = found.items.filter((run) => chosen.has(nameOfRun(run)));
    if (!found.items.length) return html`<${Empty} title=${isNarrow ? "No run fits this filter." : noRunsText(seen)}>${found.isPartial ? html`<p>The newest runs of the span were looked at. Older ones may fit: choose an earlier end.</p>` : null}<//>`;
    return html`<div class="selection ${some.length ? "" : "is-idle"}"><span aria-live="polite">${some.length ? `${counted(some.length, "run")} chosen` : `${found.isPartial ? "At least " : ""}${counted(found.items.length, "run")}`}</span>
        ${!verb ? null : some.length ? html`<${Verb} title=${`${VERB_WORDS[verb]} ${count(some.length)}`} onClick=${() => askEach(some)} /><${Verb} title="Clear" kind="plain" onClick=${() => setChosen(new Set())} />`
          : html`<${CountSpan} namespaces=${[namespace]} verb=${verb} filter=${filter} onAsk=${ask} />`}</div>
      ${found.isPartial ? html`<p class="soft">These are the newest ones. Choose a shorter or an earlier span, or search, to see others.</p>` : null}
      <${FailureGroups} namespace=${namespace} seen=${seen} items=${found.items} chosen=${verb ? chosen : null} onChoose=${setChosen}
        verb=${verb} onAsk=${askEach} />`;
  }} />
    ${asked ? html`<${AskRuns} verb=${verb} ...${asked} onTold=${onTold} onClose=${close} />` : null}`;
}

const GROUPS_SHOWN = 20;
const ROWS_OF_A_GROUP = 5;

function FailureGroups({ namespace, seen, items, chosen, onChoose, verb, onAsk }) {
  const groups = groupsOf(items, FAILURE_GROUPS[seen.group]);
  const toggle = (runs, isOn) => onChoose(chosenWith(chosen, runs.map(nameOfRun), isOn));
  return html`<${Whole} items=${groups} most=${GROUPS_SHOWN} noun="groups" show=${(shown) => shown.map(([title, runs]) => html`
    <${FailureGroup} key=${title} namespace=${namespace} seen=${seen} title=${title} runs=${runs} all=${items} chosen=${chosen} onToggle=${toggle} verb=${verb} onAsk=${onAsk} />`)} />`;
}

/** The filter that shows a group alone. There is none if it would show other runs too, or not all of these. */
function filterOfGroup({ group, ...seen }, title, runs, all) {
  const text = group === "job" ? title : wordsOfRun(runs[0]).slice(0, 512);
  const fits = group === "job" ? (run) => run.job.startsWith(text) : (run) => wordsOfRun(run).includes(text);
  const found = text ? all.filter(fits) : [];
  if (found.length !== runs.length || !runs.every(fits)) return null;
  return group === "job" ? { ...seen, group: "answer", prefix: text } : { ...seen, group: "job", reason: text };
}

function FailureGroup({ namespace, seen, title, runs, all, chosen, onToggle, verb, onAsk }) {
  const isByJob = seen.group === "job";
  const only = filterOfGroup(seen, title, runs, all);
  const box = (label, some) => chosen && html`<input type="checkbox" aria-label=${label} checked=${some.every((run) => chosen.has(nameOfRun(run)))}
    onChange=${(event) => onToggle(some, event.target.checked)} />`;
  const answer = answerOf(runs, title);
  const differ = isByJob || answer !== answerText(runs[0]);
  const heads = [...(isByJob ? [] : ["Job"]), "Due", "Attempts", ...(differ ? ["Answer"] : [])];
  return html`<section class="group"><div class="head"><h2 class="long">${isByJob ? html`<a href=${jobLink(namespace, title)}>${title}</a>` : answer}</h2><span class="soft">${counted(runs.length, "run")}</span>
      ${only ? html`<a class="small" href=${addressOf(namespace, only)} aria-label=${`Show only those of ${title}`}>Only these</a>` : null}
      ${verb ? html`<div class="verbs"><button type="button" aria-label=${`${VERB_WORDS[verb]} those of ${title}`} onClick=${() => onAsk(runs)}>${VERB_WORDS[verb]} ${count(runs.length)}</button></div>` : null}</div>
    <${Whole} items=${runs} most=${ROWS_OF_A_GROUP} show=${(shown) => html`<${Table} label=${`Runs of ${title}`} className="failed"
      head=${[...(chosen ? [box(`Choose all runs of ${title}`, runs)] : []), ...heads]}>${shown.map((run) => {
        const link = runLink(namespace, run.job, run.id);
        return html`<tr key=${nameOfRun(run)}>${chosen ? html`<td class="box">${box(`Choose ${nameOfRun(run)}`, [run])}</td>` : null}
          ${isByJob ? null : html`<td class="name"><a href=${link}>${run.job}</a></td>`}
          <td>${isByJob ? html`<a href=${link}><${When} at=${run.dueAt} /></a>` : html`<${When} at=${run.dueAt} />`}</td><td class="number">${run.attempts}</td>${differ ? html`<td class="answer">${answerText(run)}</td>` : null}</tr>`;
      })}<//>`} /></section>`;
}
