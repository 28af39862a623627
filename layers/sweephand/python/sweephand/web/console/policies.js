// The flow policies of a namespace: their limits, their use, what waits, and the dialog that changes one.

import { html, useState } from "./vendor/preact.js";
import { may } from "./access.js";
import { call, get, getPage, inNamespace, forEachOf } from "./api.js";
import { useGrowing } from "./live.js";
import { Ask, Empty, Field, Loaded, More, Share, StateMark, Table, When } from "./parts.js";
import { count } from "./time.js";

/** The use of each policy takes a call of its own. So many policies are shown, and so many more at each "More". */
export const POLICIES_SHOWN = 50;

/** The first policies of a namespace by name, with their use. It is partial if there may be more. */
export async function wholePolicies(namespace, most = POLICIES_SHOWN) {
  const { items: listed, nextCursor } = await getPage(inNamespace(namespace, "policies"), {}, most);
  const found = new Map();
  const problems = await forEachOf(listed, async ({ name }) => found.set(name, await get(inNamespace(namespace, "policies", name))));
  const real = problems.filter(({ problem }) => problem.status !== 404); // one may have been deleted meanwhile
  if (real.length) throw real[0].problem;
  return { items: listed.map(({ name }) => found.get(name)).filter(Boolean), isPartial: Boolean(nextCursor) };
}

/** The limits of a policy in words. */
export function policyLimits(policy) {
  const open = policy.maxConcurrent ? `${count(policy.maxConcurrent)} at once` : null;
  const rate = policy.rate ? `${count(policy.rate.limit)} in ${policy.rate.per}` : null;
  const breaker = policy.breaker ? `waits after ${count(policy.breaker.failures)} failures, a probe each ${policy.breaker.probeAfter}` : null;
  return [open, rate, breaker].filter(Boolean).join(", ") + (policy.by ? ` for each ${policy.by}` : "");
}

export function Policies({ me, namespace }) {
  const live = useGrowing((most) => wholePolicies(namespace, most), `policies ${namespace}`, POLICIES_SHOWN);
  const [asked, setAsked] = useState(null);
  const mayWrite = may(me, "write");
  const close = () => {
    setAsked(null);
    live.reload();
  };
  return html`<div class="head"><h1>Policies</h1>${mayWrite ? html`<div class="verbs">
      <button type="button" class="main" onClick=${() => setAsked({ verb: "change", policy: null })}>New policy</button></div>` : null}</div>
    <${Loaded} live=${live} what="the policies" show=${({ items: policies }) => [policies.length ? html`
      <${Table} label="Policies" head=${["Name", "Limit", "In use", "Waiting", "Waiting since", ...(mayWrite ? [""] : [])]}>${policies.map((policy) => html`
        <tr key=${policy.name} class=${policy.state === "paused" ? "is-paused" : ""}><td class="name"><strong>${policy.name}</strong>${policy.state === "paused" ? html`${" "}
            <${StateMark} state="paused" /><span class="under">Paused <${When} at=${policy.pausedAt} /></span>
            ${policy.pauseReason ? html`<span class="under">${policy.pauseReason}</span>` : null}` : null}${policy.brokenAt ? html`
            <${StateMark} state="broken" /><span class="under">Its consumer has failed since <${When} at=${policy.brokenAt} />. The next probe leaves <${When} at=${policy.nextProbeAt} />.</span>` : null}</td>
          <td class="limit">${policyLimits(policy)}${policy.maxConcurrent && policy.effectiveMaxConcurrent < policy.maxConcurrent ? html`
            <span class="under">The stack can have ${count(policy.effectiveMaxConcurrent)} open.</span>` : null}</td>
          <td><${Use} policy=${policy} /></td>
          <td class="number"><${Waiting} policy=${policy} /></td>
          <td><${When} at=${policy.waitingSince} /></td>
          ${mayWrite ? html`<td><div class="verbs">
            <button type="button" aria-label=${`Change ${policy.name}`} onClick=${() => setAsked({ verb: "change", policy })}>Change</button>
            <${PauseOrResume} policy=${policy} onAsk=${(verb) => setAsked({ verb, policy })} />
            <button type="button" class="danger" aria-label=${`Delete ${policy.name}`} onClick=${() => setAsked({ verb: "delete", policy })}>Delete</button></div></td>` : null}
        </tr>`)}<//>` : html`<${Empty} title=${`No flow policies in ${namespace} yet.`}>
        <p>A policy limits the requests of many jobs together. A job names its policy by <code>policy</code>.</p><//>`, html`
        <${More} list=${live} noun="policies" shown=${(number) => `The first ${number} by name are shown.`} />`]} />
    ${asked?.verb === "change" ? html`<${Change} namespace=${namespace} policy=${asked.policy} onClose=${close} />` : null}
    ${asked?.verb === "delete" ? html`<${Ask} title=${`Delete ${asked.policy.name}?`} verb="Delete" danger=${true} typed=${asked.policy.name}
      deed=${() => call("DELETE", inNamespace(namespace, "policies", asked.policy.name))} onClose=${close}>
      <p>Its limit holds for the jobs that name it. No other job may name it.</p><//>` : null}
    ${asked?.verb === "pause" ? html`<${Pause} path=${inNamespace(namespace, "policies", asked.policy.name)} name=${asked.policy.name} onClose=${close} />` : null}
    ${asked?.verb === "resume" ? html`<${Ask} title=${`Resume ${asked.policy.name}?`} verb="Resume"
      deed=${() => call("POST", `${inNamespace(namespace, "policies", asked.policy.name)}/resume`)} onClose=${close}>
      <p>What waits leaves within seconds, as the limit allows.</p><//>` : null}`;
}

function PauseOrResume({ policy, onAsk }) {
  const [verb, title] = policy.state === "paused" ? ["resume", "Resume"] : ["pause", "Pause"];
  return html`<button type="button" aria-label=${`${title} ${policy.name}`} onClick=${() => onAsk(verb)}>${title}</button>`;
}

function Pause({ path, name, onClose }) {
  const [reason, setReason] = useState("");
  return html`<${Ask} title=${`Pause ${name}?`} verb="Pause" deed=${() => call("POST", `${path}/pause`, { body: { reason: reason || undefined } })} onClose=${onClose}>
    <p>The triggers of jobs that name it wait until it is resumed.</p>
    <${Field} id="reason" label="Reason (optional)"><input id="reason" value=${reason} onInput=${(event) => setReason(event.target.value)} /><//><//>`;
}

