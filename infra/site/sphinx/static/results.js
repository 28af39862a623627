// Shows what the search finds, while the reader types.
"use strict";

const SECTIONS_MAX = 3;
const PAGES_MAX = 20;

const [input, said, list] = ["#question", "#said", "#found"].map((each) => document.querySelector(each));

/** An element with children; strings become text and nothing else. */
function make(name, attributes, ...children) {
  const element = Object.assign(document.createElement(name), attributes);
  element.append(...children);
  return element;
}

/** The part of a text with the first of these stems, in which their words are marked. */
function excerpt(text, terms) {
  const isFound = (word) => terms.includes(stem(word));
  const words = text.split(/([^\p{L}\p{N}]+)/u);
  const first = Math.max(0, words.findIndex(isFound));
  let start = first;
  for (let length = 0; start > 0 && length < EXCERPT / 3; start -= 1) length += words[start - 1].length;
  let end = start;
  for (let length = 0; end < words.length && length < EXCERPT; end += 1) length += words[end].length;
  const shown = words.slice(start, end).map((word) => (isFound(word) ? make("mark", {}, word) : word));
  return make("p", {}, start ? "… " : "", ...shown, end < words.length ? " …" : "");
}

function show() {
  const question = input.value.trim();
  const pages = question ? find(question).slice(0, PAGES_MAX) : [];
  list.replaceChildren(...pages.map(({ title, sections }) => {
    const [best, ...others] = sections.slice(0, SECTIONS_MAX);
    return make("li", {},
      make("a", { href: best.href }, best.heading === title ? title : `${title}: ${best.heading}`),
      excerpt(best.text, best.terms),
      ...others.map(({ href, heading }) => make("a", { className: "other", href }, heading)));
  }));
  said.textContent = question && !pages.length ? "No page has any of these words." : "";
  history.replaceState(null, "", question ? "?q=" + encodeURIComponent(question) : location.pathname);
}

input.value = new URLSearchParams(location.search).get("q") || "";
input.addEventListener("input", show);
input.form.addEventListener("submit", (event) => event.preventDefault());
show();
