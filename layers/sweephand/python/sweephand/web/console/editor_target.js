// Where a job delivers, in the editor: the type of a target, and the fields that a target of this type has.

import { html, useRef } from "./vendor/preact.js";
import { RARE_IN_TARGET, TARGET_TYPES } from "./editor_fields.js";
import { FoldedGroup, FormField } from "./editor_inputs.js";
import { Field } from "./form.js";

/** The types that the target at a pointer can be of. Only the end of a run can trigger another job. */
const typesAt = (pointer) => Object.keys(TARGET_TYPES).filter((each) => each !== "job" || pointer === "/onComplete");

/** The fields of a target as the form shows them, with their pointers. */
export function fieldsOfTarget(target) {
  return Object.hasOwn(TARGET_TYPES, target?.type) ? TARGET_TYPES[target.type][1] : [];
}

export function TargetInput({ form, pointer, label, value, needs, errors, shared, onWrite }) {
  // what was written for each type, for those who come back to it
  const former = useRef({});
  const choose = (type) => {
    former.current[value?.type] = value;
    const shares = (name) => name !== "format" && TARGET_TYPES[type][1].some(([each]) => each === name);
    onWrite(type === "" ? undefined : former.current[type] || { type, ...Object.fromEntries(Object.entries(value || {}).filter(([name]) => shares(name))) });
  };
  const type = value?.type;
  const fields = fieldsOfTarget(value);
  const rare = fields.filter(([name]) => RARE_IN_TARGET.includes(name));
  return html`<${Field} id=${pointer} label=${label} errors=${errors}>
      <select ...${shared} onChange=${(event) => choose(event.target.value)}>
        <option value="" selected=${!value}>default: ${needs}</option>
        ${[...new Set([...typesAt(pointer), ...(value ? [String(type)] : [])])].map((each) => html`<option key=${each} value=${each} selected=${each === type}>${TARGET_TYPES[each]?.[0] || each}</option>`)}</select><//>
    ${fields.filter((spec) => !rare.includes(spec)).map((spec) => html`<${FormField} key=${`${type}/${spec[0]}`} form=${form} spec=${spec} base=${pointer} />`)}
    ${rare.length ? html`<${FoldedGroup} key=${`${type}/rare`} form=${form} title="More of this target" plain="defaults" fields=${rare} base=${pointer} />` : null}`;
}
