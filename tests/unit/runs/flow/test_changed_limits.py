"""A worker has its share of a changed limit once the limit has been stored for a second."""

import pytest
from tests.contract.builders import NOON, policy
from tests.fakes.doubles import CountingIds, HandClock
from tests.fakes.flow_memory import MemoryPermits, MemoryPolicies

from sweephand.base.concurrency import one_by_one
from sweephand.base.instants import SECOND_MS
from sweephand.base.timing import HOLDER_MS
from sweephand.runs.flow.permits import Permits
from sweephand.runs.flow.take_permits import take_permits

#: A policy of eight permits has four holders of two.
BEFORE = policy(8)


def taken(policies: MemoryPolicies, clock: HandClock) -> Permits:
    """The permits of a worker that has taken the second holder of the policy. Another one has the first."""
    permits, ids = MemoryPermits(), CountingIds()
    for _ in range(2):
        held = take_permits(
            BEFORE,
            NOON + HOLDER_MS,
            workers_max=8,
            policies=policies,
            permits=permits,
            clock=clock,
            ids=ids,
            concurrently=one_by_one,
        )
    assert held is not None
    assert held.slot == 1
    return held


@pytest.mark.parametrize("left", [0, 1])
def test_a_worker_begins_nothing_above_its_share_of_a_lowered_limit(left: int) -> None:
    policies, clock = MemoryPolicies(), HandClock()
    assert policies.put(BEFORE, None)
    held = taken(policies, clock)
    assert held.admit("first")
    assert held.admit("second")
    # Two permits are those of the first holder.
    lowered = policy(2 + left, version="version000000002", holder_size=2)
    assert policies.put(lowered, "version000000001")
    clock.time += SECOND_MS
    held.look()
    assert held.free() == left - 2
    held.end("first")
    assert not held.admit("third"), "one request is still open"
    held.end("second")
    assert held.admit("third") == bool(left)


def test_a_worker_begins_nothing_on_a_limit_that_it_read_more_than_a_second_ago() -> None:
    policies, clock = MemoryPolicies(), HandClock()
    assert policies.put(BEFORE, None)
    held = taken(policies, clock)
    clock.time += SECOND_MS
    assert not held.admit("first")
    held.look()
    assert held.admit("first")
