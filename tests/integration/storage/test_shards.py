"""How leases are stored, and how the number of shards is raised while another tick does so."""

from typing import Any

import pytest
from tests.contract.builders import NOON
from tests.fakes.engines import Dynamo
from tests.fakes.wire import followed, refused, without_waiting

from sweephand.base.errors import StoreError
from sweephand.model.timer import Lease
from sweephand.storage.leases import DynamoLeases

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


def released(leases: DynamoLeases, peak: int) -> Lease:
    """The lease of a shard that a sweeper has released at noon."""
    leases.raise_shards(1)
    held = leases.claim(leases.state().leases[0], "owner", NOON - 1, NOON)
    assert held is not None
    leases.release(held, 900, NOON, peak=peak)
    return leases.state().leases[0]


def item(dynamo: Dynamo) -> dict[str, Any]:
    key = {"pk": {"S": "leases"}, "sk": {"S": "0000"}}
    return dict(dynamo.client.get_item(TableName=dynamo.timers_table, Key=key)["Item"])


def test_a_lease_of_a_sweep_without_a_peak_has_no_attribute_for_it(on_moto: Dynamo) -> None:
    leases = DynamoLeases(on_moto.table(on_moto.timers_table))
    assert released(leases, 700).peak == 700
    assert released(leases, 0).peak == 0
    assert "peak" not in item(on_moto)
