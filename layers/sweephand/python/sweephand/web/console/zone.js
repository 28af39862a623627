// The zone in which a screen about one job shows all of its times.

import { html, useState } from "./vendor/preact.js";
import { inZone, viewerZone } from "./time.js";

const STORED_ZONE = "sweephand-zone";

/**
 * The zone of a screen: that of the job, unless the viewer has chosen his own in this tab. With it comes the
 * element that chooses. Without a job (`undefined`: it is deleted) the zone is the viewer's.
 */
export function useZone(job) {
  const [isOwn, setOwn] = useState(sessionStorage.getItem(STORED_ZONE) === "own");
  const own = viewerZone();
  const ofJob = job ? job.timezone || "UTC" : own;
  const choose = (event) => {
    sessionStorage.setItem(STORED_ZONE, event.target.value);
    setOwn(event.target.value === "own");
  };
  const choice = ofJob === own ? html`<span class="zone soft">Times in ${own}</span>` : html`<label class="zone soft">Times in
    <select value=${isOwn ? "own" : "job"} onChange=${choose}><option value="job">${ofJob} (the job's)</option>
      <option value="own">${own} (yours)</option></select></label>`;
  return { zone: isOwn ? own : ofJob, choice };
}

/** A text of the API, whose instants are in UTC, with these in the zone of the screen. */
export function Timed({ text, zone }) {
  return text.split(/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/).map((part, at) => (at % 2
    ? html`<time datetime=${part} title=${`${part} (UTC)`}>${inZone(part, zone)}</time>` : part));
}
