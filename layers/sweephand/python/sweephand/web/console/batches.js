// The batches of a job: how far each is, which of its runs failed, and when it will be over.

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { get, getSome, inNamespace } from "./api.js";
import { useGrowing } from "./live.js";
import { Empty, Loaded, More, Share, StateMark, Table, When } from "./parts.js";
import { jobLink, leadTo, runLink } from "./route.js";
import { answerText, RUNS_TITLE } from "./runs.js";
import { count, counted, inZone } from "./time.js";

/** The progress of each batch takes a call of its own. So many batches are shown, and so many more at each "More". */
const BATCHES_SHOWN = 5;

/** The failed runs that are shown of a batch. The list of runs has the others. */
const FAILED_SHOWN = 10;

/** The progress of a small batch takes few reads, so it is shown as it grows. */
const SMALL_BATCH = 10_000;
const SMALL_BATCH_REFRESH_MS = 5_000;

/** States that a batch keeps. One that has failed may succeed by redrives. */
const OVER = new Set(["succeeded", "cancelled"]);
const UNDER_WAY = new Set(["running", "waiting"]);

/** What a state means for an operator, where its name alone does not say it. */
const MEANINGS = {
  scheduled: "Its first trigger is not due yet.",
  waiting: "Its job is paused.",
  cancelled: "Its job was deleted before all runs were over.",
};

/** Who asked for a batch that is not of the schedule. Its id begins so. */
const ASKED = { manual: "by hand", backfill: "by a backfill", chained: "in a chain" };

/** The newest batches of a job. `version` changes when something was done that makes new ones. */
export function Batches({ namespace, job, version }) {
  const path = inNamespace(namespace, "jobs", job.name, "batches");
  const over = useRef(new Map());
  const [isQuick, setQuick] = useState(false);
  const load = async (most) => {
    const found = await newestBatches(namespace, path, job, most, over.current);
    setQuick(found.items.some((each) => each.state === "running" && each.total <= SMALL_BATCH));
    return found;
  };
  const live = useGrowing(load, path, BATCHES_SHOWN, isQuick ? SMALL_BATCH_REFRESH_MS : undefined);
  useEffect(() => {
    if (version) live.reload();
  }, [version]);
  return html`<section aria-labelledby="batches-title"><h2 id="batches-title">Batches</h2>
    <${Loaded} live=${live} what="the batches" show=${({ items, refusal }) => {
      const others = items.filter((each) => !UNDER_WAY.has(each.state));
      return [
        refusal && items.length ? html`<p class="note">${refusal}</p>` : null,
        items.filter((each) => UNDER_WAY.has(each.state)).map((each) => html`<${BatchUnderWay} key=${each.id} namespace=${namespace} job=${job} batch=${each} />`),
        others.length ? html`<${BatchTable} namespace=${namespace} job=${job} batches=${others} />` : null,
        items.length ? null : html`<${NoBatches} job=${job} refusal=${refusal} />`,
        html`<${More} list=${live} noun="batches" shown=${(number) => `The newest ${number} are shown.`} />`,
      ];
    }} /></section>`;
}

function NoBatches({ job, refusal }) {
  if (refusal) return html`<${Empty} title=${refusal} />`;
  return html`<${Empty} title="No batch to show."><p>${job.history === "failures" && !job.onComplete
    ? "A job whose history is \"failures\" keeps progress only if it has an onComplete." : "A batch is shown once one of its runs is over."}</p><//>`;
}

/**
 * The newest batches with their progress. `over` keeps those that do not change any more, by their ids, so that they
 * are read once. `refusal` is why the job keeps no progress, if it keeps none.
 */
