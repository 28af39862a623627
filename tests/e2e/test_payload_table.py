"""Data over 2 KB goes from the bucket to a table of the operator's and back, while triggers need it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest
from tests.e2e.parameters import Parameters, changed
from tests.e2e.schedule import Schedule, eventually
from tests.e2e.test_delivery import queue_reader
from tests.fakes.receiver import Receiver

TABLE: Final = "my-payloads"


def large(letter: str) -> dict[str, str]:
    """Data over 2 KB with characters that encodings differ in."""
    return {"text": letter * 3_000, "odd": 'ü\U0001f600 \\ " \n'}


def stored(parameters: Parameters) -> list[str]:
    """The data in the table that does not expire."""
    items = parameters.client("dynamodb").scan(TableName=TABLE)["Items"]
    return [each["data"]["S"] for each in items if "expires_at" not in each]


@pytest.fixture
def parameters(stack: Mapping[str, Any]) -> Iterator[Parameters]:
    dynamodb = Parameters(stack).client("dynamodb")
    keys = {"pk": "HASH", "sk": "RANGE"}
    dynamodb.create_table(
        TableName=TABLE,
        AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in keys],
        KeySchema=[{"AttributeName": name, "KeyType": kind} for name, kind in keys.items()],
        BillingMode="PAY_PER_REQUEST",
    )
    with changed(stack) as parameters:
        yield parameters
    dynamodb.delete_table(TableName=TABLE)


def test_data_from_the_bucket_and_from_a_table_is_the_same_through_each_target(
    parameters: Parameters, schedule: Schedule, receiver: Receiver
) -> None:
    url = parameters.client("sqs").create_queue(QueueName=f"sweephand-{schedule.namespace}")["QueueUrl"]
    targets = {
        "http": {"type": "http", "url": receiver.url("/http")},
        "sqs": {"type": "sqs", "queueUrl": url},
    }
    read = queue_reader(parameters.stack, url)

    def arrived(number: int) -> list[str]:
        """What each target received last."""
        receiver.wait("/http", number, within_s=90)
        received: str = eventually(read, lambda _: True)["Body"]
        return [receiver.deliveries("/http")[-1].body.decode(), received]

    def put(letter: str) -> None:
        for name, target in targets.items():
            schedule.put(f"{name}-{letter}", target=target, data=large(letter))

    def fire(letter: str) -> None:
        for name in targets:
            schedule.do(f"{name}-{letter}", "trigger")

    put("a")
    fire("a")
    from_bucket = arrived(1)
    assert [json.loads(text) for text in from_bucket] == [large("a")] * len(targets)
    parameters.set(PayloadTable=TABLE)
    put("b")
    assert len(stored(parameters)) == len(targets)
    fire("a")
    assert arrived(2) == from_bucket
    fire("b")
    from_table = arrived(3)
    assert from_table == [text.replace("a" * 3_000, "b" * 3_000) for text in from_bucket]
    parameters.set(PayloadTable="", FormerPayloadTable=TABLE)
    fire("b")
    assert arrived(4) == from_table
