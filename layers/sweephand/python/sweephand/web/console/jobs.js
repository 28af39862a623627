// The jobs of a namespace: a filter that is in the address, a page of rows, and what is done with many at once.

import { html, useEffect, useState } from "./vendor/preact.js";
import { may } from "./access.js";
import { getPage, inNamespace } from "./api.js";
import { BulkAsk, countMatching } from "./bulk.js";
import { writeJson } from "./exact.js";
import { useDeed, useLive } from "./live.js";
import { Empty, Loaded, ProblemNote, StateMark, Table, When } from "./parts.js";
import { goTo, linkTo } from "./route.js";
import { count, counted } from "./time.js";

const ROWS = 100;

/** What a job does next, in a few words. */
export function scheduleText(job) {
  if (typeof job.schedule === "string") return job.schedule;
  if (Array.isArray(job.schedule)) return counted(job.schedule.length, "instant");
  if (job.schedule) return writeJson(job.schedule).replace(/\s+/g, " ");
  return job.dueTime ? `once, ${job.dueTime}` : "on demand";
}

export function Jobs({ me, namespace, query }) {
  const filter = { prefix: query.get("prefix") || "", contains: query.get("contains") || "", state: query.get("state") || "", label: query.getAll("label") };
  const [cursors, setCursors] = useState([""]);
  const [chosen, setChosen] = useState(new Set());
  const [asked, setAsked] = useState(null);
  const key = JSON.stringify([namespace, filter]);
  useEffect(() => {
    setCursors([""]);
    setChosen(new Set());
  }, [key]);
  const cursor = cursors[cursors.length - 1];
  const live = useLive(() => getPage(inNamespace(namespace, "jobs"), filter, ROWS, cursor), JSON.stringify([key, cursor]));
  const done = () => {
    setAsked(null);
    setChosen(new Set());
    live.reload();
  };
  const mayWrite = may(me, "write");
  const isFiltered = filter.prefix || filter.contains || filter.state || filter.label.length > 0;
  const page = { number: cursors.length, more: (next) => setCursors([...cursors, next]), back: () => setCursors(cursors.slice(0, -1)) };
  return html`<div class="head"><h1>Jobs</h1>${mayWrite ? html`<div class="verbs"><a class="button main" href=${linkTo([namespace, "new"])}>New job</a></div>` : null}</div>
    <${FilterForm} namespace=${namespace} filter=${filter} key=${key} />
    <${Loaded} live=${live} what="the jobs" show=${(found) => html`
      ${mayWrite ? html`<${Selection} namespace=${namespace} filter=${filter} chosen=${chosen} page=${found} onAsk=${setAsked}
        onClear=${() => setChosen(new Set())} />` : null}
      ${found.items.length ? html`<${JobTable} namespace=${namespace} items=${found.items} chosen=${mayWrite ? chosen : null} onChoose=${setChosen} />`
        : html`<${NoJobs} namespace=${namespace} isFiltered=${isFiltered} hasMore=${found.nextCursor} mayWrite=${mayWrite} />`}
      <${Pager} page=${page} found=${found} />`} />
    ${asked ? html`<${BulkAsk} namespace=${namespace} ...${asked} onClose=${done} />` : null}`;
}

function FilterForm({ namespace, filter }) {
  const apply = (event) => {
    event.preventDefault();
    const given = new FormData(event.target.form || event.target);
    const label = given.get("label").split(/[\s,]+/).filter(Boolean);
    goTo(linkTo([namespace, "jobs"], { prefix: given.get("prefix").trim(), contains: given.get("part").trim(), state: given.get("state"), label }));
  };
  return html`<form class="filter" role="search" onSubmit=${apply}>
    <label>Name begins with <input name="prefix" type="search" defaultValue=${filter.prefix} autocomplete="off" spellcheck=${false} onChange=${apply} /></label>
    <label>and contains <input name="part" type="search" defaultValue=${filter.contains} autocomplete="off" spellcheck=${false} onChange=${apply} /></label>
    <label>State <select name="state" onChange=${apply}>${["", "active", "paused", "completed"].map((each) => html`
      <option value=${each} selected=${each === filter.state}>${each || "any"}</option>`)}</select></label>
    <label>Labels <input name="label" defaultValue=${filter.label.join(" ")} placeholder="team:ops" autocomplete="off" spellcheck=${false} onChange=${apply} /></label>
    <button class="unseen">Apply the filter</button>
  </form>`;
}

