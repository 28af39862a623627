// The console: who is signed in, and which screen is shown.

import { html, render, useEffect, useErrorBoundary, useRef, useState } from "./vendor/preact.js";
import { may } from "./access.js";
import { get, loadedOnce, onRefusedKey, pathOf, Problem, storedKey, UNKNOWN_ANSWER } from "./api.js";
import { Bar, FIRST_SCREEN, NEW_SCREENS, OFFERED } from "./bar.js";
import { Calendar, CalendarEditor, Calendars } from "./calendars.js";
import { Failures } from "./failures.js";
import { Job } from "./job.js";
import { Jobs } from "./jobs.js";
import { Keys } from "./keys.js";
import { Everywhere } from "./namespaces.js";
import { Overview } from "./overview.js";
import { Later, Loading, ProblemNote } from "./parts.js";
import { Policies } from "./policies.js";
import { Policy } from "./policy.js";
import { goTo, linkTo, useRoute } from "./route.js";
import { Run } from "./run.js";
import { Secrets } from "./secrets.js";
import { Settings } from "./settings.js";
import { SignIn } from "./signin.js";
import { Why } from "./why.js";
import { WindowEditor } from "./window_editor.js";
import { Windows } from "./windows.js";

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
  const [namespace, screen = FIRST_SCREEN, name] = useRoute().parts;
  const title = name || OFFERED.find(([each]) => each === screen)?.[1];
  return html`<${Bar} me=${null} namespace=${namespace} screen=${screen} onSignOut=${onSignOut} />
    <main>${title ? html`<div class="head"><h1>${title}</h1></div>` : null}<${Loading} what="your key" /></main>`;
}

function Signed({ me, onSignOut }) {
  const { parts, query } = useRoute();
  const main = useRef();
  const own = me.namespace === "*" ? undefined : me.namespace;
  const namespace = parts[0] || own;
  const [screen = FIRST_SCREEN, name] = parts.slice(1);
  const place = parts.slice(1).join("/") || FIRST_SCREEN;
  useEffect(() => {
    if (!parts.length && own) goTo(linkTo([own, FIRST_SCREEN]), true);
    document.title = [name, namespace, "Sweephand"].filter(Boolean).join(" · ");
  });
  const isFirst = useRef(true);
  useEffect(() => {
    // a reader of the screen is told of the new one
    if (!isFirst.current) main.current?.focus();
    isFirst.current = false;
    scrollTo(0, 0);
  }, [namespace, place]);
  return html`<a class="skip" href=${location.hash || "#"} onClick=${(event) => { event.preventDefault(); main.current.focus(); }}>Skip to the screen</a>
    <${Bar} me=${me} namespace=${namespace} screen=${screen} onSignOut=${onSignOut} />
    <main ref=${main} tabindex="-1"><${Guarded} key=${`${namespace}/${place}`}>${namespace ? html`<${Screen} me=${me} namespace=${namespace} screen=${screen}
      rest=${parts.slice(2)} query=${query} />` : html`<${Everywhere} me=${me} />`}<//></main>
    <footer class="soft">Sweephand ${me.version}</footer>`;
}

/** What it shows, or that this could not be shown: the bar stays, and leads elsewhere. */
function Guarded({ children }) {
  const [error, tryAgain] = useErrorBoundary();
  return error ? html`<${ProblemNote} problem=${{ message: UNKNOWN_ANSWER }} onRetry=${tryAgain} />` : children;
}

/** Few of those who look at jobs write one. So the editor, a sixth of the console, is loaded when it is first opened. */
const loadEditor = loadedOnce(() => import("./editor.js").catch(() => {
  throw new Problem(0, "The editor could not be loaded. If trying again does not help, load the page again.");
}));

function Screen({ me, namespace, screen, rest, query }) {
  const [name, part, id] = rest;
  if (screen === "jobs" && part === "runs" && id) {
    return html`<${Run} me=${me} namespace=${namespace} name=${name} id=${id} />`;
  }
  if (screen === "overview") return html`<${Overview} me=${me} namespace=${namespace} />`;
  if (screen === "failures") return html`<${Failures} me=${me} namespace=${namespace} query=${query} />`;
  if (screen === "jobs" && part === "why") return html`<${Why} me=${me} namespace=${namespace} name=${name} query=${query} />`;
  if (screen === "policies" && name) return html`<${Policy} me=${me} namespace=${namespace} name=${name} />`;
  if (screen === "policies") return html`<${Policies} me=${me} namespace=${namespace} />`;
  if (screen === "new-calendar" && may(me, "write")) return html`<${CalendarEditor} namespace=${namespace} />`;
  if (screen === "calendars" && part === "edit" && may(me, "write")) return html`<${CalendarEditor} namespace=${namespace} name=${name} />`;
  if (screen === "calendars" && name) return html`<${Calendar} me=${me} namespace=${namespace} name=${name} query=${query} />`;
  if (screen === "calendars") return html`<${Calendars} me=${me} namespace=${namespace} />`;
  if (screen === "new-window" && may(me, "write")) return html`<${WindowEditor} namespace=${namespace} />`;
  if (screen === "windows" && part === "edit" && may(me, "write")) return html`<${WindowEditor} namespace=${namespace} name=${name} />`;
  if (screen === "windows") return html`<${Windows} me=${me} namespace=${namespace} query=${query} />`;
  if (screen === "secrets" && may(me, "admin")) return html`<${Secrets} namespace=${namespace} />`;
  if (screen === "keys" && may(me, "admin")) return html`<${Keys} me=${me} namespace=${namespace} />`;
  if (screen === "settings" && may(me, "admin")) return html`<${Settings} namespace=${namespace} />`;
  if (screen === "new" && may(me, "write")) return html`<${Later} load=${loadEditor} part="Editor" me=${me} namespace=${namespace} />`;
  if (screen === "jobs" && part === "edit" && may(me, "write")) return html`<${Later} load=${loadEditor} part="Editor" me=${me} namespace=${namespace} name=${name} />`;
  if (screen === "jobs" && name) return html`<${Job} me=${me} namespace=${namespace} name=${name} query=${query} />`;
  if (screen === "jobs") return html`<${Jobs} me=${me} namespace=${namespace} query=${query} />`;
  const [, title, role] = [...OFFERED, ...NEW_SCREENS].find(([each]) => each === screen) || [];
  if (title && !may(me, role)) return html`<h1>${title}</h1><p>This screen needs a key with the role <code>${role}</code>. Yours has the role <code>${me.role}</code>.</p>`;
  return html`<h1>No such screen</h1><p><a href=${linkTo([namespace, "jobs"])}>Show the jobs</a></p>`;
}

render(html`<${App} />`, document.getElementById("console"));
