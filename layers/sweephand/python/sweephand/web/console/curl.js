// The command that repeats the request of a run by hand.

import { writeJson } from "./exact.js";

const quoted = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;

/**
 * A curl line that sends what a run of the job sent, without its signature. Null if the target is not HTTP.
 * A hidden or secret header stands as its name, to be filled in.
 */
export function curlOf(job, run) {
  const target = job.target;
  if (target.type !== "http" || !target.url) return null;
  const headers = Object.entries(target.headers || {})
    .map(([name, value]) => `-H ${quoted(`${name}: ${typeof value === "string" && value !== "(hidden)" ? value : "<secret>"}`)}`);
  const method = target.method || "POST";
  const fill = (text) => text.replaceAll("{{due}}", run.dueAt).replaceAll("{{attempt}}", String(Math.max(1, run.attempts)))
    .replaceAll("{{index}}", run.id.split("-").pop());
  const body = method === "GET" || method === "DELETE" ? [] : ["-H 'content-type: application/json'", `-d ${quoted(writeJson(job.data ?? null))}`];
  // Without these options, curl would read [1-9] and {a,b} as patterns, and would resolve /../ itself.
  return [`curl -g --path-as-is -X ${method} ${quoted(fill(target.url))}`, `-H ${quoted(`webhook-id: ${run.triggerId}`)}`,
    `-H ${quoted(`sweephand-due: ${run.dueAt}`)}`, ...headers.map(fill), ...body].join(" \\\n  ");
}
