// The settings of a namespace, which an admin writes: each in an input of its own.

import { html } from "./vendor/preact.js";
import { call, inNamespace } from "./api.js";
import { choicesOf, InputField, numberOf, SaveBar, savesByKey, textOf, typedEntries, unplaced, useForm, useRefusalFocus } from "./form.js";
import { Exact, isObject, typedJson, writeJson } from "./json.js";
import { useDeed, useStored } from "./live.js";
import { Facts, Head, Loaded, ProblemNote, When } from "./parts.js";
import { count } from "./time.js";

export function Settings({ namespace }) {
  const stored = useStored(inNamespace(namespace));
  return html`<${Head} title=${`Settings of ${namespace}`} />
    <${Loaded} live=${stored} what="the settings" show=${({ value, etag }) => html`<${SettingsForm} key=${etag} namespace=${namespace} stored=${value} etag=${etag}
      onSaved=${stored.write} onReload=${stored.reload} />`} />`;
}

/** Fields of a group: the name in the API, the label, and a hint. */
const LIMIT_FIELDS = [
  ["triggersPerMinute", "Triggers a minute", "Triggers beyond them wait. Empty: the stack's own limit."],
  ["jobs", "Jobs", "A further job is refused. Empty: any number."],
  ["payload", "Bytes of a job's data", "Larger data is refused. Empty: as much as the stack takes."],
];
const RETRY_FIELDS = [
  ["maxAttempts", "Attempts", "A whole number.", numberOf],
  ["initialDelay", "Delay after the first attempt", "For example 10s.", textOf],
  ["multiplier", "Factor from each delay to the next", "For example 2.", numberOf],
  ["maxDelay", "Longest delay", "For example 1h.", textOf],
  ["maxAge", "Last attempt within", "After the first one. For example 1d.", textOf],
];
const SETTING_PLACES = [...LIMIT_FIELDS.map(([each]) => `/limits/${each}`), ...RETRY_FIELDS.map(([each]) => `/defaultRetry/${each}`),
  "/defaultTarget", "/allowedTargets/hosts", "/allowedTargets/networks"];

const shownValue = (value) => (value === undefined ? "" : value instanceof Exact ? value.text : String(value));

/** What is stored, as the inputs show it. */
function typedOf({ limits, defaultRetry, defaultTarget, allowedTargets }) {
  const { type, url, ...rest } = defaultTarget || {};
  return {
    ...Object.fromEntries(LIMIT_FIELDS.map(([each]) => [each, shownValue(limits[each])])),
    ...Object.fromEntries(RETRY_FIELDS.map(([each]) => [each, shownValue(defaultRetry?.[each])])),
    target: !type ? "none" : type === "http" ? "http" : "other",
    url: type === "http" ? url || "" : "",
    rest: writeJson(type === "http" ? rest : defaultTarget || {}),
    hosts: (allowedTargets?.hosts || []).join("\n"),
    networks: (allowedTargets?.networks || []).join("\n"),
  };
}

/** The fields of a group that were given. Undefined if none was. */
function groupOf(typed, fields, otherwise) {
  const found = fields.map(([each, , , read = numberOf]) => [each, read(typed[each])]).filter(([, value]) => value !== undefined);
  return found.length ? Object.fromEntries(found) : otherwise;
}

/** The settings of what the inputs show, and what is wrong with the JSON of a target. */
function settingsOf(typed) {
  const [hosts, networks] = [typedEntries(typed.hosts), typedEntries(typed.networks)];
  const { value: rest, mistake } = typed.target === "none" ? {} : typedJson(typed.rest.trim() || "{}");
  const defaultTarget = typed.target === "http" ? { type: "http", url: typed.url.trim(), ...rest } : rest;
  return {
    wanted: { limits: groupOf(typed, LIMIT_FIELDS, {}), defaultRetry: groupOf(typed, RETRY_FIELDS), defaultTarget,
      allowedTargets: hosts || networks ? { hosts, networks } : undefined },
    mistake: mistake || (rest === undefined || isObject(rest) ? null : "This is no JSON object, such as {}."),
  };
}

function SettingsForm({ namespace, stored, etag, onSaved, onReload }) {
  const form = useForm(() => typedOf(stored));
  const { isBusy, problem, run } = useDeed();
  useRefusalFocus(problem);
  const { wanted, mistake } = settingsOf(form.given);
  const save = (event) => {
    event.preventDefault();
    run(async () => onSaved(await call("PUT", inNamespace(namespace), { body: wanted, over: etag || null })));
  };
  const input = (name, at, label, more) => html`<${InputField} form=${form} problem=${problem} name=${name} at=${at} label=${label} ...${more} />`;
  const isHttp = form.given.target === "http";
  const wrongTarget = mistake ? { errors: [{ pointer: "/defaultTarget", detail: mistake }] } : problem;
  return html`<${Facts} rows=${[
      ["Jobs counted", stored.jobsCounted === undefined ? null : count(stored.jobsCounted)],
      ["Last written", stored.updatedAt ? html`<${When} at=${stored.updatedAt} /> with the key <code>${stored.updatedBy}</code>` : "never"],
    ]} />
    <form class="settings" onSubmit=${save} onKeyDown=${savesByKey}>
      <fieldset><legend>Limits</legend><div class="triple">${LIMIT_FIELDS.map(([each, label, hint]) => input(each, `/limits/${each}`, label, { hint, inputmode: "numeric" }))}</div></fieldset>
      <fieldset><legend>Default target</legend><p class="soft">Jobs without a target go there. Each delivery reads it, so a change is in force for all of them.</p>
        <div class="pair">${input("target", "/target", "Type", { kind: "select", children: choicesOf([["none", "none"], ["http", "HTTP"], ["other", "another type"]]) })}
          ${isHttp ? input("url", "/defaultTarget/url", "URL", { placeholder: "https://example.com/actors" }) : null}</div>
        ${form.given.target === "none" ? null : html`<${InputField} form=${form} problem=${isHttp && !mistake ? withoutUrl(problem) : wrongTarget} name="rest" at="/defaultTarget" kind="textarea" rows="5"
          label=${isHttp ? "Its other fields (JSON)" : "The target (JSON)"} hint=${isHttp ? "headers, method, timeout, format. A header may name a secret." : "With its type, such as sqs, and the fields of that type."} />`}</fieldset>
      <fieldset><legend>Default retry</legend><p class="soft">Jobs that are written without a retry get a copy of it.</p>
        <div class="triple">${RETRY_FIELDS.map(([each, label, hint]) => input(each, `/defaultRetry/${each}`, label, { hint }))}</div></fieldset>
      <fieldset><legend>Where HTTP targets may be</legend><p class="soft">A target has to pass both lists. Without a list every place is allowed that the stack allows.</p>
        <div class="pair">${input("hosts", "/allowedTargets/hosts", "Hosts", { kind: "textarea", rows: 4, hint: "One a line, such as example.com or *.example.com." })}
          ${input("networks", "/allowedTargets/networks", "Networks", { kind: "textarea", rows: 4, hint: "One a line, such as 203.0.113.0/24." })}</div></fieldset>
      <${ProblemNote} problem=${unplaced(problem, SETTING_PLACES)} />
      <${SaveBar} isBusy=${isBusy} isUnreadable=${mistake !== null}>${problem?.status === 412
        ? html`<button type="button" onClick=${onReload}>Load what is stored now</button>` : null}<//></form>`;
}

/** What was refused of a target beside its URL, which has an input of its own. */
function withoutUrl(problem) {
  return problem && { ...problem, errors: (problem.errors || []).filter(({ pointer }) => pointer !== "/defaultTarget/url") };
}
