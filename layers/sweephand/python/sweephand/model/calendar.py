"""What a calendar of a namespace is: its closed days, and how far its jobs have followed a change."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sweephand.base.instants import Instant


class CalendarKey(NamedTuple):
    """The namespace of a calendar and its name in it."""

    namespace: str
    name: str


class ResolvedDays(NamedTuple):
    """The days of a calendar that its sources give.

    `closed` is the text of all closed days (schedules/day_rule.py). `reasons` has the days that differ from
    the weekend, by their date, each with what a source says of it. The sources know them up to `known_until`,
    a date; None if only the weekend and listed dates close a day. `source` names the library of holidays.
    """

    closed: str
    reasons: Mapping[str, str]
    known_until: str | None = None
    source: str | None = None


@dataclass(frozen=True, slots=True)
class Calendar:
    """One stored calendar, without what is large. `version` changes with every write.

    Jobs carry the `closed` days themselves. After a write they follow, in the order of their names: up to the
    name `reached`, or all of them if that is None. `followed` jobs were changed.
    """

    key: CalendarKey
    version: str
    closed: str
    created_at: Instant
    updated_at: Instant
    owner: str
    known_until: str | None = None
    source: str | None = None
    reached: str | None = ""
    followed: int = 0


class CalendarContent(NamedTuple):
    """What a version of a calendar was written as, and the reasons of its days."""

    version: str
    written: Mapping[str, Any]
    reasons: Mapping[str, str]


class CalendarMessage(NamedTuple):
    """It makes jobs of a namespace follow a calendar: those after the job `after`, or those in `job` alone.

    The names in `job` have spaces between them. If it `is_last`, each job is stored that was written with the
    former days. `faults` is as in other messages.
    """

    namespace: str
    name: str
    not_before: Instant
    after: str = ""
    is_last: bool = False
    faults: int = 0
    job: str = ""

    @property
    def key(self) -> CalendarKey:
        """The calendar."""
        return CalendarKey(self.namespace, self.name)
