"""Checks of what holds for a whole stack: turns of shards, ticks in time, lanes, limits and the switch."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Final

from tests.simulation.oracle.lives import told
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.rare_events import LimitSet
from tests.simulation.traces.trace import CursorStored, Mishap, Requested, TimerStored, Written

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
    # The loss of a table undoes the moves of its cursors since the instant to which it is set back.
    spans_excused = sorted([*excused(tale), *((loss.back_to, loss.at) for loss in tale.losses)])
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
    return sorted((at, ends_at + MISHAP_MS) for kind, at, ends_at in _mishaps(tale) if kind not in HARMLESS)


def _mishaps(tale: Tale) -> Iterator[tuple[str, int, int]]:
    """The kind of each mishap, and from when until when it lasted. All faults end with the calm."""
    for each in tale.of(Mishap):
        kind, _, how_long = each.kind.partition(" of ")
        ends_at = each.at + int(how_long.partition(" ms")[0] or 0)
        if tale.calm_at is not None and each.at < tale.calm_at:
            ends_at = min(ends_at, tale.calm_at)
        yield kind, each.at, ends_at


#: A job whose definition says nothing else can only be late because functions are busy.
_PLAIN: Final = frozenset({"schedule", "priority", "target", "data"})

#: Docs promise that 10,000 low triggers delay a high one by less than a second. Where so many come together,
#: no other job has a high priority.
HERD: Final = 10_000
LATE_BESIDE_A_HERD_MS_MAX: Final = 1_000

#: Elsewhere a high trigger may meet the triggers of other high jobs, whose consumers answer within a fraction
#: of a second in the calm.
LATE_MS_MAX: Final = 1_500


def what_is_high_is_prompt(tale: Tale) -> Iterator[str]:
    """In the calm, a trigger of a plain job with a high priority leaves when it is due."""
    if tale.echo_ends_at is None:
        return
    plain = {each.uid for each in tale.of(Written) if _is_plain_and_high(each)}
    if not plain:
        return
    has_herd = any(_is_herd(each) for each in tale.of(Written))
    late_ms_max = LATE_BESIDE_A_HERD_MS_MAX if has_herd else LATE_MS_MAX
    spans = excused(tale)
    for each in tale.of(Requested):
        if each.uid not in plain or each.attempt > 1 or each.is_on_demand:
            continue
        if not tale.echo_ends_at <= each.due_at or any(a <= each.due_at <= b for a, b in spans):
            continue
        if each.at >= each.due_at + late_ms_max:
            late_ms = each.at - each.due_at
            what = f"{each.trigger_id}, of high priority, left {late_ms} ms late"
            yield f"{each.name}: {what} at {told(each.at)}"


def _is_plain_and_high(write: Written) -> bool:
    return write.definition.get("priority") == "high" and write.definition.keys() <= _PLAIN


def _is_herd(write: Written) -> bool:
    batch = write.definition.get("batch")
    return write.definition.get("priority") == "low" and batch is not None and batch["count"] >= HERD


_MINUTE_MS: Final = 60_000

#: A minute may use its whole allowance in its first second, so one more minute than has passed may be used
#: up. Clocks differ by up to a minute here, so another one may be.
SPARE_MINUTES: Final = 2

#: The queue shows a message again so long after Lambda has received it in vain.
_IN_VAIN_MS: Final = 3 * _MINUTE_MS


def _slot_used_at(tale: Tale, first: Requested) -> int:
    uid, _, run_id = first.trigger_id.partition("-")
    claims = (each.at for each in tale.runs_of.get((uid, run_id), ()) if each.state == "claimed")
    return min(next(claims, first.at), first.at)


def no_more_triggers_leave_than_allowed(tale: Tale) -> Iterator[str]:
    """From the setting of a limit to the next, no more triggers leave than the limit allows for that time.

    Slots that come while Lambda has no function are used afterwards. A trigger uses its slot when it is first
    claimed. If its function crashes before the request, the trigger leaves minutes later.
    """
    settings, shortages = tale.of(LimitSet), [each for each in _mishaps(tale) if each[0] == "shortage"]
    for number, setting in enumerate(settings):
        until = settings[number + 1].at if number + 1 < len(settings) else tale.ends_at
        first = {each.trigger_id: each for each in reversed(tale.of(Requested)) if each.attempt == 1}
        leaving = sorted(
            at for at in map(partial(_slot_used_at, tale), first.values()) if setting.at <= at < until
        )
        since = min([setting.at, *(at for _, at, end in shortages if at <= setting.at <= end + _IN_VAIN_MS)])
        for count, at in enumerate(leaving, start=1):
            minutes = (at - since) / _MINUTE_MS + SPARE_MINUTES
            if count > setting.per_minute * minutes:
                what = f"{count} triggers left from {told(setting.at)} to {told(at)}"
                yield f"{what}, and {setting.per_minute} a minute are allowed"
                break


#: How the trace calls it, before ` of` and the time that it lasts.
SWITCHED_OFF: Final = "switched off"

#: A delivery function that has received its messages goes on for up to 90 s.
REQUESTS_GO_ON_MS: Final = 90_000


def times_off(tale: Tale) -> Iterator[tuple[int, int]]:
    """From when until when the stack was off."""
    return ((at, on_at) for kind, at, on_at in _mishaps(tale) if kind == SWITCHED_OFF)


def nothing_goes_while_off(tale: Tale) -> Iterator[str]:
    """While the stack is switched off, nothing is swept and nothing is delivered.

    A tick that began before, and the sweepers that it invoked, finish what they have begun. Lambda ends them
    after two minutes. In some seeds they outlive their time limits, and pauses hold them up for longer.
    """
    for off_at, on_at in times_off(tale):
        for request in tale.of(Requested):
            if off_at + REQUESTS_GO_ON_MS < request.at < on_at:
                what = f"attempt {request.attempt} of {request.trigger_id} left at {told(request.at)}"
                yield f"{request.name}: {what}, and the stack was off from {told(off_at)} to {told(on_at)}"
        for cursor in tale.of(CursorStored):
            has_begun = cursor.tick_began_at is not None and cursor.tick_began_at <= off_at
            if off_at < cursor.at < on_at and not has_begun:
                what = f"the cursor of shard {cursor.shard} moved at {told(cursor.at)}"
                yield f"{what}, and the stack was off from {told(off_at)} to {told(on_at)}"
