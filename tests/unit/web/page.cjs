// Runs the script of the page of the API on a description, and tells what a reader would then see.
// Standard input: {"script": the script, "api": the description}. Standard output: {"alerts", "articles",
// "links", "rows"}: texts of each, articles by their ids, rows as lists of cells under their article's id.
"use strict";

const { readFileSync } = require("node:fs");
const vm = require("node:vm");

/** What the page uses of an element, and no more. */
class Element {
  constructor(name) {
    this.name = name;
    this.attributes = {};
    this.children = [];
  }

  setAttribute(name, value) {
    this.attributes[name] = String(value);
  }

  removeAttribute(name) {
    delete this.attributes[name];
  }

  append(...children) {
    this.children.push(...children);
  }

  replaceChildren(...children) {
    this.children = children;
  }

  get textContent() {
    return this.children.map((child) => child.textContent ?? String(child)).join("");
  }

  /** All elements below that are of this name. */
  all(name) {
    const below = this.children.filter((child) => child instanceof Element);
    return below.flatMap((child) => [...(child.name === name ? [child] : []), ...child.all(name)]);
  }
}

const { script, api } = JSON.parse(readFileSync(0, "utf8"));
const parts = { nav: new Element("nav"), main: new Element("main") };
vm.runInNewContext(script, {
  URL,
  document: {
    createElement: (name) => new Element(name),
    querySelector: (name) => parts[name],
  },
  fetch: async () => ({ ok: true, json: async () => api }),
  location: { href: "https://example.com/docs", hash: "" },
});

setImmediate(() => {
  const articles = parts.main.all("article");
  const cells = (row) => row.all("td").map((cell) => cell.textContent);
  const told = {
    alerts: parts.main.all("p").filter((each) => each.attributes.role === "alert").map((each) => each.textContent),
    articles: articles.map((each) => each.attributes.id),
    links: parts.nav.all("a").map((each) => each.attributes.href),
    rows: Object.fromEntries(articles.map((each) => [each.attributes.id, each.all("tr").map(cells)])),
  };
  process.stdout.write(JSON.stringify(told));
});
