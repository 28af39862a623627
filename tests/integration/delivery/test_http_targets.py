"""Consumers that behave, and consumers that do not: each costs its own attempt, and its time-out at most."""

import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from time import monotonic
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from standardwebhooks.webhooks import Webhook
from tests.fakes.consumer import SECRET, Connection, Consumer, attempt_of
from tests.fakes.world import HandClock

from sweephand import __version__
from sweephand.delivery.egress import Address, Egress
from sweephand.delivery.http import HttpTargets
from sweephand.delivery.signing import delivery_headers
from sweephand.delivery.sockets import RECEIVED_BYTES_MAX
from sweephand.instants import SECOND_MS, to_datetime
from sweephand.ports import Answer

Behaviour = Callable[[Connection], None]


@pytest.fixture
def targets() -> HttpTargets:
    return HttpTargets(HandClock(), allow_insecure=True)


@contextmanager
def within(limit_s: float) -> Iterator[None]:
    began = monotonic()
    yield
    assert monotonic() - began < limit_s


def answer_of(targets: HttpTargets, behave: Behaviour, body: bytes = b"{}", **fields: Any) -> Answer:
    with Consumer(behave) as consumer:
        return targets.deliver(attempt_of(consumer.spec(**fields), body))


def saying(raw: bytes) -> Behaviour:
    """Answer a request with these bytes, and close."""

    def behave(connection: Connection) -> None:
        connection.request()
        connection.send(raw)

    return behave


def saying_slowly(at_once: bytes, slowly: bytes) -> Behaviour:
    """Send the first bytes, then the others over and over, one by one."""

    def behave(connection: Connection) -> None:
        connection.send(at_once)
        connection.trickle(slowly)

    return behave


def hanging_up(connection: Connection) -> None:
    """Read a request, and close."""
    connection.request()


def test_a_consumer_receives_the_data_signed_and_named(targets: HttpTargets) -> None:
    body = '{"task":"db-backup","ü":1.10}'.encode()
    with Consumer() as consumer:
        answer = targets.deliver(attempt_of(consumer.spec(headers={"X-Team": "ops é"}), body))
        (request,) = consumer.requests
    assert answer == Answer(succeeded=True, code=200, text="ok")
    assert (request.line, request.body) == ("POST /hook?from=test HTTP/1.1", body)
    signature = Webhook(SECRET).sign(
        request.headers["webhook-id"],
        to_datetime(int(request.headers["webhook-timestamp"]) * SECOND_MS),
        body.decode(),
    )
    assert request.headers["webhook-signature"] == signature
    assert request.headers == {
        "host": f"127.0.0.1:{consumer.port}",
        "accept-encoding": "identity",
        "content-length": str(len(body)),
        "content-type": "application/json",
        "user-agent": f"Sweephand/{__version__}",
        "x-team": "ops é",
        **delivery_headers(attempt_of({}), body),
    }


def test_a_job_may_say_what_its_content_is_and_who_asks(targets: HttpTargets) -> None:
    headers = {"Content-Type": "application/vnd.api+json", "User-Agent": "backup/1"}
    with Consumer() as consumer:
        targets.deliver(attempt_of(consumer.spec(headers=headers)))
        (request,) = consumer.requests
    assert request.headers["content-type"] == "application/vnd.api+json"
    assert request.headers["user-agent"] == "backup/1"


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_method_without_a_body_is_signed_over_nothing(targets: HttpTargets, method: str) -> None:
    with Consumer() as consumer:
        assert targets.deliver(attempt_of(consumer.spec(method=method), b"null")).succeeded
        (request,) = consumer.requests
    assert request.line.startswith(f"{method} /hook")
    assert (request.body, "content-length" in request.headers) == (b"", False)
    assert request.headers["webhook-signature"] == delivery_headers(attempt_of({}), b"")["webhook-signature"]


