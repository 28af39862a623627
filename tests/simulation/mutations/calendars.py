"""Errors with calendars that change under their jobs."""

from collections.abc import Callable
from copy import copy
from typing import Any, Final
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, Instead, everywhere, mutation, replacing, wrapping
from tests.simulation.workload.calendars import FIRST_WITH_CALENDARS

from sweephand.jobs import calendar_follow, commit, day_change, series
from sweephand.jobs.calendar_follow import CalendarFollower
from sweephand.jobs.calendars import CalendarAdmin
from sweephand.model.calendar import CalendarKey, CalendarMessage
from sweephand.model.job import Job
from sweephand.schedules import Series
from sweephand.schedules.clock.fitting_days import FittingDays
from sweephand.schedules.notations.parsing import why_unmovable

FIRST: Final = FIRST_WITH_CALENDARS
AMENDED: Final = day_change.amended


def _amended_without(**forgotten: Any) -> Broken:
    def changed(series: Series, former: Series, reached_at: int, now: int) -> Series:
        found = AMENDED(series, former, reached_at, now)
        return found if found.days is None else found._replace(days=found.days._replace(**forgotten))

    return everywhere("amended", changed)


@mutation("A job that follows fires again what it has fired before on another day", first=FIRST)
def fires_moved_days_again() -> Broken:
    return _amended_without(without=(), fired=())


@mutation("A job that follows forgets what its new days have put into the past", first=FIRST)
def forgets_what_is_late() -> Broken:
    return _amended_without(also=())


@mutation("Jobs follow no further than the first page of them", first=FIRST)
def stops_after_a_page() -> Broken:
    follow: Any = CalendarFollower.follow

    def one_page(self: CalendarFollower, message: CalendarMessage) -> None:
        if not message.after:
            follow(self, message)

    return patch.object(CalendarFollower, "follow", one_page)


@mutation("No message comes after the jobs that were written while the calendar was", first=FIRST)
@wrapping(CalendarAdmin, "_announce")
def forgets_late_jobs(
    announce: Callable[..., None], self: CalendarAdmin, key: CalendarKey, delay_ms: int
) -> None:
    if not delay_ms:
        announce(self, key, delay_ms)


@mutation(
    "A function makes jobs follow a calendar that it has read long before",
    shown_by="tests/unit/jobs/test_calendars.py::test_a_job_does_not_fall_back_when_a_function_has_read_the_calendar_long_before",
)
def falls_back() -> Broken:
    follow: Any = CalendarFollower.follow

    def read_once(self: CalendarFollower, message: CalendarMessage) -> None:
        once, calendar = copy(self), self._calendars.get(message.key)
        vars(once).update(_calendars=Instead(self._calendars, get=lambda _: calendar))
        follow(once, message)

    return patch.object(CalendarFollower, "follow", read_once)


@mutation(
    "What falls due while a job follows fires by both of its versions, or by none",
    shown_by="tests/unit/jobs/test_calendars.py::test_what_falls_due_while_a_job_follows_fires_once",
)
@replacing(commit, "_was_due")
def follows_over_what_is_due(stored: Job, job: Job) -> bool:
    del stored, job
    return False


@mutation(
    "A job of every second is to follow at once, and on a slow stack it never does",
    shown_by=(
        "tests/unit/jobs/test_calendars.py"
        "::test_a_job_that_is_due_every_second_follows_though_its_arming_takes_seconds"
    ),
)
def follows_at_once_or_never() -> Broken:
    return patch.object(calendar_follow, "TRIES_MS", (0, 0, 0, 0))


@mutation("A job that follows moves to the next day what it has skipped before", first=FIRST)
def moves_what_is_skipped() -> Broken:
    followed = series.followed_series

    def moved(stored: Job, closed: str, now: int) -> Series:
        after = followed(stored, closed, now)
        is_movable = after.schedule is None or why_unmovable(after.schedule) is None
        if after.days is None or after.days.moves or not is_movable:
            return after
        return after._replace(days=after.days._replace(otherwise="next"))

    return everywhere("followed_series", moved)


@mutation("Occurrences are counted as if every day fitted", first=FIRST)
@wrapping(FittingDays, "count")
def counts_every_day(count: Callable[..., int], self: FittingDays, from_s: int, before_s: int) -> int:
    del count
    return self.pattern.count(from_s, before_s)


@mutation("A job that follows begins to count anew", first=FIRST)
def counts_from_the_change() -> Broken:
    return patch.object(series, "_count", lambda *_: 0)
