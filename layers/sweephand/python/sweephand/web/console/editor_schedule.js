// When a job fires, in the editor: the kinds of schedules, and what the one that is being written means.

import { html, useEffect, useRef, useState } from "./vendor/preact.js";
import { pathOf } from "./api.js";
import { Fires } from "./due_times.js";
import { CLOCK_PARTS, TIME_GROUPS, ZONE_FIELD } from "./editor_fields.js";
import { FoldedGroup, FormField, InstantInput, InputRows } from "./editor_inputs.js";
import { useDraft, withValue } from "./editor_value.js";
import { Field } from "./form.js";
import { isObject, writeJson } from "./json.js";
import { useAnswer } from "./live.js";
import { Empty, Loading, ProblemNote, When } from "./parts.js";
import { count } from "./time.js";

const PREVIEWED = 5;
const TIMING = ["schedule", "timezone", "dueTime", "ttl", "repeats", "dst", "jitter", "calendar"];

const EVERY_MARK = /^@every\s*/;
const EXPRESSION_HINT = "Cron, @daily, rate(5 minutes), or an ISO 8601 repetition such as R/PT1H.";

/** The kinds of schedules: in words, which values of `schedule` each can show, and what it begins with. */
const SCHEDULE_KINDS = {
  text: ["by an expression", (schedule) => !isObject(schedule) && !Array.isArray(schedule), () => ({ schedule: "0 9 * * MON-FRI" })],
  every: ["every so often", (schedule) => EVERY_MARK.test(schedule), () => ({ schedule: "@every 1h" })],
  parts: ["by fields of the clock", isObject, () => ({ schedule: { hour: "9", dayOfWeek: "MON-FRI" } })],
  list: ["at given instants", Array.isArray, () => ({ schedule: [tomorrow()] })],
  once: ["once", () => false, () => ({ dueTime: tomorrow() })],
  demand: ["only on demand", () => false, () => ({})],
};

const tomorrow = () => `${new Date(Date.now() + 86_400_000).toISOString().slice(0, 13)}:00:00Z`;

function scheduleKind({ schedule, dueTime }) {
  if (schedule == null) return dueTime == null ? "demand" : "once";
  return ["every", "parts", "list"].find((each) => SCHEDULE_KINDS[each][1](schedule)) || "text";
}

/** The kind that somebody chose counts as long as the value can be of it. So an empty input does not vanish. */
function fitsKind(kind, { schedule, dueTime }) {
  if (kind === "demand") return schedule == null && dueTime == null;
  return schedule == null || SCHEDULE_KINDS[kind][1](schedule);
}

