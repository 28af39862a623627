// The jobs of a namespace: those that fail first, a filter that is in the address, and what is done with many at once.

import { html, useEffect, useState } from "./vendor/preact.js";
import { may } from "./access.js";
import { get, getSome, inNamespace, PAGE_MAX, Problem } from "./api.js";
import { AskJobs, useCount } from "./ask_many.js";
import { countMatching, countRuns, VERB_WORDS } from "./change_many.js";
import { FirstJob } from "./first_job.js";
import { choicesOf, entriesIn, SearchField, useFields } from "./form.js";
import { JobTable } from "./job_table.js";
import { useLive } from "./live.js";
import { Empty, Head, Loaded, ProblemNote, Verb } from "./parts.js";
import { goTo, linkTo } from "./route.js";
import { atLeast, count, counted } from "./time.js";

/** A page is short: the API reads the newest runs of each of its jobs. */
const JOB_ROWS = 50;

/** The failing jobs that stand before all others. To find them costs more than a page, so it is done less often. */
const FAILING_ROWS = 10;
const FAILING_REFRESH_MS = 60_000;

/** Pages of 200 that are counted when a list is opened. Beyond them the total is a bound. */
const COUNTED_PAGES = 5;

/** What the tabs show: a title, and the part of the filter that they set. */
const JOB_TABS = [["All", {}], ["Failing", { health: "failing" }], ...["active", "paused", "completed"].map((state) => [titled(state), { state }])];

const NO_JOBS_FOUND = { items: [] };
const NOTHING_CHOSEN = new Set();

function titled(word) {
  return word[0].toUpperCase() + word.slice(1);
}

function jobFilterOf(query) {
  const [prefix, contains, state, health, sort] = ["prefix", "contains", "state", "health", "sort"].map((name) => query.get(name) || "");
  return { prefix, contains, state, label: query.getAll("label"), health, sort: health && sort };
}

const isNarrowed = ({ prefix, contains, state, label, health }) => Boolean(prefix || contains || state || label.length || health);

/** The jobs of a page with their health. Of failing ones a call is asked once, since it looks far already. */
function pageOfJobs(namespace, filter, cursor) {
  const path = inNamespace(namespace, "jobs");
  if (filter.health) return get(path, { ...filter, limit: filter.sort === "name" ? PAGE_MAX : JOB_ROWS, cursor });
  return getSome(path, { ...filter, include: "health" }, { most: JOB_ROWS, cursor });
}

export function Jobs({ me, namespace, query }) {
  const filter = jobFilterOf(query);
  // of each page up to this one, so that the address leads to the page
  const cursors = query.getAll("after");
  const cursor = cursors[cursors.length - 1] || "";
  const key = JSON.stringify([namespace, filter]);
  const live = useLive(() => pageOfJobs(namespace, filter, cursor), JSON.stringify([key, cursor]));
  const isBegin = !cursor && !filter.health;
  const failing = useLive(async () => (isBegin ? get(inNamespace(namespace, "jobs"), { ...filter, health: "failing", limit: FAILING_ROWS }) : NO_JOBS_FOUND),
    JSON.stringify([key, isBegin]), FAILING_REFRESH_MS);
  const [version, setVersion] = useState(0);
  const total = useTotal(namespace, filter, cursors.length, live.value, JSON.stringify([key, version]));
  const [choice, setChoice] = useState({});
  const chosen = choice.key === key ? choice.names : NOTHING_CHOSEN;
  const [asked, setAsked] = useState(null);
  const [told, setTold] = useState("");
  const choose = (names) => setChoice({ key, names });
  const close = () => {
    setAsked(null);
    live.reload();
    failing.reload();
  };
  const tell = (text) => {
    setTold(text);
    setVersion(version + 1);
    setChoice({});
  };
  const mayWrite = may(me, "write");
  const first = isBegin ? failingFirst(live.value?.items || [], failing.value?.items || []) : [];
  const others = (found) => found.items.filter((job) => !first.some((each) => each.name === job.name));
  const groups = (found) => (first.length ? [[titled(failingText(first, failing.value)), first], ["Others by name", others(found)]] : [["", found.items]]).filter(([, jobs]) => jobs.length);
  if (isBegin && !isNarrowed(filter) && live.value && !live.value.items.length && !live.value.nextCursor) {
    return html`<${Head} title="Jobs" /><${FirstJob} me=${me} namespace=${namespace} />`;
  }
  return html`<${Head} title="Jobs" verbs=${mayWrite && html`<a class="button main" href=${linkTo([namespace, "new"])}>New job</a>`} />
    <${FilterForm} namespace=${namespace} filter=${filter} />
    <${JobTabs} namespace=${namespace} filter=${filter} />
    ${told ? html`<p class="told" role="status">${told}</p>` : null}
    ${failing.problem && !live.problem ? html`<${ProblemNote} problem=${failing.problem} onRetry=${failing.reload} />` : null}
    <${Loaded} live=${live} what="the jobs" show=${(found) => (found.items.length || first.length ? html`
      <${Selection} namespace=${namespace} filter=${filter} chosen=${chosen} items=${found.items} first=${first} total=${total}
        failing=${isBegin && failing.value ? failingText(first, failing.value) : ""} mayWrite=${mayWrite} onChoose=${choose} onAsk=${setAsked} />
      <${JobTable} namespace=${namespace} groups=${groups(found)} chosen=${mayWrite ? chosen : null} onChoose=${choose} />
      ${first.length && failing.value?.nextCursor ? html`<p><a href=${linkTo([namespace, "jobs"], { ...filter, health: "failing" })}>Show all failing jobs</a></p>` : null}
` : html`<${NoJobs} namespace=${namespace} filter=${filter} hasMore=${found.nextCursor} isBegin=${!cursor} />`)} />
    ${live.value ? html`<${Pager} namespace=${namespace} filter=${filter} cursors=${cursors} found=${live.value} total=${total} />` : null}
    ${asked ? html`<${AskJobs} namespace=${namespace} ...${asked} onTold=${tell} onClose=${close} />` : null}`;
}

