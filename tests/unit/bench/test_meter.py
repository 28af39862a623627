"""The units that the cost benchmark counts itself, because DynamoDB Local and SQS do not report them."""

from types import SimpleNamespace
from typing import Any

import boto3
import pytest
from botocore.stub import Stubber
from infra.bench.meter import Meter

from sweephand_engine.costs.measured import Usage


def _asked(operation: str, answer: dict[str, Any], expected: dict[str, Any]) -> Meter:
    client = boto3.client("dynamodb", "us-east-1", aws_access_key_id="x", aws_secret_access_key="x")
    meter = Meter()
    meter.watch(client)
    key = {"pk": {"S": "a"}}
    with Stubber(client) as stub:
        # The stub compares what is sent: the hook has to have asked for the units.
        stub.add_response(operation, answer, {"TableName": "t", "Key": key, **expected})
        getattr(client, operation)(TableName="t", Key=key)
    return meter


def test_the_meter_makes_each_request_ask_for_its_consumed_units() -> None:
    consumed = {"ConsumedCapacity": {"TableName": "t", "CapacityUnits": 3.0}}

    meter = _asked("get_item", consumed, {"ReturnConsumedCapacity": "TOTAL"})

    assert (meter.usage.reads, meter.usage.writes) == (3.0, 0)


def test_a_read_that_finds_nothing_costs_what_aws_asks_at_least() -> None:
    consumed = {"ConsumedCapacity": {"TableName": "t", "CapacityUnits": 0.0}}

    assert _asked("get_item", consumed, {"ReturnConsumedCapacity": "TOTAL"}).usage.reads == 1.0


@pytest.mark.parametrize(("is_strong", "units"), [(True, 1.0), (False, 0.5)])
def test_an_item_of_a_batch_that_does_not_exist_costs_what_aws_asks_at_least(
    *, is_strong: bool, units: float
) -> None:
    keys = [{"pk": {"S": name}} for name in "abc"]
    client = boto3.client("dynamodb", "us-east-1", aws_access_key_id="x", aws_secret_access_key="x")
    meter = Meter()
    meter.watch(client)
    answer = {
        "Responses": {"t": [keys[0]]},
        "UnprocessedKeys": {"t": {"Keys": [keys[1]]}},
        "ConsumedCapacity": [{"TableName": "t", "CapacityUnits": units}],
    }
    with Stubber(client) as stub:
        stub.add_response("batch_get_item", answer)
        client.batch_get_item(RequestItems={"t": {"Keys": keys, "ConsistentRead": is_strong}})
    assert meter.usage.reads == 2 * units


def test_a_write_whose_condition_fails_is_billed() -> None:
    meter = Meter()

    meter._count(
        {"Error": {"Code": "ConditionalCheckFailedException"}},
        model=SimpleNamespace(name="PutItem"),
        context={},
    )

    assert meter.usage.writes == 1.0


def test_sqs_bills_every_64_kb_of_a_request() -> None:
    meter = Meter()

    for size in (0, 65_536, 65_537):
        meter.sqs_request(size)

    assert meter.usage.sqs == 1 + 1 + 2


def test_a_usage_and_a_multiple_of_another_are_added_in_every_kind_of_unit() -> None:
    usage = Usage(writes=10, reads=8, sqs=6, invocations=4)

    left = usage.plus(Usage(writes=2, reads=1, sqs=3, invocations=1), -2)

    assert left == Usage(writes=6, reads=6, sqs=0, invocations=2)
    assert left.per(4) == Usage(writes=1.5, reads=1.5, invocations=0.5)