/** The bar over the rows: what to do with the chosen ones, or with all that fit the filter. */
function Selection({ namespace, filter, chosen, page, onAsk, onClear }) {
  const [counting, setCounting] = useState(null);
  const { problem, run } = useDeed();
  // The bulk calls of the API select by prefix and labels.
  const mayTakeAll = (filter.prefix || filter.label.length) && !filter.state && !filter.contains && page.nextCursor;
  const takeAll = (verb) => run(async () => {
    try {
      setCounting(0);
      const total = await countMatching(namespace, filter, setCounting);
      onAsk({ verb, filter, total });
    } finally {
      setCounting(null);
    }
  });
  const verbs = (act) => ["pause", "resume", "redrive", "delete"].map((verb) => html`
    <button type="button" class=${verb === "delete" ? "danger" : ""} onClick=${() => act(verb)}>${verb}</button>`);
  if (chosen.size) {
    return html`<div class="selection" role="group" aria-label="Chosen jobs"><span>${counted(chosen.size, "job")} chosen</span>
      ${verbs((verb) => onAsk({ verb, names: [...chosen], total: chosen.size }))}
      <button type="button" class="plain" onClick=${onClear}>Clear</button></div>`;
  }
  if (!mayTakeAll) return null;
  return html`<div class="selection" role="group" aria-label="All jobs of this filter">
    ${counting === null ? html`<span>All that fit this filter</span>${verbs(takeAll)}` : html`<span role="status">Counting … ${count(counting)}</span>`}
    <${ProblemNote} problem=${problem} /></div>`;
}

function JobTable({ namespace, items, chosen, onChoose }) {
  const all = chosen && items.every((each) => chosen.has(each.name));
  const toggle = (names, isChosen) => {
    const next = new Set(chosen);
    for (const each of names) {
      if (isChosen) next.add(each);
      else next.delete(each);
    }
    onChoose(next);
  };
  const head = ["Name", "State", "Schedule", "Next run", "Labels"];
  const box = chosen ? [html`<input type="checkbox" aria-label="Choose all jobs of this page" checked=${all}
    onChange=${(event) => toggle(items.map((each) => each.name), event.target.checked)} />`] : [];
  return html`<${Table} label="Jobs" className="jobs" head=${[...box, ...head]}>${items.map((job) => html`
    <tr key=${job.name} class=${job.state === "paused" ? "is-paused" : ""}>
      ${chosen ? html`<td class="box"><input type="checkbox" aria-label=${`Choose ${job.name}`} checked=${chosen.has(job.name)}
        onChange=${(event) => toggle([job.name], event.target.checked)} /></td>` : null}
      <td class="name"><a href=${linkTo([namespace, "jobs", job.name])}>${job.name}</a>
        ${job.description ? html`<span class="under">${job.description}</span>` : null}</td>
      <td><${StateMark} state=${job.state} />${job.pauseReason ? html`<span class="under">${job.pauseReason}</span>` : null}</td>
      <td><code>${scheduleText(job)}</code>${job.timezone ? html`<span class="under">${job.timezone}</span>` : null}</td>
      <td>${job.state === "paused" ? html`<span class="soft">${job.pausedUntil ? html`paused until <${When} at=${job.pausedUntil} zone=${job.timezone} />` : "none while paused"}</span>` : html`<${When} at=${job.nextRun} zone=${job.timezone} />`}</td>
      <td class="labels">${Object.entries(job.labels || {}).map(([name, value]) => html`<a class="label" key=${name}
        href=${linkTo([namespace, "jobs"], { label: `${name}:${value}` })}>${name}:${value}</a>`)}</td>
    </tr>`)}<//>`;
}

function NoJobs({ namespace, isFiltered, hasMore, mayWrite }) {
  if (hasMore) return html`<${Empty} title="None so far."><p>Other pages may have jobs that fit. Go on to the next one.</p><//>`;
  if (isFiltered) return html`<${Empty} title="No job fits this filter."><p><a href=${linkTo([namespace, "jobs"])}>Show all jobs</a></p><//>`;
  return html`<${Empty} title=${`No jobs in ${namespace} yet.`}><p>A job says what is delivered, where and when.</p>
    ${mayWrite ? html`<p><a href=${linkTo([namespace, "new"])}>Write the first one</a></p>` : null}<//>`;
}

function Pager({ page, found }) {
  const first = (page.number - 1) * ROWS + 1;
  if (page.number === 1 && !found.nextCursor) return found.items.length ? html`<p class="soft">${counted(found.items.length, "job")}</p>` : null;
  return html`<nav class="pager" aria-label="Pages">
    <button type="button" disabled=${page.number === 1} onClick=${page.back}>Previous</button>
    <span class="soft">${found.items.length ? `${count(first)} to ${count(first + found.items.length - 1)}` : `page ${page.number}`}</span>
    <button type="button" disabled=${!found.nextCursor} onClick=${() => page.more(found.nextCursor)}>Next</button>
  </nav>`;
}
