// The request of a run, as it is sent, and as a command that repeats it by hand.

import { writeJson } from "./json.js";

const quoted = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;

/**
 * What a run of an HTTP job sends, without its signature. Null if the target is not HTTP, or gets CloudEvents.
 * A hidden or secret header stands as `<secret>`, to be filled in. The body is null if the method has none.
 */
function httpRequest(job, run) {
  const target = job.target;
  if (target.type !== "http" || !target.url || /^cloud/.test(target.format)) return null;
  const fill = (text) => text.replaceAll("{{due}}", run.dueAt).replaceAll("{{attempt}}", String(Math.max(1, run.attempts)))
    .replaceAll("{{index}}", /\d-(\d+)/.exec(run.id)[1]);
  const headers = Object.entries(target.headers || {})
    .map(([name, value]) => fill(`${name}: ${typeof value === "string" && value !== "(hidden)" ? value : "<secret>"}`));
  const method = target.method || "POST";
  const hasBody = method !== "GET" && method !== "DELETE";
  const isTyped = headers.some((each) => /^content-type:/i.test(each));
  return {
    method,
    url: fill(target.url),
    headers: [`webhook-id: ${run.triggerId}`, `sweephand-due: ${run.dueAt}`, ...headers, ...(hasBody && !isTyped ? ["content-type: application/json"] : [])],
    body: hasBody ? writeJson(job.data ?? null) : null,
  };
}

/** The request of a run as a text: of HTTP its lines, and of another target that target and the data. */
export function requestText(job, run) {
  const sent = httpRequest(job, run);
  if (!sent) return writeJson({ target: job.target, data: job.data ?? null });
  return [`${sent.method} ${sent.url}`, ...sent.headers, ...(sent.body === null ? [] : ["", sent.body])].join("\n");
}

/** A curl line that sends what a run of the job sent, without its signature. Null where httpRequest() is. */
export function curlOf(job, run) {
  const sent = httpRequest(job, run);
  if (!sent) return null;
  // Without these options, curl would read [1-9] and {a,b} as patterns, and would resolve /../ itself.
  return [`curl -g --path-as-is -X ${sent.method} ${quoted(sent.url)}`, ...sent.headers.map((each) => `-H ${quoted(each)}`),
    ...(sent.body === null ? [] : [`-d ${quoted(sent.body)}`])].join(" \\\n  ");
}
