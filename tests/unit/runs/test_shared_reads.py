"""One call reads the jobs of triggers that fall due together, shortly before the first of them is due."""

from collections.abc import Mapping, Sequence

from tests.fakes.doubles import NOON, HandClock
from tests.fakes.memory import MemoryJobs
from tests.fakes.world import job_of

from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.base.timing import JOB_READ_AGE_MAX_MS
from sweephand.model.job import Job, JobKey
from sweephand.runs.job_reads import UNREAD, JobRead
from sweephand.runs.shared_reads import GROUP_SPAN_MS, READ_LEAD_MS, ReadGroup, read_groups

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


def grouped(jobs: Reads, clock: HandClock, *wanted: tuple[Instant, str]) -> list[ReadGroup]:
    keys = ((due_at, JobKey("ns", name)) for due_at, name in wanted)
    return list(read_groups(keys, jobs=jobs, clock=clock))


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


def test_a_group_whose_time_has_come_is_read_before_any_thread_asks() -> None:
    clock = HandClock()
    jobs = Reads(clock)
    (group,) = grouped(jobs, clock, (NOON + READ_LEAD_MS, "a"))
    group.read_if_due()
    assert jobs.asked == [(NOON, ["a"])]
    group.read_of(JobKey("ns", "a"))
    assert len(jobs.asked) == 1


def test_a_group_is_not_read_before_its_time() -> None:
    clock = HandClock()
    jobs = Reads(clock)
    (group,) = grouped(jobs, clock, (NOON + READ_LEAD_MS + 1, "a"))
    group.read_if_due()
    assert jobs.asked == []
    assert clock.now() == NOON
