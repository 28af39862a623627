// Runs the site's own search. Standard input: {"static": its folder of scripts, "questions": texts}.
// Standard output: for each question the places of the pages that it finds, the best first.
"use strict";

const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const vm = require("node:vm");

const { static: folder, questions } = JSON.parse(readFileSync(0, "utf8"));
const context = vm.createContext({});
context.window = context;
const scripts = ["language_data.js", "minisearch.js", "sections.js", "search.js"].map((name) => readFileSync(join(folder, name), "utf8"));
vm.runInContext(`${scripts.join("\n")}\nglobalThis.find = find;`, context);
const places = (question) => context.find(question).map((page) => page.place);
process.stdout.write(JSON.stringify(Object.fromEntries(questions.map((question) => [question, places(question)]))));
