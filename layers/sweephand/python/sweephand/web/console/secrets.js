// The secrets of a namespace: those that jobs name, and what signs its deliveries.

import { html, useState } from "./vendor/preact.js";
import { call, get, getAll, inNamespace } from "./api.js";
import { InputField, useForm } from "./form.js";
import { useLive } from "./live.js";
import { Ask, Command, Empty, Loaded, Table, When } from "./parts.js";

export function Secrets({ namespace }) {
  return html`<div class="head"><h1>Secrets</h1></div>
    <${NamedSecrets} namespace=${namespace} /><${SigningSecrets} namespace=${namespace} /><${SigningKeys} namespace=${namespace} />`;
}

/** The secrets that jobs name. No answer of the API has a value. */
function NamedSecrets({ namespace }) {
  const path = inNamespace(namespace, "secrets");
  const live = useLive(() => getAll(path), path);
  const [asked, setAsked] = useState(null);
  const close = () => {
    setAsked(null);
    live.reload();
  };
  return html`<section aria-labelledby="named-secrets"><div class="head"><h2 id="named-secrets">Secrets that jobs name</h2>
      <div class="verbs"><button type="button" class="main" onClick=${() => setAsked({ verb: "write" })}>New secret</button></div></div>
    <${Loaded} live=${live} what="the secrets" show=${(secrets) => (secrets.length ? html`
      <${Table} label="Secrets" head=${["Name", "Value changed", "Created", "Signs as", ""]}>${secrets.map((each) => html`<tr key=${each.name}>
        <td class="name"><strong>${each.name}</strong></td><td><${When} at=${each.updatedAt} /></td><td><${When} at=${each.createdAt} /></td>
        <td>${{ v1: "v1 (HMAC-SHA256)", v1a: "v1a (ed25519)" }[each.scheme] || html`<span class="soft">–</span>`}</td>
        <td><div class="verbs"><button type="button" aria-label=${`Replace ${each.name}`} onClick=${() => setAsked({ verb: "write", name: each.name })}>Replace</button>
          <button type="button" class="danger" aria-label=${`Delete ${each.name}`} onClick=${() => setAsked({ verb: "delete", name: each.name })}>Delete</button></div></td></tr>`)}<//>`
      : html`<${Empty} title=${`No secrets in ${namespace} yet.`}><p>A secret keeps a token out of the job that sends it. A header names it by <code>secretRef</code>.</p><//>`)} />
    ${asked?.verb === "write" ? html`<${WriteSecret} path=${path} name=${asked.name} onClose=${close} />` : null}
    ${asked?.verb === "delete" ? html`<${Ask} title=${`Delete ${asked.name}?`} verb="Delete" danger=${true} typed=${asked.name}
      deed=${() => call("DELETE", `${path}/${encodeURIComponent(asked.name)}`)} onClose=${close}>
      <p>Runs of jobs that still name it fail at once, and say so.</p><//>` : null}</section>`;
}

function WriteSecret({ path, name, onClose }) {
  const form = useForm({ name: name || "", value: "" });
  const deed = () => call("PUT", `${path}/${encodeURIComponent(form.given.name.trim())}`, { body: { value: form.given.value } });
  return html`<${Ask} title=${name ? `Replace the value of ${name}` : "New secret"} verb=${name ? "Replace" : "Create"} deed=${deed} onClose=${onClose} fields=${["/value", "/name"]}>${(problem) => html`
    ${name ? html`<p>Every function uses the new value within five seconds. Let the consumer accept both values until then.</p>`
      : html`<${InputField} form=${form} problem=${problem} name="name" at="/name" label="Name" required />`}
    <${InputField} form=${form} problem=${problem} name="value" at="/value" label="Value" kind="password" required
      hint="The whole header, such as Bearer and the token. Nobody can read it afterwards." />`}<//>`;
}

