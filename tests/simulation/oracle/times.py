"""Checks of the times of a schedule: each fires once, although `jitter` and updates move it.

No formula of a series is used here. Each due time is moved back by its own revision's jitter, and compared
with the times that the schedule names.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

from tests.simulation.oracle.jobs import SKEW_MS
from tests.simulation.oracle.lives import Life, told
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.trace import Written

#: The checks look at no more times of one schedule than this.
_TIMES_MAX = 3_000


def no_time_fires_twice(tale: Tale) -> Iterator[str]:
    """A time of a schedule fires under one due time, though updates move it.

    A time that falls due while an update of the zone or the dueTime is served may fire by both revisions.
    Another schedule has times of its own, and some of them may be at the same instants. So has a schedule
    that comes back after another one: it begins with the request that brought it back.
    """
    fired: dict[tuple[str, int, int], set[int]] = defaultdict(set)
    brought = {(life.uid, each.rev): each for life in tale.lives.values() for each in life.writes}
    series = {life.uid: _series(life) for life in tale.lives.values()}
    for each in tale.requests:
        if (each.uid, each.rev) in brought and not each.is_on_demand:
            reign = tale.lives[each.uid].reign(each.rev)
            # By a clock that is ahead, a request may have left for a time that an update then took over.
            if reign is not None and reign.owns(each.due_at):
                write = brought[each.uid, each.rev]
                number = series[each.uid][each.rev]
                fired[each.uid, number, each.due_at - write.jitter_ms].add(each.due_at)
    for (uid, _, time), dues in fired.items():
        life = tale.lives[uid]
        if len(dues) > 1 and not _was_being_changed(life, dues):
            places = ", ".join(map(told, sorted(dues)))
            yield f"{life.name}: the time {told(time)} of its schedule fired at {places}"


def _series(life: Life) -> dict[str, int]:
    """Return by revision how often the schedule of a job had been replaced by another one."""
    numbers: dict[str, int] = {}
    number = 0
    for before, write in zip([None, *life.writes], life.writes, strict=False):
        if before is not None and before.definition.get("schedule") != write.definition.get("schedule"):
            number += 1
        numbers[write.rev] = number
    return numbers


def no_time_is_left_out(tale: Tale) -> Iterator[str]:
    """While the same schedule rules, whatever its jitter, each of its times belongs to a revision."""
    for life in tale.lives.values():
        for first, last in _stretches(life):
            yield from _left_out(tale, life, first, last)


def _left_out(tale: Tale, life: Life, first: int, last: int) -> Iterator[str]:
    writes = life.writes
    timing = replace(life.occurrences[first].timing, jitter_ms=0, ttl_at=None, repeats=None, counted_at=None)
    begins = writes[first].since - writes[first].jitter_ms
    if first and writes[first].definition.get("schedule") == writes[first - 1].definition.get("schedule"):
        # With another zone or rule, the times up to there were those of the writes before.
        before = writes[first - 1]
        begins = max(begins, max(writes[first].asked_at, before.since) - before.jitter_ms)
        begins = max([begins, *_taken_up_to(life, first)])
    elif not timing.counts_from_start:
        # The first time of a schedule is its next match after the request (semantics.md, `schedule`).
        begins = max(begins, writes[first].asked_at - writes[first].jitter_ms)
    if last + 1 < len(writes):
        ends = min(writes[last].paused_at or writes[last + 1].asked_at, writes[last + 1].asked_at)
    else:
        ends = min(writes[last].paused_at or tale.through, tale.through)
    ends -= max(each.jitter_ms for each in writes[first : last + 1])
    if not timing.counts_from_start:
        timing = replace(timing, start_at=min(timing.start_at, begins))
    owned = _owned(tale, life, range(first, last + 1))
    # The times before the first write took effect can also be those of the writes before with that schedule.
    earlier = {
        time for time in _owned(tale, life, _with_its_schedule(life, first)) if time <= writes[first].since
    }
    times = takewhile(lambda each: each <= ends, timing.instants())
    for _, time in zip(range(_TIMES_MAX), times, strict=False):
        if time > begins and time not in owned | earlier and not _was_skipped(life, first, last, time):
            yield f"{life.name}: the time {told(time)} of its schedule belongs to no revision"


def _taken_up_to(life: Life, first: int) -> Iterator[int]:
    """Up to where earlier updates of that schedule left its times to the write before each of them.

    An update takes over no time that was due before it by the jitter of then, whatever its own zone is.
    """
    for number in _with_its_schedule(life, first)[1:]:
        yield life.writes[number].asked_at - life.writes[number - 1].jitter_ms


def _owned(tale: Tale, life: Life, numbers: range) -> set[int]:
    """Return the times of the schedule, without jitter, that the revisions of those writes own."""
    reigns = life.reigns()
    return {
        due_at - life.writes[number].jitter_ms
        for number in numbers
        for reign in reigns
        if reign.rev == life.writes[number].rev
        for due_at in reign.dues(tale.through)
    }


def _with_its_schedule(life: Life, first: int) -> range:
    """Return the numbers of the writes in a row before a write, as far as they have its schedule."""
    schedule = life.writes[first].definition.get("schedule")
    begin = first
    while begin and life.writes[begin - 1].definition.get("schedule") == schedule:
        begin -= 1
    return range(begin, first)


def _stretches(life: Life) -> Iterator[tuple[int, int]]:
    """Return the first and last numbers of writes in a row with one schedule and without bounds.

    If a repeated creation brought the job back, nothing is owed of the writes before it.
    """
    first = life.first_since_return(len(life.writes) - 1)
    for number in range(first + 1, len(life.writes) + 1):
        if number == len(life.writes) or plain(life.writes[number]) != plain(life.writes[first]):
            if all(_is_unbound(each) for each in life.writes[first:number]):
                yield first, number - 1
            first = number


def plain(write: Written) -> object:
    """Return what says when a job fires, but for its bounds and its calendar."""
    return {name: write.definition.get(name) for name in ("schedule", "timezone", "dst", "dueTime")}


def _is_unbound(write: Written) -> bool:
    """Whether only the schedule says when a job fires."""
    # Times that a calendar moves are judged by calendars.py.
    bounds = ("dueTime", "ttl", "repeats", "calendar")
    is_list = isinstance(write.definition.get("schedule"), list)
    is_scheduled = "schedule" in write.definition and not is_list
    return is_scheduled and not any(each in write.definition for each in bounds)


def _was_being_changed(life: Life, dues: set[int]) -> bool:
    return any(
        life.began[number] and any(write.asked_at - 1 <= due_at <= write.cut + SKEW_MS for due_at in dues)
        for number, write in enumerate(life.writes)
        if number
    )


def _was_skipped(life: Life, first: int, last: int, time: int) -> bool:
    """Whether a resume decided on that time, because it fell due in a pause."""
    pairs = ((life.writes[number - 1], life.writes[number]) for number in range(max(first, 1), last + 1))
    return any(
        write.verb == "resume"
        and before.paused_at is not None
        and before.paused_at - before.jitter_ms <= time <= write.asked_at - write.jitter_ms
        for before, write in pairs
    )
