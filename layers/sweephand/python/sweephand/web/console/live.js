// What a screen shows of the API, kept fresh.

import { useCallback, useEffect, useRef, useState } from "./vendor/preact.js";
import { call, Problem, UNKNOWN_ANSWER } from "./api.js";
import { stackNow } from "./time.js";

const REFRESH_MS = 15_000;

/** The loads that the present screen shows and keeps fresh: when each was last answered, and what failed since. */
const shownLoads = new Set();
const tellers = new Set();
const tellAll = () => tellers.forEach((tell) => tell());

/** When the oldest of what the screen shows was loaded. Null while nothing was. */
export function loadedAt() {
  const found = [...shownLoads].map((each) => each.at).filter(Boolean);
  return found.length ? Math.min(...found) : null;
}

/** How fresh the screen is, and what loads all of it again. `at` is null for a screen that shows nothing of the API. */
export function useFreshness() {
  const [, setTurn] = useState(0);
  useEffect(() => {
    const tell = () => setTurn((turn) => turn + 1);
    tellers.add(tell);
    // the screen may have been answered meanwhile
    tell();
    return () => tellers.delete(tell);
  }, []);
  const reload = () => shownLoads.forEach((each) => each.reload());
  return { at: loadedAt(), hasProblem: [...shownLoads].some((each) => each.hasProblem), reload };
}

const TICK_MS = 1_000;
const ticking = new Set();
let ticker = null;

/** A text that depends on the time, such as `in 5 s`. Each second what has changed is shown anew. */
export function useTicking(textOf) {
  const [, setText] = useState(textOf);
  const latest = useRef(textOf);
  latest.current = textOf;
  useEffect(() => {
    const tick = () => setText(latest.current());
    ticking.add(tick);
    ticker ??= setInterval(() => ticking.forEach((each) => each()), TICK_MS);
    return () => {
      ticking.delete(tick);
      if (ticking.size) return;
      clearInterval(ticker);
      ticker = null;
    };
  }, []);
  return textOf();
}

/** A value that a person types, once it has rested for a moment. */
export function useSettled(value, restMs = 350) {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), restMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}

/**
 * What `load` returns. It is loaded again every 15 s, or every `refreshMs`, while the tab is visible. It is also
 * loaded again when the tab is seen again, by `reload`, and when `key` changes. While it is being loaded, neither the time nor the tab begins another load:
 * a slow stack would get more calls than it can answer. If loading fails the last value stays, beside the problem.
 * With `refreshMs` null it is loaded only once, and by `reload`.
 */
export function useLive(load, key, refreshMs = REFRESH_MS) {
  const [state, setState] = useState({ key: null, value: null, problem: null });
  const turn = useRef(0);
  const underWay = useRef(0);
  const latest = useRef(load);
  latest.current = load;
  const shown = useRef({ at: null, hasProblem: false });
  const reload = useCallback(async () => {
    const mine = ++turn.current;
    underWay.current = mine;
    let found;
    try {
      found = { key, value: await latest.current(), problem: null };
    } catch (problem) {
      if (!(problem instanceof Problem)) console.info(problem); // for whoever mends the screen
      found = { key, problem: problem instanceof Problem ? problem : new Problem(0, UNKNOWN_ANSWER) };
    }
    if (mine === underWay.current) underWay.current = 0;
    if (mine === turn.current) {
      shown.current.hasProblem = Boolean(found.problem);
      if (!found.problem) shown.current.at = stackNow();
      tellAll();
      setState((old) => (found.problem && old.key === key ? { ...old, problem: found.problem } : { value: null, ...found }));
    }
  }, [key]);
  useEffect(() => {
    reload();
    return () => {
      // what is still under way is of a screen that has gone
      turn.current += 1;
    };
  }, [reload]);
  useEffect(() => {
    // what was shown until now was of another key
    shown.current.at = null;
    shown.current.reload = reload;
    if (refreshMs !== null) shownLoads.add(shown.current);
    tellAll();
    return () => {
      shownLoads.delete(shown.current);
      tellAll();
    };
  }, [reload]);
  useEffect(() => {
    if (refreshMs === null) return undefined;
    const seen = () => {
      if (!document.hidden && !underWay.current) reload();
    };
    const timer = setInterval(seen, refreshMs);
    document.addEventListener("visibilitychange", seen);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", seen);
    };
  }, [reload, refreshMs]);
  const isMine = state.key === key;
  return { value: isMine ? state.value : null, problem: isMine ? state.problem : null, reload };
}

/**
 * What the API answers to a body that somebody types. It is asked once the typing rests, and nothing is asked of an
 * empty text. The answer `isOld` as long as it is of an earlier text.
 */
export function useAnswer(path, text) {
  const settled = useSettled(text);
  const live = useLive(async () => (settled ? (await call("POST", path, { text: settled })).value : {}), settled, null);
  return { ...live, isOld: settled !== text };
}

/**
 * A list that grows by `step` at each `more`, kept fresh as a whole. `load` gets the number of items to show, and
 * returns them as `items`. While a longer list is being loaded, the shorter one stays and the list `isGrowing`.
 */
export function useGrowing(load, key, step, refreshMs = REFRESH_MS) {
  const [most, setMost] = useState(step);
  const live = useLive(async () => ({ ...(await load(most)), most }), key, refreshMs);
  useEffect(() => {
    if (most > step) live.reload();
  }, [most]);
  const isGrowing = live.value !== null && live.value.most < most && !live.problem;
  const more = () => {
    if (isGrowing) return;
    // it could not be loaded
    if (live.value.most < most) live.reload();
    else setMost(most + step);
  };
  return { ...live, hasGrown: most > step, isGrowing, more };
}

/** A deed that a button does. `run` returns true if it was done, and `problem` says why it was not. */
export function useDeed() {
  const [state, setState] = useState({ isBusy: false, problem: null });
  const run = async (deed) => {
    setState({ isBusy: true, problem: null });
    try {
      await deed();
      setState({ isBusy: false, problem: null });
      return true;
    } catch (problem) {
      setState({ isBusy: false, problem });
      return false;
    }
  };
  return { ...state, run };
}

/**
 * What an editor begins with: the `value` of a resource and its `etag`, read once, or `begun` if there is no `path`
 * yet. `write` replaces it.
 */
export function useStored(path, begun = null) {
  const [value, write] = useState(path ? null : begun);
  const { problem, run } = useDeed();
  const reload = () => run(async () => write(await call("GET", path)));
  useEffect(() => {
    if (path) reload();
  }, []);
  return { value, problem, reload, write };
}
