"""Whether DynamoDB removes what has expired is a setting of each table, which tick changes."""

from typing import Any

import pytest
from tests.fakes.engines import Dynamo

from sweephand.base.errors import StoreError
from sweephand.storage.leases import DynamoExpirySwitch

#: The time to live of a table as template.yaml makes it.
ON: Any = {"AttributeName": "expires_at", "Enabled": True}


def status(dynamo: Dynamo) -> str:
    found = dynamo.client.describe_time_to_live(TableName=dynamo.jobs_table)["TimeToLiveDescription"]
    return found["TimeToLiveStatus"]


def switch_of(dynamo: Dynamo) -> DynamoExpirySwitch:
    return DynamoExpirySwitch(dynamo.client, [dynamo.jobs_table])


def test_a_table_is_set_to_remove_nothing_and_to_remove_items_again(on_moto: Dynamo) -> None:
    switch = switch_of(on_moto)
    on_moto.client.update_time_to_live(TableName=on_moto.jobs_table, TimeToLiveSpecification=ON)
    switch.set(is_on=True)
    assert status(on_moto) == "ENABLED"
    switch.set(is_on=False)
    assert status(on_moto) == "DISABLED"
    switch.set(is_on=False)
    switch.set(is_on=True)
    found = on_moto.client.describe_time_to_live(TableName=on_moto.jobs_table)["TimeToLiveDescription"]
    assert found == {"TimeToLiveStatus": "ENABLED", "AttributeName": "expires_at"}


@pytest.mark.parametrize("busy", ["ENABLING", "DISABLING"])
@pytest.mark.parametrize("is_on", [True, False])
def test_a_table_that_is_busy_with_a_change_is_left_alone(
    on_moto: Dynamo, monkeypatch: pytest.MonkeyPatch, busy: str, *, is_on: bool
) -> None:
    def described(**_: Any) -> dict[str, Any]:
        return {"TimeToLiveDescription": {"TimeToLiveStatus": busy}}

    switch = switch_of(on_moto)
    monkeypatch.setattr(on_moto.client, "describe_time_to_live", described)
    monkeypatch.setattr(on_moto.client, "update_time_to_live", pytest.fail)
    switch.set(is_on=is_on)


def test_a_refusal_raises(on_moto: Dynamo) -> None:
    with pytest.raises(StoreError, match="no-such-table"):
        DynamoExpirySwitch(on_moto.client, ["no-such-table"]).set(is_on=False)
