"""The demo of `make run`: a few jobs, each delivery as it arrives, and how to call the API."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import urllib3
from botocore.exceptions import BotoCoreError, ClientError
from infra.local.client import Client
from infra.local.deploy import aws_client
from infra.local.places import Place
from infra.local.queue import Queue
from infra.local.receiver import HEAD, Answer, Delivery, Receiver, delivery_line, line

_NAMESPACE = "demo"
# The job that the demo explains how to write.
_MINE = "mine"


def show(place: Place, stack: dict[str, Any], *, stays: bool) -> None:
    """Run the demo until interrupted. The stack must answer, and keeps running.

    If the stack `stays` up, the demo's jobs are deleted at the end, because their receiver ends.
    """
    # Read once: nobody rotates secrets here, and a request for each delivery would make deliveries later.
    secrets: list[str] = []
    with (
        Client.of(stack) as client,
        Receiver(lambda _: secrets, _print_delivery) as receiver,
        _queue(place) as queue,
    ):
        jobs = _jobs(receiver, queue)
        receiver.answer("/twice-failing", Answer(503), Answer(503))
        try:
            for name, job in jobs.items():
                client.ask("PUT", _path(name), job)
            secrets.extend(client.signing_secrets(_NAMESPACE))
            print(_introduction(stack, receiver, stays=stays), flush=True)
            threading.Event().wait()
        finally:
            for name in (*jobs, _MINE) if stays else ():
                client.call("DELETE", _path(name))


def _path(name: str) -> str:
    return f"/v1/namespaces/{_NAMESPACE}/jobs/{name}"


def _jobs(receiver: Receiver, queue: dict[str, str]) -> dict[str, dict[str, Any]]:
    def http(path: str) -> dict[str, Any]:
        return {"type": "http", "url": receiver.url(path)}

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


def _introduction(stack: dict[str, Any], receiver: Receiver, *, stays: bool) -> str:
    target = {"type": "http", "url": receiver.url("/mine")}
    body = json.dumps({"dueTime": "3s", "target": target, "data": {"n": 1}})
    return f"""
Sweephand answers at  {stack["apiUrl"]}
its admin key is      {stack["apiKey"]}
how it is called      {stack["apiUrl"]}/docs

Schedule something yourself, from another terminal:

curl -X PUT {stack["apiUrl"]}{_path(_MINE)} \\
  -H 'Authorization: Bearer {stack["apiKey"]}' -H 'Content-Type: application/json' \\
  -d '{body}'

Ctrl-C ends {"these jobs; the stack was up before and stays" if stays else "everything"}.

{HEAD}
"""


def _print_delivery(delivery: Delivery) -> None:
    print(delivery_line(delivery), flush=True)


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
