"""An audit finds runs whose message was lost, and sends it again. A second copy does no harm."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.fakes.acceptance import ACCEPTED
from tests.fakes.deliveries import crash_until, run_of
from tests.fakes.faults import slow
from tests.fakes.world import NOON, World, key_of

from sweephand.model.attempt import Answer
from sweephand.runs import job_walk
from sweephand.runs.audit_findings import JobProgress

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR

FAILED = Answer(succeeded=False, code=500)
RETRY = {"initialDelay": "10m", "multiplier": 1, "maxDelay": "10m", "maxAttempts": 2}


def lost(world: World) -> None:
    """Lose every message of the queue, and every timer, without a trace."""
    world.queue.waiting.clear()
    world.timers.clear()


def retrying(world: World, **written: Any) -> None:
    world.consumers.answering = lambda _: FAILED
    world.put(dueTime="1m", retry=RETRY, **written)
    world.run_until(NOON + 2 * MINUTE)
    assert run_of(world).state == "retrying"


def running(world: World) -> None:
    world.consumers.answering = lambda _: ACCEPTED
    world.put(dueTime="1m", completion="async", heartbeatTimeout="10m", retry={"maxAttempts": 1})
    world.run_until(NOON + 2 * MINUTE)
    assert run_of(world).state == "running"


def claimed(world: World) -> None:
    world.put(dueTime="1m", history="full")
    crash_until(world, NOON + 2 * MINUTE)
    assert run_of(world).state == "claimed"


def test_the_runs_of_a_batch_come_to_their_end_although_their_job_has_no_batches_now(world: World) -> None:
    world.consumers.answering = lambda _: FAILED
    world.put(dueTime="1m", retry=RETRY, batch={"count": 3})
    world.run_until(NOON + 2 * MINUTE)
    world.put(dueTime="12h", retry=RETRY)
    lost(world)
    world.run_until(NOON + 5 * HOUR)
    found = [each.run_id for each in world.audit_jobs().runs]
    assert found == [f"{NOON + MINUTE}-{index}" for index in (2, 1, 0)]


@pytest.mark.parametrize(
    ("begin", "ends_as", "attempts"),
    [(retrying, "failed", 2), (running, "failed", 1), (claimed, "succeeded", 1)],
)
def test_a_run_whose_message_was_lost_comes_to_its_end(
    world: World, begin: Callable[[World], None], ends_as: str, attempts: int
) -> None:
    begin(world)
    lost(world)
    world.run_until(NOON + 5 * HOUR)
    assert not run_of(world).is_over
    done = world.audit_jobs()
    assert [(each.key, each.run_id) for each in done.runs] == [(key_of(), run_of(world).run_id)]
    assert done.written == 1
    world.run_until(NOON + 6 * HOUR)
    assert (run_of(world).state, run_of(world).attempts) == (ends_as, attempts)
    assert world.audit_jobs().runs == []


@pytest.mark.parametrize("is_redriven", [False, True])
def test_a_first_attempt_whose_message_was_lost_is_made_however_late(*, is_redriven: bool) -> None:
    world = World()
    retry = {"maxAge": "1m", "maxAttempts": 1}
    if is_redriven:
        world.consumers.answering = lambda _: FAILED
        world.put(dueTime="1m", history="full", retry=retry)
        world.run_until(NOON + 2 * MINUTE)
        world.consumers.answering = lambda _: Answer(succeeded=True, code=204)
        world.redrive(run_of(world).run_id)
    else:
        world.put(dueTime="1m", history="full", retry=retry)
    crash_until(world, NOON + 4 * MINUTE)
    assert run_of(world).state == "claimed"
    lost(world)
    world.run_until(NOON + 5 * HOUR)
    assert world.audit_jobs().written == 1
    world.run_until(NOON + 6 * HOUR)
    assert run_of(world).state == "succeeded"


@pytest.mark.parametrize("begin", [retrying, running, claimed])
def test_a_message_that_is_less_than_an_hour_late_is_not_lost(begin: Callable[[World], None]) -> None:
    world = World()
    begin(world)
    # The delivery function receives nothing meanwhile.
    for minute in range(3, 60):
        world.clock.time = NOON + minute * MINUTE
        world.tick()
        assert world.audit_jobs().runs == []


@pytest.mark.parametrize("begin", [retrying, running, claimed])
def test_a_message_that_is_only_late_is_sent_twice_and_handled_once(begin: Callable[[World], None]) -> None:
    world = World()
    begin(world)
    for minute in range(3, 180):
        world.clock.time = NOON + minute * MINUTE
        world.tick()
    assert len(world.audit_jobs().runs) == len(world.audit_jobs().runs) == 1
    world.run_until(NOON + 8 * HOUR)
    assert run_of(world).is_over
    numbers = [each.number for each in world.consumers.attempts]
    assert len(numbers) == len(set(numbers))
    assert len(world.queue.buried) == (run_of(world).state == "failed")


def test_a_retry_of_a_paused_job_waits_for_its_resume(world: World) -> None:
    retrying(world)
    world.pause()
    world.run_until(NOON + 5 * HOUR)
    assert world.audit_jobs().runs == []
    world.resume()
    world.run_until(NOON + 6 * HOUR)
    assert run_of(world).state == "failed"


def test_an_audit_that_only_reports_sends_nothing(world: World) -> None:
    retrying(world)
    lost(world)
    world.run_until(NOON + 5 * HOUR)
    done = world.audit_jobs(mends=False)
    assert (len(done.runs), done.written) == (1, 0)
    assert not world.queue.waiting


def test_runs_of_a_shard_that_is_not_swept_are_not_judged() -> None:
    world = World(shards=1)
    retrying(world)
    world.queue.waiting.clear()
    world.put("other", schedule="0 * * * * *")
    world.run_until(NOON + 5 * HOUR, ticking=False)
    done = world.audit_jobs()
    assert (done.runs, done.late) == ([], 2)
    world.run_until(NOON + 5 * HOUR + 5 * MINUTE)
    done = world.audit_jobs()
    assert (len(done.runs), done.late) == (1, 0)


def test_runs_older_than_a_round_are_left_to_their_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_walk, "PAGE_MAX", 5)
    world = World()
    world.put(schedule="0 */10 * * * *")
    world.run_until(NOON + 12 * DAY)
    pages: list[str] = []
    reads = {"before runs.page", "before runs.newest"}
    world.announce = lambda call: pages.append(call) if call in reads else None
    assert world.audit_jobs().reached is None
    # A run may be retried for a day, and may be an hour late.
    assert len(pages) == 9 * 24 * 6 // 5 + 2


def test_a_call_goes_on_within_the_runs_of_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_walk, "PAGE_MAX", 2)
    world = World()
    retrying(world, schedule="0 1 * * * *")
    world.consumers.answering = lambda _: Answer(succeeded=True, code=204)
    world.queue.waiting.clear()
    world.run_until(NOON + 6 * HOUR)
    slow(world, 6_000, "after runs.page", "after runs.newest")
    done = world.audit_jobs()
    assert done.reached is not None
    assert done.reached.before
    assert done.runs == []
    found = []
    while done.reached is not None:
        assert isinstance(done.reached, JobProgress)
        done = world.audit_jobs(done.reached)
        found += done.runs
    assert len(found) == 1


def test_a_run_of_an_earlier_job_of_the_same_name_is_left_alone(world: World) -> None:
    retrying(world)
    lost(world)
    world.delete()
    world.run_until(NOON + 2 * HOUR)
    world.put(schedule="@every 10h")
    world.run_until(NOON + 5 * HOUR)
    assert world.audit_jobs().runs == []
