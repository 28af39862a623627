// The settings of a namespace, which an admin writes, and the namespaces that the key opens.

import { html, useEffect, useState } from "./vendor/preact.js";
import { call, getAll, inNamespace, pathOf } from "./api.js";
import { readJson, writeJson } from "./exact.js";
import { useDeed, useLive } from "./live.js";
import { Facts, Field, Loaded, ProblemNote, When } from "./parts.js";
import { linkTo } from "./route.js";
import { count } from "./time.js";

/** The fields that an admin writes. The API shows others beside them. */
const WRITTEN = ["limits", "defaultTarget", "defaultRetry", "allowedTargets"];

export function Settings({ me, namespace }) {
  const [loaded, setLoaded] = useState(null);
  const { problem, run } = useDeed();
  const load = () => run(async () => setLoaded(await call("GET", inNamespace(namespace))));
  useEffect(() => {
    load();
  }, []);
  return html`<div class="head"><h1>Settings of ${namespace}</h1></div>
    ${loaded ? html`<${SettingsForm} key=${loaded.etag} namespace=${namespace} stored=${loaded.value} etag=${loaded.etag} onSaved=${setLoaded} />`
      : html`<${Loaded} live=${{ value: null, problem, reload: load }} what="the settings" show=${() => null} />`}
    ${me.namespace === "*" ? html`<section aria-labelledby="others"><h2 id="others">Namespaces of this stack</h2><${Namespaces} /></section>` : null}`;
}

function SettingsForm({ namespace, stored, etag, onSaved }) {
  const [text, setText] = useState(() => writeJson(Object.fromEntries(WRITTEN.filter((each) => each in stored).map((each) => [each, stored[each]]))));
  const { isBusy, problem, run } = useDeed();
  let mistake = null;
  try {
    readJson(text);
  } catch (error) {
    mistake = error.message;
  }
  const save = (event) => {
    event.preventDefault();
    const headers = etag ? { "if-match": etag } : { "if-none-match": "*" };
    run(async () => onSaved(await call("PUT", inNamespace(namespace), { text, headers })));
  };
  return html`<${Facts} rows=${[
      ["Jobs counted", stored.jobsCounted === undefined ? null : count(stored.jobsCounted)],
      ["Last written", stored.updatedAt ? html`<${When} at=${stored.updatedAt} /> with the key <code>${stored.updatedBy}</code>` : "never"],
    ]} />
    <form onSubmit=${save}><${ProblemNote} problem=${problem} />
      <${Field} id="settings" label="The settings (JSON)" errors=${mistake ? [`This is no JSON: ${mistake}`] : []}
        hint="limits (triggersPerMinute, jobs, payload), defaultTarget, defaultRetry, allowedTargets (hosts, networks). What you leave out is removed.">
        <textarea id="settings" rows="16" spellcheck=${false} value=${text} onInput=${(event) => setText(event.target.value)}></textarea><//>
      <p><button class="main" disabled=${isBusy || mistake !== null}>${isBusy ? "Saving …" : "Save"}</button></p></form>`;
}

function Namespaces() {
  const live = useLive(() => getAll(pathOf("namespaces")), "namespaces");
  return html`<${Loaded} live=${live} what="the namespaces" show=${(found) => html`<ul class="plainlist">${found.map(({ namespace }) => html`
    <li key=${namespace}><a href=${linkTo([namespace, "overview"])}>${namespace}</a></li>`)}</ul>`} />`;
}
