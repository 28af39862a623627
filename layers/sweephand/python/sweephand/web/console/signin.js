// The screen before all others: it takes a key.

import { html, useState } from "./vendor/preact.js";
import { authMode } from "./access.js";
import { get, pathOf, Problem, storedKey } from "./api.js";
import { Field } from "./form.js";
import { useDeed } from "./live.js";
import { ProblemNote } from "./parts.js";

/** Asks for a key. `onSignedIn` gets what the API says of it. `told` is why the last key was given up. */
export function SignIn({ told, onSignedIn }) {
  const [key, setKey] = useState("");
  const { isBusy, problem, run } = useDeed();
  const submit = (event) => {
    event.preventDefault();
    run(async () => {
      if (!/^[!-~]+$/.test(key.trim())) throw new Problem(0, "This is no key. A key has letters, digits and _ alone, so copy it again.");
      storedKey.write(key.trim());
      try {
        onSignedIn(await get(pathOf("me")));
      } catch (error) {
        storedKey.forget();
        throw error;
      }
    });
  };
  const isToken = authMode() === "jwt";
  return html`<main class="signin"><form onSubmit=${submit}>
    <h1>Sweephand</h1>
    ${authMode() === "iam" ? html`<p>This stack knows its callers by IAM signatures, which a browser does not make.
      The console needs a stack whose <code>AuthMode</code> is <code>keys</code> or <code>jwt</code>.
      Use the command line for this one.</p>` : html`
      <p class="soft">Sign in with ${isToken ? "a JSON Web Token of your issuer" : "an API key"}.
        It stays in this tab and is gone when you close it.</p>
      ${told && !problem ? html`<p class="problem" role="alert">${told}</p>` : null}
      <${ProblemNote} problem=${problem} />
      <${Field} id="key" label=${isToken ? "Token" : "API key"}
        hint=${isToken ? null : "The stack's administrator makes keys. `sweephand dev` and `make up` print that of a local stack."}>
        <input id="key" type="password" autocomplete="off" spellcheck=${false} required value=${key}
          placeholder=${isToken ? "" : "sh_…"} onInput=${(event) => setKey(event.target.value)} />
      <//>
      <button class="main" disabled=${isBusy || !key.trim()}>${isBusy ? "Signing in …" : "Sign in"}</button>`}
  </form></main>`;
}
