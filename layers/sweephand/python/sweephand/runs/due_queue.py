"""The messages that an invocation has yet to begin, in the order of their due times.

Jobs of triggers that fall due together are read in one call, shortly before the first of them is due.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from operator import itemgetter
from threading import Lock
from typing import Final

from sweephand.base.concurrency import Once
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.timing import EARLY_WAIT_MAX_MS
from sweephand.model.job import JobKey
from sweephand.model.trigger import Message, OtherMessage, TriggerMessage
from sweephand.ports.clock import Clock
from sweephand.ports.jobs import JobStore
from sweephand.runs.delivery import UNREAD, Delivery, JobRead
from sweephand.runs.received import Received

#: The jobs of a group are read this long before its first trigger is due, so that no trigger waits for them.
READ_LEAD_MS: Final = 200

#: The triggers of a group fall due within this. Together with the lead that is less than JOB_READ_AGE_MAX_MS.
#: So the read is still fresh when the last of them is due, and when its connection stands.
GROUP_SPAN_MS: Final = 700

#: A trigger waits this long for a thread. If slow consumers hold all threads for longer, the trigger is sent
#: alone to another function.
THREAD_WAIT_MAX_MS: Final = 5 * SECOND_MS

#: How often late() checks. The invocation ends at most this much later than its last delivery.
_CHECK_MS: Final = 100


class Pending:
    """A message that is to be handled in this invocation; of a bundle, one of its triggers.

    A trigger that may begin within `wait_max_ms` is waited for, and gets a `group`. Any other message begins
    at once: it is only sent again, or has no due time.
    """

    def __init__(self, received: Received, message: Message, wait_max_ms: int = EARLY_WAIT_MAX_MS) -> None:
        self.received = received
        self.message = message
        self.wait_max_ms = wait_max_ms
        #: How many functions have received the message, with this one. The others ended without handling it.
        self.receives = message.crashes + 1 if isinstance(message, TriggerMessage) else received.receives
        self.group: ReadGroup | None = None
        self._turn = Lock()

    def begin(self) -> bool:
        """Whether the caller is the first thread that asks. That one handles the message."""
        return self._turn.acquire(blocking=False)

    def work(self, deadline: Instant) -> Delivery | OtherMessage:
        """The message as it is to be handled; a trigger with the read of its job that its group shares."""
        message = self.message
        if not isinstance(message, TriggerMessage):
            return message
        read = UNREAD if self.group is None else self.group.read_of(message.trigger.key)
        return Delivery.of(message, read, deadline)


class ReadGroup:
    """The triggers of which the first is due at `first_at`, whose jobs are read in one call.

    Safe to use from many threads at once, when all of its triggers are there.
    """

    def __init__(self, first_at: Instant, *, jobs: JobStore, clock: Clock) -> None:
        self.triggers: list[Pending] = []
        #: The thread that begins several of them at once holds it.
        self.taking = Lock()
        self._first_at = first_at
        self._jobs = jobs
        self._clock = clock
        self._keys: set[JobKey] = set()
        self._reads = Once(self._read)

    def takes(self, due_at: Instant) -> bool:
        """Whether a trigger that is due then, and not before the first, belongs to the group."""
        return due_at - self._first_at <= GROUP_SPAN_MS

    def add(self, pending: Pending, key: JobKey) -> None:
        """Add a trigger and its job, before anybody asks for a read."""
        self.triggers.append(pending)
        self._keys.add(key)
        pending.group = self

    def wait(self) -> None:
        """Read the jobs in the calling thread, and wait there until the first trigger is due.

        Threads that begin together would all wait, and to wake each takes longer. A trigger under a policy
        goes to its gate before it is due. So nothing waits here for a group with such a job.
        """
        self._clock.wait_until(self._first_at - READ_LEAD_MS)
        for read in self._reads().values():
            if read.job is not None and read.job.definition.policy is not None:
                return
        self._clock.wait_until(self._first_at)

    def read_of(self, key: JobKey) -> JobRead:
        """The read of that job. The first caller waits until the group's time and reads all of its jobs.

        UNREAD if the read failed: one of the jobs may be the cause, so each handler reads its own.
        """
        # Callers wait before they ask: in a test they share a thread, which Once would block.
        self._clock.wait_until(self._first_at - READ_LEAD_MS)
        return self._reads().get(key, UNREAD)

    def _read(self) -> Mapping[JobKey, JobRead]:
        now = self._clock.now()
        try:
            jobs = self._jobs.get_many(sorted(self._keys))
        except Exception:  # noqa: BLE001 - the docstring of read_of() says why
            return {}
        return {key: JobRead(jobs.get(key), now) for key in self._keys}


class DueQueue:
    """Messages in the order of the instants at which they may begin.

    Many threads may iterate, and each message is taken once.
    """

    def __init__(self, pending: Iterable[Pending], *, jobs: JobStore, clock: Clock) -> None:
        self._clock = clock
        now = clock.now()
        self._waiting: deque[tuple[Instant, Pending]] = deque()
        awaited: list[tuple[Instant, JobKey, Pending]] = []
        for each in pending:
            message = each.message
            if isinstance(message, TriggerMessage) and message.not_before - now < each.wait_max_ms:
                awaited.append((max(now, message.not_before), message.trigger.key, each))
            else:
                self._waiting.append((now, each))
        awaited.sort(key=itemgetter(0))
        groups: list[ReadGroup] = []
        for due_at, key, each in awaited:
            if not groups or not groups[-1].takes(due_at):
                groups.append(ReadGroup(due_at, jobs=jobs, clock=clock))
            groups[-1].add(each, key)
            self._waiting.append((due_at, each))
        #: What all threads would wait for; None if another message may begin at once.
        self.first = groups[0] if groups and len(awaited) == len(self._waiting) else None

    def __iter__(self) -> Iterator[Pending]:
        """The messages, each one as it is taken."""
        # popleft() of a deque is atomic.
        with suppress(IndexError):
            while True:
                yield self._waiting.popleft()[1]

    def late(self) -> Iterator[list[Pending]]:
        """Take messages that have waited for too long, again and again, until all have been taken."""
        while (late_at := self._late_at()) is not None:
            now = self._clock.now()
            if now < late_at:
                self._clock.wait_until(min(late_at, now + _CHECK_MS))
                continue
            late: list[Pending] = []
            while (late_at := self._late_at()) is not None and late_at <= now:
                # Another thread may take this one first. Then the next one is taken here, a bit too early.
                with suppress(IndexError):
                    late.append(self._waiting.popleft()[1])
            yield late

    def _late_at(self) -> Instant | None:
        """The instant from which the first message has waited for too long; None if there is none."""
        with suppress(IndexError):
            return self._waiting[0][0] + THREAD_WAIT_MAX_MS
        return None