async function newestBatches(namespace, path, job, most, over) {
  const { items: listed, nextCursor } = await getSome(path, {}, { most });
  const begun = unlistedOf(job, listed);
  const all = begun ? [{ id: begun }, ...listed] : listed;
  const read = async (each) => over.get(each.id) || withFailedRuns(namespace, job, { ...each, ...(await progressOf(`${path}/${each.id}`)) });
  const found = await Promise.all(all.slice(0, most).map(read));
  for (const each of found) if (OVER.has(each.state)) over.set(each.id, each);
  return {
    // without it, neither the list nor the API knows such a batch
    items: found.filter((each) => each.dueAt),
    refusal: found.find((each) => each.isUncounted)?.missing,
    isPartial: Boolean(nextCursor) || all.length > most,
  };
}

/** The name of a run has its index in addition to that of its batch. */
const RUN_OF_BATCH = /^((?:[a-z]+-)?\d+)-(\d+)/;

const batchOf = (run) => run.id.replace(RUN_OF_BATCH, "$1");

/** The id of the job's newest batch if no run of it is over: the API then shows it, but does not list it. */
function unlistedOf(job, listed) {
  const last = job.lastRun;
  let id = null;
  if (last && last.state !== "skipped" && (!listed.length || Date.parse(last.dueAt) >= Date.parse(listed[0].dueAt))) {
    id = batchOf(last);
  } else if (!listed.length && job.nextRun) {
    id = String(Date.parse(job.nextRun));
  }
  return listed.some((each) => each.id === id) ? null : id;
}

/** The progress of a batch, or why the API has none. */
async function progressOf(path) {
  try {
    return await get(path);
  } catch (problem) {
    if (problem.status === 404) return { missing: "The stack no longer has the progress of this batch." };
    if (problem.status === 409) return { missing: problem.message, isUncounted: true };
    throw problem;
  }
}

/** The batch with the first of its failed runs by their index. All runs of a batch are listed at one due time. */
async function withFailedRuns(namespace, job, batch) {
  if (!batch.failed) return batch;
  const since = Date.parse(batch.dueAt);
  const span = { since: batch.dueAt, until: new Date(since + 1).toISOString() };
  const { items } = await getSome(inNamespace(namespace, "runs"), { state: "failed", prefix: job.name, ...span }, { most: FAILED_SHOWN });
  const own = items.filter((run) => run.job === job.name && batchOf(run) === batch.id);
  const failedRuns = own.map((run) => ({ ...run, index: Number(RUN_OF_BATCH.exec(run.id)[2]) })).sort((one, other) => one.index - other.index);
  return { ...batch, failedRuns };
}

/** A batch that goes on: what failed first, how much is over, and when the rest will be. */
function BatchUnderWay({ namespace, job, batch }) {
  const due = inZone(batch.dueAt, job.timezone);
  const over = batch.succeeded + batch.failed + batch.cancelled;
  const rest = [[batch.succeeded, "succeeded"], [batch.cancelled, "cancelled"], [batch.total - over, "to come"]].filter(([number]) => number);
  return html`<article class="batch" aria-label=${`The batch due ${due}`}>
    <p class="when"><${StateMark} state=${batch.state} /> due <${When} at=${batch.dueAt} zone=${job.timezone} />${askedText(batch)}</p>
    <p class="share"><strong>${Math.floor((100 * over) / batch.total)} %</strong> ${count(over)} of ${counted(batch.total, "run")} over</p>
    <${BatchBar} batch=${batch} label=${`Progress of the batch due ${due}`} />
    <p>${batch.failed ? html`<a class="failed" href=${jobLink(namespace, job.name, { state: "failed" })} onClick=${() => leadTo(RUNS_TITLE)}>${count(batch.failed)} failed</a>, ` : null}${
      rest.map(([number, word]) => `${count(number)} ${word}`).join(", ")}. ${batch.estimatedEndAt ? html`At this pace it ends <${When} at=${batch.estimatedEndAt} zone=${job.timezone} />.`
        : MEANINGS[batch.state] || "No run is over yet, so its end cannot be estimated."}</p>
    ${batch.failedRuns?.length ? html`<${FailedRuns} namespace=${namespace} job=${job} batch=${batch} due=${due} />` : null}</article>`;
}

