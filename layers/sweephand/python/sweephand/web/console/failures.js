// All runs of a namespace that failed, are retried or were skipped: grouped by job or by answer, and redriven.

import { html, useState } from "./vendor/preact.js";
import { may } from "./access.js";
import { call, forEachOf, getSome, inNamespace, Problem } from "./api.js";
import { useLive } from "./live.js";
import { Ask, Empty, Loaded, StateMark, Table, When } from "./parts.js";
import { linkTo } from "./route.js";
import { answerText } from "./runs.js";
import { count, counted } from "./time.js";

const STATES_SHOWN = ["failed", "retrying", "skipped", "running"];
const DAYS = { "1 day": 1, "7 days": 7, "30 days": 30 };
const DAY_IN_MS = 86_400_000;
const CALLS = 5;
const GROUPS = { job: (run) => run.job, answer: (run) => answerText(run) };

export function Failures({ me, namespace }) {
  const [state, setState] = useState("failed");
  const [since, setSince] = useState("1 day");
  const [group, setGroup] = useState("job");
  const [asked, setAsked] = useState(null);
  const live = useLive(() => runsOf(namespace, state, DAYS[since]), JSON.stringify([namespace, state, since]));
  const close = () => {
    setAsked(null);
    live.reload();
  };
  const choice = (label, value, options, set) => html`<label>${label} <select value=${value} onChange=${(event) => set(event.target.value)}>${options.map((each) => html`
    <option value=${each}>${each}</option>`)}</select></label>`;
  const ask = may(me, "write") && state === "failed" ? setAsked : null;
  return html`<div class="head"><h1>Failures</h1></div>
    <form class="filter even" onSubmit=${(event) => event.preventDefault()}>${choice("State", state, STATES_SHOWN, setState)}
      ${choice("Due in the last", since, Object.keys(DAYS), setSince)}${choice("Group by", group, Object.keys(GROUPS), setGroup)}</form>
    <${Loaded} live=${live} what="the runs" show=${(found) => (found.items.length ? html`
      <div class="head"><p>${found.isPartial ? "At least " : ""}${counted(found.items.length, "run")}</p>${ask ? html`<div class="verbs">
        <button type="button" class="main" onClick=${() => ask(found.items)}>Redrive ${count(found.items.length)}</button></div>` : null}</div>
      ${groupsOf(found.items, GROUPS[group]).map(([title, runs]) => html`<${Group} key=${title} namespace=${namespace} title=${title} runs=${runs} onAsk=${ask} />`)}`
      : html`<${Empty} title=${`No run that was due in the last ${since} is ${state}.`} />`)} />
    ${asked ? html`<${Ask} title=${`Redrive ${counted(asked.length, "run")}?`} verb=${`Redrive ${count(asked.length)}`} deed=${() => redriveAll(namespace, asked)} onClose=${close}>
      <p>Sweephand tries each of them again at once, under the same trigger id.</p><//>` : null}`;
}

/** The runs in a state that were due in the last days, newest first. It is partial if there may be more. */
export function runsOf(namespace, state, days, calls = CALLS) {
  const since = new Date(Date.now() - days * DAY_IN_MS).toISOString();
  return getSome(inNamespace(namespace, "runs"), { state, since }, calls);
}

/** Runs by what `titleOf` says of each, the largest group first. */
export function groupsOf(runs, titleOf) {
  const found = new Map();
  for (const run of runs) found.set(titleOf(run), [...(found.get(titleOf(run)) || []), run]);
  return [...found].sort(([, one], [, other]) => other.length - one.length);
}

const ROWS_OF_A_GROUP = 5;

function Group({ namespace, title, runs, onAsk }) {
  const [isWhole, setWhole] = useState(false);
  return html`<section class="group"><div class="head"><h2 class="long">${title}</h2><span class="soft">${counted(runs.length, "run")}</span>
      ${onAsk ? html`<div class="verbs"><button type="button" aria-label=${`Redrive those of ${title}`} onClick=${() => onAsk(runs)}>Redrive ${count(runs.length)}</button></div>` : null}</div>
    <${Table} label=${`Runs of ${title}`} head=${["Job", "Due", "State", "Attempts", "Answer"]}>${(isWhole ? runs : runs.slice(0, ROWS_OF_A_GROUP)).map((run) => html`
      <tr key=${run.job + run.id}><td class="name"><a href=${linkTo([namespace, "jobs", run.job, "runs", run.id])}>${run.job}</a></td>
        <td><${When} at=${run.dueAt} /></td><td><${StateMark} state=${run.state} /></td><td class="number">${run.attempts}</td><td class="answer">${answerText(run)}</td></tr>`)}<//>
    ${runs.length > ROWS_OF_A_GROUP && !isWhole ? html`<p><button type="button" onClick=${() => setWhole(true)}>Show all ${count(runs.length)}</button></p>` : null}</section>`;
}

/** Redrive each run. One that somebody else has redriven meanwhile is no problem. */
async function redriveAll(namespace, runs) {
  const problems = await forEachOf(runs, (run) => call("POST", inNamespace(namespace, "jobs", run.job, "runs", run.id, "redrive")));
  const real = problems.filter(({ problem }) => problem.status !== 409);
  if (real.length) {
    throw new Problem(0, `It did not work for ${counted(real.length, "run")}.`,
      real.slice(0, 20).map(({ item, problem }) => ({ pointer: `${item.job} ${item.id}`, detail: problem.message })));
  }
}
