"""The consumer of the end-to-end tests: its answers and its signature checks."""

import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import pytest
import urllib3
from standardwebhooks.webhooks import Webhook
from tests.fakes.receiver import Answer, Receiver

SECRET = "whsec_" + "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0"  # "secret", four times
BODY = b'{"n": 1}'


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver(lambda _: [SECRET]) as receiver:
        yield receiver


def send(
    receiver: Receiver, path: str, headers: Mapping[str, str] | None = None, body: bytes = BODY
) -> urllib3.BaseHTTPResponse:
    with urllib3.PoolManager() as pool:
        return pool.request(
            "POST", receiver.url(path), body=body, headers=headers, retries=False, timeout=60, redirect=False
        )


def signed(body: bytes) -> dict[str, str]:
    at = datetime.now(UTC)
    signature = Webhook(SECRET).sign(msg_id="trigger-1", timestamp=at, data=body.decode())
    stamp = str(int(at.timestamp()))
    return {"webhook-id": "trigger-1", "webhook-timestamp": stamp, "webhook-signature": signature}


def test_the_receiver_remembers_its_requests_and_their_instants(receiver: Receiver) -> None:
    before = time.time_ns() // 1_000_000
    assert send(receiver, "/hook", {"X-Team": "ops"}).status == 200
    [delivery] = receiver.wait("/hook", 1, within_s=60)
    assert (delivery.method, delivery.path, delivery.body) == ("POST", "/hook", BODY)
    assert delivery.headers["x-team"] == "ops"
    assert before <= delivery.arrived_at <= time.time_ns() // 1_000_000


def test_the_receiver_distinguishes_a_good_a_bad_and_a_missing_signature(receiver: Receiver) -> None:
    send(receiver, "/hook", signed(BODY))
    send(receiver, "/hook", signed(BODY), b'{"n": 2}')
    send(receiver, "/hook")
    assert [one.is_signed for one in receiver.deliveries("/hook")] == [True, False, False]
    assert receiver.deliveries("/hook")[0].trigger_id == "trigger-1"


def test_the_receiver_answers_as_it_is_told_and_then_with_success_again(receiver: Receiver) -> None:
    receiver.answer("/hook", Answer(503, {"retry-after": "7"}, b"later"), Answer(302, {"location": "/other"}))
    first, second, third = (send(receiver, "/hook") for _ in range(3))
    assert (first.status, first.headers["retry-after"], first.data) == (503, "7", b"later")
    assert (second.status, second.headers["location"]) == (302, "/other")
    assert third.status == 200


def test_the_receiver_can_hang(receiver: Receiver) -> None:
    receiver.answer("/hangs", Answer(hang_s=60))
    with urllib3.PoolManager() as pool, pytest.raises(urllib3.exceptions.ReadTimeoutError):
        pool.request("POST", receiver.url("/hangs"), retries=False, timeout=0.1)


def test_waiting_for_more_deliveries_than_come_raises_an_error_with_both_numbers(receiver: Receiver) -> None:
    send(receiver, "/hook")
    with pytest.raises(TimeoutError, match="1 of 2"):
        receiver.wait("/hook", 2, within_s=0.05)
