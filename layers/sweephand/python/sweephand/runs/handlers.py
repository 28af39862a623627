"""Which handler handles a message: there is one for each kind."""

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, NamedTuple, assert_never

from sweephand.base.instants import INSTANT_MAX, Instant
from sweephand.base.timing import EARLY_WAIT_MAX_MS
from sweephand.jobs.expiry import JobExpiry
from sweephand.jobs.pause import Pauser
from sweephand.model.calendar import CalendarMessage
from sweephand.model.orders import ResumeMessage
from sweephand.model.trigger import (
    DeadlineMessage,
    FailureMessage,
    NotifyMessage,
    OtherMessage,
    RangeMessage,
)
from sweephand.model.watch import WatchMessage
from sweephand.model.window import NO_WINDOWS
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.jobs import ChangeStore, JobStore, PayloadStore
from sweephand.ports.queue import Queue, Targets
from sweephand.ports.runs import LineStore, RunStore
from sweephand.runs.attempt import Attempts, NamespaceParts
from sweephand.runs.claims import Claims
from sweephand.runs.deadlines import Deadlines
from sweephand.runs.deliver import Deliverer
from sweephand.runs.delivery import UNREAD, JobReads
from sweephand.runs.faults import Faults
from sweephand.runs.follow_up import FollowUp
from sweephand.runs.gates import Gates
from sweephand.runs.overlap_queue import OverlapQueue
from sweephand.runs.received import Outcome
from sweephand.runs.requeue import Requeue, Retention
from sweephand.runs.valve import Valve
from sweephand.runs.watch import Watch

if TYPE_CHECKING:
    from sweephand.flow.gates import Gates as FlowGates
    from sweephand.jobs.calendar_follow import CalendarFollower
    from sweephand.ports.wheel import TimerStore
    from sweephand.runs.batch_progress import BatchProgress

    # The next three arm triggers, which few deliveries do: 3 ms of a start's 165 ms (infra.bench start).
    from sweephand.runs.notify import Notifier
    from sweephand.runs.resumes import Resumes
    from sweephand.runs.trigger_ranges import TriggerRanges


class Rare(NamedTuple):
    """What few deliveries need: long waits, gates, batches and calendars. It is made when first needed.

    Threads may share the parts, and two threads may make one each, which differ in nothing.
    `gates` are those of policies, and `progress` marks the runs of batches that are over. `calendars` makes
    what lets jobs follow a calendar.
    """

    timers: "TimerStore"
    gates: "FlowGates"
    progress: "BatchProgress"
    calendars: "Callable[[], CalendarFollower]"