/** Failing jobs: those of the page, which is fresher, and those that were found among all. */
function failingFirst(page, found) {
  const known = new Set(page.map((job) => job.name));
  const rank = new Map(found.map((job, at) => [job.name, at]));
  const failing = [...page.filter((job) => job.health.failing), ...found.filter((job) => !known.has(job.name))];
  return failing.sort((one, other) => (rank.get(one.name) ?? -1) - (rank.get(other.name) ?? -1));
}

const failingText = (jobs, found) => (jobs.length ? `${atLeast(jobs.length, found?.nextCursor)} failing now` : "none failing");

/** How many jobs fit a filter: `{ count, isPartial }`, or null as long as that is not known. */
function useTotal(namespace, filter, pages, page, key) {
  const [known, setKnown] = useState(null);
  const mustCount = page !== null && !filter.health && Boolean(pages || page.nextCursor);
  useEffect(() => {
    let isGone = false;
    if (mustCount && known?.key !== key) {
      // the list itself says what is wrong
      countMatching(namespace, filter, () => {}, COUNTED_PAGES).then((found) => isGone || setKnown({ key, ...found })).catch(() => {});
    }
    return () => {
      isGone = true;
    };
  }, [key, mustCount]);
  if (page === null) return null;
  if (mustCount) return known?.key === key ? known : null;
  return pages ? null : { count: page.items.length, isPartial: Boolean(page.nextCursor) };
}

const totalText = (total) => (total ? `${total.isPartial ? "at least " : ""}${counted(total.count, "job")}` : "");

function FilterForm({ namespace, filter }) {
  const form = useFields({ prefix: filter.prefix, part: filter.contains, label: filter.label.join(" "), sort: filter.sort });
  const apply = (event) => {
    event.preventDefault();
    const given = new FormData(form.current);
    goTo(linkTo([namespace, "jobs"], { ...filter, prefix: given.get("prefix").trim(), contains: given.get("part").trim(), label: entriesIn(given.get("label"), filter.label),
      sort: given.get("sort") }));
  };
  const input = (label, name, hint) => html`<${SearchField} name=${name} label=${label} hint=${hint} onChange=${apply} />`;
  return html`<form ref=${form} class="filter" role="search" onSubmit=${apply}>
    ${input("Name begins with", "prefix")}${input("and contains", "part")}${input("Labels", "label", "team:ops")}
    ${filter.health ? html`<label>Order <select name="sort" onChange=${apply}>${choicesOf([["", "newest failure first"], ["name", "by name"]])}</select></label>` : null}
    <button class="unseen">Apply the filter</button>
  </form>`;
}

