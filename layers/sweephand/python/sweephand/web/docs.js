"use strict";

const DEPTH_MAX = 4;
const LINE_MAX = 66;
/** A body with more fields is folded until its call is opened or a search finds a field of it. */
const FIELDS_MAX = 30;

/** What stands in the examples for a parameter of a path; what begins with a dollar is told beside them. */
const PATH_VALUES = {
  namespace: "demo", name: "hello", calendar: "fr", policy: "mailer", secret: "api-token", window: "nightly",
  runId: "$RUN", batchId: "$BATCH", id: "$KEY_ID", asset: "$ASSET",
};

/** The query of an example, by operation. */
const QUERIES = {
  listJobs: "?limit=10", deleteJobs: "?prefix=old-", listOccurrences: "?limit=3", listRuns: "?limit=5",
  listChanges: "?limit=5", listBatches: "?limit=5", listKeys: "?limit=10",
  listSecrets: "?limit=10",
};

/** What the shell variables of the examples hold. */
const VARIABLES = {
  RUN_TOKEN: "the header `sweephand-run-token` of the attempt",
  RUN: "the `id` of a run, as the list of runs shows it",
  BATCH: "the `id` of a batch, as the list of batches shows it",
  ASSET: "the name of a file, as the page of the console has it",
  KEY_ID: "the `id` of a key, as the list of keys shows it",
};

/** How an example proves who its caller is, by security scheme: its lines, and what they need beforehand. */
const PROOFS = {
  runToken: { lines: () => ['-H "Authorization: Bearer $RUN_TOKEN"'] },
  key: {
    lines: () => ['-H "Authorization: Bearer $KEY"'],
    told: "The examples take your API key from `$KEY`. `make up` prints the key of a local stack.",
    needs: "export KEY=sh_…",
  },
  token: {
    lines: () => ['-H "Authorization: Bearer $TOKEN"'],
    told: "The examples take the token of your issuer from `$TOKEN`.",
    needs: "export TOKEN=…",
  },
  iam: {
    lines: () => [
      `--aws-sigv4 "aws:amz:${region()}:execute-api" --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"`,
      '-H "x-amz-security-token: $AWS_SESSION_TOKEN"',
    ],
    told: "The examples sign with the credentials of a role or user in these variables:",
    needs: "export AWS_ACCESS_KEY_ID=… AWS_SECRET_ACCESS_KEY=… AWS_SESSION_TOKEN=…",
  },
};

/** The region in the address of this page; a variable where the stack has a domain of its own. */
function region() {
  const found = /\.execute-api\.([a-z0-9-]+)\./.exec(location.href);
  return found ? found[1] : "$AWS_REGION";
}

/** An element with attributes and children; strings become text and nothing else. */
function make(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) element.setAttribute(key, value);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** Text in which backticks mark code. */
function prose(text) {
  return (text || "").split("`").map((part, at) => (at % 2 ? make("code", {}, part) : part));
}

const resolver = (api) => {
  const resolve = (part) =>
    part && part.$ref ? { ...resolve(part.$ref.slice(2).split("/").reduce((at, key) => at[key], api)), ...part } : part;
  return resolve;
};

/** A schema without the null that stands for a field left out. */
function given(schema, resolve) {
  const kinds = (schema.anyOf || []).filter((kind) => kind.type !== "null");
  if (kinds.length !== 1) return { schema: resolve(schema), nullable: false };
  return { schema: { ...resolve(kinds[0]), description: schema.description }, nullable: true };
}

function kindOf(schema, resolve) {
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" · ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  const kinds = schema.oneOf || schema.anyOf;
  if (kinds) return [...new Set(kinds.map((each) => kindOf(resolve(each), resolve)))].join(" or ");
  if (Array.isArray(schema.type)) return schema.type.map((type) => kindOf({ type }, resolve)).join(" or ");
  if (schema.type === "array") return "list of " + kindOf(resolve(schema.items || {}), resolve);
  if (schema.format === "date-time") return "time";
  return { string: "text", integer: "whole number" }[schema.type] || schema.type || "any JSON";
}

/**
 * Rows of a table: one for each field, those of inner objects by their dotted names. Of alternatives only
 * objects have fields; some of those are told apart by their type.
 */
