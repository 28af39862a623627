// The API keys that an admin sees: who may do what until when, who made which, and the dialogs that make, rotate and revoke one.

import { html, useState } from "./vendor/preact.js";
import { call, getAll, pathOf } from "./api.js";
import { Ask, useAsked } from "./ask.js";
import { choicesOf, InputField, numberOf, textOf, useForm } from "./form.js";
import { useLive } from "./live.js";
import { Command, Empty, Head, Loaded, Table, Verb, When } from "./parts.js";
import { counted } from "./time.js";

const DEPTH_SHOWN = 6;

export function Keys({ me, namespace }) {
  const live = useLive(() => getAll(pathOf("keys")), "keys");
  const { asked, ask, close } = useAsked(live.reload);
  const [made, setMade] = useState(null);
  const revoke = (key) => call("DELETE", pathOf("keys", key.id));
  return html`<${Head} title="Keys" verbs=${html`<${Verb} title="New key" kind="main" onClick=${() => ask({ verb: "make" })} />`} />
    ${made ? html`<div class="told" role="status"><p><strong>This is the only time that this key is shown.</strong> It is the key ${made.id}, of the role ${made.role} for ${made.namespace}.</p>
      <${Command} text=${made.key} label="The new key" /><p><${Verb} title="I have kept it" onClick=${() => setMade(null)} /></p></div>` : null}
    <p class="soft">A key stands below the one that made it, and ends with that one.</p>
    <${Loaded} live=${live} what="the keys" show=${(keys) => (keys.length ? html`<${Table} label="Keys"
      head=${["Key", "Namespace", "Role", "Made", "Expires", ""]}>${lineage(keys).map(({ key, depth, makerIsHere }) => html`<tr key=${key.id}>
        <td class=${`name depth-${Math.min(depth, DEPTH_SHOWN)}`}><code>${key.id}</code>${key.id === me.id ? " (yours)" : ""}<span class="under">${key.description || key.principal || ""}</span></td>
        <td>${key.namespace}</td><td>${key.role}${key.requestsPerMinute ? html`<span class="under">${counted(key.requestsPerMinute, "request")} a minute</span>` : null}</td>
        <td><${When} at=${key.createdAt} /><span class="under">by ${makerText(key, makerIsHere)}</span></td>
        <td>${key.expiresAt ? html`<${When} at=${key.expiresAt} />` : html`<span class="soft">never</span>`}${key.replacedBy ? html`<span class="under">replaced by ${key.replacedBy}</span>` : null}</td>
        <td><div class="verbs">${key.principal || key.replacedBy ? null : html`<${Verb} title="Rotate" of=${key.id} onClick=${() => ask({ verb: "rotate", key })} />`}
          <${Verb} title="Revoke" of=${key.id} kind="danger" onClick=${() => ask({ verb: "revoke", key, others: endingWith(key, keys) })} /></div></td></tr>`)}<//>`
      : html`<${Empty} title="No keys." />`)} />
    ${asked?.verb === "make" ? html`<${MakeKey} me=${me} namespace=${namespace} onMade=${setMade} onClose=${close} />` : null}
    ${asked?.verb === "rotate" ? html`<${RotateKey} shown=${asked.key} onMade=${setMade} onClose=${close} />` : null}
    ${asked?.verb === "revoke" ? html`<${Ask} title=${`Revoke the key ${asked.key.id}?`} verb="Revoke" danger=${true} typed=${asked.key.id} deed=${() => revoke(asked.key)} onClose=${close}>
      <p>Whoever calls with it is refused from then on.${[asked.key, ...asked.others].some((each) => each.id === me.id) ? " Your own key ends with it: you are signed out." : ""}</p>
      ${asked.others.length ? html`<p>${counted(asked.others.length, "other key")} ${asked.others.length === 1 ? "ends" : "end"} with it:</p><ul class="names">${asked.others.map((each) => html`
        <li key=${each.id}><code>${each.id}</code> ${each.description || each.principal || each.role}</li>`)}</ul>` : html`<p>No other key ends with it.</p>`}<//>` : null}`;
}

/** The keys, each below the one that made or rotated it, and how deep. A maker that is not listed has ended, or is another admin's. */
function lineage(keys) {
  const known = new Set(keys.map((each) => each.id));
  const below = new Map();
  for (const each of keys) {
    const maker = known.has(each.createdBy) ? each.createdBy : null;
    below.set(maker, [...(below.get(maker) || []), each]);
  }
  const found = [];
  const seen = new Set();
  const add = (key, depth) => {
    if (seen.has(key.id)) return;
    seen.add(key.id);
    found.push({ key, depth, makerIsHere: known.has(key.createdBy) });
    for (const each of below.get(key.id) || []) add(each, depth + 1);
  };
  for (const each of [...(below.get(null) || []), ...keys]) add(each, 0);
  return found;
}

function makerText(key, makerIsHere) {
  if (key.createdBy === "operator") return "the operator of the stack";
  return makerIsHere ? html`<code>${key.createdBy}</code>` : html`<code>${key.createdBy}</code>, which is not listed`;
}

/**
 * The listed keys that end with a key: what it made or rotated, what these made, and with each of them the keys that
 * it replaced and that replaced it. A key whose successor is valid ends alone.
 */
function endingWith(key, keys) {
  if (keys.some((each) => each.id === key.replacedBy)) return [];
  const ended = new Set([key.id]);
  const replaced = new Map(keys.map((each) => [each.replacedBy, each.id]));
  let size = 0;
  while (ended.size > size) {
    size = ended.size;
    for (const each of keys) if ([each.createdBy, each.replacedBy, replaced.get(each.id)].some((other) => ended.has(other))) ended.add(each.id);
  }
  return keys.filter((each) => each.id !== key.id && ended.has(each.id));
}

function MakeKey({ me, namespace, onMade, onClose }) {
  const seesAll = me.namespace === "*";
  const form = useForm({ namespace: namespace || "*", role: "read", expiresIn: "", description: "", requestsPerMinute: "", principal: "" });
  const { given } = form;
  const deed = async () => {
    const { value } = await call("POST", pathOf("keys"), { body: { namespace: given.namespace.trim(), role: given.role, expiresIn: textOf(given.expiresIn),
      description: textOf(given.description), requestsPerMinute: numberOf(given.requestsPerMinute), principal: textOf(given.principal) } });
    // that of a principal has no secret
    if (value.key) onMade(value);
  };
  return html`<${Ask} title="New key" verb="Make" deed=${deed} onClose=${onClose} fields=${Object.keys(given).map((each) => `/${each}`)}>${(problem) => {
    const input = (name, label, more) => html`<${InputField} form=${form} problem=${problem} name=${name} at=${`/${name}`} label=${label} ...${more} />`;
    return html`
      ${input("namespace", "Namespace", { required: true, readonly: !seesAll, hint: seesAll ? "* opens every namespace." : null })}
      ${input("role", "Role", { kind: "select", children: choicesOf([["read", "read: looks"], ["write", "write: also changes jobs"], ["admin", "admin: everything"]]) })}
      ${input("expiresIn", "Expires after", { hint: "For example 90d. Empty: with your own key, or never." })}
      ${input("description", "Description", { hint: "Who holds it, and what for." })}
      ${input("requestsPerMinute", "Requests a minute", { inputmode: "numeric", hint: "Empty: as many as your own key." })}
      ${seesAll ? input("principal", "Role or user of IAM", { hint: "An ARN, for stacks with AuthMode=iam. Empty for a key with a secret." }) : null}`;
  }}<//>`;
}

function RotateKey({ shown, onMade, onClose }) {
  const form = useForm({ overlap: "24h" });
  const deed = async () => onMade((await call("POST", pathOf("keys", shown.id, "rotate"), { body: { overlap: form.given.overlap.trim() } })).value);
  return html`<${Ask} title=${`Rotate the key ${shown.id}?`} verb="Rotate" deed=${deed} onClose=${onClose} fields=${["/overlap"]}>${(problem) => html`
    <p>A new key takes its place. It has the same namespace and role.</p>
    <${InputField} form=${form} problem=${problem} name="overlap" at="/overlap" label="The old key works for another" required hint="0s ends it at once. For example 24h." />`}<//>`;
}
