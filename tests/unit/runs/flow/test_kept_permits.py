"""The permits of asynchronous runs, which are in use until the runs are over."""

from typing import Any

import pytest
from tests.contract.builders import NOON, policy
from tests.fakes.acceptance import ACCEPTED
from tests.fakes.doubles import CountingIds, HandClock
from tests.fakes.faults import Killed, working
from tests.fakes.flow_memory import MemoryPermits, MemoryPolicies
from tests.unit.runs.flow.test_under_policies import KEY, away, run_of, world_with

from sweephand.base.concurrency import one_by_one
from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.base.timing import ATTEMPT_CLAIM_MS, HOLDER_MS, JOB_READ_AGE_MAX_MS
from sweephand.runs.flow.permits import Permits
from sweephand.runs.flow.take_permits import take_permits


def test_a_run_whose_entry_is_being_written_while_the_holder_is_read_counts_after_its_answer() -> None:
    clock, policies, permits = HandClock(), MemoryPolicies(), MemoryPermits()
    asked = policy(1)
    assert policies.put(asked, None)

    class Slow(MemoryPermits):
        """The write is applied after another thread has read the holder."""

        def enter(self, *arguments: Any, **named: Any) -> bool:
            clock.time += SECOND_MS
            assert held is not None
            assert held.look()
            return permits.enter(*arguments, **named)

    slow = Slow()
    slow._holders = permits._holders
    held = take_permits(
        asked,
        NOON + HOLDER_MS,
        workers_max=1,
        policies=policies,
        permits=slow,
        clock=clock,
        ids=CountingIds(),
        concurrently=one_by_one,
    )
    assert isinstance(held, Permits)
    assert held.admit("run")
    assert held.keep("run", NOON + 10 * MINUTE_MS)
    held.end("run")
    assert held.free() == 0
    permits.remove(held.key, 0, ["run"])
    clock.time += SECOND_MS
    assert held.look()
    assert held.free() == 1


def test_a_run_that_may_last_longer_since_its_permit_was_entered_waits_for_another_permit() -> None:
    world = world_with(1)
    world.consumers.answering = lambda _: ACCEPTED
    lasting: dict[str, Any] = {"completion": "async", "maxRunTime": "1m", "heartbeatTimeout": "1m"}
    world.put("job", dueTime="1s", policy="mailer", **lasting)
    world.put("next", dueTime="10m", policy="mailer", **lasting)
    entries: list[str] = []

    def announce(call: str) -> None:
        if call == "after permits.enter":
            entries.append(call)
            if len(entries) == 1:
                world.patch(maxRunTime="24h", heartbeatTimeout="24h")
                # The read of the job grows old before the request leaves.
                world.clock.time += JOB_READ_AGE_MAX_MS + 100

    world.announce = announce
    world.run_until(NOON + 9 * MINUTE_MS)
    assert run_of(world).state == "running"
    assert len(away(world)) == 1
    world.run_until(NOON + 30 * MINUTE_MS)
    assert len(world.consumers.ids) == 1, "the limit is 1, and the first run is not over"
    assert run_of(world).state == "running"


@pytest.mark.parametrize("changed", [{"maxRunTime": "30s"}, {"maxRunTime": "1m", "labels": {"a": "b"}}])
def test_a_run_that_may_not_last_longer_keeps_its_permit(changed: dict[str, Any]) -> None:
    world = world_with(1)
    world.consumers.answering = lambda _: ACCEPTED
    world.put(dueTime="1s", policy="mailer", completion="async", maxRunTime="1m", heartbeatTimeout="30s")

    def announce(call: str) -> None:
        if call == "after permits.enter":
            working(world)
            world.patch(**changed)
            world.clock.time += JOB_READ_AGE_MAX_MS + 100

    world.announce = announce
    world.run_until(NOON + 10 * SECOND_MS)
    assert run_of(world).state == "running"
    assert world.consumers.times == [NOON + SECOND_MS + JOB_READ_AGE_MAX_MS + 100], "it was not put off"


def test_a_run_that_takes_over_the_token_of_a_crashed_attempt_holds_a_permit() -> None:
    """The consumer may still answer 202, although the job is not async any more."""
    world = world_with(1)
    world.consumers.answering = lambda _: ACCEPTED
    world.put(dueTime="5s", policy="mailer", completion="async")

    def announce(call: str) -> None:
        if call == "after consumers.deliver":
            working(world)
            raise Killed(call)

    world.announce = announce
    with pytest.raises(Killed):
        world.run_until(NOON + 30 * SECOND_MS)
    world.patch(completion="sync")
    # SQS shows the work message again.
    world.line_up().wake(KEY, NOON + ATTEMPT_CLAIM_MS)
    world.run_until(NOON + ATTEMPT_CLAIM_MS + 3 * MINUTE_MS)
    assert run_of(world).state == "running"
    assert len(away(world)) == 1
    run = run_of(world)
    world.callbacks().complete(run.key, run.run_id, run.token)
    assert not away(world)
