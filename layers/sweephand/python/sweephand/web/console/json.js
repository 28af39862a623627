// Reads and writes JSON without losing a digit of a number, or the order of an object's names.

const TOKEN = /"(?:[^"\\]|\\.)*"(?=(\s*:)?)|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Under this key an object keeps the order of its names, if JavaScript would change it. */
const ORDER = Symbol("order");

/** A number that a JavaScript number cannot hold. It is written as it was read. */
export class Exact {
  constructor(text) {
    this.text = text;
  }

  toString() {
    return this.text;
  }
}

/** The value of a JSON text. Numbers that a JavaScript number would change are `Exact`. Throws SyntaxError. */
export function readJson(text) {
  let mark = "exact:";
  // an escape can stand for any letter of the mark
  const plain = text.includes("\\u") ? JSON.stringify(JSON.parse(text)) : text;
  while (plain.includes(mark)) mark += "+";
  let hasNumbersAsNames = false;
  const marked = text.replace(TOKEN, (token, colon) => {
    if (!token.startsWith('"')) return String(Number(token)) === token ? token : `"${mark}${token}"`;
    if (!colon || !/^"\d+"$/.test(token)) return token;
    hasNumbersAsNames = true;
    return `"${mark}${token.slice(1)}`;
  });
  return JSON.parse(marked, (_, value) => {
    if (typeof value === "string" && value.startsWith(mark)) return new Exact(value.slice(mark.length));
    return hasNumbersAsNames && isObject(value) ? unmarked(value, mark) : value;
  });
}

/** The value of a text that a person types, or what is wrong with it: `{ value, mistake }`. */
export function typedJson(text) {
  try {
    return { value: readJson(text), mistake: null };
  } catch (error) {
    return { mistake: `This is no JSON: ${error.message}` };
  }
}

/** An object whose names are as they were written, in their order. JavaScript itself puts names such as "7" first. */
function unmarked(value, mark) {
  const marked = Object.keys(value);
  const names = marked.map((each) => (each.startsWith(mark) ? each.slice(mark.length) : each));
  return objectOf(names.map((each, place) => [each, value[marked[place]]]));
}

/** An object of these names and values, in this order. */
export function objectOf(entries) {
  return { ...Object.fromEntries(entries), [ORDER]: entries.map(([name]) => name) };
}

/** Whether a JSON value is an object. */
export function isObject(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) && !(value instanceof Exact);
}

/** The names and values of an object in their order. */
export function entriesOf(value) {
  const names = new Set([...(value[ORDER] || []), ...Object.keys(value)]);
  return [...names].filter((each) => Object.hasOwn(value, each) && value[each] !== undefined).map((each) => [each, value[each]]);
}

/** The JSON text of a value, indented by two spaces. */
export function writeJson(value, indent = "") {
  if (value instanceof Exact) return value.text;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const inner = indent + "  ";
  const entries = Array.isArray(value)
    ? value.map((each) => inner + writeJson(each, inner))
    : entriesOf(value).map(([name, each]) => `${inner}${JSON.stringify(name)}: ${writeJson(each, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return entries.length ? `${open}\n${entries.join(",\n")}\n${indent}${close}` : open + close;
}
