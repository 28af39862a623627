// The API keys that an admin sees: who may do what until when, and the dialogs that make, rotate and revoke one.

import { html, useState } from "./vendor/preact.js";
import { call, getAll, pathOf } from "./api.js";
import { useLive } from "./live.js";
import { Ask, Command, Empty, Field, Loaded, Table, When } from "./parts.js";

const KEYS_MAX = 1000;

export function Keys({ me, namespace }) {
  const live = useLive(() => getAll(pathOf("keys"), {}, KEYS_MAX), "keys");
  const [asked, setAsked] = useState(null);
  const [made, setMade] = useState(null);
  const close = () => {
    setAsked(null);
    live.reload();
  };
  return html`<div class="head"><h1>Keys</h1><div class="verbs"><button type="button" class="main" onClick=${() => setAsked({ verb: "make" })}>New key</button></div></div>
    ${made ? html`<div class="told" role="status"><p><strong>This is the only time that this key is shown.</strong> It is the key ${made.id}, of the role ${made.role} for ${made.namespace}.</p>
      <${Command} text=${made.key} label="The new key" /><p><button type="button" onClick=${() => setMade(null)}>I have kept it</button></p></div>` : null}
    <${Loaded} live=${live} what="the keys" show=${(keys) => (keys.length ? html`<${Table} label="Keys"
      head=${["Key", "Namespace", "Role", "Made", "Expires", ""]}>${keys.map((key) => html`<tr key=${key.id}>
        <td class="name"><code>${key.id}</code>${key.id === me.id ? " (yours)" : ""}<span class="under">${key.description || key.principal || ""}</span></td>
        <td>${key.namespace}</td><td>${key.role}</td><td><${When} at=${key.createdAt} /></td>
        <td>${key.expiresAt ? html`<${When} at=${key.expiresAt} />` : html`<span class="soft">never</span>`}${key.replacedBy ? html`<span class="under">replaced by ${key.replacedBy}</span>` : null}</td>
        <td><div class="verbs">${key.principal || key.replacedBy ? null : html`<button type="button" aria-label=${`Rotate ${key.id}`} onClick=${() => setAsked({ verb: "rotate", key })}>Rotate</button>`}
          <button type="button" class="danger" aria-label=${`Revoke ${key.id}`} onClick=${() => setAsked({ verb: "revoke", key })}>Revoke</button></div></td></tr>`)}<//>`
      : html`<${Empty} title="No keys." />`)} />
    ${asked?.verb === "make" ? html`<${Make} me=${me} namespace=${namespace} onMade=${setMade} onClose=${close} />` : null}
    ${asked?.verb === "rotate" ? html`<${Rotate} shown=${asked.key} onMade=${setMade} onClose=${close} />` : null}
    ${asked?.verb === "revoke" ? html`<${Ask} title=${`Revoke the key ${asked.key.id}?`} verb="Revoke" danger=${true} typed=${asked.key.id} deed=${() => call("DELETE", pathOf("keys", asked.key.id))} onClose=${close}>
      <p>Whoever calls with it is refused from then on.${asked.key.id === me.id ? " This is your own key: you are signed out." : ""}</p><//>` : null}`;
}

function Make({ me, namespace, onMade, onClose }) {
  const [given, setGiven] = useState({ namespace, role: "read", expiresIn: "", description: "" });
  const set = (name) => (event) => setGiven({ ...given, [name]: event.target.value });
  const deed = async () => {
    const body = Object.fromEntries(Object.entries(given).filter(([, each]) => each.trim()));
    onMade((await call("POST", pathOf("keys"), { body })).value);
  };
  return html`<${Ask} title="New key" verb="Make" deed=${deed} onClose=${onClose}>
    <${Field} id="key-namespace" label="Namespace" hint=${me.namespace === "*" ? "* opens every namespace." : null}>
      <input id="key-namespace" required readonly=${me.namespace !== "*"} value=${given.namespace} onInput=${set("namespace")} /><//>
    <${Field} id="key-role" label="Role"><select id="key-role" value=${given.role} onChange=${set("role")}>
      <option value="read">read: looks</option><option value="write">write: also changes jobs</option><option value="admin">admin: everything</option></select><//>
    <${Field} id="key-expires" label="Expires after" hint="For example 90d. Empty means never."><input id="key-expires" value=${given.expiresIn} onInput=${set("expiresIn")} /><//>
    <${Field} id="key-description" label="Description"><input id="key-description" value=${given.description} onInput=${set("description")} /><//><//>`;
}

function Rotate({ shown, onMade, onClose }) {
  const [overlap, setOverlap] = useState("24h");
  const deed = async () => onMade((await call("POST", pathOf("keys", shown.id, "rotate"), { body: { overlap } })).value);
  return html`<${Ask} title=${`Rotate the key ${shown.id}?`} verb="Rotate" deed=${deed} onClose=${onClose}>
    <p>A new key takes its place. It has the same namespace and role.</p>
    <${Field} id="overlap" label="The old key works for another" hint="0s ends it at once."><input id="overlap" required value=${overlap} onInput=${(event) => setOverlap(event.target.value)} /><//><//>`;
}
