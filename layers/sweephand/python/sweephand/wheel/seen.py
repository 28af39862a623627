"""Doubles: which of two equal timers in one bucket a sweeper skips."""

from dataclasses import dataclass, field
from typing import TypeAlias

from sweephand.base.instants import Instant
from sweephand.model.job import JobKey
from sweephand.model.timer import OccurrenceTimer, Place

#: The job and the revision of a timer, its first trigger by due time and index, and who asked for it.
_Name: TypeAlias = tuple[JobKey, str, str, Instant, int, str | None]


@dataclass(slots=True)
class Seen:
    """The occurrence timers of one bucket that one sweeper has met.

    A crash or a timer that was put off can leave two timers of one revision with the same first trigger in
    one bucket. The second one would yield the same triggers and the same successor again, for ever if both
    are in packs. So a sweeper skips it.
    """

    _places: dict[_Name, Place] = field(default_factory=dict)

    def is_double(self, place: Place, timer: OccurrenceTimer) -> bool:
        """Note a timer, and return whether its revision and first trigger were met at another place."""
        return self._places.setdefault(_name(timer), place) != place


def _name(timer: OccurrenceTimer) -> _Name:
    first, demand = timer.first, timer.demand
    asked_by = None if demand is None else demand.token
    return timer.key, timer.uid, timer.rev, first.due_at, first.batch_index, asked_by
