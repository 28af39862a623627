"""Consumers that do not behave: each costs its own attempt, and its time-out at most."""

import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fakes.consumer import Connection, Consumer, attempt_of, in_time
from tests.fakes.doubles import HandClock

from sweephand.delivery.http.sockets import RECEIVED_BYTES_MAX
from sweephand.delivery.http.targets import HttpTargets
from sweephand.model.attempt import Answer

Behaviour = Callable[[Connection], None]


@pytest.fixture
def targets() -> HttpTargets:
    return HttpTargets(HandClock(), allow_insecure=True)


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


def saying_and_hanging(raw: bytes) -> Behaviour:
    """Send these bytes, and neither more nor the end."""

    def behave(connection: Connection) -> None:
        connection.send(raw)
        connection.hang()

    return behave


SILENT: dict[str, Behaviour] = {
    "never answers": lambda connection: connection.hang(),
    "trickles its status line": lambda connection: connection.trickle(b"HTTP/1.1 200 OK and so on "),
    "trickles its headers": saying_slowly(b"HTTP/1.1 200 OK\r\n", b"x-a: b\r\n"),
    "says for ever that it goes on": lambda connection: connection.trickle(b"HTTP/1.1 100 Continue\r\n\r\n"),
    "hints for ever": lambda connection: connection.trickle(b"HTTP/1.1 103 Early Hints\r\n\r\n"),
    "works on it and never answers": saying_and_hanging(b"HTTP/1.1 102 Processing\r\n\r\n"),
}


@pytest.mark.parametrize("behave", SILENT.values(), ids=SILENT)
def test_a_consumer_that_never_finishes_its_answer_costs_its_timeout(
    targets: HttpTargets, behave: Behaviour
) -> None:
    with in_time():
        answer = answer_of(targets, behave, timeout="200ms")
    assert answer == Answer(succeeded=False, error="No answer within 0.2 s.")


def test_a_consumer_that_does_not_read_costs_its_timeout(targets: HttpTargets) -> None:
    with Consumer(lambda connection: connection.hang(), receive_buffer=4_096) as consumer, in_time():
        answer = targets.deliver(attempt_of(consumer.spec(timeout="200ms"), b'"' + b"x" * 6_000_000 + b'"'))
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
        with in_time():
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
        b"HTTP/1.1 200 " + b"x" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nx-a: " + b"x" * 100_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1, 2\r\n\r\nx",
        b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx",
    ],
    ids=lambda raw: repr(raw[:24]),
)
def test_an_answer_that_is_no_http_is_a_failed_attempt(targets: HttpTargets, raw: bytes) -> None:
    with in_time():
        answer = answer_of(targets, saying(raw))
    assert (answer.succeeded, answer.code) == (False, None)
    assert answer.error is not None
    assert answer.error.startswith("The response is not valid HTTP: ")
    assert answer.error.isprintable()
    assert len(answer.error) <= 300


def test_no_bytes_of_an_answer_raise_an_error_or_outlast_the_timeout() -> None:
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
def test_an_answer_that_ends_early_is_a_failed_attempt_or_is_read_as_far_as_it_came(
    targets: HttpTargets, raw: bytes
) -> None:
    with in_time():
        assert answer_of(targets, saying(raw)).succeeded == bool(raw)


def test_an_invalid_answer_of_a_consumer_writes_no_log_line(
    targets: HttpTargets, caplog: pytest.LogCaptureFixture
) -> None:
    raw = b"HTTP/1.1 200 OK\r\nno header this\r\ncontent-length: 0\r\ntransfer-encoding: chunked\r\n\r\n"
    answer_of(targets, saying(raw))
    assert caplog.records == []


@pytest.mark.parametrize("status", ["100 Continue", "102 Processing", "103 Early Hints", "199 Whatever"])
def test_an_endless_row_of_interim_answers_is_cut_off_at_its_limit(targets: HttpTargets, status: str) -> None:
    def endless(connection: Connection) -> None:
        connection.request()
        while True:
            connection.send(f"HTTP/1.1 {status}\r\n\r\n".encode() * 1_000)

    with in_time():
        answer = answer_of(targets, endless)
    assert answer.error == "The response is not valid HTTP: more than 32 interim answers"


def test_many_headers_are_an_answer_as_long_as_their_bytes_are_few(targets: HttpTargets) -> None:
    headers = b"".join(b"x-%d: y\r\n" % number for number in range(2_000))
    raw = b"HTTP/1.1 200 OK\r\n" + headers + b"content-length: 2\r\n\r\nok"
    assert answer_of(targets, saying(raw)) == Answer(succeeded=True, code=200, text="ok")


def test_endless_headers_are_cut_off_at_the_limit_of_what_is_read(targets: HttpTargets) -> None:
    def endless(connection: Connection) -> None:
        connection.request()
        while True:
            connection.send(b"HTTP/1.1 100 Continue\r\n" + (b"x-a: " + b"x" * 60_000 + b"\r\n") * 9 + b"\r\n")

    with in_time():
        answer = answer_of(targets, endless)
    assert answer.error == f"The response is not valid HTTP: more than {RECEIVED_BYTES_MAX} bytes of answer"


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
def test_a_good_status_with_a_damaged_body_is_an_answer_whose_beginning_is_kept(
    targets: HttpTargets, behave: Behaviour
) -> None:
    with in_time():
        answer = answer_of(targets, behave, timeout="2s")
    assert answer == Answer(succeeded=True, code=200, text="x" * 512)


def test_a_connection_is_not_used_again_while_there_is_something_left_to_read(targets: HttpTargets) -> None:
    def chatty(connection: Connection) -> None:
        while connection.request():
            connection.answer(body=b"x" * 100_000)

    with Consumer(chatty) as consumer:
        for _ in range(3):
            assert targets.deliver(attempt_of(consumer.spec())).succeeded
        assert consumer.accepted == 3


def test_data_that_no_request_asked_for_is_no_answer_to_the_next_request(targets: HttpTargets) -> None:
    def early(connection: Connection) -> None:
        connection.request()
        connection.send(b"HTTP/1.1 204 No Content\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged")
        connection.hang()

    with Consumer(early) as consumer:
        answers = [targets.deliver(attempt_of(consumer.spec(timeout="2s"))) for _ in range(3)]
    assert answers[0].succeeded
    assert "forged" not in [answer.text for answer in answers]


def test_a_consumer_that_hangs_delays_no_other_consumer(targets: HttpTargets) -> None:
    with ThreadPoolExecutor(10) as threads:
        with Consumer(lambda connection: connection.hang()) as bad, Consumer() as good:
            hanging = [threads.submit(targets.deliver, attempt_of(bad.spec(timeout="30s"))) for _ in range(5)]
            answers = list(threads.map(targets.deliver, [attempt_of(good.spec())] * 20))
            assert not any(each.done() for each in hanging)
        assert all(answer.succeeded for answer in answers)
        assert not any(each.result().succeeded for each in hanging)
