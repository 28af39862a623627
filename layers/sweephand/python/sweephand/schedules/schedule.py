"""A schedule as its user wrote it, and as a series keeps and stores it.

A list of instants fires at each of them once. It holds up to 100 instants as RFC 3339 writes them, in any
order. Reference: semantics.md alone; no other notation has such a list.
"""

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from sweephand.base.errors import ScheduleError, SchedulePartsError
from sweephand.base.instants import Instant
from sweephand.base.limits import INSTANTS_MAX
from sweephand.base.names import quoted
from sweephand.schedules.time_points import parse_instant
from sweephand.schedules.timeline import Beginning, FixedInstants


class NamedFields(NamedTuple):
    """Cron by the names of its fields: the given fields in the order of cron, each with its text."""

    given: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        """The object as a caller writes it, for messages."""
        return json.dumps(self.to_item())

    def to_item(self) -> dict[str, str]:
        """The given fields."""
        return dict(self.given)


class InstantList(NamedTuple):
    """The instants of a list, in ascending order and all different."""

    instants: tuple[Instant, ...]

    def timeline(self, beginning: Beginning) -> FixedInstants:
        """The instants that are neither past at the beginning nor before its dueTime."""
        return FixedInstants(self.instants[bisect_right(self.instants, beginning.eager_floor_at) :])

    def to_item(self) -> list[Instant]:
        """The instants as numbers, which take half as much room as texts."""
        return list(self.instants)


#: A schedule as its user wrote it: a text, fields by name, or a list of instants.
ScheduleInput: TypeAlias = str | Mapping[str, Any] | list[Any]

#: A schedule as a series keeps it. It can be compared and stored. A text stays as it was written.
Schedule: TypeAlias = str | NamedFields | InstantList


def schedule_of_item(item: Any) -> Schedule:
    """The schedule of a stored item or a message: a text, a map of fields, or a list of numbers."""
    match item:
        case str():
            return item
        case Mapping():
            return NamedFields(tuple(item.items()))
        case _:
            return InstantList(tuple(map(int, item)))


def item_of_schedule(schedule: Schedule) -> Any:
    """What is stored of a schedule."""
    return schedule if isinstance(schedule, str) else schedule.to_item()


def parse_instant_list(written: Sequence[object]) -> InstantList:
    """The instants of a list. Raises SchedulePartsError, which names every part that cannot be read."""
    if not written:
        raise ScheduleError("an empty list; expected at least one instant such as 2027-01-31T09:00:00Z")
    if len(written) > INSTANTS_MAX:
        raise ScheduleError(f"a list of {len(written)} instants; expected at most {INSTANTS_MAX}")
    found: set[Instant] = set()
    faults: list[ScheduleError] = []
    for at, each in enumerate(written):
        try:
            found.add(_instant(each))
        except ScheduleError as fault:
            faults.append(ScheduleError(str(fault), f"/{at}"))
    if faults:
        raise SchedulePartsError(faults)
    return InstantList(tuple(sorted(found)))


def _instant(written: object) -> Instant:
    if not isinstance(written, str):
        raise ScheduleError(
            f"{quoted(str(written))} is no text; expected an instant such as 2027-01-31T09:00:00Z"
        )
    return parse_instant(written)
