// How somebody makes the first job of a namespace: in the editor, by HTTP, or on the command line.

import { html, useState } from "./vendor/preact.js";
import { may } from "./access.js";
import { inNamespace } from "./api.js";
import { Field } from "./form.js";
import { Command } from "./parts.js";
import { linkTo } from "./route.js";

const FIRST_JOB = "hello";
const FIRST_URL = "https://example.com/hook";

/** What stands where no job is. Without a `namespace` there is none yet, and the reader names one. */
export function FirstJob({ me, namespace }) {
  const [named, setNamed] = useState("demo");
  const place = namespace || named.trim() || "demo";
  const job = `{"dueTime": "10s", "data": {"hello": "world"},\n    "target": {"type": "http", "url": "${FIRST_URL}"}}`;
  const curl = [`curl -X PUT ${new URL(inNamespace(place, "jobs", FIRST_JOB), document.baseURI)}`, `-H "Authorization: Bearer $KEY"`,
    "-H 'Content-Type: application/json'", `-d '${job}'`].join(" \\\n  ");
  const line = `export SWEEPHAND_URL=${new URL(".", document.baseURI).href.replace(/\/$/, "")} SWEEPHAND_KEY=$KEY
sweephand job schedule ${FIRST_JOB} --namespace ${place} --due 10s \\\n  --url ${FIRST_URL} --data '{"hello": "world"}'`;
  return html`<section class="first" aria-labelledby="first-title">
    <h2 id="first-title">${namespace ? `No jobs in ${namespace} yet.` : "This stack has no jobs yet."}</h2>
    <p>A job says what is delivered, where and when.</p>
    ${may(me, "write") ? html`
      ${namespace ? null : html`<${Field} id="first-namespace" label="Namespace" hint="A team, an application or a tenant. It exists once it has a job.">
        <input id="first-namespace" value=${named} autocomplete="off" spellcheck=${false} onInput=${(event) => setNamed(event.target.value)} /><//>`}
      <p><a class="button main" href=${linkTo([place, "new"])}>Write the first one</a></p>
      <p>Or send it, with your key in <code>$KEY</code>. It is delivered to <code>${FIRST_URL}</code> ten seconds later: put your endpoint there.</p>
      <${Command} text=${curl} label="The first job by HTTP" />
      <p>Or on the command line:</p>
      <${Command} text=${line} label="The first job on the command line" />
      <p class="soft">It appears here within 15 seconds, with what came of it.</p>` : html`
      <p class="soft">This key may only read. A key with the role <code>write</code> makes jobs.</p>`}
  </section>`;
}
