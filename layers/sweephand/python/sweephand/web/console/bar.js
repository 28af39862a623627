// The bar above all screens: the namespace, the jump, how fresh the screen is, and the screens of the namespace.

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { may } from "./access.js";
import { Jump, NamespacePicker } from "./jump.js";
import { useFreshness, useTicking } from "./live.js";
import { linkTo } from "./route.js";
import { roughly, stackNow } from "./time.js";

/** The screens of a namespace that the bar offers: their names in addresses, their titles, and the least role. */
export const OFFERED = [
  ["overview", "Overview", "read"],
  ["jobs", "Jobs", "read"],
  ["failures", "Failures", "read"],
  ["policies", "Policies", "read"],
  ["calendars", "Calendars", "read"],
  ["windows", "Windows", "read"],
  ["secrets", "Secrets", "admin"],
  ["keys", "Keys", "admin"],
  ["settings", "Settings", "admin"],
];

/** The screens that make something, in the same way. The jump leads to them. */
export const NEW_SCREENS = [["new", "New job", "write"], ["new-calendar", "New calendar", "write"], ["new-window", "New window", "write"]];

/** The first screen of a namespace. */
export const FIRST_SCREEN = OFFERED[0][0];

/** While `me` is null the bar offers the screens that every key may see. */
export function Bar({ me, namespace, screen, onSignOut }) {
  const [open, setOpen] = useState(null);
  const close = () => setOpen(null);
  const nav = useRef();
  const seesAll = me?.namespace === "*";
  const offeredOf = (screens) => (namespace ? screens.filter(([, , role]) => may(me || { role: "read" }, role)) : []);
  const offered = offeredOf(OFFERED);
  useEffect(() => {
    const pressed = (event) => {
      if (!me || document.querySelector("dialog[open]") || !opensJump(event)) return;
      event.preventDefault();
      setOpen("jump");
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [me]);
  useEffect(() => {
    const current = nav.current.querySelector("[aria-current]");
    if (current) nav.current.scrollLeft = current.offsetLeft - nav.current.offsetLeft - (nav.current.clientWidth - current.offsetWidth) / 2;
  }, [namespace, screen, offered.length]);
  return html`<header class="bar">
    <a class="brand" href=${linkTo(namespace && !seesAll ? [namespace, FIRST_SCREEN] : [])}><span class="hand" aria-hidden="true"></span><span class="brandname">Sweephand</span></a>
    ${seesAll ? html`<button type="button" class="namespace" aria-haspopup="dialog" onClick=${() => setOpen("namespace")}><span class="unseen">Namespace: </span>
        <span class="cut">${namespace || "all namespaces"}</span> <span aria-hidden="true">▾</span></button>`
      : namespace ? html`<span class="namespace fixed cut">${namespace}</span>` : null}
    ${me ? html`<button type="button" class="jump" aria-haspopup="dialog" aria-keyshortcuts="/" onClick=${() => setOpen("jump")}>Jump to … <kbd aria-hidden="true">/</kbd></button>
      <${Freshness} />
      <span class="who soft" title=${`Key ${me.id}`}>${me.role}</span>` : null}
    <button type="button" class="plain" onClick=${onSignOut}>Sign out</button>
    <nav ref=${nav} aria-label="Screens">${offered.map(([each, title]) => html`
      <a href=${linkTo([namespace, each])} aria-current=${each === screen ? "page" : null}>${title}</a>`)}</nav>
    ${open === "jump" ? html`<${Jump} me=${me} namespace=${namespace} offered=${[...offered, ...offeredOf(NEW_SCREENS)]} onClose=${close} />` : null}
    ${open === "namespace" ? html`<${NamespacePicker} screen=${offered.some(([each]) => each === screen) ? screen : FIRST_SCREEN} onClose=${close} />` : null}
  </header>`;
}

/** Whether a key opens the jump: Ctrl+K or Command+K anywhere, and a slash where nobody writes. */
function opensJump(event) {
  if ((event.ctrlKey || event.metaKey) && event.key === "k") return true;
  return event.key === "/" && !event.ctrlKey && !event.metaKey && !event.altKey
    && !event.target.closest?.("input, textarea, select, [contenteditable]");
}

/** Ages are told in steps, so that the text rests. */
const AGE_STEP_MS = 5_000;
const AGE_MINUTE_MS = 60_000;

/** How old the oldest thing on the screen is. A click loads all of it again. */
function Freshness() {
  const { at, hasProblem, reload } = useFreshness();
  const text = useTicking(() => {
    if (at === null) return "";
    const age = Math.max(0, stackNow() - at);
    const told = age < AGE_STEP_MS ? "" : roughly(age < AGE_MINUTE_MS ? age - (age % AGE_STEP_MS) : age);
    if (hasProblem) return told ? `Not updated for ${told}` : "Could not update";
    return told ? `Updated ${told} ago` : "Updated now";
  });
  if (!text) return html`<span class="fresh"></span>`;
  return html`<button type="button" class=${`plain fresh${hasProblem ? " is-stale" : ""}`} title="The oldest of what this screen shows. Load it again" onClick=${reload}>${text}</button>`;
}