function JobTabs({ namespace, filter }) {
  const isPresent = (part) => (part.health || "") === filter.health && (part.health || (part.state || "") === filter.state);
  return html`<nav class="tabs" aria-label="Which jobs">${JOB_TABS.map(([title, part]) => html`<a key=${title} aria-current=${isPresent(part) ? "page" : null}
    href=${linkTo([namespace, "jobs"], { ...filter, state: "", health: "", sort: "", ...part })}>${title}</a>`)}</nav>`;
}

/**
 * The bar over the rows: how many there are, and what to do with the chosen ones. While none is chosen it is done with
 * all that fit the filter: by their names if the page has all of them, and else by the calls for many.
 */
function Selection({ namespace, filter, chosen, items, first, total, failing, mayWrite, onChoose, onAsk }) {
  const { begin, problem, status } = useCount();
  const isExact = total && !total.isPartial;
  const named = (names) => (verb) => onAsk({ verb, names, total: names.length });
  const fitting = (verb) => begin(async (onCount) => onAsk({ verb, filter, total: await countOf(namespace, verb, filter, onCount) }));
  const isWhole = isExact && total.count === items.length && items.length > 0;
  // these calls select by prefix and labels alone
  const isSelected = (filter.prefix || filter.label.length) && !filter.state && !filter.contains && !filter.health;
  const askAll = !mayWrite || !isNarrowed(filter) ? null : isWhole ? named(items.map((job) => job.name)) : isSelected ? fitting : null;
  const verbs = (ask, rest = "") => ["pause", "resume", "redrive", "delete"].map((verb) => html`<${Verb} key=${verb} title=${VERB_WORDS[verb] + rest} kind=${verb === "delete" ? "danger" : ""} onClick=${() => ask(verb)} />`);
  const elsewhere = [...chosen].filter((name) => ![...first, ...items].some((each) => each.name === name)).length;
  if (status) return html`<div class="selection">${status}</div>`;
  return html`<${ProblemNote} problem=${problem} />${chosen.size ? html`
    <div class="selection" role="group" aria-label="Chosen jobs"><span>${isExact ? `${count(chosen.size)} of ${counted(total.count, "job")}` : counted(chosen.size, "job")} chosen${elsewhere ? `, ${count(elsewhere)} on other pages` : ""}</span>
      ${verbs(named([...chosen]))}<${Verb} title="Clear" kind="plain" onClick=${() => onChoose(new Set())} /></div>` : html`
    <div class="selection is-idle"><span>${[titled(totalText(total) || "…"), failing].filter(Boolean).join(" · ")}</span>${askAll ? verbs(askAll, isExact ? ` all ${count(total.count)}` : " all") : null}</div>`}`;
}

/** How many jobs a verb changes, or how many of their runs it redrives. */
async function countOf(namespace, verb, filter, onCount) {
  if (verb !== "redrive") return (await countMatching(namespace, filter, onCount)).count;
  const runs = await countRuns(namespace, "redrive", { prefix: filter.prefix, label: filter.label }, onCount);
  if (!runs) throw new Problem(0, "None of these jobs has a failed run that can be redriven.");
  return runs;
}

function NoJobs({ namespace, filter, hasMore, isBegin }) {
  if (hasMore) return html`<${Empty} title="None so far."><p>Other pages may have jobs that fit. Go on to the next one.</p><//>`;
  return html`<${Empty} title=${filter.health && isBegin ? "No job fails now." : "No job fits this filter."}><p><a href=${linkTo([namespace, "jobs"])}>Show all jobs</a></p><//>`;
}

function Pager({ namespace, filter, cursors, found, total }) {
  if (!cursors.length && !found.nextCursor) return null;
  const before = cursors.length * JOB_ROWS;
  const to = (after) => () => {
    goTo(linkTo([namespace, "jobs"], { ...filter, after }));
    scrollTo(0, 0);
  };
  const shown = found.items.length && !filter.health ? `${count(before + 1)} to ${count(before + found.items.length)}` : `page ${cursors.length + 1}`;
  return html`<nav class="pager" aria-label="Pages">
    <button type="button" disabled=${!cursors.length} onClick=${to(cursors.slice(0, -1))}>Previous</button>
    <span class="soft">${shown}${total && !filter.health ? ` of ${totalText(total)}` : ""}</span>
    <button type="button" disabled=${!found.nextCursor} onClick=${to([...cursors, found.nextCursor])}>Next</button>
  </nav>`;
}
