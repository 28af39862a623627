// The flow policies of a namespace: their limits, their use, and what waits.

import { html } from "./vendor/preact.js";
import { may } from "./access.js";
import { forEachOf, get, getSome, inNamespace } from "./api.js";
import { useAsked } from "./ask.js";
import { useGrowing } from "./live.js";
import { Empty, Head, Loaded, More, Share, StateMark, Table, Verb, When } from "./parts.js";
import { PolicyDeed, PolicyVerbs } from "./policy_deeds.js";
import { linkTo } from "./route.js";
import { atLeast, count } from "./time.js";

/** The use of each policy takes a call of its own. So many policies are shown, and so many more at each "More". */
export const POLICIES_SHOWN = 50;

/** The first policies of a namespace by name, with their use. It is partial if there may be more. */
export async function wholePolicies(namespace, most = POLICIES_SHOWN) {
  const { items: listed, isPartial } = await getSome(inNamespace(namespace, "policies"), {}, { most });
  const found = new Map();
  const problems = await forEachOf(listed, async ({ name }) => found.set(name, await get(inNamespace(namespace, "policies", name))));
  // one may have been deleted meanwhile
  const real = problems.filter(({ problem }) => problem.status !== 404);
  if (real.length) throw real[0].problem;
  return { items: listed.map(({ name }) => found.get(name)).filter(Boolean), isPartial };
}

/** The limits of a policy in words. */
export function policyLimits(policy) {
  const open = policy.maxConcurrent ? `${count(policy.maxConcurrent)} at once` : null;
  const rate = policy.rate ? `${count(policy.rate.limit)} in ${policy.rate.per}` : null;
  return [open, rate].filter(Boolean).join(", ") + (policy.by ? ` for each ${policy.by}` : "");
}

export function Policies({ me, namespace }) {
  const live = useGrowing((most) => wholePolicies(namespace, most), `policies ${namespace}`, POLICIES_SHOWN);
  const { asked, ask, close } = useAsked(live.reload);
  const mayWrite = may(me, "write");
  return html`<${Head} title="Policies" verbs=${mayWrite && html`<${Verb} title="New policy" kind="main" onClick=${() => ask({ verb: "edit", policy: null })} />`} />
    <${Loaded} live=${live} what="the policies" show=${({ items: policies }) => [policies.length ? html`
      <${Table} label="Policies" head=${["Name", "Limit", "In use", "Waiting", "Waiting since", ...(mayWrite ? [""] : [])]}>${policies.map((policy) => html`
        <tr key=${policy.name} class=${policy.state === "paused" ? "is-paused" : ""}><td class="name">
            <a href=${linkTo([namespace, "policies", policy.name])}>${policy.name}</a><${PolicyBlocks} policy=${policy} /></td>
          <td class="limit"><${PolicyLimits} policy=${policy} /></td>
          <td><${Use} policy=${policy} /></td>
          <td class="number">${policy.by ? html`<a href=${linkTo([namespace, "policies", policy.name])}>for each ${policy.by}</a>` : html`<${Waiting} policy=${policy} />`}</td>
          <td><${When} at=${policy.waitingSince} /></td>
          ${mayWrite ? html`<td><${PolicyVerbs} policy=${policy} onAsk=${(verb) => ask({ verb, policy })} /></td>` : null}
        </tr>`)}<//>` : html`<${Empty} title=${`No flow policies in ${namespace} yet.`}>
        <p>A policy limits the requests of many jobs together. A job names its policy by <code>policy</code>.</p><//>`, html`
        <${More} list=${live} noun="policies" shown=${(number) => `The first ${number} by name are shown.`} />`]} />
    ${asked ? html`<${PolicyDeed} namespace=${namespace} ...${asked} onClose=${close} />` : null}`;
}

/** Why no trigger of a policy leaves, if none does. */
export function PolicyBlocks({ policy }) {
  if (policy.state === "paused") {
    return html` <${StateMark} state="paused" /><span class="under">Paused <${When} at=${policy.pausedAt} /></span>
      ${policy.pauseReason ? html`<span class="under">${policy.pauseReason}</span>` : null}`;
  }
  return policy.brokenAt ? html` <${StateMark} state="broken" /><span class="under">Consumer out since <${When} at=${policy.brokenAt} /></span>
    <span class="under">Next probe <${When} at=${policy.nextProbeAt} isDue=${true} /></span>` : null;
}

/** The limits of a policy, what the stack can do of them, and its breaker. */
export function PolicyLimits({ policy }) {
  return html`${policyLimits(policy)}${policy.maxConcurrent && policy.effectiveMaxConcurrent < policy.maxConcurrent ? html`
    <span class="under">The stack can have ${count(policy.effectiveMaxConcurrent)} open.</span>` : null}${policy.breaker ? html`
    <span class="under">Waits after ${count(policy.breaker.failures)} failures, probes each ${policy.breaker.probeAfter}</span>` : null}`;
}

/** How many triggers wait. A policy with `by` counts them for each value alone. */
export function Waiting({ policy }) {
  return policy.by ? "–" : atLeast(policy.waiting, !policy.waitingIsExact);
}

/** How much of `maxConcurrent` is taken. */
export function Use({ policy }) {
  if (policy.by) return "–";
  if (!policy.maxConcurrent) return count(policy.inUse);
  return html`<${Share} label=${`In use by ${policy.name}`} part=${policy.inUse} whole=${policy.maxConcurrent} />`;
}
