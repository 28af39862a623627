// The console: who is signed in, the bar above all screens, and which screen is shown.

import { html, render, useEffect, useRef, useState } from "./vendor/preact.js";
import { may } from "./access.js";
import { get, getAll, onRefusedKey, pathOf, storedKey } from "./api.js";
import { Calendar, CalendarEditor, Calendars } from "./calendars.js";
import { Editor } from "./editor.js";
import { Everywhere } from "./everywhere.js";
import { Failures } from "./failures.js";
import { Job } from "./job.js";
import { Jobs } from "./jobs.js";
import { Keys } from "./keys.js";
import { Overview } from "./overview.js";
import { Loading } from "./parts.js";
import { Policies } from "./policies.js";
import { goTo, linkTo, useRoute } from "./route.js";
import { Run } from "./run.js";
import { Settings } from "./settings.js";
import { SignIn } from "./signin.js";
import { Why } from "./why.js";

/** The screens of a namespace that the bar offers: their names in addresses, their titles, and the least role. */
const OFFERED = [
  ["overview", "Overview", "read"],
  ["jobs", "Jobs", "read"],
  ["failures", "Failures", "read"],
  ["policies", "Policies", "read"],
  ["calendars", "Calendars", "read"],
  ["keys", "Keys", "admin"],
  ["settings", "Settings", "admin"],
];

function App() {
  const [me, setMe] = useState(null);
  const [told, setTold] = useState("");
  const [isReady, setReady] = useState(!storedKey.read());
  const signOut = (reason = "") => {
    storedKey.forget();
    setTold(reason);
    setMe(null);
  };
  onRefusedKey.run = signOut;
  useEffect(() => {
    if (!isReady) get(pathOf("me")).then(setMe).catch((problem) => setTold(problem.message)).finally(() => setReady(true));
  }, []);
  if (!isReady) return html`<${Opening} onSignOut=${() => signOut()} />`;
  if (!me) return html`<${SignIn} told=${told} onSignedIn=${setMe} />`;
  return html`<${Signed} me=${me} onSignOut=${() => signOut()} />`;
}

/** What a tab with a key shows until the API has said whose key it is: the bar, a title, and grey lines. */
function Opening({ onSignOut }) {
  const [namespace, screen = OFFERED[0][0], name] = useRoute().parts;
  const title = name || OFFERED.find(([each]) => each === screen)?.[1];
  return html`<${Bar} me=${null} namespace=${namespace} screen=${screen} onSignOut=${onSignOut} />
    <main>${title ? html`<div class="head"><h1>${title}</h1></div>` : null}<${Loading} what="your key" /></main>`;
}

