// Runs the script of the page of the API on a description, and tells what a reader would then see.
// Standard input: {"script": the script, "api": the description, "searches": texts to search for, "parts": parts
// of the address to open}.
// Standard output: {"alerts", "articles", "links", "rows", "examples", "searched", "opened"}: texts of each,
// articles by their ids, rows and examples under their article's id. Rows are lists of cells. "searched" has, for
// each text, what the page says of it and the fields that it then shows, under their article's id. "opened" has,
// for each part of the address, the articles that it shows, whether it then shows what the API is about, and the
// article to which it scrolls.
"use strict";

const { readFileSync } = require("node:fs");
const vm = require("node:vm");

/** What the page uses of an element, and no more. */
class Element {
  constructor(name) {
    this.name = name;
    this.attributes = {};
    this.children = [];
    this.listeners = {};
    this.hidden = false;
  }

  addEventListener(kind, listener) {
    this.listeners[kind] = listener;
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

  /** All elements below that are of this name; with `isShown` only those that are not hidden. */
  all(name, isShown = false) {
    const below = this.children.filter((child) => child instanceof Element && !(isShown && child.hidden));
    return below.flatMap((child) => [...(child.name === name ? [child] : []), ...child.all(name, isShown)]);
  }
}

const { script, api, searches, parts: opened, href } = JSON.parse(readFileSync(0, "utf8"));
const names = ["nav", "main", "#menu", "#search", "#fold", "#found"];
const location = { href, hash: "" };
const listeners = {};
let scrolledTo = null;
Element.prototype.scrollIntoView = function () { scrolledTo = this.attributes.id; };
const parts = Object.fromEntries(names.map((name) => [name, new Element(name)]));
vm.runInNewContext(script, {
  URL,
  document: {
    addEventListener: () => {},
    createElement: (name) => new Element(name),
    querySelector: (name) => parts[name],
  },
  fetch: async () => ({ ok: true, json: async () => api }),
  location,
  window: {
    addEventListener: (kind, listener) => { listeners[kind] = listener; },
    scrollTo: () => { scrolledTo = null; },
  },
});

setImmediate(() => {
  const articles = parts.main.all("article");
  const cells = (row) => row.all("td").map((cell) => cell.textContent);
  const byArticle = (some, found) => Object.fromEntries(some.map((each) => [each.attributes.id, found(each)]));
  const told = {
    alerts: parts.main.all("p").filter((each) => each.attributes.role === "alert").map((each) => each.textContent),
    articles: articles.map((each) => each.attributes.id),
    links: parts["#menu"].all("a").map((each) => each.attributes.href),
    rows: byArticle(articles, (each) => each.all("tr").map(cells)),
    examples: byArticle(articles, (each) => each.all("pre").map((pre) => pre.textContent)),
    searched: Object.fromEntries(searches.map((text) => {
      parts["#search"].value = text;
      parts["#search"].listeners.input();
      const fields = (each) => each.all("tr", true).map(cells).filter((row) => row.length).map(([name]) => name);
      const shown = byArticle(parts.main.all("article", true), fields);
      return [text, { said: parts["#found"].textContent, shown, links: parts["#menu"].all("a", true).length }];
    })),
    opened: Object.fromEntries(opened.map((part) => {
      location.hash = part;
      listeners.hashchange();
      const shown = parts.main.all("article", true).map((each) => each.attributes.id);
      const about = parts.main.all("header", true).length === 1;
      const open = parts.main.all("details", true).filter((each) => each.open);
      return [part, { shown, about, scrolledTo, unfolded: open.map((each) => each.all("summary")[0].textContent) }];
    })),
  };
  process.stdout.write(JSON.stringify(told));
});
