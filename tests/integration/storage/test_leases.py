"""How leases are stored."""

from typing import Any

from tests.contract.builders import NOON
from tests.fakes.engines import Dynamo

from sweephand.model.timer import Lease
from sweephand.storage.leases import DynamoLeases


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
