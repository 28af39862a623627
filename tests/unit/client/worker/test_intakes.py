"""Deliveries come by signed requests or from a queue, and nothing else runs a command."""

import json
import sys
import threading
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import pytest
from tests.unit.client.worker.conftest import TOKEN, Machine, Stack, run_of, shell
from tests.unit.client.worker.test_work import until

from sweephand.delivery.http.request import signatures
from sweephand.runtime.machine import SystemClock
from sweephand_client.http.errors import InputError
from sweephand_client.receive.signatures import FixedSecrets
from sweephand_client.worker.commands_file import Command
from sweephand_client.worker.heart import Nothing
from sweephand_client.worker.listener import Listener
from sweephand_client.worker.queue import Queue, sqs_client
from sweephand_client.worker.worker import Worker

SECRET: Final = "whsec_c3dlZXBoYW5kIHNpZ25zIGl0cyBkZWxpdmVyaWVz"
OTHER: Final = "whsec_c29tZWJvZHkgZWxzZSBzaWducyBzb21ldGhpbmc="


def commands(machine: Machine) -> dict[str, Command]:
    return {
        "backup": shell("touch ran", directory=str(machine.home)),
        "bad": shell("echo oops; exit 3"),
        "slow": shell("touch begun; until test -e go; do sleep 0.02; done", directory=str(machine.home)),
    }


@contextmanager
def listening(worker: Worker) -> Iterator[str]:
    listener = Listener("127.0.0.1", 0, worker, FixedSecrets(SECRET))
    thread = threading.Thread(target=listener.run, daemon=True)
    thread.start()
    try:
        yield listener.url
    finally:
        worker.is_stopping.set()
        thread.join(60)


def post(
    url: str,
    job: str = "backup",
    *,
    secret: str = SECRET,
    age_s: int = 0,
    name: str = "uid-5-0",
    **headers: str,
) -> tuple[int, str]:
    """The status and the words of the answer to a delivery."""
    now, body = SystemClock().now() - age_s * 1_000, b"null"
    sent = {
        "webhook-id": name,
        "webhook-timestamp": str(now // 1_000),
        "webhook-signature": signatures([secret], name, now, body),
        "sweephand-namespace": "web1",
        "sweephand-job": job,
        "sweephand-run": "5-0",
        "sweephand-due": "1970-01-01T00:00:00.005Z",
        "sweephand-attempt": "1",
        "sweephand-sequence": "1",
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    request = urllib.request.Request(url, body, {name: each for name, each in sent.items() if each})  # noqa: S310
    try:
        with urllib.request.urlopen(request) as answer:  # noqa: S310 - loopback
            return int(answer.status), answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        ({"secret": OTHER}, 401, "No known secret of the namespace has signed this request."),
        ({"age_s": 301}, 401, "They may differ by five minutes."),
        ({"webhook_signature": ""}, 401, "The request has no header webhook-signature."),
        ({"job": "unknown"}, 422, "names no command for the job unknown. Add it there, or rename the job."),
        ({"sweephand_namespace": "web2"}, 422, "runs commands for the namespace web1, not for web2."),
        ({"sweephand_event": "end", "name": "uid-5-0-end-1"}, 422, "This is a notification (end). A worker"),
        (
            {"sweephand_run": "6-0"},
            400,
            "sweephand-event, -run, -due or -batch-index does not fit webhook-id.",
        ),
        ({"sweephand_due": ""}, 400, "This is no delivery of Sweephand: it has no due."),
        ({"content_length": "2097153"}, 400, "Give a content-length up to 2097152."),
    ],
)
def test_a_request_that_may_not_run_a_command_is_told_why(
    given: dict[str, Any], status: int, said: str, machine: Machine, stack: Stack
) -> None:
    with listening(machine.worker(commands(machine))) as url:
        found, text = post(url, **{**given, "sweephand_run_token": TOKEN})
    assert found == status
    assert said in text
    assert stack.beats == 0
    assert not (machine.home / "ran").exists()
    assert said in machine.log[-1]