function rows(schema, resolve, prefix = "", depth = 0) {
  if (schema.oneOf) {
    return schema.oneOf.map(resolve).flatMap((each) => {
      const type = each.properties?.type?.const;
      return rows(each, resolve, prefix, depth).map((row) => ({ ...row, of: type }));
    });
  }
  if (schema.type === "array" && schema.items) return rows(resolve(schema.items), resolve, prefix, depth);
  return Object.entries(schema.properties || {}).flatMap(([name, written]) => {
    const { schema: field, nullable } = given(written, resolve);
    const required = (schema.required || []).includes(name);
    const row = { name: prefix + name, kind: kindOf(field, resolve), nullable, required, text: written.description };
    const inner = field.type === "array" ? resolve(field.items || {}) : field;
    const deeper = depth < DEPTH_MAX && (inner.properties || inner.oneOf);
    const dots = field.type === "array" ? name + "[]." : name + ".";
    return [row, ...(deeper ? rows(inner, resolve, prefix + dots, depth + 1) : [])];
  });
}

/** A table of fields; each of its rows can be searched. */
function table(caption, found, isAnswer, searched) {
  if (!found.length) return null;
  const line = (row) => {
    const element = make("tr", { role: "row" },
      make("td", { role: "cell" }, make("code", {}, row.name), row.of ? make("span", { class: "kind" }, " " + row.of) : null,
        row.required && !isAnswer ? make("div", { class: "must" }, "required") : null),
      make("td", { role: "cell", class: "kind" }, row.kind + (isAnswer && row.nullable ? " or null" : "")),
      make("td", { role: "cell" }, prose(row.text)));
    searched.push({ element, text: plain(row.name, row.of, row.text) });
    return element;
  };
  const head = ["Field", "Kind", "Meaning"].map((text) => make("th", { role: "columnheader", scope: "col" }, text));
  return make("table", { role: "table" },
    make("caption", { class: "skip" }, caption),
    make("thead", { role: "rowgroup" }, make("tr", { role: "row" }, ...head)),
    make("tbody", { role: "rowgroup" }, ...found.map(line)));
}

function parameters(found, resolve) {
  return found.map((each) => ({
    name: each.name,
    of: each.in,
    kind: kindOf(resolve(each.schema), resolve),
    required: each.required && each.in !== "path",
    text: each.description,
  }));
}

/** JSON in as few lines as can be read: an object that is short stays in one. */
function written(value, indent = "") {
  const whole = JSON.stringify(value, null, 1).replace(/\n */g, " ");
  if (value === null || typeof value !== "object" || whole.length + indent.length < LINE_MAX) return whole;
  const inner = indent + "  ";
  const entries = Array.isArray(value)
    ? value.map((each) => inner + written(each, inner))
    : Object.entries(value).map(([name, each]) => inner + JSON.stringify(name) + ": " + written(each, inner));
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return [open, entries.join(",\n"), indent + close].join("\n");
}

/** The command of an example, to be pasted as it is. */
function curl(method, path, operation, example) {
  const parts = ["curl"];
  if (method !== "get") parts.push("-X " + method.toUpperCase());
  const base = new URL(".", location.href).href.replace(/\/$/, "");
  const filled = path.replace(/{(\w+)}/g, (_, name) => PATH_VALUES[name]);
  parts.push(`"${base}${filled}${QUERIES[operation.operationId] || ""}"`);
  const lines = [parts.join(" ")];
  if (operation.security.length) lines.push(...PROOFS[Object.keys(operation.security[0])[0]].lines());
  if (example !== undefined) {
    const body = written(example).replaceAll("'", "'\\''");
    lines.push("-H 'Content-Type: application/json'", `-d '${body}'`);
  }
  return lines.join(" \\\n  ");
}

/** A command with a button that copies it; without one where the browser lets no page copy, as over plain HTTP. */
function command(text) {
  const shown = make("pre", { tabindex: "0" }, make("code", {}, text));
  const clipboard = globalThis.navigator?.clipboard;
  if (!clipboard) return make("div", { class: "example" }, shown);
  const button = make("button", { type: "button" }, "Copy");
  button.addEventListener("click", async () => {
    await clipboard.writeText(text);
    button.replaceChildren("Copied");
    setTimeout(() => button.replaceChildren("Copy"), 2000);
  });
  return make("div", { class: "example" }, shown, button);
}

