// The search of the site. SECTIONS is what `make docs` has read in the pages: a list of
// [place of the page, its title, anchor, heading, text, what readers of the page want to do], page by page.
// The first section of a page alone has the last one.
"use strict";

const EXCERPT = 220;
/** Pages with details that few readers look for come after those that explain. */
const WEIGHTS = [[/^reference\//, 0.4], [/^(decisions\/|internals|tests|releasing|changelog|performance)/, 0.5]];

/** Words that tell questions apart here, though Sphinx leaves them out of its own search. */
const TELLING = ["after", "again", "before", "not", "off", "once", "own", "same", "who", "why"];

const stemmer = new Stemmer();

/** A word as it is compared with others: null for one that nearly every sentence has. */
function stem(word) {
  const small = word.toLowerCase();
  return stopwords.has(small) && !TELLING.includes(small) ? null : stemmer.stemWord(small);
}

const index = new MiniSearch({
  idField: "id",
  fields: ["page", "heading", "text", "purpose"],
  // The parts of `dueTime` and `DeadLettersAlarm` are words, and so are the whole names.
  tokenize: (text) => text.split(/[^\p{L}\p{N}]+/u).filter(Boolean)
    .flatMap((word) => [word, ...(/\p{Ll}\p{Lu}/u.test(word) ? word.split(/(?<=\p{Ll})(?=\p{Lu})/u) : [])]),
  processTerm: stem,
  searchOptions: {
    boost: { page: 3, heading: 3, purpose: 4 },
    prefix: (term, at, terms) => at === terms.length - 1 && term.length > 2,
    fuzzy: (term) => (term.length > 5 ? 0.15 : false),
    weights: { prefix: 0.3, fuzzy: 0.2 },
    boostDocument: (id) => (WEIGHTS.find(([pattern]) => pattern.test(SECTIONS[id][0])) || [null, 1])[1],
  },
});
index.addAll(SECTIONS.map(([, page, , heading, text, purpose], id) => ({ id, page, heading, text, purpose })));

/** The pages that answer a question, the best first: each with the sections that do, the best first. */
function find(question) {
  const pages = new Map();
  for (const { id, score, terms } of index.search(question)) {
    const [place, title, anchor, heading, text] = SECTIONS[id];
    if (!pages.has(place)) pages.set(place, { place, title, score, sections: [] });
    pages.get(place).sections.push({ href: `${place}.html${anchor && "#" + anchor}`, heading, text, score, terms });
  }
  return [...pages.values()];
}
