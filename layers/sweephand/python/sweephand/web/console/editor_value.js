// The definition that the editor's form and its JSON text show: its values by JSON pointers, and what is being typed.

import { useState } from "./vendor/preact.js";
import { isObject, writeJson } from "./json.js";

const namesIn = (pointer) => pointer.split("/").slice(1).map((each) => each.replace(/~1/g, "/").replace(/~0/g, "~"));

/** The value at a JSON pointer. It is undefined if there is none. */
export function valueAt(value, pointer) {
  return namesIn(pointer).reduce((at, name) => (at !== null && typeof at === "object" && Object.hasOwn(at, name) ? at[name] : undefined), value);
}

/** The definition with one value written. Undefined removes it, and also an object that has nothing left. */
export function withValue(definition, pointer, next) {
  const write = (value, [name, ...rest]) => {
    const made = isObject(value) ? { ...value } : {};
    const inner = rest.length ? write(made[name], rest) : next;
    if (inner === undefined || (rest.length && !Object.keys(inner).length)) delete made[name];
    else made[name] = inner;
    return made;
  };
  return write(definition, namesIn(pointer));
}

/** Whether two values are the same JSON, in the same order and with the same digits. */
export function isSame(one, other) {
  return one === other || (one !== undefined && other !== undefined && writeJson(one) === writeJson(other));
}

/**
 * What is being typed for a value, such as a row without a name yet or a text that is no JSON yet. It counts while
 * the value is the one that it meant. After another view has changed the value, `read` makes it from the value.
 */
export function useDraft(value, read) {
  const [kept, setKept] = useState(null);
  const draft = kept && isSame(kept.meant, value) ? kept.draft : read(value);
  return [draft, (next, meant) => setKept({ draft: next, meant })];
}

const PLACE_TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s{}[\]:,"]+/g;

/** Where the value of a pointer begins in a JSON text. If it is not there, the place is that of the object around it. */
export function placeOf(text, pointer) {
  const wanted = namesIn(pointer);
  // the objects and lists around a token, each with the name or the index of its present value
  const open = [];
  let place = 0;
  for (const { 0: token, index } of text.matchAll(PLACE_TOKEN)) {
    const around = open[open.length - 1];
    if ("}]".includes(token)) open.pop();
    else if (token === ",") around.at = around.isList ? around.at + 1 : null;
    else if (around?.at === null) around.at = JSON.parse(token);
    else if (token !== ":") {
      if (open.every(({ at }, depth) => String(at) === wanted[depth])) place = index;
      if ("{[".includes(token)) open.push({ isList: token === "[", at: token === "[" ? 0 : null });
    }
  }
  return place;
}

/**
 * What I wrote on top of what somebody else wrote meanwhile. `base` is what both began with. A field that both have
 * changed is mine, and `both` names it. `taken` names those that are theirs.
 */
export function mergedOver(base, mine, theirs) {
  const value = { ...mine };
  const taken = [];
  const both = [];
  for (const name of new Set([...Object.keys(base), ...Object.keys(theirs)])) {
    if (isSame(base[name], theirs[name]) || isSame(mine[name], theirs[name])) continue;
    if (!isSame(base[name], mine[name])) both.push(name);
    else {
      taken.push(name);
      value[name] = theirs[name];
    }
  }
  return { value, taken, both };
}