/** The examples of an operation, the first one open, and what their variables hold. */
function examples(method, path, operation) {
  const content = operation.requestBody && operation.requestBody.content["application/json"];
  const named = content ? Object.entries(content.examples || {}) : [];
  const found = named.length ? named.map(([name, each]) => [name, each.value]) : [["", undefined]];
  const texts = found.map(([, value]) => curl(method, path, operation, value));
  const used = Object.entries(VARIABLES).filter(([name]) => new RegExp("\\$" + name + "\\b").test(texts[0]));
  return [
    found[0][0] ? make("p", { class: "kind" }, "Example: " + found[0][0]) : null,
    command(texts[0]),
    ...found.slice(1).map(([name], at) =>
      make("details", {}, make("summary", {}, "Example: " + name), command(texts[at + 1]))),
    used.length ? make("p", { class: "note" }, ...used.flatMap(([name, meaning], at) =>
      [at ? ". " : "", make("code", {}, "$" + name), " is ", ...prose(meaning)]), ".") : null,
  ];
}

function answer(status, response, resolve, searched) {
  const found = resolve(response);
  const content = Object.values(found.content || {})[0];
  const heading = [make("code", {}, status), " ", ...prose(found.description)];
  const inner = content ? rows(resolve(content.schema), resolve) : [];
  if (!inner.length) return make("p", {}, heading);
  const details = make("details", {}, make("summary", {}, heading));
  const fields = [];
  details.append(table("Answer " + status, inner, true, fields));
  searched.push(...fields.map((each) => ({ ...each, within: details })));
  return details;
}

function problems(found, resolve) {
  return make("details", {},
    make("summary", {}, "Problems ", ...found.flatMap(([status]) => [make("code", {}, status), " "])),
    make("ul", {}, ...found.map(([status, each]) =>
      make("li", {}, make("code", {}, status), " ", ...prose(resolve(each).description)))));
}

/** The article of an operation, and what a search can find in it. */
function article(method, path, operation, resolve) {
  const content = operation.requestBody && operation.requestBody.content["application/json"];
  const taken = parameters(operation.parameters || [], resolve);
  const answers = Object.entries(operation.responses);
  const fields = content ? rows(resolve(content.schema), resolve) : [];
  const block = (...children) => make("div", {}, ...children);
  const inFields = (heading, found) => {
    const searched = [];
    const fields = table(heading, found, false, searched);
    if (found.length <= FIELDS_MAX) return { element: fields && block(make("h4", {}, heading), fields), fields: searched };
    const folded = make("details", {}, make("summary", {}, `${heading}: ${found.length} fields`), fields);
    return { element: folded, folded, fields: searched.map((each) => ({ ...each, within: folded })) };
  };
  const inAnswers = [];
  const good = answers.filter(([status]) => status < 400).map(([status, each]) => answer(status, each, resolve, inAnswers));
  const blocks = [
    { element: block(examples(method, path, operation)), fields: [] },
    inFields("Parameters", taken),
    inFields("Body", fields),
    { element: block(make("h4", {}, "Answers"), good), fields: inAnswers },
    { element: problems(answers.filter(([status]) => status >= 400), resolve), fields: [] },
  ].filter((each) => each.element);
  const element = make("article", { id: operation.operationId, "aria-labelledby": operation.operationId + "-title" },
    make("h3", { id: operation.operationId + "-title" }, operation.summary),
    make("p", { class: "line" }, make("span", { class: "method " + method }, method.toUpperCase()), make("code", {}, path)),
    make("p", { class: "soft about" }, prose(operation.description)),
    ...blocks.map((each) => each.element));
  const text = plain(method, path, operation.operationId, operation.summary, operation.description);
  return { id: operation.operationId, element, text, blocks, folded: blocks.find((each) => each.folded)?.folded };
}

/** Text as it is searched: in small letters, without the marks of code. */
function plain(...texts) {
  return texts.filter(Boolean).join(" ").replaceAll("`", "").toLowerCase();
}

/**
 * Show what has every word: an operation that has them itself is shown whole, another with those of its fields
 * that have them. Returns what to say of it.
 */
