"""Raising the number of shards, while another tick is faster or after a tick has died."""

import pytest
from tests.contract.builders import NOON
from tests.fakes.engines import Dynamo
from tests.fakes.wire import followed, refused, without_waiting

from sweephand.base.errors import StoreError

OWNER = "owner00000000001"


def test_raising_the_number_of_shards_keeps_a_higher_number_of_another_tick(dynamo: Dynamo) -> None:
    leases = dynamo.stores().leases
    with followed(dynamo.client, "GetItem", lambda: leases.raise_shards(8)):
        assert leases.raise_shards(3) == 8
    state = leases.state()
    assert (state.shards, len(state.leases)) == (8, 8)


def test_raising_the_number_of_shards_leaves_a_claimed_lease_as_it_is(dynamo: Dynamo) -> None:
    leases = dynamo.stores().leases
    leases.raise_shards(3)
    # The state that a tick leaves if it dies between the last lease and the number.
    number = {"pk": {"S": "leases"}, "sk": {"S": "shards"}}
    dynamo.client.delete_item(TableName=dynamo.timers_table, Key=number)
    state = leases.state()
    assert (state.shards, len(state.leases)) == (0, 3)
    claimed = leases.claim(state.leases[2], OWNER, NOON, NOON + 30_000)
    assert leases.raise_shards(4) == 4
    assert leases.state().leases[2] == claimed


def test_the_number_of_shards_is_not_raised_if_a_lease_cannot_be_written(
    on_moto: Dynamo, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_waiting(monkeypatch)
    leases = on_moto.stores().leases
    with refused(on_moto.client, "PutItem", "InternalServerError", 500), pytest.raises(StoreError):
        leases.raise_shards(3)
    assert leases.state().shards == 0