function Signed({ me, onSignOut }) {
  const { parts, query } = useRoute();
  const [namespaces, setNamespaces] = useState(me.namespace === "*" ? null : [me.namespace]);
  const main = useRef();
  useEffect(() => {
    if (namespaces === null) {
      getAll(pathOf("namespaces")).then((found) => setNamespaces(found.map((each) => each.namespace))).catch(() => setNamespaces([]));
    }
  }, []);
  const namespace = parts[0] || (me.namespace === "*" ? null : me.namespace);
  const [screen = OFFERED[0][0], name] = parts.slice(1);
  const place = parts.slice(1).join("/");
  useEffect(() => {
    if (!location.hash.replace(/^#\/?/, "") && namespace) goTo(linkTo([namespace, OFFERED[0][0]]), true);
    document.title = [name, namespace, "Sweephand"].filter(Boolean).join(" · ");
  });
  const isFirst = useRef(true);
  useEffect(() => {
    if (!isFirst.current) main.current?.focus(); // a reader of the screen is told of the new one
    isFirst.current = false;
    scrollTo(0, 0);
  }, [namespace, place]);
  return html`<a class="skip" href=${location.hash || "#"} onClick=${(event) => { event.preventDefault(); main.current.focus(); }}>Skip to the screen</a>
    <${Bar} me=${me} namespace=${namespace} namespaces=${namespaces} screen=${screen} onSignOut=${onSignOut} />
    <main ref=${main} tabindex="-1">
      ${namespace ? html`<${Screen} key=${`${namespace}/${place}`} me=${me} namespace=${namespace} screen=${screen}
        rest=${parts.slice(2)} query=${query} />` : html`<${Everywhere} me=${me} />`}
    </main>
    <footer class="soft">Sweephand ${me.version}</footer>`;
}

function Screen({ me, namespace, screen, rest, query }) {
  const [name, part, id] = rest;
  if (screen === "jobs" && part === "runs" && id) {
    return html`<${Run} me=${me} namespace=${namespace} name=${name} id=${id} />`;
  }
  if (screen === "overview") return html`<${Overview} me=${me} namespace=${namespace} />`;
  if (screen === "failures") return html`<${Failures} me=${me} namespace=${namespace} query=${query} />`;
  if (screen === "jobs" && part === "why") return html`<${Why} namespace=${namespace} name=${name} query=${query} />`;
  if (screen === "policies") return html`<${Policies} me=${me} namespace=${namespace} />`;
  if (screen === "new-calendar" && may(me, "write")) return html`<${CalendarEditor} namespace=${namespace} />`;
  if (screen === "calendars" && part === "edit" && may(me, "write")) return html`<${CalendarEditor} namespace=${namespace} name=${name} />`;
  if (screen === "calendars" && name) return html`<${Calendar} me=${me} namespace=${namespace} name=${name} query=${query} />`;
  if (screen === "calendars") return html`<${Calendars} me=${me} namespace=${namespace} />`;
  if (screen === "keys" && may(me, "admin")) return html`<${Keys} me=${me} namespace=${namespace} />`;
  if (screen === "settings" && may(me, "admin")) return html`<${Settings} me=${me} namespace=${namespace} />`;
  if (screen === "new" && may(me, "write")) return html`<${Editor} namespace=${namespace} />`;
  if (screen === "jobs" && part === "edit" && may(me, "write")) return html`<${Editor} namespace=${namespace} name=${name} />`;
  if (screen === "jobs" && name) return html`<${Job} me=${me} namespace=${namespace} name=${name} query=${query} />`;
  if (screen === "jobs") return html`<${Jobs} me=${me} namespace=${namespace} query=${query} />`;
  return html`<h1>No such screen</h1><p><a href=${linkTo([namespace, "jobs"])}>Show the jobs</a></p>`;
}

/** The bar above all screens. While `me` is null it offers the screens that every key may see. */
function Bar({ me, namespace, namespaces, screen, onSignOut }) {
  const choose = (event) => {
    event.preventDefault();
    const chosen = new FormData(event.target).get("namespace").trim();
    if (chosen) goTo(linkTo([chosen, OFFERED[0][0]]));
  };
  return html`<header class="bar">
    <a class="brand" href=${linkTo(namespace && me?.namespace !== "*" ? [namespace, OFFERED[0][0]] : [])}><span class="hand" aria-hidden="true"></span>Sweephand</a>
    ${me?.namespace === "*" ? html`<form class="namespace" onSubmit=${choose}>
      <label class="unseen" for="namespace">Namespace</label>
      <input id="namespace" name="namespace" list="namespaces" defaultValue=${namespace || ""} key=${namespace} placeholder="namespace"
        autocomplete="off" spellcheck=${false} onChange=${(event) => event.target.form.requestSubmit()} />
      <datalist id="namespaces">${(namespaces || []).map((each) => html`<option value=${each}></option>`)}</datalist>
    </form>` : html`<span class="namespace fixed">${namespace}</span>`}
    <nav aria-label="Screens">${namespace ? OFFERED.filter(([, , role]) => may(me || { role: "read" }, role)).map(([each, title]) => html`
      <a href=${linkTo([namespace, each])} aria-current=${each === screen ? "page" : null}>${title}</a>`) : null}</nav>
    ${me ? html`<span class="who soft" title=${`Key ${me.id}`}>${me.role}</span>` : null}
    <button type="button" class="plain" onClick=${onSignOut}>Sign out</button>
  </header>`;
}

render(html`<${App} />`, document.getElementById("console"));
