// One job: what it is, when it fires next, what came of its runs, and what an operator does with it.

import { html, useRef, useState } from "./vendor/preact.js";
import { may } from "./access.js";
import { call, get, inNamespace, Problem } from "./api.js";
import { Batches } from "./batches.js";
import { readJson, writeJson } from "./exact.js";
import { Fires } from "./fires.js";
import { scheduleText } from "./jobtable.js";
import { useLive } from "./live.js";
import { Ask, Empty, Facts, Field, Loaded, StateMark, When } from "./parts.js";
import { pauseOf, UntilField } from "./bulk.js";
import { goTo, linkTo } from "./route.js";
import { Runs } from "./runs.js";
import { counted } from "./time.js";

export function Job({ me, namespace, name, query }) {
  const path = inNamespace(namespace, "jobs", name);
  const [version, setVersion] = useState(0);
  const [asked, setAsked] = useState(null);
  const [told, setTold] = useState(null);
  const live = useLive(async () => {
    const job = await get(path);
    const fires = job.onDemand || job.state === "completed" ? null : await get(`${path}/occurrences`, { limit: 10 });
    const changes = await get(`${path}/changes`, { limit: 10 });
    return { job, fires, changes: changes.items };
  }, path);
  const close = (answer) => {
    setAsked(null);
    if (!answer) return;
    setTold(answer);
    setVersion(version + 1);
    live.reload();
  };
  return html`<p class="trail"><a href=${linkTo([namespace, "jobs"])}>Jobs</a></p>
    <${Loaded} live=${live} what="the job" show=${({ job, fires, changes }) => html`
      <div class="head"><h1 class="mono">${job.name}</h1><${StateMark} state=${job.state} />
        ${may(me, "write") ? html`<${Verbs} job=${job} onAsk=${setAsked} />` : null}</div>
      ${told ? html`<${Told} namespace=${namespace} name=${name} answer=${told} />` : null}
      ${job.description ? html`<p>${job.description}</p>` : null}
      <${Notes} job=${job} />
      <${Facts} rows=${factsOf(namespace, job, fires)} />
      <div class="columns">
        <section aria-labelledby="fires-title"><h2 id="fires-title">Next due times</h2>
          <p><a href=${linkTo([namespace, "jobs", name, "why"])}>Why did it fire, or not?</a></p>
          ${fires ? html`<${Fires} found=${fires} zone=${job.timezone} />` : html`<${Empty}
            title=${job.onDemand ? "This job fires only on demand." : "The series has ended."} />`}</section>
        <section aria-labelledby="changes-title"><h2 id="changes-title">Changes</h2><${Changes} changes=${changes} /></section>
      </div>
      ${job.batch ? html`<${Batches} namespace=${namespace} job=${job} version=${version} />` : null}
      <${Runs} namespace=${namespace} name=${name} zone=${job.timezone} state=${query.get("state") || ""} version=${version} />
      <section><h2>Definition</h2><pre tabindex="0" role="region" aria-label="Definition"><code>${writeJson(definitionOf(job))}</code></pre></section>
      ${asked ? html`<${Deed} verb=${asked} job=${job} path=${path} onClose=${close} namespace=${namespace} />` : null}`} />`;
}

/** What came of a deed that makes triggers. */
function Told({ namespace, name, answer }) {
  const run = (id) => html`<a href=${linkTo([namespace, "jobs", name, "runs", id])}>${id}</a>`;
  if (answer.triggerId) return html`<p class="told" role="status">The run ${run(answer.id)} is on its way.</p>`;
  if (answer.firstId) return html`<p class="told" role="status">${counted(answer.count, "run")} on the way, the first is ${run(answer.firstId)}.</p>`;
  return answer.count === 0 ? html`<p class="told" role="status">Nothing fell due in that range.</p>` : null;
}

/** What is unusual about a job, above all else. */
function Notes({ job }) {
  const blocks = {
    paused: `Its policy ${job.policy} is paused, so its triggers wait. Resume that policy, or give the job another one.`,
    broken: `The consumer of its policy ${job.policy} is out of order, so its triggers wait. They go on when a probe gets an answer.`,
    missing: `There is no policy ${job.policy}, so its triggers wait. Write that policy again, or give the job another one.`,
    off: "Flow policies are off in this stack, so the triggers of this job wait.",
  };
  return [
    job.state === "paused" ? html`<p class="note">Paused <${When} at=${job.pausedAt} />${job.pausedUntil
      ? html`, until <${When} at=${job.pausedUntil} zone=${job.timezone} />` : ""}${job.pauseReason ? `: ${job.pauseReason}` : ""}</p>` : null,
    job.policyBlock ? html`<p class="note">${blocks[job.policyBlock]}</p>` : null,
  ];
}

function factsOf(namespace, job, fires) {
  const target = job.target;
  return [
    ["Schedule", [html`<code>${scheduleText(job)}</code>`, fires?.description ? html`<span class="under">${fires.description}</span>` : null]],
    ["Zone", job.timezone || "UTC"],
    ["Calendar", job.calendar && html`<a href=${linkTo([namespace, "calendars", job.calendar.name])}>${job.calendar.name}</a>`],
    ["Next run", job.state === "paused" ? "none while paused" : html`<${When} at=${job.nextRun} zone=${job.timezone} />`],
    ["Last run", job.lastRun ? html`<a href=${linkTo([namespace, "jobs", job.name, "runs", job.lastRun.id])}><${When} at=${job.lastRun.dueAt}
      zone=${job.timezone} /></a> <${StateMark} state=${job.lastRun.state} />` : "none yet"],
    ["Target", [html`<code>${target.type}</code> `, html`<span class="long">${target.url || target.queueUrl || target.functionArn || target.topicArn
      || target.stateMachineArn || target.busArn || ""}</span>`]],
    ["Policy", job.policy],
    ["Labels", job.labels && Object.entries(job.labels).map(([name, value]) => html`<span class="label">${name}:${value}</span>`)],
    ["Owner", html`<span><code class="long">${job.owner}</code>, <${When} at=${job.createdAt} /></span>`],
  ];
}

