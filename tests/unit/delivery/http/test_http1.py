"""HTTP/1.1 over sockets that are closed when the pool that kept them is collected."""

import gc
import os
import socket
from collections.abc import Callable
from http.client import HTTPException, HTTPResponse

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweephand.base.instants import INSTANT_MAX
from sweephand.delivery.http.http1 import answer_to, read_answer, retry_after_at
from sweephand.delivery.http.sockets import BoundedSocket

NOW = 1_795_262_400_123


@pytest.mark.parametrize("code", [200, 201, 202, 204, 206, 299])
def test_a_response_2xx_is_success(code: int) -> None:
    answer = answer_to(code, b"done", "120", NOW)
    assert (answer.succeeded, answer.code, answer.text) == (True, code, "done")
    assert answer.retry_after_at is None


@pytest.mark.parametrize("code", [400, 410, 413, 422])
def test_an_answer_that_faults_the_request_itself_is_final(code: int) -> None:
    answer = answer_to(code, b"", None, NOW)
    assert (answer.succeeded, answer.is_final) == (False, True)


@pytest.mark.parametrize(
    "code", [100, 101, 300, 301, 304, 307, 401, 403, 404, 408, 409, 425, 429, 500, 503, 599, 999]
)
def test_everything_else_is_a_failure_to_be_tried_again(code: int) -> None:
    answer = answer_to(code, b"", None, NOW)
    assert (answer.succeeded, answer.is_final, answer.error) == (False, False, None)


def test_the_first_512_bytes_of_an_answer_are_kept_whatever_they_are() -> None:
    assert answer_to(500, b"x" * 600, None, NOW).text == "x" * 512
    assert answer_to(500, b"\xff\xfe ok", None, NOW).text == "\N{REPLACEMENT CHARACTER}" * 2 + " ok"
    assert answer_to(500, "é".encode() * 256 + b"x", None, NOW).text == "é" * 256


@pytest.mark.parametrize(
    ("header", "after_ms"),
    [
        ("0", 0),
        ("1", 1_000),
        ("120", 120_000),
        (" 120 ", 120_000),
        ("120.0", 120_000),
        ("120.1", 121_000),
        ("0.001", 1_000),
        ("7.000000000000000000001", 8_000),
        ("0000000000000120", 120_000),
    ],
)
def test_seconds_count_from_now_and_a_fraction_as_the_next_whole_one(header: str, after_ms: int) -> None:
    assert retry_after_at(header, NOW) == NOW + after_ms


@pytest.mark.parametrize("header", ["9999999999999", "1" * 5_000, f"{'9' * 200}.5", "999999999999"])
def test_seconds_beyond_the_calendar_mean_its_end(header: str) -> None:
    assert retry_after_at(header, NOW) == INSTANT_MAX


def test_ten_digits_of_seconds_are_waited_for() -> None:
    assert retry_after_at("1000000000", NOW) == NOW + 1_000_000_000_000


@pytest.mark.parametrize(
    "header",
    [
        "Sat, 21 Nov 2026 12:00:30 GMT",
        "Saturday, 21-Nov-26 12:00:30 GMT",
        "Sat Nov 21 12:00:30 2026",
        "Sat, 21 Nov 2026 12:00:30 +0000",
        "Sat, 21 Nov 2026 12:00:30 -0000",
        "Sat, 21 Nov 2026 14:00:30 +0200",
    ],
)
def test_a_date_is_an_instant_in_any_form_that_http_has_had(header: str) -> None:
    assert retry_after_at(header, NOW) == 1_795_262_430_000


def test_a_retry_after_in_the_past_delays_nothing() -> None:
    assert retry_after_at("Wed, 21 Oct 2015 07:28:00 GMT", NOW) == 1_445_412_480_000


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "soon",
        "-5",
        "+5",
        "1e9",
        "1_000",
        "inf",
        "nan",
        "0x10",
        "٣",
        "Sat, 99 Nov 2026 12:00:30 GMT",
        "21 Nov 99999 12:00:30 GMT",
    ],
)
def test_an_invalid_retry_after_asks_for_no_delay(header: str | None) -> None:
    assert retry_after_at(header, NOW) is None


@given(st.text() | st.from_regex(r"[A-Z][a-z]{2}, \d{1,3} [A-Z][a-z]{2} \d{1,6} \d+:\d+:\d+ [+-]?\w+"))
def test_any_retry_after_header_is_read_as_an_instant_of_the_calendar_or_as_none(header: str) -> None:
    at = retry_after_at(header, NOW)
    assert at is None or at <= INSTANT_MAX


def test_an_unreferenced_socket_is_closed_without_a_warning() -> None:
    # Among objects that refer to each other Python chooses which one it finalizes first.
    kept: dict[str, object] = {"socket": BoundedSocket()}
    kept["itself"] = kept
    sock = kept["socket"]
    assert isinstance(sock, BoundedSocket)
    descriptor = sock.fileno()
    del sock, kept
    gc.collect()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)


def read_here(sock: socket.socket) -> HTTPResponse:
    return read_answer(sock, "POST")


def read_by_http_client(sock: socket.socket) -> HTTPResponse:
    response = HTTPResponse(sock, method="POST")
    response.begin()
    return response


def head_of(text: bytes, read: Callable[[socket.socket], HTTPResponse] = read_here) -> dict[str, object]:
    """What the head of an answer says."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(text)
        theirs.shutdown(socket.SHUT_WR)
        with read(ours) as response:
            names = ("status", "reason", "chunked", "length", "will_close")
            found = {name: getattr(response, name) for name in names}
            return found | {"retry-after": response.headers.get("retry-after")}


_VERSIONS = st.sampled_from(["HTTP/1.1", "HTTP/1.0"])
_STATUSES = st.sampled_from(["200 OK", "204 No Content", "304", "503 Service Unavailable"])
_HEADERS = st.sampled_from(
    [
        "Content-Length: 5",
        "content-length:0",
        "content-length: many",
        "content-length: -1",
        "Transfer-Encoding: Chunked",
        "transfer-encoding: gzip",
        "Connection: close",
        "connection: Keep-Alive",
        "Retry-After:  7",
        "Retry-After: 9",
        "x-empty:",
        "x-colons: a: b",
    ]
)


@given(_VERSIONS, _STATUSES, st.lists(_HEADERS, max_size=5), st.sampled_from(["\r\n", "\n"]))
def test_the_head_of_an_answer_means_what_it_means_to_http_client(
    version: str, status: str, headers: list[str], end: str
) -> None:
    lengths = {each.partition(":")[2].strip() for each in headers if each.lower().startswith("content-l")}
    text = end.join([f"{version} {status}", *headers, "", ""]).encode()
    if len(lengths) > 1:
        with pytest.raises(HTTPException, match="more than one content-length"):
            head_of(text)
        return
    assert head_of(text) == head_of(text, read_by_http_client)


def test_a_line_that_is_no_header_does_not_hide_the_next_one() -> None:
    assert head_of(b"HTTP/1.1 503 Busy\r\nno header\r\nretry-after: 7\r\n\r\n")["retry-after"] == "7"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"HTTP/2 200 OK\r\n\r\n", "HTTP/2"),
        (b"HTTP/1.1 200 OK\r\n" + b"x" * 70_000 + b"\r\n\r\n", "header line"),
        (b"HTTP/1.1 103 Early Hints\r\n\r\n" * 33 + b"HTTP/1.1 200 OK\r\n\r\n", "more than 32 interim"),
    ],
)
def test_an_answer_that_cannot_be_read_is_refused(text: bytes, message: str) -> None:
    with pytest.raises(HTTPException, match=message):
        head_of(text)