@pytest.mark.parametrize("method", ["PUT", "PATCH"])
def test_a_method_with_a_body_sends_it(targets: HttpTargets, method: str) -> None:
    with Consumer() as consumer:
        assert targets.deliver(attempt_of(consumer.spec(method=method), b"null")).succeeded
        assert consumer.requests[0].body == b"null"


def test_connections_are_used_again_also_after_a_failure(targets: HttpTargets) -> None:
    def moody(connection: Connection) -> None:
        while connection.request():
            connection.answer("503 Busy" if len(connection.requests) % 2 else "200 OK", b"x" * 2_000)

    with Consumer(moody) as consumer:
        codes = [targets.deliver(attempt_of(consumer.spec())).code for _ in range(6)]
        assert (codes, consumer.accepted) == ([503, 200] * 3, 1)


def test_a_kept_connection_that_its_other_end_closed_costs_no_attempt(targets: HttpTargets) -> None:
    def forgetful(connection: Connection) -> None:
        """Answer once, read the next request, and hang up on it."""
        connection.request()
        connection.answer()
        if connection.request():
            connection.reset()

    with Consumer(forgetful) as consumer:
        answers = [targets.deliver(attempt_of(consumer.spec())) for _ in range(4)]
        assert all(answer.succeeded for answer in answers)


def test_a_new_connection_that_is_closed_is_a_failed_attempt_and_one_only(targets: HttpTargets) -> None:
    with Consumer(hanging_up) as consumer:
        answer = targets.deliver(attempt_of(consumer.spec()))
        assert consumer.accepted == 1
    assert answer.error == (
        "The connection ended before an answer came: Remote end closed connection without response"
    )


@pytest.mark.parametrize(
    ("status", "is_final"),
    [
        ("302 Found", False),
        ("307 Temporary Redirect", False),
        ("404 Gone?", False),
        ("422 No", True),
        ("500 No", False),
    ],
)
def test_a_failure_is_told_by_its_status_and_a_redirect_is_not_followed(
    targets: HttpTargets,
    status: str,
    is_final: bool,  # noqa: FBT001
) -> None:
    def elsewhere(connection: Connection) -> None:
        while connection.request():
            connection.answer(status, b"why", "location: /elsewhere", "retry-after: 30")

    with Consumer(elsewhere) as consumer:
        answer = targets.deliver(attempt_of(consumer.spec()))
        assert len(consumer.requests) == 1
    assert answer == Answer(
        succeeded=False,
        code=int(status[:3]),
        text="why",
        is_final=is_final,
        retry_after_at=HandClock().time + 30_000,
    )


SILENT: dict[str, Behaviour] = {
    "never answers": lambda connection: connection.hang(),
    "trickles its status line": lambda connection: connection.trickle(b"HTTP/1.1 200 OK and so on "),
    "trickles its headers": saying_slowly(b"HTTP/1.1 200 OK\r\n", b"x-a: b\r\n"),
    "says for ever that it goes on": lambda connection: connection.trickle(b"HTTP/1.1 100 Continue\r\n\r\n"),
}


@pytest.mark.parametrize("behave", SILENT.values(), ids=SILENT)
def test_a_consumer_that_does_not_come_to_the_point_costs_its_timeout(
    targets: HttpTargets, behave: Behaviour
) -> None:
    with within(0.6):
        answer = answer_of(targets, behave, timeout="200ms")
    assert answer == Answer(succeeded=False, error="No answer within 0.2 s.")


def test_a_consumer_that_does_not_read_costs_its_timeout(targets: HttpTargets) -> None:
    with Consumer(lambda connection: connection.hang(), receive_buffer=4_096) as consumer, within(0.9):
        answer = targets.deliver(attempt_of(consumer.spec(timeout="200ms"), b'"' + b"x" * 16_000_000 + b'"'))
    assert answer.error == "No answer within 0.2 s."