const askedText = (batch) => {
  const asked = ASKED[batch.id.split("-")[0]];
  return asked ? html` <span class="soft">${asked}</span>` : null;
};

const BAR_WIDTH = 1_000;

/** What is over of a batch, as wide as the screen: what failed stands first. */
function BatchBar({ batch, label }) {
  let left = 0;
  const part = (number, tone) => {
    const x = left;
    const width = (BAR_WIDTH * number) / batch.total;
    left += width;
    return number ? html`<rect class=${tone} x=${x} width=${Math.max(width, 3)} height="10" />` : null;
  };
  const over = batch.succeeded + batch.failed + batch.cancelled;
  return html`<svg class="progress" viewBox=${`0 0 ${BAR_WIDTH} 10`} preserveAspectRatio="none" role="progressbar" aria-label=${label}
    aria-valuemin="0" aria-valuenow=${over} aria-valuemax=${batch.total}>
    ${part(batch.failed, "bad")}${part(batch.succeeded, "good")}${part(batch.cancelled, "still")}</svg>`;
}

function FailedRuns({ namespace, job, batch, due }) {
  const { failedRuns } = batch;
  return html`<${Table} label=${`Failed runs of the batch due ${due}`} head=${["Index", "Failed after", "Answer"]}>${failedRuns.map((run) => html`<tr key=${run.id}>
      <td class="number"><a href=${runLink(namespace, job.name, run.id)}>${count(run.index)}</a></td><td class="number">${counted(run.attempts, "attempt")}</td><td class="answer">${answerText(run)}</td></tr>`)}<//>
    ${batch.failed > failedRuns.length ? html`<p class="soft">${count(failedRuns.length)} of ${count(batch.failed)} are shown.</p>` : null}`;
}

function BatchTable({ namespace, job, batches }) {
  return html`<${Table} label="Batches" head=${["Due", "State", "Progress", "Failed", "Succeeded", "Cancelled", "End"]}>${batches.map((batch) => html`
    <tr key=${batch.id}>
      <td><${When} at=${batch.dueAt} zone=${job.timezone} />${askedText(batch)}</td>
      ${batch.missing ? html`<td colspan="6">${batch.missing} It had ${count(batch.total)} runs.</td>`
        : html`<${Ended} namespace=${namespace} job=${job} batch=${batch} />`}
    </tr>`)}<//>`;
}

function Ended({ namespace, job, batch }) {
  const label = `Progress of the batch due ${inZone(batch.dueAt, job.timezone)}`;
  const number = (value) => html`<td class="number">${count(value)}</td>`;
  const { failedRuns = [] } = batch;
  return html`<td><${StateMark} state=${batch.state} />${MEANINGS[batch.state] ? html`<span class="under">${MEANINGS[batch.state]}</span>` : null}
      ${batch.failed ? html`<a class="under" href=${jobLink(namespace, job.name, { state: "failed" })} onClick=${() => leadTo(RUNS_TITLE)}>Show the failed runs</a>` : null}</td>
    <td><${Share} label=${label} part=${batch.succeeded + batch.failed + batch.cancelled} whole=${batch.total} /></td>
    <td class="number">${count(batch.failed)}${failedRuns.length ? html`<span class="under">index ${failedRuns.map((run, at) => [at ? ", " : "",
      html`<a href=${runLink(namespace, job.name, run.id)}>${count(run.index)}</a>`])}${batch.failed > failedRuns.length ? " …" : ""}</span>` : null}</td>
    ${number(batch.succeeded)}${number(batch.cancelled)}
    <td><${When} at=${batch.endedAt || batch.estimatedEndAt} zone=${job.timezone} />
      ${batch.estimatedEndAt ? html`<span class="under">estimated</span>` : null}
      ${batch.overran ? html`<span class="change">overran its window</span>` : null}</td>`;
}
