"""SQS by moto, in this process."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.exceptions import ClientError
from moto import mock_aws

from sweephand.delivery.adapter import AwsClients
from sweephand.delivery.checked_clients import SqsClients
from sweephand.delivery.sqs import SqsTargets
from sweephand.targets.reach import EVERY_QUEUE, JobQueues, Reach

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

REGION = "eu-west-1"


class Sqs:
    """A client of SQS, with the calls that tests need."""

    def __init__(self) -> None:
        self.client: SQSClient = boto3.client("sqs", region_name=REGION)
        self.clients = SqsClients(lambda _: self.client)

    def queue(self, name: str) -> str:
        """The URL of a new queue. It is a FIFO queue if its name ends in `.fifo`."""
        attributes: Any = {"FifoQueue": "true"} if name.endswith(".fifo") else {}
        return self.client.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]

    def messages(self, url: str) -> list[dict[str, Any]]:
        """The messages that can be received now. They stay invisible afterwards."""
        found: list[dict[str, Any]] = []
        while True:
            answer = self.client.receive_message(
                QueueUrl=url, MaxNumberOfMessages=10, MessageAttributeNames=["All"], AttributeNames=["All"]
            )
            if not answer.get("Messages"):
                return found
            found.extend(dict(each) for each in answer["Messages"])

    def letters(self, url: str) -> list[dict[str, Any]]:
        """The dead letters in a queue."""
        return [json.loads(each["Body"]) for each in self.messages(url)]


@contextmanager
def mocked_sqs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Sqs]:
    """SQS without a network, with credentials that give no access."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    with mock_aws():
        yield Sqs()


def sqs_targets(
    clients: SqsClients, queues: JobQueues = EVERY_QUEUE, *, allow_insecure: bool = False
) -> SqsTargets:
    """The adapter of a stack that assumes no role."""
    return SqsTargets(clients, AwsClients(), Reach(allow_insecure, queues))


def refusal(code: str, operation: str = "SendMessageBatch") -> ClientError:
    """The error that boto3 raises if AWS answers with that code."""
    return ClientError({"Error": {"Code": code, "Message": "because"}}, operation)
