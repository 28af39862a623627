// The rows of jobs: what each does next, where it delivers, and what came of its newest runs.

import { html } from "./vendor/preact.js";
import { chosenWith } from "./change_many.js";
import { writeJson } from "./json.js";
import { StateMark, Table, When } from "./parts.js";
import { jobLink, linkTo, runLink } from "./route.js";
import { count, counted, inZone, viewerZone } from "./time.js";

/** What a job does next, in a few words. */
export function scheduleText(job) {
  if (typeof job.schedule === "string") return job.schedule;
  if (Array.isArray(job.schedule)) return counted(job.schedule.length, "instant");
  if (job.schedule) return writeJson(job.schedule).replace(/\s+/g, " ");
  return job.dueTime ? `once, ${job.dueTime}` : "on demand";
}

/** Where a job delivers, in a few words: `http billing.example`, `sqs orders`. */
function targetText({ target = { type: "default" } }) {
  const { type, url, path } = target;
  if (url) return `${type} ${/^\w+:\/\/([^/?#]*)/.exec(url)?.[1] || url}`;
  const address = Object.entries(target).find(([name]) => /(Arn|Url)$/.test(name) && name !== "roleArn")?.[1];
  if (typeof address !== "string") return [type, path].filter(Boolean).join(" ");
  const named = address.startsWith("arn:") ? address.split(":").slice(5).join(":") : address.split("/").pop();
  return `${type} ${named.replace(/^(function:|stateMachine:|event-bus\/)/, "")}`;
}

/** The whole address of a target, for those who point at the short one. */
function wholeTarget({ target = {} }) {
  return Object.entries(target).filter(([, value]) => typeof value === "string").map(([, value]) => value).join(" ");
}

/**
 * Jobs in groups of a title and their rows. Without `chosen` none can be chosen. A title that is empty is left out.
 * `isShort` leaves out how a job is defined.
 */
export function JobTable({ namespace, groups, chosen, onChoose, isShort }) {
  const items = groups.flatMap(([, each]) => each);
  const toggle = (jobs, isOn) => onChoose(chosenWith(chosen, jobs.map((each) => each.name), isOn));
  const box = (label, jobs) => chosen && html`<input type="checkbox" aria-label=${label} checked=${jobs.every((job) => chosen.has(job.name))}
    onChange=${(event) => toggle(jobs, event.target.checked)} />`;
  const head = [...(chosen ? [box("Choose all jobs of this page", items)] : []), "Name", "Newest outcomes",
    ...(isShort ? ["Next run"] : ["Schedule", "Next run", "Target", "Owner"]), "Labels"];
  return html`<${Table} label="Jobs" className="jobs" head=${head} isGrouped>${groups.map(([title, jobs]) => html`<tbody key=${title}>
      ${title ? html`<tr class="part"><th scope="rowgroup" colspan=${head.length}>${title}</th></tr>` : null}
      ${jobs.map((job) => html`<${JobRow} key=${job.name} namespace=${namespace} job=${job} isShort=${isShort} box=${box(`Choose ${job.name}`, [job])} />`)}</tbody>`)}<//>`;
}

function JobRow({ namespace, job, isShort, box }) {
  const paused = job.pausedUntil ? html`paused until <${When} at=${job.pausedUntil} zone=${job.timezone} />` : "none while paused";
  return html`<tr class=${job.state === "paused" ? "is-paused" : ""}>
    ${box ? html`<td class="box">${box}</td>` : null}
    <td class="name"><a href=${jobLink(namespace, job.name)}>${job.name}</a>${job.state === "active" ? null : html` <${StateMark} state=${job.state} />`}
      ${job.pauseReason ? html`<span class="under">${job.pauseReason}</span>` : null}
      ${job.description ? html`<span class="under">${job.description}</span>` : null}</td>
    <td class="newest"><${OutcomeMarks} namespace=${namespace} job=${job} /></td>
    ${isShort ? null : html`<td class="when"><code>${job.dueTime && !job.schedule ? "once" : scheduleText(job)}</code>
      ${job.timezone ? html`<span class="under">${job.timezone.replaceAll("/", "/\u200b")}</span>` : null}${job.dueTime && !job.nextRun ? html`<span class="under">${job.dueTime}</span>` : null}</td>`}
    <td>${job.state === "paused" ? html`<span class="soft">${paused}</span>` : html`<${When} at=${job.nextRun} zone=${job.timezone} />`}</td>
    ${isShort ? null : html`<td class="target" title=${wholeTarget(job)}>${targetText(job)}</td>
    <td class="owner soft">${job.owner}</td>`}
    <td class="labels">${Object.entries(job.labels || {}).map(([name, value]) => html`<a class="label" key=${name}
      href=${linkTo([namespace, "jobs"], { label: `${name}:${value}` })}>${name}:${value}</a>`)}</td>
  </tr>`;
}

/** The due time in the name of a run: `1795266000000-0`, `manual-1795266000000-0-x`. */
const dueOfRun = (id) => new Date(Number(/\d+/.exec(id)[0])).toISOString();

/** The newest outcomes, the newest last. The Tab key stops once at them, and the arrows go from mark to mark. */
function OutcomeMarks({ namespace, job }) {
  const { runs, failuresInARow } = job.health;
  if (!runs.length) return html`<span class="soft">–</span>`;
  const marks = [...runs].reverse();
  const go = (event) => {
    const way = { ArrowLeft: "previousElementSibling", ArrowRight: "nextElementSibling" }[event.key];
    if (way) event.target[way]?.focus();
  };
  return html`<span class="marks" role="group" aria-label=${`Newest outcomes of ${job.name}, the newest last`} onKeyDown=${go}>${marks.map((run, at) => {
    const text = `${run.state}, due ${inZone(dueOfRun(run.id), job.timezone || viewerZone())}`;
    return html`<a key=${run.id} class=${`mark is-${run.state}`} tabindex=${at === marks.length - 1 ? 0 : -1} title=${text} aria-label=${text}
      href=${runLink(namespace, job.name, run.id)}></a>`;
  })}</span>${failuresInARow ? html`<span class="under row">${failedText(failuresInARow, runs.length)}</span>` : null}`;
}

function failedText(failures, looked) {
  if (failures === 1) return "newest failed";
  return `${count(failures)}${failures === looked && looked === 10 ? " or more" : ""} failed in a row`;
}
