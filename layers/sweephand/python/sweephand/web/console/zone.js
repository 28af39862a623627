// The zone in which a screen about one job shows all of its times, and countdowns to what is due.

import { html, useEffect, useState } from "./vendor/preact.js";
import { countdown, inZone, planned, viewerZone } from "./time.js";

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

/** Renders again each second, so that what is shown of the present time is true. */
export function useTicks() {
  const [, setTicks] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => setTicks((ticks) => ticks + 1), 1000);
    return () => clearInterval(timer);
  }, []);
}

/** An instant that something is due at, with a countdown that never goes below zero. */
export function Due({ at, zone, isPlan = false }) {
  useTicks();
  return html`<time datetime=${at} title=${`${at} (UTC)`}>${inZone(at, zone)} <span class="soft">${(isPlan ? planned : countdown)(at)}</span></time>`;
}

/** A text of the API, whose instants are in UTC, with these in the zone of the screen. */
export function Timed({ text, zone }) {
  return text.split(/(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z)/).map((part, at) => (at % 2
    ? html`<time datetime=${part} title=${`${part} (UTC)`}>${inZone(part, zone)}</time>` : part));
}
