"""How the limit of a policy is divided over gates (model/policy.py, model/gate.py)."""

from dataclasses import replace
from typing import Any

import pytest
from tests.contract.builders import NOON, policy

from sweephand.model.gate import (
    SERVER_SLOTS_MAX,
    SHARE_MAX,
    Gate,
    GateChange,
    Holder,
    Swap,
    gates_of,
    server_slots_of,
    share_of,
)
from sweephand.model.policy import Rate

LIMITS = range(401)


def test_the_shares_of_all_gates_are_the_limit_and_each_gate_has_one() -> None:
    for limit in (*LIMITS, 9_999, 10_000):
        shares = [share_of(limit, number) for number in range(gates_of(limit))]
        assert sum(shares) == limit
        assert all(1 <= share <= SHARE_MAX for share in shares)
        assert share_of(limit, gates_of(limit)) == 0


def test_no_share_shrinks_when_the_limit_grows() -> None:
    """So functions with an old limit and others with a new one never exceed the larger limit together."""
    for number in range(gates_of(LIMITS[-1]) + 1):
        shares = [share_of(limit, number) for limit in LIMITS]
        assert shares == sorted(shares)


@pytest.mark.parametrize(("limit", "slots"), [(1, 1), (4, 1), (5, 2), (12, 3), (40, 10), (41, 10), (400, 10)])
def test_a_crash_stops_a_quarter_of_a_small_limit_and_ten_slots_of_a_large_one(
    limit: int, slots: int
) -> None:
    assert server_slots_of(limit) == slots <= SERVER_SLOTS_MAX


@pytest.mark.parametrize(
    ("limit", "per_ms", "gates"),
    [(1, 86_400_000, 1), (300, 1_000, 1), (301, 1_000, 2), (600, 60_000, 1), (10_000, 1_000, 34)],
)
def test_a_policy_with_a_rate_alone_has_a_gate_for_each_300_requests_a_second(
    limit: int, per_ms: int, gates: int
) -> None:
    made = policy(None, rate=Rate(limit, per_ms))
    assert made.gates == gates
    assert [made.share(number) for number in (0, gates - 1, gates)] == [10_000, 10_000, 0]


@pytest.mark.parametrize(
    "limits", [{"concurrent_max": 40}, {"concurrent_max": None, "rate": Rate(400, 1_000)}]
)
def test_a_paused_policy_keeps_its_limit_and_gives_no_gate_a_share(limits: dict[str, Any]) -> None:
    going = policy(**limits)
    paused = replace(going, paused_at=NOON)
    assert (paused.gates, paused.slots) == (going.gates, going.slots) == (2, going.slots)
    assert [paused.share(number) for number in range(3)] == [0, 0, 0]
    assert [paused.share_of_limit(number) for number in range(3)] == [going.share(n) for n in range(3)]


def test_a_rate_beside_a_limit_adds_no_gates_and_no_slots() -> None:
    made = policy(40, rate=Rate(10_000, 1_000))
    assert (made.gates, made.slots, made.share(1), made.share(2)) == (2, 40, 8, 0)


def test_a_closed_policy_has_its_limit() -> None:
    closed = policy(40, deleted_at=NOON)
    assert (closed.slots, closed.share(0), closed.share(1)) == (40, 32, 8)


def test_slots_are_free_that_nobody_holds_or_whose_time_is_over() -> None:
    gate = Gate(7, {"a": Holder(3, NOON), "b": Holder(4, NOON + 10)})
    assert gate.free(9, NOON) == 2
    assert gate.free(9, NOON + 1) == 5
    assert gate.expired(NOON + 1) == {"a": Holder(3, NOON)}
    # A limit that was lowered may have more in use than it allows.
    assert gate.free(5, NOON) == -2


def test_a_change_counts_as_made_only_if_each_of_its_values_is_there() -> None:
    held = Holder(3, NOON)
    both = GateChange({"a": Swap(None, held), "b": Swap(held, None)})
    assert both.is_made(Gate(3, {"a": held}))
    assert not both.is_made(Gate(6, {"a": held, "b": held}))
    assert not both.is_made(Gate())
    assert not both._replace(guard=Swap(None, "guard")).is_made(Gate(3, {"a": held}))
    assert not GateChange(queues=True).is_made(Gate(queues=True)), "nothing in it is of this change alone"