const SET_BY_THE_STACK = new Set(["namespace", "name", "rev", "state", "nextRun", "pausedAt", "pauseReason", "pausedUntil", "resumeCatchup",
  "onDemand", "createdAt", "updatedAt", "owner", "expiresAt", "lastRun", "policyBlock"]);

/** The fields of a job that its owner wrote, as a PUT takes them. */
export function definitionOf(job) {
  return Object.fromEntries(Object.entries(job).filter(([name]) => !SET_BY_THE_STACK.has(name)));
}

function Verbs({ job, onAsk }) {
  const button = (verb, title, kind = "") => html`<button type="button" class=${kind} onClick=${() => onAsk(verb)}>${title}</button>`;
  return html`<div class="verbs">
    ${job.state === "paused" ? button("resume", "Resume", "main") : job.state === "active" ? button("pause", "Pause") : null}
    ${button("trigger", "Run now")}
    ${job.schedule ? button("backfill", "Backfill") : null}
    <a class="button" href=${linkTo([job.namespace, "jobs", job.name, "edit"])}>Edit</a>
    ${button("delete", "Delete", "danger")}</div>`;
}

/** The dialog of one verb. `onClose` gets the API's answer once the deed is done. */
function Deed({ verb, job, path, namespace, onClose }) {
  const [given, setGiven] = useState({ reason: "", until: "", catchup: "", data: "", from: "", to: "" });
  const set = (name) => (event) => setGiven({ ...given, [name]: event.target.value });
  const answer = useRef(null);
  const post = async (body) => {
    answer.current = (await call("POST", `${path}/${verb}`, { body })).value;
  };
  const close = () => onClose(answer.current);
  const ask = (title, word, deed, inner, more = {}) => html`<${Ask} title=${title} verb=${word} deed=${deed} onClose=${close} ...${more}>${inner}<//>`;
  if (verb === "pause") {
    return ask(`Pause ${job.name}?`, "Pause", () => post(pauseOf(given)), html`<p>Nothing of it fires until it is resumed.</p>
      <${Field} id="reason" label="Reason (optional)"><input id="reason" value=${given.reason} onInput=${set("reason")} /><//>
      <${UntilField} value=${given.until} onInput=${set("until")} />`);
  }
  if (verb === "resume") {
    return ask(`Resume ${job.name}?`, "Resume", () => post({ catchup: given.catchup || undefined }), html`
      <${Field} id="catchup" label="Of the triggers that it missed"><select id="catchup" value=${given.catchup} onChange=${set("catchup")}>
        <option value="">as the job's catch-up rule says</option><option value="latest">fire the newest</option>
        <option value="all">fire all</option><option value="none">fire none</option></select><//>`);
  }
  if (verb === "trigger") {
    return ask(`Run ${job.name} now?`, "Run now", () => post(given.data.trim() ? { data: jsonOf(given.data) } : {}), html`
      <p>Sweephand delivers one trigger at once${job.batch ? ", with all of its batch" : ""}.</p>
      <${Field} id="data" label="Data (optional)" hint="JSON that the consumer gets in place of the job's own data.">
        <textarea id="data" rows="5" spellcheck=${false} value=${given.data} onInput=${set("data")}></textarea><//>`);
  }
  if (verb === "backfill") {
    const instant = (text) => (text ? new Date(text).toISOString() : text);
    return ask(`Backfill ${job.name}`, "Backfill", () => post({ from: instant(given.from), to: instant(given.to) }), html`
      <p>Each due time of the range fires again, as a run of its own. The times are those of your zone.</p>
      ${["from", "to"].map((each) => html`<${Field} id=${each} label=${each === "from" ? "From" : "To, not included"}>
        <input id=${each} type="datetime-local" step="1" required value=${given[each]} onInput=${set(each)} /><//>`)}`);
  }
  const remove = async () => {
    await call("DELETE", path);
    goTo(linkTo([namespace, "jobs"]));
  };
  return ask(`Delete ${job.name}?`, "Delete", remove, html`<p>What it still owed is not delivered. Its runs stay until they expire.</p>`,
    { danger: true, typed: job.name });
}

/** A JSON value that a person typed. Throws a Problem that says where it is wrong. */
export function jsonOf(text) {
  try {
    return readJson(text);
  } catch (error) {
    throw new Problem(0, `This is no JSON: ${error.message}`);
  }
}

function Changes({ changes }) {
  if (!changes.length) return html`<${Empty} title="No changes recorded." />`;
  return html`<ol class="changes">${changes.map((change) => html`<li key=${change.time + change.what}>
    <strong>${change.what}</strong> by <code>${change.who}</code> <${When} at=${change.time} />${change.until
      && change.what === "paused" ? html`, until <${When} at=${change.until} />` : null}
    ${change.reason ? html`<span class="under">${change.reason}</span>` : null}
    ${change.fields?.length ? html`<details><summary>${counted(change.fields.length, "field")}</summary><ul>${change.fields.map((field) => html`
      <li><code>${field.name}</code>${"after" in field ? html`: <code>${writeJson(field.before)}</code> to <code>${writeJson(field.after)}</code>` : ""}</li>`)}</ul></details>` : null}
  </li>`)}</ol>`;
}