def test_a_consumer_out_of_reach_costs_its_timeout() -> None:
    # A listener whose queue is full: the kernel drops what else wants to connect.
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for each in (first, second):
            each.setblocking(False)
            each.connect_ex(full.getsockname())
        targets = HttpTargets(HandClock(), allow_insecure=True)
        with within(0.6):
            spec = {"type": "http", "url": f"http://127.0.0.1:{full.getsockname()[1]}/", "timeout": "200ms"}
            assert targets.deliver(attempt_of(spec)).error == "No answer within 0.2 s."


@pytest.mark.parametrize(
    "raw",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"\x00\x01\x02\x03\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 99999 OK\r\n\r\n",
        b"HTTP/1.1 -200 OK\r\n\r\n",
        b"HTTP/9.9\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"x-a: b\r\n" * 200 + b"\r\n",
        b"HTTP/1.1 200 " + b"x" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx-a: " + b"x" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1, 2\r\n\r\nx",
    ],
    ids=lambda raw: repr(raw[:24]),
)
def test_garbage_is_a_failed_attempt(targets: HttpTargets, raw: bytes) -> None:
    with within(0.5):
        answer = answer_of(targets, saying(raw), timeout="400ms")
    assert (answer.succeeded, answer.code) == (False, None)
    assert answer.error is not None
    assert answer.error.startswith("What came is no answer in HTTP: ")
    assert answer.error.isprintable()
    assert len(answer.error) <= 300


def test_no_bytes_at_all_raise_or_outlast_the_timeout() -> None:
    said = b""

    def speak(connection: Connection) -> None:
        connection.request()
        connection.send(said)

    pieces = st.sampled_from(
        [
            b"HTTP/1.1 200 OK",
            b"HTTP/1.0 503 No",
            b"HTTP/1.1 100 Continue",
            b"content-length: 5",
            b"content-length: -1",
            b"transfer-encoding: chunked",
            b"connection: keep-alive",
            b"content-encoding: gzip",
            b"retry-after: 1",
            b"5",
            b"0",
            b"hello",
            b"\r\n",
            b"\r\n\r\n",
        ]
    )

    @settings(max_examples=150, deadline=None)
    @given(st.lists(pieces | st.binary(max_size=20), max_size=12).map(b"\r\n".join))
    def check(raw: bytes) -> None:
        nonlocal said
        said = raw
        answer = targets.deliver(attempt_of(consumer.spec(timeout="500ms")))
        assert (answer.code is None) == (answer.error is not None)

    targets = HttpTargets(HandClock(), allow_insecure=True)
    with Consumer(speak) as consumer:
        check()


@pytest.mark.parametrize("raw", [b"", b"HTTP/1.1 200 OK\r\nx-a: b"], ids=["silence", "half an answer"])
def test_an_early_end_is_a_failed_attempt_or_the_answer_it_can_be_read_as(
    targets: HttpTargets, raw: bytes
) -> None:
    with within(0.5):
        assert answer_of(targets, saying(raw)).succeeded == bool(raw)


def test_headers_without_end_stop_at_the_limit_of_what_is_read(targets: HttpTargets) -> None:
    def endless(connection: Connection) -> None:
        connection.request()
        while True:
            connection.send(b"HTTP/1.1 100 Continue\r\n\r\n" * 1_000)

    with within(0.9):
        answer = answer_of(targets, endless, timeout="10s")
    assert answer.error == f"What came is no answer in HTTP: more than {RECEIVED_BYTES_MAX} bytes of answer"


BODIES: dict[str, Behaviour] = {
    "ten megabytes": saying(b"HTTP/1.1 200 OK\r\ncontent-length: 10000000\r\n\r\n" + b"x" * 10_000_000),
    "no length and no end": saying_slowly(b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 512, b"x"),
    "a length that is a lie": saying(b"HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n" + b"x" * 600),
    "a chunk that is none": saying(
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n258\r\n" + b"x" * 600 + b"\r\nwhat\r\n"
    ),
    "compressed, it says": saying(
        b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 512\r\n\r\n" + b"x" * 512
    ),
}


