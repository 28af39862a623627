"""Checks of time: no shard waits while others are served, and ticks reach timers before they are due."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Final

from tests.simulation.oracle.lives import told
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.trace import CursorStored, Mishap, TimerStored

#: Each shard comes first once in as many minutes as there are shards. A sweep of it takes some more minutes.
#: So do failed attempts while the sweeper does not know yet that a store is slow.
TURN_MS: Final = 60_000
SWEEP_MS: Final = 300_000

#: A fault may keep a shard waiting for this long: a sweeper is stopped, or a lease has to expire.
MISHAP_MS: Final = 420_000

#: Faults that do not keep a shard waiting, however often they happen. Slow requests are no excuse, and
#: neither is a function that its time limit ended.
HARMLESS: Final = frozenset(
    {"slowness", "time limit", "copy", "delay", "received in vain", "shortage", "stumble"}
)


def shards_take_turns(tale: Tale) -> Iterator[str]:
    """While ticks come and no store fails, the cursor of a shard with due timers moves every few minutes."""
    by_shard: dict[int, list[TimerStored]] = defaultdict(list)
    for timer in sorted(tale.timers, key=lambda each: each.place):
        by_shard[timer.shard].append(timer)
    allowed_ms = TURN_MS * len(by_shard) + SWEEP_MS
    spans_excused = excused(tale)
    for shard, timers in by_shard.items():
        places = [timer.place for timer in timers]
        cursors: list[CursorStored | None] = [None, *tale.cursors.get(shard, ())]
        for before, after in pairwise([*cursors, None]):
            until = tale.ends_at if after is None else after.at
            first = next((each for each in timers[_passed(places, before) :] if each.at < until), None)
            if first is None:
                continue
            since = max(first.at, first.due_at, before.at if before is not None else 0)
            for begin, end in spans_excused:
                if begin < until and since < end:
                    since = end
            if until - since > allowed_ms:
                yield (
                    f"shard {shard} had {first.sort_key} to do from {told(since)} on, and its cursor stood "
                    f"still until {told(until)}"
                )


def what_is_due_is_reached_before(tale: Tale) -> Iterator[str]:
    """In the calm, the cursor has reached a timer when it falls due, at whichever second tick wakes."""
    if tale.echo_ends_at is None:
        return
    reached = {shard: [each.place for each in cursors] for shard, cursors in tale.cursors.items()}
    spans_excused = excused(tale)
    for timer in tale.timers:
        if not tale.echo_ends_at <= timer.due_at <= tale.through or timer.shard not in reached:
            continue
        if any(since <= timer.due_at <= until for since, until in spans_excused):
            continue
        cursors = tale.cursors[timer.shard]
        place = bisect_left(reached[timer.shard], timer.place)
        # A cursor within the timer has reached it.
        if place < len(cursors) and cursors[place].at > timer.due_at:
            late_ms = cursors[place].at - timer.due_at
            yield f"{timer.name}: the timer for {told(timer.due_at)} was reached {late_ms} ms too late"


def _passed(places: Sequence[tuple[str, str]], cursor: CursorStored | None) -> int:
    if cursor is None:
        return 0
    return (bisect_right if cursor.within_at is None else bisect_left)(places, cursor.place)


def excused(tale: Tale) -> list[tuple[int, int]]:
    """Return when a fault may keep a shard waiting, as spans of time in order."""
    spans = []
    for each in tale.of(Mishap):
        kind, _, how_long = each.kind.partition(" of ")
        if kind not in HARMLESS:
            lasts_ms = int(how_long.removesuffix(" ms") or 0)
            ends_at = each.at + lasts_ms
            if tale.calm_at is not None and each.at < tale.calm_at:
                # All faults end with the calm.
                ends_at = min(ends_at, tale.calm_at)
            spans.append((each.at, ends_at + MISHAP_MS))
    return sorted(spans)
