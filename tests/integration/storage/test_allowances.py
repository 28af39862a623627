"""How long an allowance is kept: for as long as triggers may wait for its slots."""

import pytest
from tests.fakes.engines import Dynamo

from sweephand.base.instants import DAY_MS, MINUTE_MS, SECOND_MS, Instant
from sweephand.model.counters import US_PER_MS

NOON = 1_795_262_400_000
KEPT_MS = 14 * DAY_MS


def kept_until(dynamo: Dynamo) -> Instant:
    raw = dynamo.client.get_item(
        TableName=dynamo.jobs_table, Key={"pk": {"S": "allowance#ns"}, "sk": {"S": "minute"}}
    )["Item"]
    return int(raw["expires_at"]["N"]) * SECOND_MS


@pytest.mark.parametrize("takes", [1, 2, 3])
def test_an_allowance_is_kept_for_two_weeks_after_the_last_slot_that_was_taken(
    on_moto: Dynamo, takes: int
) -> None:
    allowances, slots = on_moto.stores().allowances, 30 * DAY_MS // MINUTE_MS
    for each in range(takes):
        # The first call of a minute writes the whole item, and the others add to it.
        assert (
            allowances.take("ns", NOON + each, 1, slots).first_us == (NOON + each * 30 * DAY_MS) * US_PER_MS
        )
    assert kept_until(on_moto) >= NOON + takes * 30 * DAY_MS + KEPT_MS


def test_an_allowance_that_is_in_use_is_kept_for_two_weeks_from_now(on_moto: Dynamo) -> None:
    allowances = on_moto.stores().allowances
    for day in range(40):
        allowances.take("ns", NOON + day * DAY_MS, 600, 1)
        assert kept_until(on_moto) >= NOON + day * DAY_MS + KEPT_MS


def test_the_end_of_an_allowance_is_moved_once_in_two_weeks(on_moto: Dynamo) -> None:
    allowances, ends = on_moto.stores().allowances, set()
    for day in range(1, 28):
        allowances.take("ns", NOON, 1, DAY_MS // MINUTE_MS)
        ends.add(kept_until(on_moto))
        assert kept_until(on_moto) >= NOON + day * DAY_MS + KEPT_MS
    assert len(ends) == 2
