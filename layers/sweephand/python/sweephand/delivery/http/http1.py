"""HTTP/1.1 over a connection: writing a request in one piece, reading the answer, and what it means.

http.client reads the status and the body of an answer. Headers are written and read here: http.client sends
them one by one, and has a parser of mails read them, which takes longer (decision 006).
"""

import http.client
import re
import socket
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from typing import Any, BinaryIO, Final, NamedTuple

from sweephand.base.instants import INSTANT_MAX, SECOND_MS, Instant, from_datetime
from sweephand.model.attempt import ANSWER_BYTES_KEPT, Answer
from sweephand.targets.url import Url

#: The bytes that a line of a request's head may contain (RFC 9110, 5.5): no control character but the tab.
_PERMITTED: Final = bytes({0x09, *range(0x20, 0x7F), *range(0x80, 0x100)})

#: The bytes of a method and of a header's name: a token (RFC 9110, 5.6.2).
_TOKEN: Final = b"!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

#: How many interim answers a consumer may send before its answer. All of them are read within the target's
#: time-out and count towards the limit of bytes.
INTERIM_ANSWERS_MAX: Final = 32

#: The longest line of an answer's head, as http.client has it.
_LINE_BYTES_MAX: Final = 65_536


class HttpRequest(NamedTuple):
    """A request. Its header names are in lower case. `body` is None for a request without a body."""

    method: str
    url: Url
    headers: Mapping[str, str]
    body: bytes | None

    def encode(self) -> bytes:
        """The whole request as bytes. Head and body leave together, so that the consumer can answer sooner.

        ValueError if the method or a header contains a character that is not permitted. A server could read
        such a request in another way than it was written.
        """
        url, body = self.url, self.body
        if not _is_token(self.method):
            raise ValueError(f"Invalid method: {self.method!r}")
        lines = [
            f"{self.method} {url.target} HTTP/1.1",
            f"host: {url.authority}",
            "accept-encoding: identity",
        ]
        if body is not None:
            lines.append(f"content-length: {len(body)}")
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        head = "\r\n".join(lines).encode("latin-1")
        if not all(map(_is_token, self.headers)):
            raise ValueError("Invalid name of a header")
        if head.translate(None, _PERMITTED) != b"\r\n" * (len(lines) - 1):
            raise ValueError(f"Invalid header value: {', '.join(self._invalid_headers())}")
        return head + b"\r\n\r\n" + (body or b"")

    def _invalid_headers(self) -> list[str]:
        """The names of the headers that contain a character that is not permitted."""
        return [
            name
            for name, value in self.headers.items()
            if f"{name}{value}".encode("latin-1").translate(None, _PERMITTED)
        ]


def _is_token(text: str) -> bool:
    return bool(text) and not text.encode().translate(None, _TOKEN)


def read_answer(sock: socket.socket, method: str) -> HTTPResponse:
    """The head of the final answer to a request with that method. Its body is still to be read.

    Interim answers are skipped, unknown ones too (RFC 9110, 15.2). 101 is not skipped: the request asked for
    no other protocol, so 101 is the answer. Raises HTTPException, OSError or ValueError if no answer comes,
    or if it is not valid HTTP.
    """
    response = _Response(sock, method=method)
    try:
        response.begin()
    except BaseException:
        response.close()
        raise
    return response


class _Response(HTTPResponse):
    """An answer of http.client. `headers` has the first value of each name, in lower case."""

    def begin(self) -> None:
        """Read the head of the final answer."""
        base: Any = self
        for _ in range(INTERIM_ANSWERS_MAX + 1):
            # Not a public method. botocore overrides it, so it is unlikely to go away.
            version, status, reason = base._read_status()  # noqa: SLF001 - a method of the base class
            headers, lengths = _read_headers(self.fp)
            if not _is_interim(status):
                break
        else:
            raise HTTPException(f"more than {INTERIM_ANSWERS_MAX} interim answers")
        if not version.startswith(("HTTP/1.", "HTTP/0.9")):
            raise http.client.UnknownProtocol(version)
        if len(lengths) > 1:
            # The end of the answer would be a guess (RFC 9112, 6.3).
            raise HTTPException("more than one content-length")
        self.code = self.status = status
        self.reason = reason.strip()
        self.headers = self.msg = headers  # type: ignore[assignment] # read_body() and callers need get() only
        self.chunked = headers.get("transfer-encoding", "").lower() == "chunked"
        self.chunk_left = None
        self.length = None
        if status in _WITHOUT_BODY or base._method == "HEAD":  # noqa: SLF001 - as above
            self.length = 0
        elif lengths and not self.chunked:
            [length] = lengths
            self.length = int(length) if length.isdecimal() else None
        connection = headers.get("connection", "").lower()
        is_kept = "close" not in connection and (version == "HTTP/1.1" or "keep-alive" in connection)
        self.will_close = not is_kept or (self.length is None and not self.chunked)


