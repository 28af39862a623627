"""What a job still owes after the days of its calendar have changed, by comparing all of its days.

A day of the schedule fires once, whatever moves it. What fired before the change stays fired. What was still
to come, and would lie before the change, is due API_LIMIT_MS after the request. All else fires at its new
place.
"""

import datetime as dt
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import count, takewhile
from typing import NamedTuple

from tests.simulation.oracle.days import EVERY_DAY
from tests.simulation.oracle.enumeration import Timing

#: A change is committed within this time of its request (protocol.md, "Clocks").
API_LIMIT_MS = 25_000

#: No world closes so many days in a row that an occurrence moves further than this.
NEAR_MS = 25 * 86_400_000


class Name(NamedTuple):
    """The day of the schedule for which an occurrence stands, and its number among those of that day."""

    day: dt.date
    number: int


def amended(timing: Timing, former: Timing, reached: int, asked_at: int) -> Timing:
    """Return the timing that follows `former` with other days. `former` has fired all up to `reached`."""
    days, before = timing.days or EVERY_DAY, former.days or EVERY_DAY
    if days.is_like(before):
        return replace(timing, days=former.days)
    moved_to = reached + timing.jitter_ms - former.jitter_ms
    was, becomes = dict(named(former, reached)), dict(named(timing, moved_to))
    fired = before.fired | {name for name, at in was.items() if at <= reached or at in before.without}
    places = {at for at in was.values() if at <= reached}
    without = {at for name, at in becomes.items() if at > moved_to and name in fired}
    late = [name for name, at in becomes.items() if at <= moved_to and name in was and name not in fired]
    late = [name for name in late if becomes[name] not in places]
    also = {each for each in before.also if each > reached}
    for instant in count(max(asked_at, reached) + API_LIMIT_MS):
        if len(late) == 0:
            break
        if instant not in also and instant not in becomes.values():
            also.add(instant)
            late.pop()
    ordered = tuple(sorted(also)), tuple(sorted(without))
    return replace(timing, days=replace(days, also=ordered[0], without=ordered[1], fired=fired))


def named(timing: Timing, around: int) -> Iterator[tuple[Name, int]]:
    """Return the occurrences around an instant by their names, without bounds and amendments."""
    days = None if timing.days is None else replace(timing.days, also=(), without=())
    plain = replace(timing, days=days, counted_at=max(timing.first_at - 1, around - NEAR_MS))
    numbers: dict[dt.date, Iterator[int]] = {}
    stands_for = cache(plain.stands_for)  # a day may have thousands of occurrences
    for at in takewhile(lambda each: each <= around + NEAR_MS, plain.instants()):
        fires_on = plain.local_day(at)
        number = next(numbers.setdefault(fires_on, count()))
        yield Name(stands_for(fires_on), number), at
