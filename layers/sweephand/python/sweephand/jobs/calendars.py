"""Writing the calendars of a namespace, and the closed days that a job gets when it is written."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from threading import Lock
from typing import Any, Final, Literal, NamedTuple

from sweephand.base.errors import (
    ConflictError,
    InvalidError,
    NotFoundError,
    Violation,
)
from sweephand.base.instants import Instant
from sweephand.base.limits import BULK_EXAMINED_MAX, CALENDAR_JOBS_EXAMINED_MAX
from sweephand.base.timing import API_LIMIT_MS
from sweephand.jobs.preconditions import check_revision, check_time_limit, until_written
from sweephand.model.calendar import Calendar, CalendarContent, CalendarKey, CalendarMessage, ResolvedDays
from sweephand.model.change import AdminChange, AdminVerb, changes_between
from sweephand.model.definition import Definition
from sweephand.model.job import Job
from sweephand.model.page import Page
from sweephand.ports.calendars import CalendarStore
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.jobs import JobStore
from sweephand.ports.queue import Queue

#: A job that has read the calendar before its change may be committed so long after it.
_LATE_JOBS_MS: Final = 2 * API_LIMIT_MS

#: How many of the jobs that name a calendar an error names.
_NAMED_MAX: Final = 5

#: A large page takes far fewer requests than many small ones.
_PAGE_MAX: Final = BULK_EXAMINED_MAX


class CalendarCheck:
    """Finds the closed days of jobs, and refuses the write of a job whose calendar does not exist."""

    def __init__(self, read: Callable[[CalendarKey], Calendar | None]) -> None:
        self._read = read

    def with_days(self, namespace: str, definition: Definition, stored: Job | None = None) -> Definition:
        """The definition with the closed days of its calendar, if it names one.

        A calendar may be gone although the job `stored` names it: then the job keeps its days. Raises
        InvalidError for any other calendar that does not exist.
        """
        name = definition.calendar
        if name is None:
            return definition
        calendar = self._read(CalendarKey(namespace, name))
        if calendar is not None:
            return replace(definition, closed=calendar.closed)
        if stored is not None and stored.definition.calendar == name and stored.series.days is not None:
            return replace(definition, closed=stored.series.days.days)
        detail = f"There is no calendar {name} in namespace {namespace}. Create the calendar first."
        raise InvalidError([Violation("/calendar/name", detail)])

    def once(self) -> "CalendarCheck":
        """A check for one call: it reads each calendar once, from whichever threads it is asked."""
        lock, remembered = Lock(), cache(self._read)

        def read(key: CalendarKey) -> Calendar | None:
            with lock:
                return remembered(key)

        return CalendarCheck(read)


class CalendarView(NamedTuple):
    """A calendar and what it was written as."""

    calendar: Calendar
    content: CalendarContent


class CalendarAdmin:
    """Shows, writes and deletes calendars. Without preconditions, the last write wins."""

    def __init__(
        self, *, calendars: CalendarStore, jobs: JobStore, queue: Queue, clock: Clock, ids: Ids
    ) -> None:
        self._calendars = calendars
        self._jobs = jobs
        self._queue = queue
        self._clock = clock
        self._ids = ids

    def get(self, key: CalendarKey) -> CalendarView:
        """The calendar; NotFoundError if there is none. UnavailableError if it is written all the time."""

        def read() -> CalendarView | None:
            found = self._view(key)
            if found is None:
                raise NotFoundError(f"There is no calendar {key.name} in namespace {key.namespace}.")
            return found if found.calendar.version == found.content.version else None

        return until_written(read, _BUSY)

    def page(self, namespace: str, after: str, limit: int) -> Page[Calendar]:
        """Up to `limit` calendars by name, after the name `after`."""
        return self._calendars.page(namespace, after, limit)

    def put(
        self,
        key: CalendarKey,
        written: Mapping[str, Any],
        days: ResolvedDays,
        *,
        who: str,
        requested_at: Instant,
        if_match: tuple[str, ...] | None = None,
        if_absent: bool = False,
    ) -> tuple[CalendarView, Literal["created", "replaced", "unchanged"]]:
        """Write a calendar. If it was written so before and has the same days, nothing changes.

        Jobs that name it follow, and a message makes them. One is sent before the commit, to come when each
        job that has read the former days is stored, and one after it. So whatever crashes, every job follows.
        Raises PreconditionError, and UnavailableError after 20 s; then nothing was committed. Raises
        StoreError, after which the write may be committed. The caller may safely ask again.
        """

        def write() -> tuple[CalendarView, Literal["created", "replaced", "unchanged"]] | None:
            stored, now = self._view(key), self._clock.now()
            before = None if stored is None else stored.calendar
            version = None if before is None else before.version
            check_revision(f"calendar {key.name}", version, if_match, if_absent=if_absent)
            if stored is not None and _is_equal(stored, written, days):
                return stored, "unchanged"
            token = self._ids.token()
            calendar = Calendar(
                key,
                token,
                days.closed,
                created_at=now if before is None else before.created_at,
                updated_at=now if before is None else max(now, before.updated_at),
                owner=who,
                known_until=days.known_until,
                source=days.source,
                reached="" if before is not None else None,
            )
            content = CalendarContent(token, written, days.reasons)
            former = {} if stored is None else stored.content.written
            what: AdminVerb = "created" if before is None else "replaced"
            fields = tuple(changes_between(former, written, ("ics",)))
            change = AdminChange(now, who, what, "calendar", *key, token, fields)
            check_time_limit(self._clock, requested_at)
            # A job may have read a calendar of that name before its deletion. So creations are followed, too.
            self._announce(key, _LATE_JOBS_MS)
            if self._calendars.put(calendar, content, version, change):
                self._announce(key, 0)
                return CalendarView(calendar, content), "created" if before is None else "replaced"
            return None

        return until_written(write, _BUSY)

    def delete(
        self, key: CalendarKey, *, who: str, requested_at: Instant, if_match: tuple[str, ...] | None = None
    ) -> None:
        """Delete a calendar. Raises NotFoundError, PreconditionError, and UnavailableError after 20 s.

        Raises ConflictError while jobs name it, or if the namespace has too many jobs. A job that is written
        at this moment may still come to name it. It keeps the days that it has read.
        """

        def write() -> bool | None:
            calendar = self._calendars.get(key)
            if calendar is None:
                raise NotFoundError(f"There is no calendar {key.name} in namespace {key.namespace}.")
            check_revision(f"calendar {key.name}", calendar.version, if_match)
            self._check_unused(key, requested_at)
            check_time_limit(self._clock, requested_at)
            change = AdminChange(self._clock.now(), who, "deleted", "calendar", *key, self._ids.token())
            return self._calendars.delete(calendar, change) or None

        until_written(write, _BUSY)

    def _check_unused(self, key: CalendarKey, requested_at: Instant) -> None:
        """Raise ConflictError if jobs name the calendar, or if the namespace has too many to look at."""
        names: list[str] = []
        examined = 0
        after: str | None = ""
        while after is not None and len(names) <= _NAMED_MAX:
            check_time_limit(self._clock, requested_at)
            page = self._jobs.page(key.namespace, "", after, _PAGE_MAX)
            now = self._clock.now()
            names += [
                job.key.name
                for job in page.items
                if job.definition.calendar == key.name and not job.is_gone(now)
            ]
            after = page.next
            examined += len(page.items)
            if after is not None and examined >= CALENDAR_JOBS_EXAMINED_MAX and not names:
                more = f"more than {CALENDAR_JOBS_EXAMINED_MAX} jobs (calendarJobsExaminedMax)"
                raise ConflictError(
                    f"The namespace has {more}. Whether one of them names the calendar {key.name} is not "
                    "known. Keep the calendar."
                )
        if names:
            more = ", and more" if len(names) > _NAMED_MAX else ""
            shown = ", ".join(names[:_NAMED_MAX])
            raise ConflictError(
                f"Jobs name the calendar {key.name}: {shown}{more}. Write them without it first."
            )

    def _view(self, key: CalendarKey) -> CalendarView | None:
        calendar = self._calendars.get(key)
        content = None if calendar is None else self._calendars.content(key)
        return None if calendar is None or content is None else CalendarView(calendar, content)

    def _announce(self, key: CalendarKey, delay_ms: int) -> None:
        at = self._clock.now() + delay_ms
        self._queue.send([(CalendarMessage(*key, not_before=at, is_last=delay_ms > 0), delay_ms)])


def _is_equal(stored: CalendarView, written: Mapping[str, Any], days: ResolvedDays) -> bool:
    calendar, content = stored
    return (content.written, calendar.closed, calendar.known_until) == (
        written,
        days.closed,
        days.known_until,
    )


_BUSY: Final = "The calendar keeps changing. Nothing was written. Try again."