#: The statuses whose answers have no body (RFC 9112, 6.3).
_WITHOUT_BODY: Final = frozenset({101, 204, 304})


def _read_headers(file: BinaryIO) -> tuple[dict[str, str], set[str]]:
    """The first value of each header by its name in lower case, and all lengths that the answer gives itself.

    A line without a colon is left out.
    """
    headers: dict[str, str] = {}
    lengths: set[str] = set()
    while line := file.readline(_LINE_BYTES_MAX + 1).decode("latin-1"):
        if len(line) > _LINE_BYTES_MAX:
            raise http.client.LineTooLong("header line")
        name, colon, value = line.partition(":")
        if colon:
            name, value = name.strip().lower(), value.strip()
            headers.setdefault(name, value)
            if name == "content-length":
                lengths.update(each.strip() for each in value.split(","))
        elif not line.strip("\r\n"):
            break
    return headers, lengths


def _is_interim(status: int) -> bool:
    return HTTPStatus.CONTINUE <= status < HTTPStatus.OK and status != HTTPStatus.SWITCHING_PROTOCOLS


def read_body(response: HTTPResponse, bytes_max: int) -> tuple[bytes, bool]:
    """The part of the answer's body that came in time, and whether the connection can be used again.

    It can be used again if the whole body was read. No error is raised: the status has been received, so the
    consumer has answered.
    """
    body = bytearray()
    is_whole = False
    try:
        while len(body) < bytes_max:
            part = response.read1(bytes_max - len(body))
            if not part:
                is_whole = response.chunked or response.length == 0
                break
            body += part
    except (HTTPException, OSError, ValueError):
        pass
    finally:
        response.close()
    # After 101 the connection speaks another protocol.
    is_http = response.status != HTTPStatus.SWITCHING_PROTOCOLS
    return bytes(body), is_whole and is_http and not response.will_close


#: With 400, 413 and 422 the request itself is at fault. With 410 the consumer is gone for good.
FINAL_CODES: Final = frozenset({400, 410, 413, 422})

_SECONDS: Final = r"([0-9]+)(\.[0-9]+)?"
#: More digits than the seconds until the last instant have.
_DIGITS_MAX: Final = 12


def answer_to(code: int, body: bytes, retry_after: str | None, now: Instant) -> Answer:
    """The answer that a response with that status is. Only 2xx is success; redirects are failures."""
    text = body[:ANSWER_BYTES_KEPT].decode(errors="replace")
    if code // 100 == 2:  # noqa: PLR2004 - the class of status that means success (RFC 9110, 15.3)
        return Answer(succeeded=True, code=code, text=text)
    return Answer(
        succeeded=False,
        code=code,
        text=text,
        retry_after_at=retry_after_at(retry_after, now),
        is_final=code in FINAL_CODES,
    )


def retry_after_at(header: str | None, now: Instant) -> Instant | None:
    """The instant that a Retry-After header asks for (RFC 9110, 10.2.3); None if it asks for none.

    Some consumers send seconds with a fraction. They count as the next whole second. An instant beyond the
    calendar is its last one.
    """
    if header is None:
        return None
    written = header.strip()
    if found := re.fullmatch(_SECONDS, written):
        digits, fraction = found.groups(default="")
        if len(digits.lstrip("0")) > _DIGITS_MAX:
            return INSTANT_MAX
        seconds = int(digits) + (fraction.strip(".0") != "")
        return min(now + seconds * SECOND_MS, INSTANT_MAX)
    try:
        moment = parsedate_to_datetime(written)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if moment.tzinfo is None:
        # The obsolete asctime form names no zone. It is in UTC (RFC 9110, 5.6.7).
        return from_datetime(moment.replace(tzinfo=UTC))
    return from_datetime(moment)
