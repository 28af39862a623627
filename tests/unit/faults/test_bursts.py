"""A seed chooses the bursts of failing calls, and each burst becomes a rule of the proxy."""

import random
from collections.abc import Sequence
from itertools import pairwise

from infra.faults.bursts import Burst, bursts


def chosen(seed: int) -> Sequence[Burst]:
    return list(bursts(random.Random(seed), 600))  # noqa: S311 - whoever repeats a run wants the same


def test_the_same_seed_chooses_the_same_bursts_and_another_one_others() -> None:
    first, again, other = (chosen(seed) for seed in (1, 1, 2))

    assert first == again
    assert first != other


def test_bursts_follow_one_another_and_end_in_time() -> None:
    found = chosen(1)

    assert len(found) > 50
    assert all(one.until_s < other.from_s for one, other in pairwise(found))
    assert all(0 < each.from_s < each.until_s <= 600 for each in found)


def test_ten_minutes_have_every_fault_of_every_service() -> None:
    found = {(each.service, each.fault) for seed in range(5) for each in chosen(seed)}

    assert len(found) == 6 + 5 + 5


def test_a_burst_is_a_rule_under_which_calls_fail_and_pass_in_turn() -> None:
    burst = Burst(1, 2, "sqs", "cut after", fails=3, passes=2)

    assert burst.rule == {
        "service": "sqs",
        "sequence": {"fail": 3, "pass": 2},
        "response": {"abort_bytes": 0},
    }
