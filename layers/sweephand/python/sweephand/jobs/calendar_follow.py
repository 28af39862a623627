"""Jobs follow a calendar that has changed: each gets a series of the new days, page by page."""

from functools import partial
from typing import Final

from sweephand.base.concurrency import Concurrently
from sweephand.base.errors import StoreError, UnavailableError
from sweephand.base.instants import SECOND_MS, Instant
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

#: A page comes again so often when a store fails: within half a minute. Then its jobs come one by one.
_PAGE_FAULTS_MAX: Final = 5
_ALONE_DELAY_MS: Final = SECOND_MS

#: How far ahead of its beginning the days of a try apply. A try is in vain if the job falls due between that
#: instant and the commit. A job of every second is armed for five minutes, which can take over a second. To
#: others, a try ahead looks like one of a clock that is ahead: CLOCK_SKEW_MAX_MS leaves 5 s to spare.
TRIES_MS: Final = (0, SECOND_MS, 2 * SECOND_MS, 4 * SECOND_MS)


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

        A job that cannot follow gets a message of its own, and the calendar stays `following`. Any error: the
        message must come again.
        """
        calendar = self._calendars.get(message.key)
        if calendar is None:
            return
        if message.job:
            self._follow(JobKey(message.namespace, message.job), message.key)
            # Whether all jobs have followed by now, only another round can tell.
            self._queue.send([(message._replace(job="", faults=0), 0)])
            return
        page = self._jobs.page(message.namespace, "", message.after, _PAGE_MAX)
        outdated = [each.key for each in page.items if _is_outdated(each, calendar)]
        tries_again = message.faults < _PAGE_FAULTS_MAX
        tasks = [partial(self._followed, key, calendar.key, tries_again=tries_again) for key in outdated]
        followed = [*self._concurrently(tasks)]
        failed = [key.name for key, number in zip(outdated, followed, strict=True) if number is None]
        is_last = message.is_last and not failed
        if message.is_last:
            # A job that fails comes again by itself, so that the others follow.
            alone = [message._replace(after="", faults=0, job=name) for name in failed]
            self._queue.send([(each, _ALONE_DELAY_MS) for each in alone])
        if page.next is not None:
            self._queue.send([(message._replace(after=page.next, faults=0, is_last=is_last), 0)])
        # Only the last round has seen each job that was written while the calendar was.
        reached = page.next or (None if is_last else calendar.reached)
        number = sum(filter(None, followed))
        if number or reached != calendar.reached:
            self._calendars.follow(calendar, reached, number)

    def _followed(self, key: JobKey, of: CalendarKey, *, tries_again: bool) -> int | None:
        """As _follow(); None if the job cannot follow. With `tries_again`, the error of a store is raised."""
        try:
            return self._follow(key, of)
        except Exception as error:
            # One job must not keep the others. The log shows the error when the job's own message comes.
            if tries_again and isinstance(error, StoreError | UnavailableError):
                raise
            return None

    def _follow(self, key: JobKey, of: CalendarKey) -> int:
        """Make a job follow; return how many did. UnavailableError if each try was in vain.

        The calendar is read for each job. If it was read long before the commit, a later change could have
        made the job follow meanwhile, and the job would fall back.
        """
        for ahead_ms in TRIES_MS:
            requested_at: Instant = self._clock.now() + ahead_ms
            calendar, stored = self._calendars.get(of), self._jobs.get(key)
            if stored is None or stored.is_gone(requested_at):
                return 0
            if calendar is None or not _is_outdated(stored, calendar):
                return 0
            draft = draft_follow(stored, calendar.closed, token=self._ids.token(), now=requested_at)
            if self._commits.commit(draft, stored, over=stored) is not None:
                return 1
        raise UnavailableError(f"{key} could not follow its calendar, since it was due or changed meanwhile.")


def _is_outdated(job: Job, calendar: Calendar) -> bool:
    """Whether a job names the calendar and has other days."""
    days = job.series.days
    return job.definition.calendar == calendar.key.name and days is not None and days.days != calendar.closed
