// What was changed of a job, by whom and why: the fields side by side, with what differs in them marked.

import { html } from "./vendor/preact.js";
import { differences } from "./diff.js";
import { writeJson } from "./json.js";
import { Empty, When } from "./parts.js";

/** Changes of a job, newest first. The fields of the newest one are shown at once. */
export function Changes({ changes, zone }) {
  if (!changes.length) return html`<${Empty} title="No changes recorded." />`;
  const newest = changes.find((change) => change.fields?.length);
  return html`<ol class="changes">${changes.map((change) => html`<li key=${change.time + change.what}>
    <strong>${change.what}</strong> by <code>${change.who}</code> <${When} at=${change.time} zone=${zone} />${change.until
      && change.what === "paused" ? html`, until <${When} at=${change.until} zone=${zone} />` : null}
    ${change.reason ? html`<span class="under">${change.reason}</span>` : null}
    ${change.fields?.length ? html`<details open=${change === newest}><summary>${change.fields.map((field) => field.name).join(", ")}</summary>
      <${Sides} fields=${change.fields} /></details>` : null}</li>`)}</ol>`;
}

function Sides({ fields }) {
  return html`<table class="sides"><thead><tr><th scope="col">Field</th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
    <tbody>${fields.map((field) => html`<tr key=${field.name}><th scope="row"><code>${field.name}</code></th>
      ${"after" in field ? html`<${BeforeAndAfter} field=${field} />` : html`<td colspan="2" class="soft">${unshown(field.name)}</td>`}</tr>`)}</tbody></table>`;
}

/** Why the API does not say what a field was. */
const unshown = (name) => (["target", "data", "onComplete", "onAlert"].includes(name)
  ? "Changed. Its values may hold secrets, so no change keeps them." : "Changed. Its values are too long to be kept here.");

const sideText = (value) => (typeof value === "string" ? value : writeJson(value));

function BeforeAndAfter({ field: { before, after } }) {
  const isBoth = before !== null && after !== null;
  const [left, right] = isBoth ? differences(sideText(before), sideText(after)) : [before, after].map((value) => [[sideText(value), false]]);
  const side = (label, value, pieces, tag) => html`<td data-title=${label}>${value === null ? html`<span class="soft">not set</span>` : html`
    <code>${pieces.map(([text, isChanged]) => (isChanged && text.trim() ? html`<${tag}>${text}<//>` : text))}</code>`}</td>`;
  return [side("Before", before, left, "del"), side("After", after, right, "ins")];
}
