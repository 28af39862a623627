// Calls a stack with openapi-fetch and the types that openapi-typescript generates: client.js URL KEY CONSUMER
import createClient from "openapi-fetch";
import type { components, paths, webhooks } from "./api.js";

declare const process: { argv: string[] };

const [, , baseUrl, key, url] = process.argv as [string, string, string, string, string];
const client = createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
const at = { params: { path: { namespace: "demo", name: "typed" } } };

function ok<T>(answer: { data?: T; error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

const target: components["schemas"]["HttpTarget"] = { type: "http", url };
const body: components["schemas"]["JobRequest"] = { target, labels: { team: "ops" }, data: { n: 1 } };
const written = ok(await client.PUT("/v1/namespaces/{namespace}/jobs/{name}", { ...at, body }));
const stored = ok(await client.GET("/v1/namespaces/{namespace}/jobs/{name}", at));
if (stored.rev !== written.rev || stored.labels?.team !== "ops") throw new Error(JSON.stringify(stored));

ok(await client.POST("/v1/namespaces/{namespace}/jobs/{name}/trigger", { ...at, body: {} }));
let state: string | undefined;
while (state !== "succeeded") {
  state = ok(await client.GET("/v1/namespaces/{namespace}/jobs/{name}/runs", at)).items[0]?.state;
}

const schedule = ok(await client.POST("/v1/occurrences", { body: { schedule: "@daily", limit: 2 } }));
if (schedule.occurrences.length !== 2) throw new Error(JSON.stringify(schedule));
const refused = await client.PUT("/v1/namespaces/{namespace}/jobs/{name}", { ...at, body: { schedule: "never" } });
if (refused.response.status !== 422) throw new Error(JSON.stringify(refused.error));
const deleted = await client.DELETE("/v1/namespaces/{namespace}/jobs/{name}", at);
if (deleted.response.status !== 204) throw new Error(JSON.stringify(deleted.error));

// What a consumer receives has types too.
type Body<Event extends keyof webhooks> = webhooks[Event]["post"]["requestBody"]["content"]["application/json"];
export const reason = (end: Body<"end">): string | null => end.reason;
export const missed = (alert: Body<"alert">): number => alert.missed;
