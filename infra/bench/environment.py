"""The environment of a function that runs in this process, above a DynamoDB that answers at once."""

from typing import Any, Final

import boto3
from infra.bench.instant_dynamodb import InstantDynamoDB

_QUEUE: Final = "https://sqs.us-east-1.amazonaws.com/123456789012/"

#: The environment that template.yaml gives the function. The keys open nothing.
ENVIRONMENT: Final = {
    "AWS_ACCESS_KEY_ID": "bench",
    "AWS_SECRET_ACCESS_KEY": "bench",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_ENDPOINT_URL": "http://127.0.0.1:9",  # no program listens there, so no request leaves this machine
    "JOBS_TABLE": "jobs",
    "TIMERS_TABLE": "timers",
    "PAYLOAD_BUCKET": "payloads",
    "DELIVERY_QUEUE_URL": f"{_QUEUE}delivery",
    "DEAD_LETTER_QUEUE_URL": f"{_QUEUE}dead",
    "SHARD_COUNT": "1",
    "ALLOW_INSECURE_TARGETS": "true",
    "POWERTOOLS_SERVICE_NAME": "bench",
    "STACK_NAME": "sweephand",
}


def answer_beneath_boto3(dynamodb: InstantDynamoDB) -> None:
    """Have all clients that boto3 makes from now on send their requests to this DynamoDB.

    boto3 then does all its work except the network's.
    """
    boto3.setup_default_session()
    assert boto3.DEFAULT_SESSION is not None, "it has just been made"
    # The stubs say that a listener returns nothing. botocore takes the answer of this one.
    events: Any = boto3.DEFAULT_SESSION.events
    for service in ("dynamodb", "sqs"):
        events.register(f"before-send.{service}", dynamodb.answer)
        events.register(f"provide-client-params.{service}", dynamodb.note)
