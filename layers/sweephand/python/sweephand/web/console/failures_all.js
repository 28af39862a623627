// Failures of all namespaces, for a key of all of them: how many each has, and what is done to all of a span.

import { html } from "./vendor/preact.js";
import { get, pathOf, throughPages } from "./api.js";
import { useAsked } from "./ask.js";
import { AskRuns, CountSpan } from "./ask_many.js";
import { useLive } from "./live.js";
import { Empty, Loaded, Table, When } from "./parts.js";
import { atLeast, count, counted } from "./time.js";

/** A page of the overview has 50 namespaces, and each costs at least 18 requests to DynamoDB. */
const OVERVIEW_PAGES = 4;
const OVERVIEW_REFRESH_MS = 60_000;

/** The namespaces that have runs in a state since an instant, the most first. */
async function namespacesWith(state, since) {
  const found = [];
  const left = await throughPages((cursor) => get(pathOf("overview"), { since, cursor }), (page) => void found.push(...page.items), { calls: OVERVIEW_PAGES });
  const items = found.filter((each) => each[state] || each.partial).sort((one, other) => other[state] - one[state]);
  return { items, looked: found.length, isPartial: Boolean(left) };
}

export function FailuresEverywhere({ seen, filter, verb, linkOf, onTold }) {
  const { state } = seen;
  const live = useLive(() => namespacesWith(state, filter().since), "namespaces", OVERVIEW_REFRESH_MS);
  const { asked, ask, close } = useAsked(live.reload);
  const isNarrow = seen.reason || seen.prefix || seen.label.length || seen.until;
  return html`<${Loaded} live=${live} what="the namespaces" show=${({ items, looked, isPartial }) => html`
      ${isPartial ? html`<p class="soft">These are among the first ${count(looked)} namespaces by name.</p>` : null}
      ${items.length ? html`<div class="selection is-idle"><span>${counted(items.length, "namespace")} with ${state} runs</span>
          ${verb ? html`<${CountSpan} namespaces=${items.map((each) => each.namespace)} verb=${verb} filter=${filter} onAsk=${ask} />` : null}</div>
        <${Table} label="Namespaces" head=${["Namespace", "Failing jobs", `Runs ${state}`, "Newest failure"]}>${items.map((each) => html`<tr key=${each.namespace}>
          <td class="name"><a href=${linkOf(each.namespace)}>${each.namespace}</a></td>
          <td class="number">${count(each.failingJobs)}</td><td class="number">${atLeast(each[state], each.partial)}</td>
          <td><${When} at=${each.newestFailureAt} /></td></tr>`)}<//>
        ${isNarrow ? html`<p class="soft">The table counts all runs since the beginning of the span. The search and the end of the span hold for what is done.</p>` : null}`
        : html`<${Empty} title=${`No namespace has a ${state} run in this span.`} />`}`} />
    ${asked ? html`<${AskRuns} verb=${verb} ...${asked} onTold=${onTold} onClose=${close} />` : null}`;
}
