// What is done with a flow policy: the buttons, and the dialogs that make, change, pause, resume and delete one.

import { html } from "./vendor/preact.js";
import { call, inNamespace } from "./api.js";
import { Ask, Remove } from "./ask.js";
import { InputField, numberOf, textOf, useForm } from "./form.js";
import { Verb } from "./parts.js";

/** The buttons of a policy. `onAsk` gets the verb. */
export function PolicyVerbs({ policy, onAsk }) {
  const verb = (name, title, kind) => html`<${Verb} title=${title} of=${policy.name} kind=${kind} onClick=${() => onAsk(name)} />`;
  return html`<div class="verbs">${policy.state === "paused" ? verb("resume", "Resume") : verb("pause", "Pause")}${verb("edit", "Edit")}${verb("delete", "Delete", "danger")}</div>`;
}

/** Asks before a verb is done to a policy. Without a policy, it makes one. `onDeleted` is called after a deletion. */
export function PolicyDeed({ namespace, verb, policy, onClose, onDeleted = () => {} }) {
  if (verb === "edit") return html`<${EditPolicy} namespace=${namespace} policy=${policy} onClose=${onClose} />`;
  const path = inNamespace(namespace, "policies", policy.name);
  if (verb === "pause") return html`<${PausePolicy} path=${path} name=${policy.name} onClose=${onClose} />`;
  if (verb === "resume") {
    return html`<${Ask} title=${`Resume ${policy.name}?`} verb="Resume" deed=${() => call("POST", `${path}/resume`)} onClose=${onClose}>
      <p>What waits leaves within seconds, as the limit allows.</p><//>`;
  }
  const remove = async () => {
    await call("DELETE", path);
    onDeleted();
  };
  return html`<${Remove} name=${policy.name} deed=${remove} onClose=${onClose}>Its limit holds for the jobs that name it. No other job may name it.<//>`;
}

function PausePolicy({ path, name, onClose }) {
  const form = useForm({ reason: "" });
  return html`<${Ask} title=${`Pause ${name}?`} verb="Pause" deed=${() => call("POST", `${path}/pause`, { body: { reason: textOf(form.given.reason) } })}
    onClose=${onClose} fields=${["/reason"]}>${(problem) => html`
    <p>The triggers of jobs that name it wait until it is resumed.</p>
    <${InputField} form=${form} problem=${problem} name="reason" at="/reason" label="Reason (optional)" />`}<//>`;
}

const WHOLE = { inputmode: "numeric" };

/** Writes a policy anew, or the limits of one. A change of somebody else in between is refused. */
function EditPolicy({ namespace, policy, onClose }) {
  const text = (value, otherwise = "") => String(value ?? otherwise);
  const form = useForm({
    name: text(policy?.name), maxConcurrent: text(policy?.maxConcurrent), limit: text(policy?.rate?.limit), per: text(policy?.rate?.per, "1s"), by: text(policy?.by),
    failures: text(policy?.breaker?.failures), probeAfter: text(policy?.breaker?.probeAfter, "1m"),
  });
  const { given } = form;
  const deed = () => call("PUT", inNamespace(namespace, "policies", given.name.trim()), {
    over: policy ? `"${policy.rev}"` : null,
    body: {
      maxConcurrent: numberOf(given.maxConcurrent),
      rate: given.limit.trim() ? { limit: numberOf(given.limit), per: given.per.trim() } : undefined,
      by: textOf(given.by),
      breaker: given.failures.trim() ? { failures: numberOf(given.failures), probeAfter: given.probeAfter.trim() } : undefined,
    },
  });
  return html`<${Ask} title=${policy ? `Edit ${policy.name}` : "New policy"} verb=${policy ? "Save" : "Create"} deed=${deed} onClose=${onClose}
    fields=${["/name", "/maxConcurrent", "/rate/limit", "/rate/per", "/by", "/breaker/failures", "/breaker/probeAfter"]}>${(problem) => {
    const input = (name, at, label, more) => html`<${InputField} form=${form} problem=${problem} name=${name} at=${at} label=${label} ...${more} />`;
    return html`
      ${policy ? null : input("name", "/name", "Name", { required: true })}
      ${input("maxConcurrent", "/maxConcurrent", "Requests open at once", { ...WHOLE, hint: "Leave it empty for no limit of this kind." })}
      <div class="pair">${input("limit", "/rate/limit", "Requests that may leave", WHOLE)}${input("per", "/rate/per", "within")}</div>
      ${input("by", "/by", "For each", { hint: "host, job or label:NAME. Leave it empty for one limit of all jobs." })}
      <div class="pair">${input("failures", "/breaker/failures", "Wait after so many failures", { ...WHOLE, hint: "Leave it empty for no breaker." })}
        ${input("probeAfter", "/breaker/probeAfter", "and probe each")}</div>`;
  }}<//>`;
}
