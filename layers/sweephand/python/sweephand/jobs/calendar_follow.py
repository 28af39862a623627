"""Jobs follow a calendar that has changed: each gets a series of the new days, page by page."""

from functools import partial
from typing import Final

from sweephand.base.concurrency import Concurrently
from sweephand.base.instants import Instant
from sweephand.jobs.commit import Commits
from sweephand.jobs.draft import draft_follow
from sweephand.model.calendar import Calendar, CalendarKey, CalendarMessage
from sweephand.model.job import Job, JobKey
from sweephand.ports.calendars import CalendarStore
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.jobs import ChangeStore, JobStore, PayloadStore
from sweephand.ports.queue import Queue
from sweephand.ports.wheel import TimerStore

#: How many jobs one message makes follow before the next one goes on.
_PAGE_MAX: Final = 100


class CalendarFollower:
    """Makes jobs follow. Calls may run at once and be repeated: a job that has followed is left as it is."""

    def __init__(
        self,
        *,
        calendars: CalendarStore,
        jobs: JobStore,
        changes: ChangeStore,
        timers: TimerStore,
        queue: Queue,
        payloads: PayloadStore,
        clock: Clock,
        ids: Ids,
        concurrently: Concurrently,
    ) -> None:
        self._calendars = calendars
        self._jobs = jobs
        self._commits = Commits(
            jobs=jobs, changes=changes, timers=timers, queue=queue, payloads=payloads, clock=clock
        )
        self._queue = queue
        self._clock = clock
        self._ids = ids
        self._concurrently = concurrently

    def follow(self, message: CalendarMessage) -> None:
        """Make the next jobs of the namespace follow, and send the message that goes on after them.

        StoreError: the message must come again.
        """
        calendar = self._calendars.get(message.key)
        if calendar is None:
            return
        page = self._jobs.page(message.namespace, "", message.after, _PAGE_MAX)
        outdated = [each.key for each in page.items if _is_outdated(each, calendar)]
        followed = sum(self._concurrently([partial(self._follow, key, calendar.key) for key in outdated]))
        if page.next is not None:
            self._queue.send([(message._replace(after=page.next, faults=0), 0)])
        # Only the last round has seen each job that was written while the calendar was.
        reached = page.next or (None if message.is_last else calendar.reached)
        if followed or reached != calendar.reached:
            self._calendars.follow(calendar, reached, followed)

    def _follow(self, key: JobKey, of: CalendarKey) -> int:
        """Make a job follow; return how many did.

        The calendar is read for each job. If it was read long before the commit, a later change could have
        made the job follow meanwhile, and the job would fall back.
        """
        while True:
            requested_at: Instant = self._clock.now()
            calendar, stored = self._calendars.get(of), self._jobs.get(key)
            if stored is None or stored.is_gone(requested_at):
                return 0
            if calendar is None or not _is_outdated(stored, calendar):
                return 0
            draft = draft_follow(stored, calendar.closed, token=self._ids.token(), now=requested_at)
            if self._commits.commit(draft, stored, over=stored) is not None:
                return 1


def _is_outdated(job: Job, calendar: Calendar) -> bool:
    """Whether a job names the calendar and has other days."""
    days = job.series.days
    return job.definition.calendar == calendar.key.name and days is not None and days.days != calendar.closed
