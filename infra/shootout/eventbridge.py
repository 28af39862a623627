"""`rate(1 minute)` on the local AWS: its EventBridge Scheduler beside Sweephand's `@every 1m`, in one run.

Both send to one queue, which notes when a message came. The local AWS looks at its schedules every ten
seconds. AWS promises the minute that begins at the due time.
"""

import json
import time
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import boto3
from infra.bench.punctuality import judge
from infra.local import stack
from infra.local.client import Client, write_jobs
from infra.local.places import REGION, Place, free_port
from infra.shootout.scenarios import figures

from sweephand.base.instants import MINUTE_MS

_OF_AWS: Final = "ministack's EventBridge Scheduler"
_OF_SWEEPHAND: Final = "sweephand-stack"
NAMES: Final = (_OF_AWS, _OF_SWEEPHAND)

_JOBS: Final = 50
_NAMESPACE: Final = "beside"


def measure(minutes: int) -> Mapping[str, Mapping[str, float]]:
    """The figures of both, over so many minutes, by their names."""
    place = Place(free_port(), enforces_roles=False)
    described = stack.up(place, say=lambda _: None)
    try:
        queue_url, arn = _queue(place)
        created = _schedules(place, arn)
        target = {"type": "sqs", "queueUrl": queue_url}
        jobs = [
            {"name": f"job-{number}", "schedule": "@every 1m", "target": target, "data": f"job-{number}"}
            for number in range(_JOBS)
        ]
        with Client.of(described) as client:
            write_jobs(client, _NAMESPACE, jobs)
        time.sleep((minutes + 0.5) * MINUTE_MS / 1_000)
        messages = _messages(place, queue_url)
    finally:
        stack.down(place)
    return {
        _OF_AWS: _of_aws(messages, created, minutes),
        _OF_SWEEPHAND: _of_sweephand(messages, minutes),
    }


def _client(place: Place, service: str) -> Any:
    return boto3.client(  # type: ignore[call-overload]
        service,
        endpoint_url=place.endpoint_url,
        region_name=REGION,
        aws_access_key_id="test",
        aws_secret_access_key="test",  # noqa: S106 - the local AWS takes any
    )


def _queue(place: Place) -> tuple[str, str]:
    sqs = _client(place, "sqs")
    url = sqs.create_queue(QueueName="sweephand-beside")["QueueUrl"]
    found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    return url, found["Attributes"]["QueueArn"]


def _schedules(place: Place, arn: str) -> Mapping[str, int]:
    """Create schedules of a minute, and return when each was created."""
    scheduler = _client(place, "scheduler")
    created = {}
    for number in range(_JOBS):
        name = f"schedule-{number}"
        scheduler.create_schedule(
            Name=name,
            ScheduleExpression="rate(1 minute)",
            FlexibleTimeWindow={"Mode": "OFF"},
            Target={"Arn": arn, "RoleArn": "arn:aws:iam::000000000000:role/any", "Input": json.dumps(name)},
        )
        created[name] = round(scheduler.get_schedule(Name=name)["CreationDate"].timestamp() * 1_000)
    return created


def _messages(place: Place, queue_url: str) -> Sequence[Mapping[str, Any]]:
    sqs = _client(place, "sqs")
    found: list[Mapping[str, Any]] = []
    while some := sqs.receive_message(
        QueueUrl=queue_url,
        MaxNumberOfMessages=10,
        AttributeNames=["SentTimestamp"],
        MessageAttributeNames=["sweephand"],
    ).get("Messages"):
        found += some
        for each in some:
            sqs.delete_message(QueueUrl=queue_url, ReceiptHandle=each["ReceiptHandle"])
    return found


def _of_aws(
    messages: Sequence[Mapping[str, Any]], created: Mapping[str, int], minutes: int
) -> Mapping[str, float]:
    """A schedule tells no due time: its nth message is that of the nth minute after its creation."""
    came: list[tuple[tuple[str, int], int]] = []
    for message in sorted(messages, key=lambda each: int(each["Attributes"]["SentTimestamp"])):
        name = json.loads(message["Body"])
        if name in created:
            count = sum(key == name for (key, _), _ in came)
            came.append(((name, count + 1), int(message["Attributes"]["SentTimestamp"])))
    numbers = range(1, minutes + 1)
    owed = {(name, n): at + n * MINUTE_MS for name, at in created.items() for n in numbers}
    return figures(judge(owed, came))


def _of_sweephand(messages: Sequence[Mapping[str, Any]], minutes: int) -> Mapping[str, float]:
    """Its messages tell the due time, and so when each job began."""
    came = []
    for each in messages:
        if "MessageAttributes" in each:
            names = json.loads(each["MessageAttributes"]["sweephand"]["StringValue"])
            due_at = round(datetime.fromisoformat(names["due"]).timestamp() * 1_000)
            came.append(((names["job"], due_at), int(each["Attributes"]["SentTimestamp"])))
    dues: dict[str, int] = {}
    for (job, due_at), _ in came:
        dues[job] = min(dues.get(job, due_at), due_at)
    owed = {
        (job, first + n * MINUTE_MS): first + n * MINUTE_MS
        for job, first in dues.items()
        for n in range(minutes)
    }
    silent = {(f"job-{number}", 0): 0 for number in range(_JOBS) if f"job-{number}" not in dues}
    return figures(judge({**owed, **silent}, came))