/** The fields of the times. The preview is their child: it stands below the schedule, above what few jobs need. */
export function ScheduleFields({ form, children }) {
  const { value } = form;
  const [chosen, setChosen] = useState(() => scheduleKind(value));
  // what was written for each kind, for those who come back to it
  const former = useRef({});
  const select = useRef();
  const kind = fitsKind(chosen, value) ? chosen : scheduleKind(value);
  const isRecurring = kind !== "once" && kind !== "demand";
  const lacks = kind === "once" ? value.dueTime == null : isRecurring && value.schedule == null;
  useEffect(() => select.current.setCustomValidity(lacks ? "Say when it fires, or choose that it fires only on demand." : ""), [lacks]);
  const choose = (next) => {
    former.current[kind] = { schedule: value.schedule, dueTime: value.dueTime };
    const made = { dueTime: isRecurring && next !== "once" && next !== "demand" ? value.dueTime : undefined, ...former.current[next] || SCHEDULE_KINDS[next][2]() };
    setChosen(next);
    form.replace(withValue(withValue(value, "/schedule", made.schedule), "/dueTime", made.dueTime));
  };
  const wrongs = form.wrongs("/schedule");
  return html`<div class="fields"><${Field} id="schedule-kind" label="Fires" errors=${["parts", "once", "demand"].includes(kind) ? wrongs : []}>
      <select id="schedule-kind" ref=${select} onChange=${(event) => choose(event.target.value)}>
        ${Object.entries(SCHEDULE_KINDS).map(([each, [words]]) => html`<option key=${each} value=${each} selected=${each === kind}>${words}</option>`)}</select><//>
    <${FormField} form=${form} spec=${ZONE_FIELD} />
    ${kind === "text" ? html`<${FormField} form=${form} spec=${["schedule", "Expression", "text", "", EXPRESSION_HINT]} />` : null}
    ${kind === "every" ? html`<${Field} id="/schedule" label="Every" errors=${wrongs} hint="A time such as 45s or 1h30m. It counts elapsed time.">
      <input id="/schedule" autocomplete="off" spellcheck=${false} value=${String(value.schedule ?? "").replace(EVERY_MARK, "")}
        onInput=${(event) => form.write("/schedule", event.target.value ? `@every ${event.target.value}` : undefined)} /><//>` : null}
    ${kind === "parts" ? html`<div class="parts">${CLOCK_PARTS.map((spec) => html`<${FormField} key=${spec[0]} form=${form} spec=${spec} />`)}</div>` : null}
    ${kind === "list" ? html`<${InstantRows} form=${form} errors=${wrongs} />` : null}
    ${kind === "once" ? html`<${FormField} form=${form} spec=${["dueTime", "Fires at", "instant"]} />` : null}
    ${children}
    ${TIME_GROUPS.map(({ fields, ...group }) => html`<${FoldedGroup} key=${group.title} form=${form} ...${group} fields=${fields.filter(([path]) => path !== "dueTime" || isRecurring)} />`)}</div>`;
}

/** A list of instants, one in each row. */
function InstantRows({ form, errors }) {
  const [rows, keep] = useDraft(form.value.schedule, (found) => found || []);
  const write = (next) => {
    const meant = next.some(Boolean) ? next.filter(Boolean) : undefined;
    keep(next, meant);
    form.write("/schedule", meant);
  };
  return html`<${InputRows} pointer="/schedule" label="Instants" one="instant" errors=${errors} rows=${rows} blank="" onWrite=${write} show=${(text, place) => html`
    <${InstantInput} form=${form} label=${`Instant ${place + 1}`} value=${text} shared=${{ id: `/schedule/${place}`, "aria-label": `Instant ${place + 1}`, autocomplete: "off", spellcheck: false }}
      onWrite=${(next) => write(rows.with(place, next || ""))} />`} />`;
}

/**
 * What the API says of the schedule that is being written: its next due times, or what is wrong. It is asked once the
 * typing pauses, and only if what decides about the times has changed. The last answer stays until the next one.
 */
export function usePreview(definition, namespace) {
  const timing = Object.fromEntries(TIMING.filter((each) => definition[each] != null).map((each) => [each, definition[each]]));
  const text = "schedule" in timing || "dueTime" in timing
    ? writeJson({ ...timing, limit: PREVIEWED, namespace: timing.calendar ? namespace : undefined }) : "";
  const { value, problem, isOld, reload } = useAnswer(pathOf("occurrences"), text);
  const last = useRef({ found: null, problem: null });
  if (text && !isOld && (value || problem)) last.current = { found: value ?? last.current.found, problem };
  return text ? { ...last.current, isTimed: true, isOld: isOld || !(value || problem), reload } : { isTimed: false };
}

/** The next due times, in words and as instants. `others` are the errors that stand at no field of the form. */
export function PreviewPart({ preview, definition, others }) {
  const { found, problem, isTimed, isOld, reload } = preview;
  const zone = definition.timezone || "UTC";
  return html`<section class=${`preview${isOld || problem ? " is-old" : ""}`} aria-labelledby="preview-title"><h3 id="preview-title">When it would fire</h3>
    ${isTimed ? null : html`<${Empty} title="It fires only on demand." />`}
    ${problem && (others.length || !problem.errors?.length) ? html`<${ProblemNote} problem=${{ message: problem.message, errors: others }} onRetry=${problem.status === 422 ? null : reload} />` : null}
    ${isTimed && found ? html`<p role="status"><strong>${found.description}</strong>, by the clock of ${zone}${found.end ? html`. Last <${When} at=${found.end} zone=${zone} />` : null}${
        definition.jitter ? `. Each is later by up to ${definition.jitter}` : ""}${definition.batch?.count ? `. ${count(definition.batch.count)} triggers each time` : ""}</p>
      <${Fires} found=${found} zone=${zone} />` : isTimed && !problem ? html`<${Loading} what="the due times" />` : null}</section>`;
}
