"""The permits of asynchronous runs, which are in use until the runs are over."""

from typing import Any

from tests.contract.builders import NOON, policy
from tests.fakes.doubles import CountingIds, HandClock
from tests.fakes.flow_memory import MemoryPermits, MemoryPolicies

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.base.timing import HOLDER_MS
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