def test_a_run_that_reports_is_accepted_at_once_and_once(machine: Machine, stack: Stack) -> None:
    worker = machine.worker(commands(machine))
    with listening(worker) as url:
        for _ in range(2):
            assert post(url, "slow", sweephand_run_token=TOKEN) == (202, "")
        until((machine.home / "begun").exists)
        assert (worker.count, post(url, "slow")) == (1, (503, "This attempt is being worked on."))
        (machine.home / "go").touch()
        until(lambda: stack.ends)
    assert [kind for kind, _ in stack.ends] == ["complete"]


def test_without_a_token_the_exit_code_is_the_answer(machine: Machine, stack: Stack) -> None:
    with listening(machine.worker(commands(machine))) as url:
        assert post(url) == (200, "exit code 0")
        assert post(url, "bad") == (500, "exit code 3: oops")
    assert (machine.home / "ran").exists()
    assert (stack.beats, stack.ends) == (0, [])


def test_a_command_that_no_request_waits_for_is_ended(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sweephand_client.worker.listener._ANSWER_S", 0.5)
    with listening(machine.worker(commands(machine))) as url:
        status, text = post(url, "slow")
    assert (status, 'give the job "completion": "async"' in text) == (500, True)


def test_a_worker_without_room_asks_for_another_attempt(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sweephand_client.worker.listener._IN_HAND_MAX", 0)
    with listening(machine.worker(commands(machine))) as url:
        assert post(url, sweephand_run_token=TOKEN) == (503, "This worker has no room. Try again later.")


def test_an_address_in_use_is_told(machine: Machine) -> None:
    worker = machine.worker({})
    with listening(worker) as url, pytest.raises(InputError, match=r"Nothing can listen at 127.0.0.1:\d+: "):
        Listener("127.0.0.1", int(url.rpartition(":")[2]), worker, FixedSecrets(SECRET))


class Sqs:
    """A queue whose next polls bring these lists of messages. After them the worker stops."""

    def __init__(self, worker: Worker, *polls: Any) -> None:
        self._worker = worker
        self._polls = deque(polls)
        self.asked: list[int] = []
        self.changed: list[tuple[str, str, int | None]] = []

    def receive_message(self, **asked: Any) -> dict[str, Any]:
        self.asked.append(asked["MaxNumberOfMessages"])
        poll = self._polls.popleft() if self._polls else []
        if not self._polls:
            self._worker.is_stopping.set()
        if isinstance(poll, Exception):
            raise poll
        return {"Messages": poll} if poll else {}

    def delete_message(self, **asked: Any) -> None:
        self.changed.append(("delete", asked["ReceiptHandle"], None))

    def change_message_visibility(self, **asked: Any) -> None:
        self.changed.append(("hide", asked["ReceiptHandle"], asked["VisibilityTimeout"]))


def message(name: str, job: str = "backup", **names: Any) -> dict[str, Any]:
    sweephand = {
        "id": name,
        "namespace": "web1",
        "job": job,
        "run": "5-0",
        "due": "2026-11-21T12:00:00.000Z",
        "attempt": 1,
        "sequence": 1,
        "batchIndex": 0,
        "runToken": TOKEN,
        **names,
    }
    attribute = {"sweephand": {"StringValue": json.dumps(sweephand)}}
    return {"MessageId": name, "ReceiptHandle": name, "Body": "{}", "MessageAttributes": attribute}


def polled(machine: Machine, worker: Worker, *polls: Any) -> Sqs:
    """A queue after the worker has taken what these polls and an empty one bring."""
    sqs = Sqs(worker, *polls, [])
    Queue("https://sqs/1/q", sqs, worker, machine.shared.say).run()
    until(lambda: worker.count == 0)
    return sqs


def test_a_message_is_deleted_when_its_run_is_taken_and_then_the_command_runs(
    machine: Machine, stack: Stack
) -> None:
    sqs = polled(machine, machine.worker(commands(machine)), [message("a"), message("b", "bad")])
    assert sorted(sqs.changed) == [("delete", "a", None), ("delete", "b", None)]
    assert sorted(kind for kind, _ in stack.ends) == ["complete", "fail"]
    assert sqs.asked[0] == 10


def test_an_unknown_job_is_given_up_and_what_is_no_delivery_stays(machine: Machine, stack: Stack) -> None:
    foreign = {"MessageId": "f", "ReceiptHandle": "f", "Body": "rm -rf /"}
    unread = message("u", due="soon")
    without_token = message("w", "unknown", runToken=None)
    endless = message("e", attempt=float("inf"))
    deep = {**message("d"), "Body": "[" * 100_000}
    read = [message("a", "unknown"), foreign, unread, without_token, endless, deep]
    sqs = polled(machine, machine.worker(commands(machine)), read)
    until(lambda: sqs.changed)
    assert sqs.changed == [("delete", "a", None)]
    assert stack.ends == [
        ("give up", "commands.yaml names no command for the job unknown. Add it there, or rename the job.")
    ]
    assert "The message f stays in its queue: This is no delivery of Sweephand" in "\n".join(machine.log)


def test_a_copy_of_what_is_in_hand_is_deleted_and_not_run(machine: Machine, stack: Stack) -> None:
    worker = machine.worker(commands(machine))
    worker.take(run_of("slow", id="a"), b"", Nothing())
    until((machine.home / "begun").exists)
    sqs = Sqs(worker, [message("a", "slow")], [])
    Queue("https://sqs/1/q", sqs, worker, machine.shared.say).run()
    assert (sqs.changed, sqs.asked[0], worker.count) == ([("delete", "a", None)], 9, 1)
    (machine.home / "go").touch()
    until(lambda: worker.count == 0)
    assert len(stack.ends) == 1


def test_no_more_is_asked_for_than_may_begin(machine: Machine) -> None:
    worker = machine.worker(commands(machine), concurrency=2)
    assert worker.free(0) == 2
    worker.take(run_of("slow", id="a"), b"", Nothing())
    assert worker.free(0) == 1
    worker.take(run_of("slow", id="b"), b"", Nothing())
    assert worker.free(0) == 0
    (machine.home / "go").touch()
    assert worker.free(60) > 0
    until(lambda: worker.count == 0)


def test_a_queue_that_cannot_be_read_is_told_once_and_asked_again(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sweephand_client.worker.queue._AGAIN_S", 0)
    worker = machine.worker(commands(machine))
    polled(machine, worker, OSError("no route"), OSError("no route"), [message("a")])
    assert machine.log.count("The queue cannot be read: no route") == 1
    assert (machine.home / "ran").exists()


def test_messages_that_come_when_the_worker_stops_go_back(machine: Machine, stack: Stack) -> None:
    worker = machine.worker(commands(machine))
    sqs = Sqs(worker, [message("a")])
    Queue("https://sqs/1/q", sqs, worker, machine.shared.say).run()
    assert (sqs.changed, stack.beats) == ([("hide", "a", 0)], 0)


@pytest.mark.parametrize(
    ("url", "region"),
    [
        ("https://sqs.eu-west-1.amazonaws.com/123456789012/sweephand-x", "eu-west-1"),
        ("https://sqs.us-gov-east-1.amazonaws.com/123456789012/sweephand-x", "us-gov-east-1"),
        ("http://127.0.0.1:4700/000000000000/sweephand-x", "ap-south-1"),
    ],
)
def test_a_queue_is_in_the_region_of_its_url_or_of_the_environment(
    url: str, region: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "ap-south-1")
    client = sqs_client(url)
    assert client.meta.region_name == region
    assert url.startswith(client.meta.endpoint_url)


def test_what_a_queue_needs_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="is no URL of a queue"):
        sqs_client("sweephand-orders")
    monkeypatch.setitem(sys.modules, "boto3", None)
    with pytest.raises(InputError, match=r"pip install 'sweephand\[worker\]'"):
        sqs_client("https://sqs.eu-west-1.amazonaws.com/123456789012/sweephand-x")
