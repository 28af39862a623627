// What a screen shows of the API, kept fresh.

import { useCallback, useEffect, useRef, useState } from "./vendor/preact.js";

const REFRESH_MS = 15_000;

/**
 * What `load` returns. It is loaded again every 15 s, or every `refreshMs`, while the tab is visible. It is also
 * loaded again when the tab is seen again, by `reload`, and when `key` changes. While it is being loaded, neither the time nor the tab begins another load:
 * a slow stack would get more calls than it can answer. If loading fails the last value stays, beside the problem.
 */
export function useLive(load, key, refreshMs = REFRESH_MS) {
  const [state, setState] = useState({ key: null, value: null, problem: null });
  const turn = useRef(0);
  const underWay = useRef(0);
  const latest = useRef(load);
  latest.current = load;
  const reload = useCallback(async () => {
    const mine = ++turn.current;
    underWay.current = mine;
    let found;
    try {
      found = { key, value: await latest.current(), problem: null };
    } catch (problem) {
      found = { key, problem };
    }
    if (mine === underWay.current) underWay.current = 0;
    if (mine === turn.current) {
      setState((old) => (found.problem && old.key === key ? { ...old, problem: found.problem } : { value: null, ...found }));
    }
  }, [key]);
  useEffect(() => {
    reload();
    return () => {
      turn.current += 1; // what is still under way is of a screen that has gone
    };
  }, [reload]);
  useEffect(() => {
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
    if (live.value.most < most) live.reload(); // it could not be loaded
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