class Handlers:
    """Handles one message at a time, from any number of threads. The caller acknowledges what returns.

    The `deliverer` handles triggers, which most messages are. What cannot be handled goes to `faults`.

    A message that has to wait is sent again, or becomes a timer if it has to wait for long. Only then is the
    old message acknowledged. A crash therefore repeats a message, with the same trigger id, and loses
    nothing.

    What few invocations need is imported and made when it is first needed. Two threads may then make one
    each, which differ in nothing.
    """

    def __init__(
        self,
        *,
        jobs: JobStore,
        changes: ChangeStore,
        runs: RunStore,
        lines: LineStore,
        queue: Queue,
        payloads: PayloadStore,
        targets: Targets,
        namespaces: NamespaceParts,
        clock: Clock,
        ids: Ids,
        rare: Callable[[], Rare],
        valve: Valve | None,
    ) -> None:
        """A stack without limits has no valve."""
        self._clock = clock
        self._rare = rare
        self._job_reads = JobReads(jobs=jobs, clock=clock)
        self._requeue = Requeue(queue=queue, timers=lambda: rare().timers, payloads=payloads, clock=clock)
        retention = Retention(jobs=jobs, runs=runs, clock=clock, ids=ids)
        expiry = JobExpiry(jobs=jobs, runs=runs, lines=lines, clock=clock, ids=ids)
        overlap_queue = OverlapQueue(lines=lines, runs=runs, queue=queue, clock=clock, ids=ids)
        follow_up = FollowUp(
            runs=runs,
            queue=queue,
            requeue=self._requeue,
            pauser=Pauser(jobs=jobs, changes=changes, send_at=self._requeue.send_at, clock=clock, ids=ids),
            expiry=expiry,
            retention=retention,
            clock=clock,
            ids=ids,
        )

        @cache
        def notifier() -> "Notifier":
            from sweephand.runs.notify import Notifier  # noqa: PLC0415 - as above

            return Notifier(
                runs=runs,
                queue=queue,
                job_reads=self._job_reads,
                requeue=self._requeue,
                payloads=payloads,
                targets=targets,
                namespaces=namespaces,
                clock=clock,
                ids=ids,
            )

        @cache
        def ranges() -> "TriggerRanges":
            from sweephand.runs.trigger_ranges import TriggerRanges  # noqa: PLC0415 - same

            return TriggerRanges(
                job_reads=self._job_reads,
                runs=runs,
                timers=rare().timers,
                queue=queue,
                requeue=self._requeue,
                expiry=expiry,
                retention=retention,
                clock=clock,
            )

        @cache
        def resumes() -> "Resumes":
            from sweephand.runs.resumes import Resumes  # noqa: PLC0415 - same

            return Resumes(
                jobs=jobs,
                changes=changes,
                runs=runs,
                timers=rare().timers,
                queue=queue,
                payloads=payloads,
                requeue=self._requeue,
                expiry=expiry,
                clock=clock,
                ids=ids,
            )

        self._deadlines = Deadlines(
            jobs=jobs,
            runs=runs,
            requeue=self._requeue,
            follow_up=follow_up,
            expiry=expiry,
            overlap_queue=overlap_queue,
            rare=rare,
            clock=clock,
            ids=ids,
        )
        self._watch = Watch(
            runs=runs,
            queue=queue,
            job_reads=self._job_reads,
            requeue=self._requeue,
            windows=namespaces.windows or (lambda _: NO_WINDOWS),
            clock=clock,
        )
        attempts = Attempts(
            job_reads=self._job_reads, payloads=payloads, targets=targets, namespaces=namespaces, clock=clock
        )
        claims = Claims(runs=runs, clock=clock, ids=ids)
        self.deliverer = Deliverer(
            gates=Gates(
                runs=runs,
                job_reads=self._job_reads,
                attempts=attempts,
                claims=claims,
                overlap_queue=overlap_queue,
                retention=retention,
                valve=valve,
                windows=namespaces.windows,
                clock=clock,
            ),
            attempts=attempts,
            claims=claims,
            follow_up=follow_up,
            overlap_queue=overlap_queue,
            requeue=self._requeue,
            runs=runs,
            job_reads=self._job_reads,
            retention=retention,
            expiry=expiry,
            clock=clock,
        )
        self.faults = Faults(queue=queue, claims=claims, deliverer=self.deliverer, clock=clock)
        self._notifier = notifier
        self._ranges = ranges
        self._resumes = resumes

    def handle(self, message: OtherMessage, deadline: Instant = INSTANT_MAX) -> Outcome:
        """Handle a message. When this returns, and its outcome was obeyed, it may be acknowledged.

        `deadline` is when the function's time is up. StoreError: the message must come again.
        """
        if isinstance(message, RangeMessage):
            return self._ranges().handle(message)
        if message.not_before - self._clock.now() >= EARLY_WAIT_MAX_MS:
            self._requeue.put_back(message, message.not_before)
            return Outcome("early")
        if isinstance(message, WatchMessage):
            # A check need not be exact, and AWS bills the wait.
            return self._watch.check(message, UNREAD)
        while self._clock.now() < message.not_before:
            self._clock.wait_until(message.not_before)
        match message:
            case DeadlineMessage():
                outcome = self._deadlines.check(message)
            case FailureMessage():
                outcome = self._deadlines.fail(message)
            case CalendarMessage():
                self._rare().calendars().follow(message)
                outcome = Outcome("followed")
            case NotifyMessage():
                outcome = self._notifier().notify(message, UNREAD, deadline)
            case ResumeMessage():
                outcome = self._resumes().end_pause(message)
            case _:
                assert_never(message)
        return outcome