@pytest.mark.parametrize("behave", BODIES.values(), ids=BODIES)
def test_a_bad_body_after_a_good_status_is_an_answer_of_which_the_beginning_is_kept(
    targets: HttpTargets, behave: Behaviour
) -> None:
    with within(0.9):
        answer = answer_of(targets, behave, timeout="250ms")
    assert answer == Answer(succeeded=True, code=200, text="x" * 512)


def test_a_connection_is_not_used_again_while_there_is_something_left_to_read(targets: HttpTargets) -> None:
    def chatty(connection: Connection) -> None:
        while connection.request():
            connection.answer(body=b"x" * 100_000)

    with Consumer(chatty) as consumer:
        for _ in range(3):
            assert targets.deliver(attempt_of(consumer.spec())).succeeded
        assert consumer.accepted == 3


def test_what_a_consumer_sends_unasked_is_no_answer_to_the_next_request(targets: HttpTargets) -> None:
    def early(connection: Connection) -> None:
        connection.request()
        connection.send(b"HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged")
        connection.hang()

    with Consumer(early) as consumer:
        answers = [targets.deliver(attempt_of(consumer.spec(timeout="150ms"))) for _ in range(3)]
    assert answers[0].succeeded
    assert "forged" not in [answer.text for answer in answers]


def test_one_who_hangs_does_not_hold_up_the_others(targets: HttpTargets) -> None:
    with (
        Consumer(lambda connection: connection.hang()) as bad,
        Consumer() as good,
        ThreadPoolExecutor(10) as threads,
    ):
        hanging = [threads.submit(targets.deliver, attempt_of(bad.spec(timeout="400ms"))) for _ in range(5)]
        with within(0.35):
            attempts = [attempt_of(good.spec())] * 20
            assert all(answer.succeeded for answer in threads.map(targets.deliver, attempts))
        assert not any(each.result().succeeded for each in hanging)


def test_a_refused_connection_says_so(targets: HttpTargets) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        answer = targets.deliver(attempt_of({"type": "http", "url": f"http://localhost:{port}/"}))
    assert answer.error == f"No connection to localhost, port {port}: [Errno 111] Connection refused"


def test_a_stack_that_no_longer_allows_http_says_so() -> None:
    targets = HttpTargets(HandClock(), allow_insecure=False)
    answer = targets.deliver(attempt_of({"type": "http", "url": "http://example.com/"}))
    assert answer.error == ("The target's URL cannot be called: Use https: this stack does not allow http.")


def test_a_refused_address_is_a_failed_attempt_that_is_tried_again() -> None:
    egress = Egress(
        allow_loopback=False, resolver=lambda _, port: [Address(socket.AF_INET, ("10.1.2.3", port))]
    )
    targets = HttpTargets(HandClock(), allow_insecure=False, egress=egress)
    answer = targets.deliver(attempt_of({"type": "http", "url": "https://inside.example/"}))
    assert answer == Answer(
        succeeded=False,
        error="inside.example has no address that may be connected to: 10.1.2.3 is private.",
    )


def test_a_header_that_was_stored_by_mistake_cannot_split_the_request(targets: HttpTargets) -> None:
    with Consumer() as consumer:
        spec = consumer.spec(headers={"x-a": "b\r\nwebhook-id: forged"})
        answer = targets.deliver(attempt_of(spec))
        assert (answer.succeeded, consumer.requests) == (False, [])


def test_a_job_cannot_replace_what_sweephand_sets(targets: HttpTargets) -> None:
    with Consumer() as consumer:
        targets.deliver(
            attempt_of(consumer.spec(headers={"Webhook-Id": "forged", "sweephand-run": "forged"}))
        )
        (request,) = consumer.requests
    assert "forged" not in request.headers.values()
