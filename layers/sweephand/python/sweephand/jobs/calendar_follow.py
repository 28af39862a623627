"""Jobs follow a calendar that has changed: each gets a series of the new days, page by page."""

from collections.abc import Sequence
from functools import partial
from textwrap import wrap
from typing import Final

from sweephand.base.concurrency import Concurrently
from sweephand.base.errors import StoreError, UnavailableError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.layouts import SENTENCE_LENGTH_MAX
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

#: A page comes again so often when a store fails: within half a minute. Then the jobs that fail come alone.
_PAGE_FAULTS_MAX: Final = 5
_ALONE_DELAY_MS: Final = SECOND_MS

#: How far ahead of its beginning the days of a try apply. A try is in vain if the job falls due between that
#: instant and the commit. A job of every second is armed for five minutes, which can take over a second.
#: Other functions cannot tell a try ahead from a clock that is ahead. CLOCK_SKEW_MAX_MS leaves 5 s for it.
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

        The jobs of a page that cannot follow get a message of their own, and the calendar stays `following`.
        Any error: the message must come again.
        """
        calendar = self._calendars.get(message.key)
        if calendar is None:
            return
        if message.job:
            keys = [JobKey(message.namespace, each) for each in message.job.split()]
            errors = [each for each in self._followed(keys, message) if isinstance(each, Exception)]
            if errors:
                raise errors[0]
            # Whether all jobs have followed by now, only another round can tell.
            self._queue.send([(message._replace(job="", faults=0), 0)])
            return
        page = self._jobs.page(message.namespace, "", message.after, _PAGE_MAX)
        outdated = [each.key for each in page.items if _is_outdated(each, calendar)]
        followed = self._followed(outdated, message)
        failed = [
            key.name for key, each in zip(outdated, followed, strict=True) if isinstance(each, Exception)
        ]
        is_last = message.is_last and not failed
        if message.is_last and failed:
            # Jobs that fail come again by themselves, so that the others follow. They share a message if they
            # fit, since each one leads to another round.
            some = wrap(" ".join(failed), SENTENCE_LENGTH_MAX, break_on_hyphens=False)
            alone = [message._replace(after="", faults=0, job=each) for each in some]
            self._queue.send([(each, _ALONE_DELAY_MS) for each in alone])
        if page.next is not None:
            self._queue.send([(message._replace(after=page.next, faults=0, is_last=is_last), 0)])
        # Only the last round has seen each job that was written while the calendar was.
        reached = page.next or (None if is_last else calendar.reached)
        number = sum(each for each in followed if isinstance(each, int))
        if number or reached != calendar.reached:
            self._calendars.follow(calendar, reached, number)

    def _followed(self, keys: Sequence[JobKey], message: CalendarMessage) -> Sequence[int | Exception]:
        """As _follow(), of each job; or why the job cannot follow.

        The error of a store is raised while the page is to be tried again.
        """
        tries_again = not message.job and message.faults < _PAGE_FAULTS_MAX

        def followed(key: JobKey) -> int | Exception:
            try:
                return self._follow(key, message.key)
            except Exception as error:
                # One job must not keep the others. The log shows the error when the job's own message comes.
                if tries_again and isinstance(error, StoreError | UnavailableError):
                    raise
                return error

        return list(self._concurrently([partial(followed, each) for each in keys]))

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
