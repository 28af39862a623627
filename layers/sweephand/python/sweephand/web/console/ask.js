// The dialogs that ask before something is done.

import { html, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { Field, unplaced, useRefusalFocus } from "./form.js";
import { useDeed } from "./live.js";
import { ProblemNote } from "./parts.js";

/** What a dialog asks about, or null. `close` ends the dialog and shows what came of it. */
export function useAsked(reload) {
  const [asked, ask] = useState(null);
  const close = () => {
    ask(null);
    reload();
  };
  return { asked, ask, close };
}

/**
 * A dialog that asks before something is done. It ends by Escape, by Cancel, or when `deed` is done; a problem
 * stays in it. With `typed`, that text has to be typed first. If `children` is a function it gets the problem, and
 * shows at its inputs what was refused of `fields`.
 */
export function Ask({ title, verb, danger, typed, deed, onClose, fields = [], children }) {
  const dialog = useRef();
  const [text, setText] = useState("");
  const { isBusy, problem, run } = useDeed();
  useLayoutEffect(() => {
    dialog.current.showModal();
  }, []);
  useRefusalFocus(problem);
  const submit = async (event) => {
    event.preventDefault();
    if (await run(deed)) onClose();
  };
  return html`<dialog ref=${dialog} onClose=${onClose} aria-labelledby="ask-title">
    <form onSubmit=${submit}>
      <h2 id="ask-title">${title}</h2>
      ${typeof children === "function" ? children(problem) : children}
      ${typed ? html`<${Field} id="ask-typed" label=${["Type ", html`<code>${typed}</code>`, " to confirm"]}>
        <input id="ask-typed" autocomplete="off" spellcheck=${false} value=${text} onInput=${(event) => setText(event.target.value)} />
      <//>` : null}
      <${ProblemNote} problem=${unplaced(problem, fields)} />
      <div class="buttons">
        <button type="button" onClick=${() => dialog.current.close()}>Cancel</button>
        <button class=${danger ? "danger" : "main"} disabled=${isBusy || (typed && text !== typed)}>${isBusy ? "Working …" : verb}</button>
      </div>
    </form>
  </dialog>`;
}

/** Asks before something is deleted. Its name has to be typed. `children` says what becomes of the rest. */
export function Remove({ name, deed, onClose, children }) {
  return html`<${Ask} title=${`Delete ${name}?`} verb="Delete" danger typed=${name} deed=${deed} onClose=${onClose}><p>${children}</p><//>`;
}
