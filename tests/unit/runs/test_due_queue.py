"""Messages are taken once, in the order of their due times. One call reads the jobs of those due together."""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from tests.fakes.definitions import definition
from tests.fakes.doubles import NOON, HandClock
from tests.fakes.memory import MemoryJobs
from tests.fakes.world import job_of

from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.base.timing import EARLY_WAIT_MAX_MS, JOB_READ_AGE_MAX_MS
from sweephand.model.job import Job, JobKey
from sweephand.model.trigger import Trigger, TriggerMessage
from sweephand.runs.delivery import UNREAD, JobRead
from sweephand.runs.due_queue import (
    GROUP_SPAN_MS,
    READ_LEAD_MS,
    THREAD_WAIT_MAX_MS,
    DueQueue,
    Pending,
    ReadGroup,
)
from sweephand.runs.received import Received

DUE = NOON + 10_000


class Reads(MemoryJobs):
    """Jobs in memory. `asked` keeps the keys and the instant of each read."""

    def __init__(self, clock: HandClock) -> None:
        super().__init__()
        self.asked: list[tuple[Instant, list[str]]] = []
        self.fails = False
        self._clock = clock

    def get_many(self, keys: Sequence[JobKey], *, may_be_stale: bool = False) -> Mapping[JobKey, Job]:
        self.asked.append((self._clock.now(), [key.name for key in keys]))
        if self.fails:
            raise StoreError("throttled")
        return super().get_many(keys, may_be_stale=may_be_stale)


def trigger(due_at: Instant, name: str, wait_max_ms: int = 60_000) -> Pending:
    due = Trigger(JobKey("ns", name), "uid", "rev", due_at, 1, armed_at=NOON)
    return Pending(Received(name, name, 1, ""), TriggerMessage(due, due_at), wait_max_ms)


def queue_of(clock: HandClock, *triggers: tuple[Instant, str]) -> DueQueue:
    return DueQueue([trigger(*each) for each in triggers], jobs=Reads(clock), clock=clock)


def grouped(jobs: Reads, clock: HandClock, *triggers: tuple[Instant, str]) -> list[ReadGroup]:
    """The groups of triggers, in the order of their due times."""
    queue = DueQueue([trigger(*each) for each in triggers], jobs=jobs, clock=clock)
    return [each.group for each in queue if each.group is not None]


def names(pending: Sequence[Pending]) -> list[str]:
    return [each.received.id for each in pending]


def test_messages_are_taken_in_the_order_of_their_due_times() -> None:
    queue = queue_of(HandClock(), (DUE + 1, "b"), (DUE, "a"), (DUE + 1, "c"))
    assert next(iter(queue)).received.id == "a"
    assert names(list(queue)) == ["b", "c"]
    assert list(queue) == []


def test_a_trigger_that_is_not_waited_for_is_taken_first_and_has_no_group() -> None:
    clock = HandClock()
    early = trigger(NOON + EARLY_WAIT_MAX_MS, "early", EARLY_WAIT_MAX_MS)
    queue = DueQueue([trigger(NOON, "due"), early], jobs=Reads(clock), clock=clock)
    assert names(list(queue)) == ["early", "due"]
    assert early.group is None


def test_many_threads_take_each_message_once() -> None:
    queue = queue_of(HandClock(), *((DUE, str(number)) for number in range(1_000)))
    with ThreadPoolExecutor(8) as pool:
        taken = [each.result() for each in [pool.submit(lambda: list(queue)) for _ in range(8)]]
    assert sorted(int(name) for some in taken for name in names(some)) == list(range(1_000))


def test_the_first_thread_that_asks_handles_a_message() -> None:
    pending = trigger(DUE, "a")
    assert [pending.begin(), pending.begin()] == [True, False]


def test_only_messages_that_have_waited_too_long_are_taken_as_late() -> None:
    clock = HandClock()
    queue = queue_of(clock, (NOON, "a"), (NOON + 100, "b"), (NOON + 3_000, "c"))
    given: list[tuple[Instant, list[str]]] = [(clock.time, names(late)) for late in queue.late()]
    assert given == [
        (NOON + THREAD_WAIT_MAX_MS, ["a"]),
        (NOON + THREAD_WAIT_MAX_MS + 100, ["b"]),
        (NOON + THREAD_WAIT_MAX_MS + 3_000, ["c"]),
    ]


def test_the_search_for_late_messages_ends_when_all_are_taken() -> None:
    clock = HandClock()
    queue = queue_of(clock, (NOON, "a"))
    assert names(list(queue)) == ["a"]
    assert list(queue.late()) == []
    assert clock.time == NOON


def test_a_group_is_read_once_and_shortly_before_its_first_trigger_is_due() -> None:
    clock = HandClock()
    jobs, job = Reads(clock), job_of("a")
    jobs.put(job, None)
    groups = grouped(jobs, clock, (DUE, "a"), (DUE + 100, "b"), (DUE + GROUP_SPAN_MS, "a"))
    read_at = DUE - READ_LEAD_MS
    assert groups[2].read_of(job.key) == groups[0].read_of(job.key) == JobRead(job, read_at)
    assert groups[1].read_of(JobKey("ns", "b")) == JobRead(None, read_at)
    assert jobs.asked == [(read_at, ["a", "b"])]


def test_a_trigger_that_is_due_after_a_read_grows_old_has_a_read_of_its_own() -> None:
    clock = HandClock()
    jobs = Reads(clock)
    late = DUE + GROUP_SPAN_MS + 1
    first, second = grouped(jobs, clock, (DUE, "a"), (late, "a"))
    assert first.read_of(JobKey("ns", "a")).at == DUE - READ_LEAD_MS
    assert second.read_of(JobKey("ns", "a")).at == late - READ_LEAD_MS


def test_a_read_is_still_fresh_when_the_last_of_its_group_is_due() -> None:
    assert READ_LEAD_MS + GROUP_SPAN_MS < JOB_READ_AGE_MAX_MS


def test_a_read_that_fails_is_left_to_each_handler() -> None:
    clock = HandClock()
    jobs = Reads(clock)
    jobs.fails = True
    (group,) = grouped(jobs, clock, (DUE, "a"))
    assert group.read_of(JobKey("ns", "a")) == UNREAD
    assert len(jobs.asked) == 1


def test_the_calling_thread_reads_the_first_group_and_waits_until_it_is_due() -> None:
    clock = HandClock()
    jobs = Reads(clock)
    queue = DueQueue([trigger(DUE + 1, "a"), trigger(DUE, "b")], jobs=jobs, clock=clock)
    assert queue.first is not None
    queue.first.wait()
    assert jobs.asked == [(DUE - READ_LEAD_MS, ["a", "b"])]
    assert clock.now() == DUE
    next(iter(queue)).work(DUE)
    assert len(jobs.asked) == 1


def test_nothing_waits_until_a_trigger_is_due_that_goes_to_a_gate_before() -> None:
    clock = HandClock()
    jobs = Reads(clock)
    jobs.put(replace(job_of("gated"), definition=definition(policy="slowly")), None)
    queue = DueQueue([trigger(DUE, "free"), trigger(DUE + 1, "gated")], jobs=jobs, clock=clock)
    assert queue.first is not None
    queue.first.wait()
    assert clock.now() == DUE - READ_LEAD_MS


def test_nothing_waits_for_a_group_while_another_message_may_begin() -> None:
    clock = HandClock()
    early = trigger(NOON + EARLY_WAIT_MAX_MS, "early", EARLY_WAIT_MAX_MS)
    queue = DueQueue([trigger(DUE, "due"), early], jobs=Reads(clock), clock=clock)
    assert queue.first is None
