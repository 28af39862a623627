// Shows an example for the command line, HTTP and Python as tabs. The reader's choice holds on every page.
"use strict";

const WAYS = ["Command line", "HTTP", "Python"];
const CHOSEN = "sweephand-way";
const BLOCKS = ".highlight-sh + .highlight-sh + .highlight-python";

const examples = [...document.querySelectorAll(BLOCKS)].map((python) => {
  const http = python.previousElementSibling;
  return [http.previousElementSibling, http, python];
});

/** Show the blocks of one way in all examples of the page. */
function showWay(way) {
  for (const blocks of examples) blocks.forEach((block, number) => { block.hidden = WAYS[number] !== way; });
  for (const input of document.querySelectorAll(".tabs input")) input.checked = input.value === way;
}

function choose({ target }) {
  const top = target.getBoundingClientRect().top;
  showWay(target.value);
  scrollBy(0, target.getBoundingClientRect().top - top); // The tabs stay where the reader has clicked.
  try { localStorage.setItem(CHOSEN, target.value); } catch { /* The browser keeps nothing. */ }
}

examples.forEach(([first], number) => {
  const tabs = Object.assign(document.createElement("fieldset"), { className: "tabs" });
  tabs.append(...WAYS.map((way) => {
    const input = Object.assign(document.createElement("input"),
      { type: "radio", name: `tabs-${number}`, value: way, onchange: choose });
    const label = document.createElement("label");
    label.append(input, way);
    return label;
  }));
  first.before(tabs);
});

let chosen = null;
try { chosen = localStorage.getItem(CHOSEN); } catch { /* The browser keeps nothing. */ }
showWay(WAYS.includes(chosen) ? chosen : WAYS[0]);
