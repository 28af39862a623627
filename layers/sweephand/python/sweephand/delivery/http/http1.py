"""What goes over a connection (HTTP/1.1): a request in one piece, and back the head of an answer.

http.client reads the answer. The request is written here: http.client checks and writes header by header,
which takes longer than all that it writes is worth.
"""

import socket
from collections.abc import Mapping
from http import HTTPStatus
from http.client import HTTPException, HTTPResponse
from typing import Any, Final, NamedTuple

from sweephand.targets.url import Url

#: What a line of a request's head may be made of (RFC 9110, 5.5): no control character but the tab.
_PERMITTED: Final = bytes({0x09, *range(0x20, 0x7F), *range(0x80, 0x100)})

#: A consumer may say this often that its answer is still to come. Each such answer is read within the
#: target's time-out and counts towards the bytes that are read.
INTERIM_ANSWERS_MAX: Final = 32


class Request(NamedTuple):
    """A request; names of headers are in lower case. `body` is None where it has none."""

    method: str
    url: Url
    headers: Mapping[str, str]
    body: bytes | None

    def written(self) -> bytes:
        """All of it, as it is sent: a consumer that reads head and body at once answers sooner.

        ValueError if a header could be read as something else.
        """
        url, body = self.url, self.body
        lines = [
            f"{self.method} {url.target} HTTP/1.1",
            f"host: {url.authority}",
            "accept-encoding: identity",
        ]
        if body is not None:
            lines.append(f"content-length: {len(body)}")
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        head = "\r\n".join(lines).encode("latin-1")
        if head.translate(None, _PERMITTED) != b"\r\n" * (len(lines) - 1):
            raise ValueError(f"Invalid header value: {', '.join(self._doubtful())}")
        return head + b"\r\n\r\n" + (body or b"")

    def _doubtful(self) -> list[str]:
        """The headers that hold what is not permitted."""
        return [
            name
            for name, value in self.headers.items()
            if f"{name}{value}".encode("latin-1").translate(None, _PERMITTED)
        ]


def answer_on(sock: socket.socket, method: str) -> HTTPResponse:
    """The head of the final answer to a request with that method, its body yet to be read.

    Interim answers before it are passed over (RFC 9110, 15.2), unknown ones too, but for 101: nobody asked
    for another protocol, so a consumer that switches to one has given its answer. HTTPException, OSError or
    ValueError if no answer comes, or what comes is none.
    """
    response = _FinalResponse(sock, method=method)
    try:
        response.begin()
        _check_length(response)
    except BaseException:
        response.close()
        raise
    return response


class _FinalResponse(HTTPResponse):
    """What http.client reads, with every interim answer passed over as http.client passes over 100."""

    _interim_answers = 0

    def _read_status(self) -> tuple[str, int, str]:
        # Not a public method. botocore overrides it as well, so it is unlikely to go away.
        base: Any = super()
        version, status, reason = base._read_status()  # noqa: SLF001 - of the class that this one extends
        if not _is_interim(status):
            return version, status, reason
        self._interim_answers += 1
        if self._interim_answers > INTERIM_ANSWERS_MAX:
            raise HTTPException(f"more than {INTERIM_ANSWERS_MAX} interim answers")
        return version, HTTPStatus.CONTINUE, reason


def _is_interim(status: int) -> bool:
    return HTTPStatus.CONTINUE <= status < HTTPStatus.OK and status != HTTPStatus.SWITCHING_PROTOCOLS


def _check_length(response: HTTPResponse) -> None:
    """Refuse an answer that says two lengths: where the next one begins would be a guess (RFC 9112, 6.3)."""
    lengths = response.headers.get_all("content-length", ())
    if len({each.strip() for value in lengths for each in value.split(",")}) > 1:
        raise HTTPException("more than one content-length")


def beginning_of(response: HTTPResponse, bytes_max: int) -> tuple[bytes, bool]:
    """What came in time of the answer's body, and whether its connection can be used again: if that was all.

    Whatever goes wrong here, the status has been received: the consumer has answered.
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
