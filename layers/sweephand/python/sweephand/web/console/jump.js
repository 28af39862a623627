// The jump: leads to a screen, a job, a run or a namespace by a few letters. The choice of the namespace is part of it.

import { html, useRef } from "./vendor/preact.js";
import { get, getAll, getSome, inNamespace, loadedOnce, pathOf } from "./api.js";
import { Picker } from "./picker.js";
import { jobLink, linkTo, runLink } from "./route.js";
import { inZone, viewerZone } from "./time.js";

/** So many options of a kind are offered. More letters make them fewer. */
const OFFERED_MAX = 8;
const A_NAME = /^[A-Za-z0-9._~:@+=-]+$/;

/** A run, as its page, a log or the header `webhook-id` names it. `dueAt` is in milliseconds. */
const RUN_NAME = /(?:(?:manual|backfill|chained)-)?(?<dueAt>\d{9,15})-\d{1,7}(?:-[a-z0-9]{1,32})?$/;

const fitsText = (title, text) => title.toLowerCase().includes(text.toLowerCase());

export function Jump({ me, namespace, offered, onClose }) {
  const namespaces = useNamespaces(me.namespace === "*");
  const screens = [
    ...offered.map(([each, title]) => ({ group: "Screens", title, link: linkTo([namespace, each]) })),
    ...(me.namespace === "*" ? [{ group: "Screens", title: "All namespaces", link: linkTo([]) }] : []),
  ];
  // a word begins so
  const find = (text) => screens.filter(({ title }) => fitsText(` ${title}`, ` ${text}`));
  const load = async (text) => {
    if (!text) return [];
    const [runs, jobs, others] = await Promise.all([
      namespace ? runsNamed(namespace, text) : [], namespace ? jobsNamed(namespace, text) : [], namespaces()]);
    return [...runs, ...jobs, ...namespaceOptions(others, text, "overview").slice(0, OFFERED_MAX)];
  };
  return html`<${Picker} label="Jump to a job, a run, a screen${me.namespace === "*" ? " or a namespace" : ""}" placeholder="Job, run id or screen" find=${find} load=${load}
    onClose=${onClose} empty="Nothing fits. A run that succeeded is found by its job: type the job, a space and the run's id." />`;
}

/** Chooses a namespace. The first entry is the overview of all. `screen` is what is shown of the chosen one. */
export function NamespacePicker({ screen, onClose }) {
  const namespaces = useNamespaces(true);
  const find = (text) => (fitsText("All namespaces", text) ? [{ group: "Stack", title: "All namespaces", link: linkTo([]) }] : []);
  const load = async (text) => {
    const all = await namespaces();
    const options = namespaceOptions(all, text, screen);
    const isNew = A_NAME.test(text) && !all.includes(text);
    return isNew ? [...options, { group: "New", title: text, note: "has no jobs yet", link: linkTo([text, "jobs"]) }] : options;
  };
  return html`<${Picker} label="Choose a namespace" placeholder="Namespace" find=${find} load=${load} empty="No namespace fits." onClose=${onClose} />`;
}

/** The names of the namespaces that the key sees, read once for a dialog. */
function useNamespaces(seesAll) {
  const asked = useRef(null);
  asked.current ??= loadedOnce(() => getAll(pathOf("namespaces")));
  return async () => (seesAll ? (await asked.current()).map((each) => each.namespace) : []);
}

function namespaceOptions(names, text, screen) {
  return names.filter((each) => fitsText(each, text)).map((each) => ({ group: "Namespaces", title: each, link: linkTo([each, screen]) }));
}

/** Jobs whose names begin with the text, and if these are few, those that contain it. */
async function jobsNamed(namespace, text) {
  if (!A_NAME.test(text)) return [];
  const ask = async (how) => (await get(inNamespace(namespace, "jobs"), { ...how, limit: OFFERED_MAX })).items.map((each) => each.name);
  const names = new Set(await ask({ prefix: text }));
  if (names.size < OFFERED_MAX) for (const each of await ask({ contains: text })) names.add(each);
  return [...names].slice(0, OFFERED_MAX).map((each) => ({ group: "Jobs", title: each, link: jobLink(namespace, each) }));
}

/**
 * The run that a text names. A job before it, behind a space or a slash, or as in an address, says whose run it is.
 * Without one it is looked for among the runs of that due time that failed, were skipped or go on.
 */
async function runsNamed(namespace, text) {
  const found = RUN_NAME.exec(text);
  if (!found) return [];
  const option = (job, id, note) => ({ group: "Runs", title: `${job} ${id}`, note, link: runLink(namespace, job, id) });
  const job = /([^\s/]+)(?:\/runs)?[\s/]+$/.exec(text.slice(0, found.index))?.[1];
  if (job && A_NAME.test(job)) return [option(job, found[0], "run")];
  const due = Number(found.groups.dueAt);
  const at = (ms) => new Date(ms).toISOString();
  const { items } = await getSome(inNamespace(namespace, "runs"), { since: at(due), until: at(due + 1) });
  return items.filter((run) => run.id === found[0] || run.triggerId === text)
    .map((run) => option(run.job, run.id, `${run.state}, due ${inZone(run.dueAt, viewerZone())}`)).slice(0, OFFERED_MAX);
}
