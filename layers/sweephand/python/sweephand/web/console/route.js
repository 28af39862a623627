// The address of a screen: what is behind the # of the page's URL.

import { useEffect, useState } from "./vendor/preact.js";

/** The link to a screen. A query value that is empty is left out. */
export function linkTo(parts, query = {}) {
  const found = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each) found.append(name, each);
  }
  const text = found.toString();
  return "#/" + parts.map(encodeURIComponent).join("/") + (text && `?${text}`);
}

/** The links to a job and to a run, which many screens have. */
export const jobLink = (namespace, name, query) => linkTo([namespace, "jobs", name], query);
export const runLink = (namespace, name, id) => linkTo([namespace, "jobs", name, "runs", id]);

/** Show another screen. With `replace` the browser's Back passes over the present one. */
export function goTo(link, replace = false) {
  if (replace) {
    history.replaceState(null, "", link);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = link;
  }
}

/** Bring a title of the present screen into view, and the keyboard to it. */
export function leadTo(id) {
  const title = document.getElementById(id);
  title.focus({ preventScroll: true });
  title.scrollIntoView();
}

/** The present screen: its parts and its query. */
export function useRoute() {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const changed = () => setHash(location.hash);
    addEventListener("hashchange", changed);
    // it may have changed since the first rendering
    changed();
    return () => removeEventListener("hashchange", changed);
  }, []);
  return routeOf(hash);
}

function routeOf(hash) {
  const [path, query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  let parts = [];
  try {
    parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  } catch {
    // A link that was cut: the first screen is shown.
  }
  return { parts, query: new URLSearchParams(query) };
}
