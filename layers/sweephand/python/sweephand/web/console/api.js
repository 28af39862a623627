// Calls the API with the key of the tab, and turns every refusal into a Problem.

import { isObject, readJson, writeJson } from "./json.js";
import { compareClock } from "./time.js";

const STORED_KEY = "sweephand-key";

/** No call of the API takes so long: the gateway ends each after a third of that. */
const CALL_MAX_MS = 90_000;

/** What is said of an answer that the API never gives. */
export const UNKNOWN_ANSWER = "The stack answered something that the console does not understand. A proxy may stand between, or the stack may be of another version.";

/** The most items that the API shows on a page. A call that filters looks at so many. */
export const PAGE_MAX = 200;

/** Why a call failed, in words. `status` is 0 if no answer came. */
export class Problem extends Error {
  constructor(status, detail, errors = []) {
    super(detail);
    this.status = status;
    this.errors = errors;
  }
}

/** The key of this tab. It is in the session storage, which ends with the tab, and never in an address. */
export const storedKey = {
  read: () => sessionStorage.getItem(STORED_KEY),
  write: (key) => sessionStorage.setItem(STORED_KEY, key),
  forget: () => sessionStorage.removeItem(STORED_KEY),
};

/** What is done when the API no longer knows the key. */
export const onRefusedKey = { run: () => {} };

/** The path of a resource. Each part becomes one segment. */
export function pathOf(...parts) {
  return "v1/" + parts.map(encodeURIComponent).join("/");
}

/** The path of a resource of a namespace. */
export function inNamespace(namespace, ...parts) {
  return pathOf("namespaces", namespace, ...parts);
}

/**
 * The answer of a call: its status, its JSON value and its revision. A query value that is a list is given
 * several times, and an empty one is left out. `over` is the revision that a write replaces, and null if there must be
 * none yet. Throws Problem.
 */
export async function call(method, path, { query, body, over, text } = {}) {
  const isRead = method === "GET";
  const sent = text ?? (body === undefined ? undefined : writeJson(body));
  const key = storedKey.read();
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), CALL_MAX_MS);
  const typed = sent === undefined ? {} : { "content-type": "application/json" };
  const headers = over === undefined ? {} : over ? { "if-match": over } : { "if-none-match": "*" };
  let response;
  let received;
  try {
    response = await fetch(path + queryText(query), {
      method,
      body: sent,
      headers: { authorization: `Bearer ${key}`, ...typed, ...headers },
      credentials: "omit",
      cache: "no-store",
      signal: ending.signal,
    });
    compareClock(response.headers.get("date"));
    received = await response.text();
  } catch {
    throw new Problem(0, isRead ? "The stack did not answer. Check the network. The console tries again by itself."
      : "The stack did not answer. It may have done this nevertheless, so look before you try again.");
  } finally {
    clearTimeout(timer);
    if (!isRead) asking.clear(); // whoever asks from now on is told what this call has done
  }
  if (response.ok) {
    return { status: response.status, value: objectIn(received, isRead), etag: response.headers.get("etag") };
  }
  const problem = problemOf(response.status, received, isRead);
  // somebody may have signed in by another key
  if (response.status === 401 && key === storedKey.read()) onRefusedKey.run(problem.message);
  throw problem;
}

/** The GETs under way, by key and address. */
const asking = new Map();

/** The value of a GET. Parts of a screen that ask for the same at the same time share one request. */
export function get(path, query) {
  const asked = `${storedKey.read()} ${path}${queryText(query)}`;
  if (!asking.has(asked)) {
    const answer = call("GET", path, { query }).then(({ value }) => value);
    const forget = () => {
      if (asking.get(asked) === answer) asking.delete(asked);
    };
    asking.set(asked, answer);
    answer.then(forget, forget);
  }
  return asking.get(asked);
}

/**
 * Make a call again from where it has stopped, until all was read, `onPage` returns true, or `calls` were made. `send`
 * gets a cursor. Returns the cursor of what is left, which is empty if nothing is.
 */
export async function throughPages(send, onPage, { calls = Infinity, cursor = "" } = {}) {
  let next = cursor;
  for (let made = 0; made < calls; made += 1) {
    const page = await send(next);
    next = page.nextCursor;
    if (onPage(page) || !next) break;
  }
  return next;
}

/** The most calls for one page of a screen. A call can leave its page short or empty, so several are made. */
const CALLS_MAX = 10;

/** Up to `most` items of a list, from a cursor on. They are partial if `calls` calls left some. */
export async function getSome(path, query, { most = Infinity, calls = CALLS_MAX, cursor = "" } = {}) {
  const items = [];
  const send = (next) => get(path, { ...query, limit: Math.min(PAGE_MAX, most - items.length), cursor: next });
  const nextCursor = await throughPages(send, (page) => items.push(...page.items) >= most, { calls, cursor });
  return { items, nextCursor, isPartial: Boolean(nextCursor) };
}

/** A function that loads once, and again after a failure. */
export function loadedOnce(load) {
  let loading = null;
  return () => {
    loading ??= load().catch((problem) => {
      loading = null;
      throw problem;
    });
    return loading;
  };
}

/** All items of a list, page by page, until 1,000 of them were read. */
export const getAll = async (path, query) => (await getSome(path, query, { most: 1000, calls: Infinity })).items;

/** Run a task for each item, `width` of them at a time. Returns the problems, each with its item. */
export async function forEachOf(items, task, onProgress = () => {}, width = 4) {
  const problems = [];
  const waiting = [...items];
  let done = 0;
  const work = async () => {
    while (waiting.length) {
      const item = waiting.shift();
      try {
        await task(item);
      } catch (problem) {
        problems.push({ item, problem });
      }
      onProgress(++done);
    }
  };
  await Promise.all(Array.from({ length: width }, work));
  return problems;
}

function queryText(query) {
  const found = new URLSearchParams();
  for (const [name, value] of Object.entries(query || {})) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null && each !== "") found.append(name, each);
    }
  }
  const text = found.toString();
  return text && `?${text}`;
}

/** The object of an answer, or null for an empty one to a change. Throws Problem if something else than the stack has answered. */
function objectIn(received, isRead) {
  try {
    const found = received ? readJson(received) : null;
    if (isObject(found) || !(received || isRead)) return found;
  } catch {
    // It is said below.
  }
  throw new Problem(0, UNKNOWN_ANSWER);
}

/** A problem document in words. API Gateway itself refuses some requests, in a form of its own. */
function problemOf(status, received, isRead) {
  let document = null;
  try {
    document = JSON.parse(received);
  } catch {
    // Not every answer is JSON: a proxy may have sent it.
  }
  if (typeof document?.detail === "string") return new Problem(status, document.detail, Array.isArray(document.errors) ? document.errors : []);
  const again = isRead ? "The console tries again by itself." : "Try again.";
  const words = {
    401: "The stack does not know this key. It may be mistyped, expired or revoked.",
    403: "The stack refused this key. It may be mistyped, expired or revoked, or it may not make this call.",
    429: `The stack gets too many requests at the moment. ${again}`,
    503: `The stack is busy or just being updated. ${again}`,
  };
  return new Problem(status, words[status] || `The stack answered ${status}. Try again.`);
}