/** What signs deliveries over HTTP by a shared secret. The values are read once, and hidden until somebody shows one. */
function SigningSecrets({ namespace }) {
  const path = inNamespace(namespace, "signing-secrets");
  const live = useLive(() => get(path), path, null);
  const [asked, setAsked] = useState(null);
  const [shown, setShown] = useState(null);
  const close = () => {
    setAsked(null);
    live.reload();
  };
  const endNow = async () => {
    // Three may sign at once. So the old ones go first, and then the one that was the newest.
    if (live.value.items.length > 1) await call("DELETE", path);
    await call("POST", path);
    await call("DELETE", path);
  };
  return html`<section class="signing" aria-labelledby="signing-secrets"><div class="head"><h2 id="signing-secrets">Signing secrets</h2>
      ${live.value ? html`<div class="verbs"><button type="button" onClick=${() => setAsked("rotate")}>Rotate</button>
        ${live.value.items.length > 1 ? html`<button type="button" class="danger" onClick=${() => setAsked("end")}>End the old ones</button>` : null}
        <button type="button" class="danger" onClick=${() => setAsked("leaked")}>One has leaked</button></div>` : null}</div>
    <p class="soft">Each delivery over HTTP carries a signature by each of them. A consumer needs one.</p>
    <${Loaded} live=${live} what="the signing secrets" show=${({ items }) => html`
      <${Table} label="Signing secrets" head=${["Secret", "Made", "Signs until", ""]}>${items.map((each, at) => html`<tr key=${each.createdAt + at}>
        <td class="name">${shown === each.secret ? html`<${Command} text=${each.secret} label="The signing secret" />` : html`<code>whsec_••••••••</code>`}${at === 0 ? html`<span class="under">newest</span>` : null}</td>
        <td><${When} at=${each.createdAt} /></td><td>${each.expiresAt ? html`<${When} at=${each.expiresAt} />` : html`<span class="soft">it is rotated</span>`}</td>
        <td><div class="verbs"><button type="button" aria-label=${`${shown === each.secret ? "Hide" : "Show"} secret ${at + 1}`}
          onClick=${() => setShown(shown === each.secret ? null : each.secret)}>${shown === each.secret ? "Hide" : "Show"}</button></div></td></tr>`)}<//>`} />
    ${asked === "rotate" ? html`<${Ask} title="Rotate the signing secrets?" verb="Rotate" deed=${() => call("POST", path)} onClose=${close}>
      <p>A new secret signs from now on. The present one still signs for a day. Give consumers the new one until then.</p><//>` : null}
    ${asked === "end" ? html`<${Ask} title="End the old signing secrets?" verb="End them" danger=${true} deed=${() => call("DELETE", path)} onClose=${close}>
      <p>Within a minute only the newest secret signs. A consumer that does not have it refuses deliveries, which are tried again.</p><//>` : null}
    ${asked === "leaked" ? html`<${Ask} title="Replace all signing secrets now?" verb="Replace them" danger=${true} typed=${namespace} deed=${endNow} onClose=${close}>
      <p>A new secret is made. Within a minute it alone signs, and every other one is deleted.</p>
      <p>Consumers refuse deliveries until you give them the new secret. These are tried again. Let consumers refuse the leaked secret first.</p><//>` : null}</section>`;
}

/** The public keys of what signs by ed25519, if an admin has made one. */
function SigningKeys({ namespace }) {
  const path = inNamespace(namespace, "signing-keys");
  const live = useLive(() => get(path), path, null);
  const [asked, setAsked] = useState(null);
  const close = () => {
    setAsked(null);
    live.reload();
  };
  const has = live.value?.items.length > 0;
  return html`<section aria-labelledby="signing-keys"><div class="head"><h2 id="signing-keys">Public keys (ed25519)</h2>
      ${live.value ? html`<div class="verbs"><button type="button" onClick=${() => setAsked("rotate")}>${has ? "Rotate the key" : "Make a key"}</button>
        ${has ? html`<button type="button" class="danger" onClick=${() => setAsked("end")}>End these signatures</button>` : null}</div>` : null}</div>
    <p class="soft">A public key can verify a delivery and cannot sign one. Consumers read it without an API key.</p>
    <${Loaded} live=${live} what="the public keys" show=${({ items }) => (items.length ? html`
      <${Table} label="Public keys" head=${["Key", "Made", "Signs until"]}>${items.map((each) => html`<tr key=${each.key}>
        <td class="name"><${Command} text=${each.key} label="A public key" /></td><td><${When} at=${each.createdAt} /></td>
        <td>${each.expiresAt ? html`<${When} at=${each.expiresAt} />` : html`<span class="soft">it is rotated</span>`}</td></tr>`)}<//>` : html`<${Empty} title="No key signs by ed25519." />`)} />
    ${asked === "rotate" ? html`<${Ask} title=${has ? "Rotate the ed25519 key?" : "Make an ed25519 key?"} verb=${has ? "Rotate" : "Make"} deed=${() => call("POST", path)} onClose=${close}>
      <p>A new key signs within a minute, beside the signing secrets.${has ? " The present one still signs for a day." : ""}</p><//>` : null}
    ${asked === "end" ? html`<${Ask} title="End signing by ed25519?" verb="End it" danger=${true} deed=${() => call("DELETE", path)} onClose=${close}>
      <p>Within a minute the signing secrets alone sign. The private keys are deleted at once.</p><//>` : null}</section>`;
}
