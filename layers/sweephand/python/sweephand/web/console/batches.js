// The batches of a job: how far each is, how its runs ended, and when it will be over.

import { html, useEffect, useRef } from "./vendor/preact.js";
import { get, getPage, inNamespace } from "./api.js";
import { useGrowing } from "./live.js";
import { Empty, Loaded, More, Share, StateMark, Table, When } from "./parts.js";
import { linkTo } from "./route.js";
import { RUNS_TITLE } from "./runs.js";
import { count, inZone } from "./time.js";

/** The progress of each batch takes a call of its own. So many batches are shown, and so many more at each "More". */
const BATCHES_SHOWN = 5;

const OVER = new Set(["succeeded", "failed", "cancelled"]);

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
  const live = useGrowing((most) => newestBatches(path, job, most, over.current), path, BATCHES_SHOWN);
  useEffect(() => {
    if (version) live.reload();
  }, [version]);
  return html`<section aria-labelledby="batches-title"><h2 id="batches-title">Batches</h2>
    <${Loaded} live=${live} what="the batches" show=${({ items, refusal }) => [
      refusal && items.length ? html`<p class="note">${refusal}</p>` : null,
      items.length ? html`<${BatchTable} namespace=${namespace} job=${job} batches=${items} />`
        : html`<${NoBatches} job=${job} refusal=${refusal} />`,
      html`<${More} list=${live} noun="batches" shown=${(number) => `The newest ${number} are shown.`} />`,
    ]} /></section>`;
}

function NoBatches({ job, refusal }) {
  if (refusal) return html`<${Empty} title=${refusal} />`;
  return html`<${Empty} title="No batch to show."><p>${job.history === "failures" && !job.onComplete
    ? "A job whose history is \"failures\" keeps progress only if it has an onComplete." : "A batch is shown once one of its runs is over."}</p><//>`;
}

/**
 * The newest batches with their progress. `over` keeps those that are over, by their ids, so that they are read
 * once. `refusal` is why the job keeps no progress, if it keeps none.
 */
async function newestBatches(path, job, most, over) {
  const { items: listed, nextCursor } = await getPage(path, {}, most);
  const begun = unlistedOf(job, listed);
  const all = begun ? [{ id: begun }, ...listed] : listed;
  const found = await Promise.all(all.slice(0, most).map(async (each) => over.get(each.id) || { ...each, ...(await progressOf(`${path}/${each.id}`)) }));
  for (const each of found) if (OVER.has(each.state)) over.set(each.id, each);
  return {
    items: found.filter((each) => each.dueAt), // without it, neither the list nor the API knows such a batch
    refusal: found.find((each) => each.isUncounted)?.missing,
    isPartial: Boolean(nextCursor) || all.length > most,
  };
}

/** The id of the job's newest batch if no run of it is over: the API then shows it, but does not list it. */
function unlistedOf(job, listed) {
  const last = job.lastRun;
  let id = null;
  if (last && last.state !== "skipped" && (!listed.length || Date.parse(last.dueAt) >= Date.parse(listed[0].dueAt))) {
    id = last.id.replace(/^((?:[a-z]+-)?\d+)-\d+/, "$1"); // the name of a run has its index in addition
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

function BatchTable({ namespace, job, batches }) {
  const asked = (batch) => ASKED[batch.id.split("-")[0]];
  return html`<${Table} label="Batches" head=${["Due", "State", "Progress", "Succeeded", "Failed", "Cancelled", "End"]}>${batches.map((batch) => html`
    <tr key=${batch.id}>
      <td><${When} at=${batch.dueAt} zone=${job.timezone} />${asked(batch) ? html`<span class="under">${asked(batch)}</span>` : null}</td>
      ${batch.missing ? html`<td colspan="6">${batch.missing} It had ${count(batch.total)} runs.</td>`
        : html`<${Progress} namespace=${namespace} job=${job} batch=${batch} />`}
    </tr>`)}<//>`;
}

function Progress({ namespace, job, batch }) {
  const label = `Progress of the batch due ${inZone(batch.dueAt, job.timezone)}`;
  const number = (value) => html`<td class="number">${count(value)}</td>`;
  return html`<td><${StateMark} state=${batch.state} />${MEANINGS[batch.state] ? html`<span class="under">${MEANINGS[batch.state]}</span>` : null}
      ${batch.failed ? html`<a class="under" href=${linkTo([namespace, "jobs", job.name], { state: "failed" })} onClick=${showRuns}>Show the failed runs</a>` : null}</td>
    <td><${Share} label=${label} part=${batch.succeeded + batch.failed + batch.cancelled} whole=${batch.total} /></td>
    ${number(batch.succeeded)}${number(batch.failed)}${number(batch.cancelled)}
    <td><${When} at=${batch.endedAt || batch.estimatedEndAt} zone=${job.timezone} />
      ${batch.estimatedEndAt ? html`<span class="under">estimated</span>` : null}
      ${batch.overran ? html`<span class="change">overran its window</span>` : null}</td>`;
}

/** The runs are below, on the same screen. */
function showRuns() {
  const title = document.getElementById(RUNS_TITLE);
  title.focus({ preventScroll: true });
  title.scrollIntoView();
}
