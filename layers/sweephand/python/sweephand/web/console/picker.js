// A dialog in which a person types a few letters and chooses what fits, by the keyboard or with the mouse.

import { html, useEffect, useLayoutEffect, useRef, useState } from "./vendor/preact.js";
import { useSettled } from "./live.js";
import { ProblemNote } from "./parts.js";
import { goTo } from "./route.js";

/**
 * Shows the options that fit the text: first those that `find` returns, then those that the promise of `load`
 * has. An option has a `group`, a `title`, a `link` where it leads, and perhaps a `note`. `empty` says what to do
 * if nothing fits.
 */
export function Picker({ label, placeholder, find, load, empty, onClose }) {
  const dialog = useRef();
  const list = useRef();
  const [text, setText] = useState("");
  const [active, setActive] = useState(null);
  const [isAwaited, setAwaited] = useState(false);
  const sought = text.trim();
  const loaded = useLoaded(load, useSettled(sought, 200));
  const isLoading = loaded.text !== sought;
  const options = [...find(sought), ...(isLoading ? [] : loaded.options)];
  const at = Math.max(0, options.findIndex((each) => each.link === active));
  useLayoutEffect(() => {
    dialog.current.showModal();
  }, []);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [at]);
  const choose = ({ link }) => {
    dialog.current.close();
    goTo(link);
  };
  useEffect(() => {
    if (isAwaited && !isLoading && options.length) choose(options[at]);
  }, [isAwaited, isLoading]);
  const write = (event) => {
    setText(event.target.value);
    setActive(null);
    setAwaited(false);
  };
  const press = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && options.length) {
      event.preventDefault();
      setActive(options[(at + step + options.length) % options.length].link);
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (options.length) choose(options[at]);
      // the answer is under way
      else setAwaited(true);
    }
  };
  return html`<dialog ref=${dialog} class="picker" onClose=${onClose} aria-label=${label}
      onClick=${(event) => event.target === dialog.current && dialog.current.close()}>
    <input type="text" role="combobox" aria-label=${label} placeholder=${placeholder} aria-expanded=${options.length > 0} aria-controls="picked"
      aria-autocomplete="list" aria-activedescendant=${options.length ? `picked-${at}` : null} autocomplete="off" spellcheck=${false}
      value=${text} onInput=${write} onKeyDown=${press} />
    <ul ref=${list} id="picked" role="listbox" aria-label=${label}>${options.map((each, place) => html`
      ${each.group !== options[place - 1]?.group ? html`<li role="presentation" class="grouptitle">${each.group}</li>` : null}
      <li key=${each.link} id=${`picked-${place}`} role="option" aria-selected=${place === at} onClick=${() => choose(each)}>
        <span class="cut">${each.title}</span>${each.note ? html` <span class="soft cut">${each.note}</span>` : null}</li>`)}</ul>
    <${ProblemNote} problem=${loaded.problem} />
    <p class="soft" role="status">${options.length ? "" : isLoading ? "Looking …" : empty}</p>
  </dialog>`;
}

/** What `load` finds for a text, and for which text that is. */
function useLoaded(load, text) {
  const [found, setFound] = useState({ text: null, options: [], problem: null });
  useEffect(() => {
    let isLatest = true;
    const told = (options, problem = null) => isLatest && setFound({ text, options, problem });
    load(text).then(told, (problem) => told([], problem));
    return () => {
      isLatest = false;
    };
  }, [text]);
  return found;
}
