// Reads and writes JSON without losing a digit of a number.

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

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
  while (text.includes(mark)) mark += "+";
  const marked = text.replace(TOKEN, (token) =>
    token.startsWith('"') || String(Number(token)) === token ? token : `"${mark}${token}"`);
  return JSON.parse(marked, (_, value) =>
    typeof value === "string" && value.startsWith(mark) ? new Exact(value.slice(mark.length)) : value);
}

/** The JSON text of a value, indented by two spaces. */
export function writeJson(value, indent = "") {
  if (value instanceof Exact) return value.text;
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "null";
  const inner = indent + "  ";
  const entries = Array.isArray(value)
    ? value.map((each) => inner + writeJson(each, inner))
    : Object.entries(value)
      .filter(([, each]) => each !== undefined)
      .map(([name, each]) => `${inner}${JSON.stringify(name)}: ${writeJson(each, inner)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return entries.length ? `${open}\n${entries.join(",\n")}\n${indent}${close}` : open + close;
}
