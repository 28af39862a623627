// The secrets of a namespace: those that jobs name, and what signs its deliveries.

import { html, useState } from "./vendor/preact.js";
import { call, get, getAll, inNamespace } from "./api.js";
import { Ask, Remove, useAsked } from "./ask.js";
import { InputField, useForm } from "./form.js";
import { useLive } from "./live.js";
import { Command, Empty, Head, Loaded, Table, Verb, When } from "./parts.js";

export function Secrets({ namespace }) {
  return html`<${Head} title="Secrets" />
    <${NamedSecrets} namespace=${namespace} /><${SigningSecrets} namespace=${namespace} /><${SigningKeys} namespace=${namespace} />`;
}

/** The secrets that jobs name. No answer of the API has a value. */
function NamedSecrets({ namespace }) {
  const path = inNamespace(namespace, "secrets");
  const live = useLive(() => getAll(path), path);
  const { asked, ask, close } = useAsked(live.reload);
  return html`<section aria-labelledby="named-secrets"><div class="head"><h2 id="named-secrets">Secrets that jobs name</h2>
      <div class="verbs"><${Verb} title="New secret" kind="main" onClick=${() => ask({ verb: "write" })} /></div></div>
    <${Loaded} live=${live} what="the secrets" show=${(secrets) => (secrets.length ? html`
      <${Table} label="Secrets" head=${["Name", "Value changed", "Made", "Signs as", ""]}>${secrets.map((each) => html`<tr key=${each.name}>
        <td class="name"><strong>${each.name}</strong></td><td><${When} at=${each.updatedAt} /></td><td><${When} at=${each.createdAt} /></td>
        <td>${{ v1: "v1 (HMAC-SHA256)", v1a: "v1a (ed25519)" }[each.scheme] || html`<span class="soft">–</span>`}</td>
        <td><div class="verbs"><${Verb} title="Replace" of=${each.name} onClick=${() => ask({ verb: "write", name: each.name })} />
          <${Verb} title="Delete" of=${each.name} kind="danger" onClick=${() => ask({ verb: "delete", name: each.name })} /></div></td></tr>`)}<//>`
      : html`<${Empty} title=${`No secrets in ${namespace} yet.`}><p>A secret keeps a token out of the job that sends it. A header names it by <code>secretRef</code>.</p><//>`)} />
    ${asked?.verb === "write" ? html`<${WriteSecret} path=${path} name=${asked.name} onClose=${close} />` : null}
    ${asked?.verb === "delete" ? html`<${Remove} name=${asked.name} deed=${() => call("DELETE", `${path}/${encodeURIComponent(asked.name)}`)} onClose=${close}>
      Runs of jobs that still name it fail at once, and say so.<//>` : null}</section>`;
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
  const { asked, ask, close } = useAsked(live.reload);
  const [shown, setShown] = useState(null);
  const count = live.value?.items.length;
  const endNow = async () => {
    // Three may sign at once. So the old ones go first, and then the one that was the newest.
    if (count > 1) await call("DELETE", path);
    await call("POST", path);
    await call("DELETE", path);
  };
  const dialogs = {
    rotate: { title: "Rotate the signing secrets?", verb: "Rotate", deed: () => call("POST", path), children: html`
      <p>A new secret signs from now on. The present one still signs for a day. Give consumers the new one until then.</p>` },
    end: { title: "End the old signing secrets?", verb: "End them", danger: true, deed: () => call("DELETE", path), children: html`
      <p>Within a minute only the newest secret signs. A consumer that does not have it refuses deliveries, which are tried again.</p>` },
    leaked: { title: "Replace all signing secrets now?", verb: "Replace them", danger: true, typed: namespace, deed: endNow, children: html`
      <p>A new secret is made. Within a minute it alone signs, and every other one is deleted.</p>
      <p>Consumers refuse deliveries until you give them the new secret. These are tried again. Let consumers refuse the leaked secret first.</p>` },
  };
  return html`<section class="signing" aria-labelledby="signing-secrets"><div class="head"><h2 id="signing-secrets">Signing secrets</h2>
      ${live.value ? html`<div class="verbs"><${Verb} title="Rotate" onClick=${() => ask("rotate")} />
        ${count > 1 ? html`<${Verb} title="End the old ones" kind="danger" onClick=${() => ask("end")} />` : null}
        <${Verb} title="A secret has leaked" kind="danger" onClick=${() => ask("leaked")} /></div>` : null}</div>
    <p class="soft">Each delivery over HTTP carries a signature by each of them. A consumer needs one.</p>
    <${Loaded} live=${live} what="the signing secrets" show=${({ items }) => html`
      <${Table} label="Signing secrets" head=${["Secret", "Made", "Signs until", ""]}>${items.map((each, at) => {
        const isShown = shown === each.secret;
        return html`<tr key=${each.createdAt + at}>
          <td class="name">${isShown ? html`<${Command} text=${each.secret} label="The signing secret" />` : html`<code>whsec_••••••••</code>`}${at === 0 ? html`<span class="under">newest</span>` : null}</td>
          <td><${When} at=${each.createdAt} /></td><td><${SignsUntil} at=${each.expiresAt} /></td>
          <td><div class="verbs"><${Verb} title=${isShown ? "Hide" : "Show"} of=${`secret ${at + 1}`} onClick=${() => setShown(isShown ? null : each.secret)} /></div></td></tr>`;
      })}<//>`} />
    ${asked ? html`<${Ask} ...${dialogs[asked]} onClose=${close} />` : null}</section>`;
}

const SignsUntil = ({ at }) => (at ? html`<${When} at=${at} />` : html`<span class="soft">it is rotated</span>`);

/** The public keys of what signs by ed25519, if an admin has made one. */
function SigningKeys({ namespace }) {
  const path = inNamespace(namespace, "signing-keys");
  const live = useLive(() => get(path), path, null);
  const { asked, ask, close } = useAsked(live.reload);
  const has = live.value?.items.length > 0;
  const dialogs = {
    rotate: { title: has ? "Rotate the ed25519 key?" : "Make an ed25519 key?", verb: has ? "Rotate" : "Make", deed: () => call("POST", path), children: html`
      <p>A new key signs within a minute, beside the signing secrets.${has ? " The present one still signs for a day." : ""}</p>` },
    end: { title: "End signing by ed25519?", verb: "End it", danger: true, deed: () => call("DELETE", path), children: html`
      <p>Within a minute the signing secrets alone sign. The private keys are deleted at once.</p>` },
  };
  return html`<section aria-labelledby="signing-keys"><div class="head"><h2 id="signing-keys">Public keys (ed25519)</h2>
      ${live.value ? html`<div class="verbs"><${Verb} title=${has ? "Rotate the key" : "Make a key"} onClick=${() => ask("rotate")} />
        ${has ? html`<${Verb} title="End these signatures" kind="danger" onClick=${() => ask("end")} />` : null}</div>` : null}</div>
    <p class="soft">A public key can verify a delivery and cannot sign one. Consumers read it without an API key.</p>
    <${Loaded} live=${live} what="the public keys" show=${({ items }) => (items.length ? html`
      <${Table} label="Public keys" head=${["Key", "Made", "Signs until"]}>${items.map((each) => html`<tr key=${each.key}>
        <td class="name"><${Command} text=${each.key} label="A public key" /></td><td><${When} at=${each.createdAt} /></td>
        <td><${SignsUntil} at=${each.expiresAt} /></td></tr>`)}<//>` : html`<${Empty} title="No key signs by ed25519." />`)} />
    ${asked ? html`<${Ask} ...${dialogs[asked]} onClose=${close} />` : null}</section>`;
}
