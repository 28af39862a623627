"""What a series owes and no longer has after its calendar has changed, so that each time fires once.

A calendar moves occurrences from day to day. After a change of the calendar, an occurrence that was moved
ahead and has fired could come again on its own day. One that is still to come could have its place in the
past. An occurrence is known by the day of the schedule that it stands for, and by its place among those of
that day.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import count, filterfalse, islice
from typing import Final, NamedTuple

from sweephand.base.instants import DAY_MS, SECOND_MS, Instant
from sweephand.base.timing import API_LIMIT_MS
from sweephand.schedules import Series
from sweephand.schedules.clock.fitting_days import wall_of
from sweephand.schedules.clock.zones import DAY_S, Zone, zone_named
from sweephand.schedules.day_rule import EVERY_DAY, MOVED_DAYS_MAX, DayRule
from sweephand.schedules.notations.parsing import why_unmovable

#: An occurrence is moved by 31 days at most, once by the former calendar and once by the new one.
_REACH_MS: Final = (2 * MOVED_DAYS_MAX + 2) * DAY_MS

#: A number of DayRule.fired names a part of a day, and in its lowest bits 24 of the day's occurrences.
_BITS: Final = 24

#: The parts of a day: 192 occurrences. A list has at most 100. 24 times are 48 on a day that clocks repeat.
_PARTS: Final = 8


class _Name(NamedTuple):
    """What an occurrence stands for: a day of the schedule, and its place among the occurrences of it."""

    day: int
    place: int


def amended(series: Series, former: Series, reached_at: Instant, now: Instant) -> Series:
    """The series, which takes the place of `former`, with the amendments that its days need.

    What `former` has fired up to `reached_at` does not fire again. What it had still to fire, and what the
    new days have put before `reached_at`, is due API_LIMIT_MS after `now`: after the commit of the change.
    Series of equal days keep their amendments. Both series have the same schedule.
    """
    days, before = series.days or EVERY_DAY, former.days or EVERY_DAY
    if days[:3] == before[:3]:
        return series._replace(days=former.days)
    carried = [each for each in before.also if each > reached_at]
    is_amended = bool(carried or before.fired or any(each > reached_at for each in before.without))
    if not is_amended and not _differ(series, former, reached_at):
        return series
    # A change of jitter moves the boundary with the series (decision 017).
    moved_to = reached_at + series.jitter_ms - former.jitter_ms
    was, becomes = _named(former, reached_at), _named(series, moved_to)
    fired = {name for name, at in was.items() if at <= reached_at or at in before.without}
    fired |= {*_names_of(before.fired)}
    fired_at = {at for at in was.values() if at <= reached_at}
    without = tuple(at for name, at in becomes.items() if at > moved_to and name in fired)
    owed = [
        name
        for name, at in becomes.items()
        if at <= moved_to and name in was.keys() - fired and at not in fired_at
    ]
    free = filterfalse({*becomes.values(), *carried}.__contains__, count(max(now, reached_at) + API_LIMIT_MS))
    also = tuple(sorted([*carried, *islice(free, len(owed))]))
    # What has fired, and is on no day by now, must not fire when a later calendar gives it a day again. A day
    # of long ago cannot come back.
    since = _day_of(reached_at, zone_named(series.timezone)) - MOVED_DAYS_MAX
    placeless = _days_of(name for name in fired - becomes.keys() if name.day >= since)
    if not (also or without or placeless):
        return series
    return series._replace(days=days._replace(also=also, without=without, fired=placeless))


def _differ(series: Series, former: Series, around: Instant) -> bool:
    """Whether near an instant, a day of the schedule fires elsewhere by the one series than by the other.

    If both only skip days, then days to come do not matter. A day that has fired and is closed by now does: a
    later calendar may move it.
    """
    days, before = series.days or EVERY_DAY, former.days or EVERY_DAY
    moves = days.moves or before.moves
    if not moves and series.schedule is not None and why_unmovable(series.schedule) is not None:
        return False
    ends_at = around + (_REACH_MS if moves else DAY_MS)
    near = range((around - _REACH_MS) // DAY_MS, ends_at // DAY_MS + 1)
    return any(days.target(each) != before.target(each) for each in near)


def _names_of(fired: Iterable[int]) -> Iterator[_Name]:
    for each in fired:
        day, part = divmod(each >> _BITS, _PARTS)
        yield from (_Name(day, part * _BITS + bit) for bit in range(_BITS) if each >> bit & 1)


def _days_of(names: Iterable[_Name]) -> tuple[int, ...]:
    bits: dict[int, int] = {}
    for name in names:
        part, bit = divmod(name.place, _BITS)
        assert part < _PARTS, "no day has more occurrences that a calendar moves"
        at = name.day * _PARTS + part
        bits[at] = bits.get(at, 0) | 1 << bit
    return tuple(at << _BITS | bits[at] for at in sorted(bits))


def _named(series: Series, around: Instant) -> Mapping[_Name, Instant]:
    """The occurrences of a series around an instant, in order. Bounds and amendments are left out."""
    zone, rule = zone_named(series.timezone), series.days and DayRule(*series.days[:3])
    plain = series._replace(days=rule, repeats=None, ttl_at=None, counted_at=None, counted=0, batch=None)
    unmoved = plain._replace(days=None, start_at=min(plain.start_at, around - _REACH_MS))
    found: dict[_Name, Instant] = {}
    day = stands_for = place = -1
    for instant in _within(plain, around):
        fires_on = _day_of(instant - series.jitter_ms, zone)
        place += 1
        if fires_on != day:
            day, stands_for, place = fires_on, _stands_for(unmoved, rule, fires_on, zone), 0
        found[_Name(stands_for, place)] = instant
    return found


def _within(series: Series, around: Instant) -> Iterator[Instant]:
    for occurrence in series.occurrences(around - _REACH_MS):
        if occurrence.due_at > around + _REACH_MS:
            return
        yield occurrence.due_at


def _stands_for(unmoved: Series, rule: DayRule | None, day: int, zone: Zone) -> int:
    """The day of the schedule for which the occurrences of a day stand: it, or the nearest moved one."""
    sources = [] if rule is None else sorted(rule.sources(day), key=lambda each: abs(each - day))
    for source in sources:
        begin_at = zone.instant_of(source * DAY_S) * SECOND_MS + unmoved.jitter_ms
        coming = unmoved.next_after(begin_at - 1)
        if coming is not None and _day_of(coming.due_at - unmoved.jitter_ms, zone) == source:
            return source
    return day


def _day_of(instant: Instant, zone: Zone) -> int:
    return wall_of(instant, zone) // DAY_S
