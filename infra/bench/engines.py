"""A local AWS without a stack: only the tables, queues and other resources that the functions use."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from infra.local import ministack
from infra.local.deploy import session
from infra.local.places import Place, aws_environment

from sweephand.access.key_making import keep_admin_key
from sweephand.model.api_key import digest_of
from sweephand.runtime.ids import SystemIds
from sweephand.storage.api_keys import DynamoKeys
from sweephand.storage.table import Table

ADMIN_SECRET = "0" * 43

_KEYS: Any = [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]
_ATTRIBUTES: Any = [{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")]


@dataclass(frozen=True, slots=True)
class Engines:
    """The environment of a function over these engines, and the messages of the delivery queue."""

    environment: Mapping[str, str]
    _sqs: Any

    def messages(self, count: int) -> list[Mapping[str, Any]]:
        """That many messages as Lambda hands them to the delivery function, once they are visible."""
        url = self.environment["DELIVERY_QUEUE_URL"]
        records: list[Mapping[str, Any]] = []
        while len(records) < count:
            answer = self._sqs.receive_message(
                QueueUrl=url, MaxNumberOfMessages=min(10, count - len(records)), WaitTimeSeconds=5
            )
            records += [
                {
                    "messageId": message["MessageId"],
                    "receiptHandle": message["ReceiptHandle"],
                    "body": message["Body"],
                    "attributes": {"ApproximateReceiveCount": "1"},
                }
                for message in answer["Messages"]
            ]
        return records


@contextmanager
def running(place: Place) -> Iterator[Engines]:
    """The engines, started and empty."""
    ministack.start(place)
    try:
        yield _furnished(place)
    finally:
        ministack.stop(place)


def _furnished(place: Place) -> Engines:
    clients: dict[str, Any] = {
        name: session().client(name, endpoint_url=place.endpoint_url) for name in ("dynamodb", "sqs", "s3")
    }
    for table in ("jobs", "timers"):
        clients["dynamodb"].create_table(
            TableName=table,
            KeySchema=_KEYS,
            AttributeDefinitions=_ATTRIBUTES,
            BillingMode="PAY_PER_REQUEST",
        )
    clients["s3"].create_bucket(Bucket="payloads")
    jobs = Table(clients["dynamodb"], "jobs", lambda _: None)
    keep_admin_key(DynamoKeys(jobs), SystemIds(), digest_of(ADMIN_SECRET), None, now=0)
    queues = [clients["sqs"].create_queue(QueueName=name)["QueueUrl"] for name in ("delivery", "dead")]
    told = {
        "JOBS_TABLE": "jobs",
        "TIMERS_TABLE": "timers",
        "PAYLOAD_BUCKET": "payloads",
        "DELIVERY_QUEUE_URL": queues[0],
        "DEAD_LETTER_QUEUE_URL": queues[1],
        "SWEEP_FUNCTION": "sweep",
        "SHARD_COUNT": "4",
        "SWEEPERS_MAX": "4",
        "ALLOW_INSECURE_TARGETS": "true",
        "POWERTOOLS_SERVICE_NAME": "bench",
        "STACK_NAME": "sweephand",
    }
    path = {"PATH": os.environ["PATH"]}
    return Engines({**_aws(place), **told, **path}, clients["sqs"])


def _aws(place: Place) -> dict[str, str]:
    return {name: value for name, value in aws_environment(place).items() if name.startswith("AWS_")}