function search(sections, text) {
  const words = plain(text).split(/\s+/).filter(Boolean);
  const fits = (each) => words.every((word) => each.text.includes(word));
  let calls = 0;
  let named = 0;
  for (const section of sections) {
    let some = false;
    for (const each of section.operations) {
      const whole = fits(each);
      let matching = 0;
      for (const block of each.blocks) {
        const found = whole ? [] : block.fields.filter(fits);
        for (const field of block.fields) {
          field.element.hidden = !whole && !found.includes(field);
          if (field.within) field.within.open = false;
        }
        for (const field of found) if (field.within) field.within.open = true;
        block.element.hidden = !whole && !found.length;
        matching += found.length;
      }
      const shown = whole || matching > 0;
      each.element.hidden = each.link.hidden = !shown;
      some ||= shown;
      calls += shown ? 1 : 0;
      named += matching;
    }
    section.heading.hidden = section.element.hidden = !some;
  }
  if (!words.length) return "";
  const many = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;
  return calls ? many(calls, "call") + (named ? ", " + many(named, "field") : "") : "No call and no field matches.";
}

function show(api) {
  const resolve = resolver(api);
  const [nav, menu, main, input, fold, found] =
    ["nav", "#menu", "main", "#search", "#fold", "#found"].map((each) => document.querySelector(each));
  const operations = Object.entries(api.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method, path, operation })));
  const [first, ...rest] = api.info.description.trim().split("\n\n");
  const proof = PROOFS[Object.keys(api.components.securitySchemes).find((each) => each !== "runToken")];
  const about = make("header", {},
    make("h1", {}, api.info.title + " API ", make("small", {}, api.info.version)),
    make("p", {}, prose(first)),
    make("p", {}, prose(proof.told)),
    command(proof.needs),
    ...rest.map((text) => make("p", {}, prose(text))),
    make("p", {}, make("a", { href: "v1/openapi.json" }, "OpenAPI " + api.openapi)));
  main.replaceChildren(about);
  menu.append(make("a", { href: "#main" }, make("strong", {}, api.info.title)));
  const sections = api.tags.map((tag) => {
    const articles = operations.filter((each) => each.operation.tags.includes(tag.name)).map((each) => ({
      ...article(each.method, each.path, each.operation, resolve),
      link: make("li", {}, make("a", { href: "#" + each.operation.operationId },
        make("span", { class: "method " + each.method }, each.method.toUpperCase()),
        make("span", {}, each.operation.summary))),
    }));
    const heading = make("h2", {}, make("a", { href: "#" + tag.name }, tag.name));
    menu.append(heading, make("ul", {}, ...articles.map((each) => each.link)));
    const text = () => make("p", { class: "soft" }, prose(tag.description));
    about.append(make("h2", {}, make("a", { href: "#" + tag.name }, tag.name)), text());
    const element = make("section", {}, make("h2", {}, tag.name), text(), ...articles.map((each) => each.element));
    main.append(element);
    return { name: tag.name, heading, element, operations: articles };
  });

  /** Show the page that the address names: that of a resource or of one of its calls, or the page about the API. */
  const open = () => {
    const id = location.hash.slice(1);
    input.value = "";
    found.replaceChildren(search(sections, ""));
    const chosen = sections.find((each) => each.name === id || each.operations.some((call) => call.id === id));
    for (const each of sections) each.element.hidden = each !== chosen;
    about.hidden = chosen !== undefined;
    const call = chosen?.operations.find((each) => each.id === id);
    if (call?.folded) call.folded.open = true;
    if (call) call.element.scrollIntoView({ behavior: "instant" });
    else window.scrollTo(0, 0);
  };
  input.addEventListener("input", () => {
    if (input.value.trim() === "") return open();
    found.replaceChildren(search(sections, input.value));
    about.hidden = true;
    window.scrollTo(0, 0);
  });
  window.addEventListener("hashchange", open);
  const setOpen = (isOpen) => {
    nav.classList.toggle("open", isOpen);
    fold.setAttribute("aria-expanded", String(isOpen));
  };
  fold.addEventListener("click", () => setOpen(!nav.classList.contains("open")));
  menu.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (!link) return;
    setOpen(false);
    if (link.hash === location.hash) open(); // after a search; the address does not change
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") setOpen(false);
    if (event.key !== "/" || event.target === input || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    input.focus();
  });
  main.removeAttribute("aria-busy");
  open();
}

fetch("v1/openapi.json")
  .then((response) => (response.ok ? response.json() : Promise.reject(new Error("HTTP " + response.status))))
  .then(show)
  .catch((error) => {
    document.querySelector("main").replaceChildren(
      make("p", { role: "alert" }, "The OpenAPI document could not be loaded: " + error.message));
  });
