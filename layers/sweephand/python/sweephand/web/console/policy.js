// One flow policy: its limits, its use, and what waits for each key, longest first.

import { html } from "./vendor/preact.js";
import { may } from "./access.js";
import { get, getSome, inNamespace } from "./api.js";
import { useAsked } from "./ask.js";
import { useGrowing, useLive } from "./live.js";
import { Empty, Facts, Loaded, More, StateMark, Table, Trail, When } from "./parts.js";
import { PolicyBlocks, PolicyLimits, Use, Waiting } from "./policies.js";
import { PolicyDeed, PolicyVerbs } from "./policy_deeds.js";
import { goTo, jobLink, linkTo } from "./route.js";

const KEYS_SHOWN = 50;

export function Policy({ me, namespace, name }) {
  const path = inNamespace(namespace, "policies", name);
  const live = useLive(() => get(path), path);
  const { asked, ask, close } = useAsked(live.reload);
  return html`<${Trail} namespace=${namespace} screen="policies" title="Policies" />
    <${Loaded} live=${live} what="the policy" show=${(policy) => html`
      <div class="head"><h1 class="mono">${name}</h1><${StateMark} state=${policy.brokenAt ? "broken" : policy.state} />
        ${may(me, "write") ? html`<${PolicyVerbs} policy=${policy} onAsk=${ask} />` : null}</div>
      <${Facts} rows=${[
        ["Limit", html`<${PolicyLimits} policy=${policy} />`],
        ["Blocked", policy.state === "paused" || policy.brokenAt ? html`<${PolicyBlocks} policy=${policy} />` : null],
        ["In use", policy.by ? null : html`<${Use} policy=${policy} />`],
        ["Waiting", policy.by ? null : html`<${Waiting} policy=${policy} />`],
        ["Waiting since", policy.waitingSince ? html`<${When} at=${policy.waitingSince} />` : null],
      ]} />
      ${policy.by ? html`<section aria-labelledby="keys-title"><h2 id="keys-title">What waits for each ${policy.by}</h2>
        <${WaitingKeys} namespace=${namespace} path=${path} by=${policy.by} /></section>` : null}
      ${asked ? html`<${PolicyDeed} namespace=${namespace} verb=${asked} policy=${policy} onClose=${close} onDeleted=${() => goTo(linkTo([namespace, "policies"]))} />` : null}`} />`;
}

/** The values under which something waits, those first that have waited longest. A value can be on several pages. */
async function waitingKeys(path, most) {
  const { items, isPartial } = await getSome(`${path}/keys`, {}, { most });
  const found = new Map();
  for (const each of items) {
    const before = found.get(each.value);
    found.set(each.value, before ? { ...before, waiting: before.waiting + each.waiting, waitingIsExact: before.waitingIsExact && each.waitingIsExact } : each);
  }
  return { items: [...found.values()], isPartial };
}

function WaitingKeys({ namespace, path, by }) {
  const list = useGrowing((most) => waitingKeys(path, most), `${path} keys`, KEYS_SHOWN);
  return html`<${Loaded} live=${list} what="what waits" show=${({ items }) => [items.length ? html`
    <${Table} label="What waits" head=${[by, "Waiting", "Waiting since"]}>${items.map((each) => html`<tr key=${each.value}>
      <td class="name"><${KeyValue} namespace=${namespace} by=${by} value=${each.value} /></td>
      <td class="number"><${Waiting} policy=${each} /></td><td><${When} at=${each.waitingSince} /></td></tr>`)}<//>`
    : html`<${Empty} title="Nothing waits." />`, html`<${More} list=${list} noun="keys" shown=${(number) => `The ${number} that have waited longest are shown.`} />`]} />`;
}

/** A value of `by`, and where it leads: to the jobs that have it, if the console can show them. */
function KeyValue({ namespace, by, value }) {
  if (!value) return html`<span class="soft">jobs without ${by.startsWith("label:") ? "this label" : by}</span>`;
  if (by === "job") return html`<a href=${jobLink(namespace, value)}>${value}</a>`;
  if (by.startsWith("label:")) return html`<a href=${linkTo([namespace, "jobs"], { label: `${by.slice(6)}:${value}` })}>${value}</a>`;
  return value;
}
