"""The inbox of a process: which deliveries a reader gets, and how a line shows one."""

from collections.abc import Iterable

import pytest
from tests.fakes.doubles import NOON, HandClock

from sweephand.delivery.adapter import Service
from sweephand.delivery.checked_clients import UnsentError, may_send
from sweephand_engine.inbox import KEPT_MAX, Arrival, Inbox

DUE = "2026-11-21T12:00:00Z"


def no_secrets(_: str) -> Iterable[str]:
    return ()


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


@pytest.fixture
def inbox(clock: HandClock) -> Inbox:
    return Inbox(clock.now)


def bodies(arrivals: Iterable[Arrival]) -> list[str]:
    return [each.body for each in arrivals]


def test_a_reader_gets_each_delivery_once(inbox: Inbox) -> None:
    inbox.take("/inbox/a", {}, b"1", no_secrets)
    inbox.take("/inbox/b", {}, b"2", no_secrets)

    assert bodies(inbox.next(0)) == ["1", "2"]
    assert bodies(inbox.next(0)) == []
    assert bodies(inbox.arrivals()) == ["1", "2"]


def test_a_reader_gets_what_came_in_the_last_ten_seconds(inbox: Inbox, clock: HandClock) -> None:
    inbox.take("/inbox", {}, b"old", no_secrets)
    clock.time += 1
    inbox.take("/inbox", {}, b"new", no_secrets)
    clock.time += 10_000

    assert bodies(inbox.next(0)) == ["new"]


def test_the_oldest_deliveries_are_forgotten(inbox: Inbox) -> None:
    for number in range(KEPT_MAX + 1):
        inbox.take("/inbox", {}, str(number).encode(), no_secrets)

    assert bodies(inbox.arrivals())[0] == "1"
    assert len(inbox.next(0)) == KEPT_MAX


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({"job": "a", "due": DUE, "attempt": "1"}, "   40 ms      1    a"),
        ({"job": "a", "due": DUE, "attempt": "2"}, "   retry      2    a"),
        ({"job": "a", "due": DUE, "attempt": "1", "batchIndex": "7"}, "     # 7      1    a"),
        ({}, "              ?    ?"),
    ],
)
def test_a_line_shows_the_lateness_of_the_first_attempt(names: dict[str, str], expected: str) -> None:
    assert f"  {expected} " in Arrival(NOON + 40, names, "/inbox", "x").line()


def test_a_delivery_controls_no_terminal_and_makes_no_line_of_its_own(inbox: Inbox) -> None:
    inbox.take("/inbox/\x9b2J", {}, "\x1b[2J\nété".encode(), no_secrets)

    [arrival] = inbox.arrivals()
    assert arrival.line().endswith(r"/inbox/\u009b2J   WRONG SIGNATURE  \u001b[2J\nété")


def test_a_request_that_may_no_longer_be_sent_does_not_arrive(inbox: Inbox) -> None:
    token = may_send.set(lambda: False)
    try:
        with pytest.raises(UnsentError):
            inbox.client(Service("sns", None)).publish(TopicArn="arn", Message="x")
    finally:
        may_send.reset(token)
    assert inbox.arrivals() == []


def test_a_request_that_the_client_does_not_know_is_an_error(inbox: Inbox) -> None:
    with pytest.raises(AttributeError, match="create_topic"):
        inbox.client(Service("sns", None)).create_topic()


@pytest.mark.parametrize("event", ["[1,2]", '"text"', "5", "null", '{"sweephand": 5}'])
def test_data_alone_may_be_any_json(inbox: Inbox, event: str) -> None:
    inbox.client(Service("lambda", None)).invoke(
        FunctionName="f", InvocationType="Event", Payload=event.encode()
    )
    inbox.client(Service("stepfunctions", None)).start_execution(stateMachineArn="arn", input=event)
    assert [each.names for each in inbox.arrivals()] == [{}, {}]
