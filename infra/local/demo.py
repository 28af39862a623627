"""What `make up` prints, and the demo of `make run`: a few jobs, and each delivery as it arrives."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import urllib3
from botocore.exceptions import BotoCoreError, ClientError
from infra.local.client import Client
from infra.local.deploy import aws_client
from infra.local.inbox import Inbox
from infra.local.places import Place
from infra.local.queue import Queue
from infra.local.receiver import HEAD, Answer, Delivery, delivery_line, line

_NAMESPACE = "demo"
# The job that first_steps() explains how to write.
_MINE = "hello"


def first_steps(stack: Mapping[str, Any], inbox_url: str, *, ended_by: str) -> str:
    """The text for a stack as its file describes it; `ended_by` is the command that ends the stack."""
    return f"""
Paste these lines. They say where the stack is, for the examples here and in docs/:

export API={stack["apiUrl"]}
export KEY={stack["apiKey"]}
export INBOX={inbox_url}

Then deliver something in five seconds. The inbox waits for it and shows it:

curl -X PUT $API{_path(_MINE)} \\
  -H "Authorization: Bearer $KEY" -H 'Content-Type: application/json' \\
  -d '{{"dueTime": "5s", "data": {{"hello": "world"}},
       "target": {{"type": "http", "url": "'$INBOX'/hello"}}}}'
curl $INBOX/next

A console is at {stack["apiUrl"]}/console. Sign in with the key.
Every call is described at {stack["apiUrl"]}/docs
`{ended_by}` ends the stack and deletes what it stored. The next stack has the same address and key."""


class _Printing(Inbox):
    """An inbox that also prints each delivery."""

    def remember(self, delivery: Delivery) -> None:
        print(delivery_line(delivery), flush=True)
        super().remember(delivery)


def show(place: Place, stack: Mapping[str, Any], *, stays: bool, ended_by: str) -> None:
    """Run the demo until interrupted. The stack must answer, and keeps running.

    If the stack `stays` up, the demo's jobs are deleted at the end, because their receiver ends.
    """
    # Read once: nobody rotates secrets here, and a request for each delivery would make deliveries later.
    secrets: list[str] = []
    with Client.of(stack) as client, _Printing(lambda _: secrets) as inbox, _queue(place) as queue:
        jobs = _jobs(inbox, queue)
        inbox.answer("/twice-failing", Answer(503), Answer(503))
        try:
            for name, job in jobs.items():
                client.ask("PUT", _path(name), job)
            secrets.extend(client.signing_secrets(_NAMESPACE))
            print(first_steps(stack, inbox.url(""), ended_by=ended_by))
            end = "these jobs; the stack was up before and stays" if stays else "everything"
            print(f"\nCtrl-C ends {end}.\n\n{HEAD}", flush=True)
            threading.Event().wait()
        finally:
            for name in (*jobs, _MINE) if stays else ():
                client.call("DELETE", _path(name))


def _path(name: str) -> str:
    return f"/v1/namespaces/{_NAMESPACE}/jobs/{name}"


def _jobs(inbox: Inbox, queue: dict[str, str]) -> dict[str, dict[str, Any]]:
    def http(path: str) -> dict[str, Any]:
        return {"type": "http", "url": inbox.url(path)}

    return {
        "in-five-seconds": {"dueTime": "5s", "target": http("/hello"), "data": {"hello": "world"}},
        "every-ten-seconds": {"schedule": "@every 10s", "target": http("/ticker")},
        "on-the-minute-in-kathmandu": {
            "schedule": "0 * * * * *",
            "timezone": "Asia/Kathmandu",
            "target": http("/kathmandu"),
        },
        "fails-twice": {
            "dueTime": "3s",
            "target": http("/twice-failing"),
            "retry": {"initialDelay": "2s", "multiplier": 1, "maxAttempts": 5},
        },
        "to-a-queue": {
            "schedule": "@every 15s",
            "target": queue,
            "data": {"for": "the reader of the queue"},
        },
    }


@contextmanager
def _queue(place: Place) -> Iterator[dict[str, str]]:
    """The target of a queue. Each of its messages is printed when it has come."""
    sqs = aws_client(place, "sqs")
    queue = Queue(sqs, sqs.create_queue(QueueName="sweephand-demo")["QueueUrl"])
    is_over = threading.Event()

    def read() -> None:
        while not is_over.is_set():
            try:
                messages = queue.rest()
            except (BotoCoreError, ClientError, urllib3.exceptions.HTTPError):
                is_over.wait(1)
                continue
            for each in messages:
                due, attempt, job = (str(each.names[name]) for name in ("due", "attempt", "job"))
                print(line(each.sent_at, due, attempt, job, f"queue {each.body}"), flush=True)

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    try:
        yield queue.target
    finally:
        is_over.set()
        thread.join(timeout=5)
