// The attempts of a run in time: when each began, how long it took, what came back, and the wait for the next one.

import { html } from "./vendor/preact.js";
import { StateMark, When } from "./parts.js";
import { lateness } from "./time.js";

/** The state that an attempt has left: all but the latest one have failed. */
const stateOf = (attempt, run) => (attempt.attempt === run.attempts && ["succeeded", "running", "claimed"].includes(run.state) ? run.state : "failed");

const endOf = ({ startedAt, durationMs }) => Date.parse(startedAt) + Number(durationMs);

/** The attempts of a run, oldest first, from its due time on. */
export function Attempts({ run, zone }) {
  const made = run.attemptHistory || [];
  const wait = (at) => {
    const before = made[at - 1];
    if (!before) return run.latenessMs === null ? null : `began ${lateness(run.latenessMs)} after the due time`;
    return before.durationMs === null ? null : `waited ${lateness(Math.max(0, Date.parse(made[at].startedAt) - endOf(before)))}`;
  };
  return html`<section aria-labelledby="attempts-title"><h2 id="attempts-title">Attempts</h2><ol class="attempts">
    <li class="mark"><span class="step">Due</span><${When} at=${run.dueAt} zone=${zone} /></li>
    ${made.map((each, at) => {
      const missing = each.attempt - (made[at - 1]?.attempt ?? 0) - 1;
      const state = stateOf(each, run);
      return [
        missing > 0 ? html`<li class="wait" key=${`missing ${each.attempt}`}>${missing === 1 ? `Attempt ${each.attempt - 1} is` : `Attempts ${each.attempt - missing} to ${each.attempt - 1} are`} not kept.</li>`
          : wait(at) ? html`<li class="wait" key=${`wait ${each.attempt}`}>${wait(at)}</li>` : null,
        html`<li class=${`mark is-${state}`} key=${each.attempt}><span class="step">Attempt ${each.attempt}</span>
          <${When} at=${each.startedAt} zone=${zone} /><${StateMark} state=${state} />
          <span class="took">${each.durationMs === null ? "under way" : `took ${lateness(Number(each.durationMs))}`}</span>
          <span class="long">${[each.responseCode, each.answer].filter((part) => part !== null).join(" · ")}</span></li>`,
      ];
    })}
    ${run.nextAttemptAt ? html`<li class="mark is-coming"><span class="step">Attempt ${run.attempts + 1}</span><${When} at=${run.nextAttemptAt} zone=${zone} isDue /></li>` : null}
    ${["failed", "cancelled"].includes(run.state) && run.endedAt ? html`<li class="mark"><span class="step">${run.state === "failed" ? "Given up" : "Cancelled"}</span>
      <${When} at=${run.endedAt} zone=${zone} /></li>` : null}</ol></section>`;
}
