"""The oracle over the random walk: it agrees that all was kept, and it notices when something is not."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.fakes.memory import MemoryJobs
from tests.simulation.recorded_walk import RecordedWalk

from sweephand.jobs.job import Job
from sweephand.jobs.live import Liveness, ruling
from sweephand.runs import deliver
from sweephand.wheel.expand import Expansion, expand
from sweephand.wheel.sweep import Sweeper
from sweephand.wheel.timer import Timer

STEPS = 60


def complaints(seed: int) -> list[str]:
    walk = RecordedWalk(seed)
    walk.go(STEPS)
    return walk.judged()


def first_red(seeds: range) -> list[str]:
    """The complaints of the first seed that has any."""
    return next((found for seed in seeds if (found := complaints(seed))), [])


@pytest.mark.parametrize("first", range(0, 200, 20))
def test_the_oracle_has_nothing_to_complain_of(first: int) -> None:
    assert not first_red(range(first, first + 20))


def test_a_walk_that_is_recorded_is_told_in_full() -> None:
    walk = RecordedWalk(3)
    walk.go(STEPS)
    walk.judged()
    consumers = walk.world.consumers
    told = [each for each in walk.recorder.events if type(each).__name__ == "Requested"]
    assert [each.trigger_id for each in told] == consumers.ids  # type: ignore[union-attr]


def test_dropping_unknown_triggers_at_once_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliver, "UNKNOWN_GRACE_MS", 0)
    assert any("nothing left for it" in each for each in first_red(range(100, 300)))


def test_committing_the_cursor_before_sending_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def turn(sweeper: Sweeper, hold: Any, page: Sequence[Timer]) -> bool:
        jobs = sweeper._jobs.get_many(list(dict.fromkeys(timer.key for timer in page)))
        expansion: Expansion = expand(page, jobs, hold.lease.cursor)
        if expansion.successors:
            sweeper._timers.put(expansion.successors)
        now = sweeper._clock.now()
        committed = sweeper._leases.commit(hold.lease, expansion.cursor, now + 30_000)
        if committed is None:
            return False
        hold.lease = committed
        sweeper._send(expansion)
        return True

    monkeypatch.setattr(Sweeper, "_turn", turn)
    assert any("nothing left for it" in each for each in first_red(range(100)))


def test_job_writes_without_a_condition_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def put(jobs: MemoryJobs, job: Job, replacing: str | None) -> bool:
        del replacing
        jobs._jobs[job.key] = job
        return True

    monkeypatch.setattr(MemoryJobs, "put", put)
    assert first_red(range(150, 400))


def test_judging_an_earlier_revision_by_the_newest_cut_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    def live(job: Job | None, *, uid: str, rev: str, due_at: int) -> Liveness:
        revision = ruling(job, uid, rev)
        if job is None or revision is None:
            return "unknown"
        if revision is job.current:
            return "alive" if revision.owns(due_at) else "dead"
        return "alive" if due_at <= job.cut else "dead"

    monkeypatch.setattr(deliver, "live", live)
    assert any("was not its revision's" in each for each in first_red(range(200)))
