"""ports.Queue in memory, and over SQS: by a client in memory (`wire`), by the engine's queues and by moto."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from tests.fakes.doubles import HandClock, Letterbox
from tests.fakes.sqs import mocked_sqs
from tests.fakes.sqs_client import queue_over

from sweephand.delivery.checked_clients import SqsClients
from sweephand.delivery.sqs_queue import SqsQueue
from sweephand.model.job import JobKey
from sweephand.model.trigger import BundleMessage, DeadLetter, Readable, Trigger, TriggerMessage
from sweephand.model.wire import decode, encode
from sweephand.ports.queue import Queue
from sweephand.targets.reach import EVERY_QUEUE
from sweephand_engine.sqs.client import MemorySqs
from sweephand_engine.sqs.queue import MemoryQueue


def message(number: int) -> TriggerMessage:
    due_at = 1_795_262_400_000 + number
    return TriggerMessage(Trigger(JobKey("team", "job"), "u" * 16, "r", due_at, number, 0), due_at)


@dataclass
class Case:
    """A queue, and what a consumer of it sees: messages with their receipts, and reasons of letters."""

    queue: Queue
    receive: Callable[[], Sequence[tuple[Readable, str]]]
    reasons: Callable[[], list[str]]
    reappear: Callable[[], Any]


def of_engine() -> Case:
    """Production's adapter over two queues of an engine."""
    clock = HandClock()
    queue, dead = (MemoryQueue(name, clock.now, 1_000) for name in ("delivery", "dead"))
    sqs: Any = MemorySqs({"delivery": queue, "dead": dead})
    return Case(
        SqsQueue(
            SqsClients(lambda _: sqs),
            "delivery",
            "dead",
            lambda _: None,
            allow_insecure=False,
            queues=EVERY_QUEUE,
        ),
        lambda: [(decode(each.body), each.receipt) for each in queue.receive(1_000)],
        lambda: [json.loads(each.body)["reason"] for each in dead.receive(1_000)],
        lambda: clock.wait_until(clock.now() + 1_000),
    )


@pytest.fixture(params=["memory", "wire", "engine", "moto"])
def case(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Case]:
    if request.param == "engine":
        yield of_engine()
        return
    if request.param != "moto":
        box = Letterbox(HandClock())
        yield Case(
            box if request.param == "memory" else queue_over(box),
            lambda: [(decode(each.body), each.receipt) for each in box.take(limit=1_000)],
            lambda: [letter.reason for letter, _ in box.buried],
            box.reappear,
        )
        return
    with mocked_sqs(monkeypatch) as sqs:
        url, dead = sqs.queue("delivery"), sqs.queue("dead")
        shown: list[str] = []

        def receive() -> list[tuple[Readable, str]]:
            found = sqs.messages(url)
            shown.extend(each["ReceiptHandle"] for each in found)
            return [(decode(each["Body"]), each["ReceiptHandle"]) for each in found]

        def reappear() -> None:
            for receipt in shown:
                # One that was acknowledged cannot be shown again, which is what the test is about.
                try:
                    sqs.client.change_message_visibility(
                        QueueUrl=url, ReceiptHandle=receipt, VisibilityTimeout=0
                    )
                except sqs.client.exceptions.ClientError:
                    continue
            shown.clear()

        yield Case(
            SqsQueue(sqs.clients, url, dead, lambda _: None, allow_insecure=False, queues=EVERY_QUEUE),
            receive,
            lambda: [letter["reason"] for letter in sqs.letters(dead)],
            reappear,
        )


def by_due(received: Sequence[tuple[Readable, str]]) -> list[Readable]:
    return sorted((each for each, _ in received), key=encode)


@pytest.mark.parametrize("count", [0, 1, 10, 11, 25])
def test_every_message_that_was_sent_is_received(case: Case, count: int) -> None:
    sent = [message(number) for number in range(count)]
    case.queue.send([(each, 0) for each in sent])
    assert by_due(case.receive()) == sorted(sent, key=encode)


def test_a_bundle_is_received_as_it_was_sent(case: Case) -> None:
    sent: list[Readable] = [BundleMessage(tuple(message(number) for number in range(25))), message(1)]
    case.queue.send([(each, 0) for each in sent])
    assert by_due(case.receive()) == sorted(sent, key=encode)


def test_a_delay_of_less_than_a_second_is_sent_as_none(case: Case) -> None:
    case.queue.send([(message(1), 999)])
    assert by_due(case.receive()) == [message(1)]


def test_a_delayed_message_is_not_received_before_its_time(case: Case) -> None:
    case.queue.send([(message(1), 900_000), (message(2), 0)])
    assert by_due(case.receive()) == [message(2)]


def test_a_message_becomes_visible_again_unless_it_was_acknowledged(case: Case) -> None:
    case.queue.send([(message(number), 0) for number in range(12)])
    received = case.receive()
    case.queue.acknowledge([receipt for each, receipt in received if each != message(5)])
    case.reappear()
    assert by_due(case.receive()) == [message(5)]


def test_the_acknowledgement_of_an_unknown_receipt_raises_no_error(case: Case) -> None:
    case.queue.acknowledge([])
    case.queue.acknowledge(["nothing"])


def test_dead_letters_are_kept_with_their_reasons(case: Case) -> None:
    letters = [DeadLetter("{}", f"Reason {number}.", message(number).trigger) for number in range(12)]
    case.queue.bury([(letter, None) for letter in letters])
    assert sorted(case.reasons()) == sorted(letter.reason for letter in letters)