/** How many triggers wait. A policy with `by` counts them for each value alone. */
export function Waiting({ policy }) {
  return policy.by ? "–" : `${policy.waitingIsExact ? "" : "at least "}${count(policy.waiting)}`;
}

/** How much of `maxConcurrent` is taken. */
function Use({ policy }) {
  if (policy.by) return "–";
  if (!policy.maxConcurrent) return count(policy.inUse);
  return html`<${Share} label=${`In use by ${policy.name}`} part=${policy.inUse} whole=${policy.maxConcurrent} />`;
}

/** Writes a policy anew, or the limits of one. A change of somebody else in between is refused. */
function Change({ namespace, policy, onClose }) {
  const [given, setGiven] = useState({
    name: policy?.name || "", maxConcurrent: policy?.maxConcurrent ?? "", limit: policy?.rate?.limit ?? "", per: policy?.rate?.per ?? "1s", by: policy?.by ?? "",
    failures: policy?.breaker?.failures ?? "", probeAfter: policy?.breaker?.probeAfter ?? "1m",
  });
  const set = (name) => (event) => setGiven({ ...given, [name]: event.target.value });
  const deed = () => call("PUT", inNamespace(namespace, "policies", given.name.trim()), {
    headers: policy ? { "if-match": `"${policy.rev}"` } : { "if-none-match": "*" },
    body: {
      maxConcurrent: given.maxConcurrent === "" ? undefined : Number(given.maxConcurrent),
      rate: given.limit === "" ? undefined : { limit: Number(given.limit), per: given.per },
      by: given.by.trim() || undefined,
      breaker: given.failures === "" ? undefined : { failures: Number(given.failures), probeAfter: given.probeAfter },
    },
  });
  return html`<${Ask} title=${policy ? `Change ${policy.name}` : "New policy"} verb=${policy ? "Change" : "Create"} deed=${deed} onClose=${onClose}>
    ${policy ? null : html`<${Field} id="name" label="Name"><input id="name" required autocomplete="off" spellcheck=${false} value=${given.name} onInput=${set("name")} /><//>`}
    <${Field} id="maxConcurrent" label="Requests open at once" hint="Leave it empty for no limit of this kind.">
      <input id="maxConcurrent" type="number" min="1" value=${given.maxConcurrent} onInput=${set("maxConcurrent")} /><//>
    <div class="pair">
      <${Field} id="limit" label="Requests that may leave"><input id="limit" type="number" min="1" value=${given.limit} onInput=${set("limit")} /><//>
      <${Field} id="per" label="within"><input id="per" value=${given.per} placeholder="1s" onInput=${set("per")} /><//>
    </div>
    <${Field} id="by" label="For each" hint="host, job or label:NAME. Leave it empty for one limit of all jobs.">
      <input id="by" autocomplete="off" spellcheck=${false} value=${given.by} onInput=${set("by")} /><//>
    <div class="pair">
      <${Field} id="failures" label="Wait after so many failures" hint="Leave it empty for no breaker."><input id="failures" type="number" min="1" value=${given.failures} onInput=${set("failures")} /><//>
      <${Field} id="probeAfter" label="and probe each"><input id="probeAfter" value=${given.probeAfter} placeholder="1m" onInput=${set("probeAfter")} /><//>
    </div><//>`;
}
