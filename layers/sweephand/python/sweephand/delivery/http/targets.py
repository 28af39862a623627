"""How a trigger is handed to an HTTP endpoint: one signed request, one answer, one deadline."""

import ssl
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPException, HTTPResponse
from time import monotonic
from typing import Final

from sweephand import __version__
from sweephand.base.instants import SECOND_MS
from sweephand.delivery.adapter import Stack
from sweephand.delivery.http.answers import answer_to
from sweephand.delivery.http.connections import Connection, Connections, NoConnectionError
from sweephand.delivery.http.egress import Egress, EgressError
from sweephand.delivery.http.http1 import Request, answer_on, beginning_of
from sweephand.delivery.http.signing import delivery_headers
from sweephand.delivery.http.sockets import tls_context
from sweephand.delivery.preflight import WITHDRAWN
from sweephand.ports import Answer, Attempt, Clock
from sweephand.targets.http import HttpTarget, http_target
from sweephand.targets.url import UrlError

#: A longer answer is not read to its end to keep its connection: a new one costs less.
ANSWER_BYTES_MAX: Final = 16_384

#: An error's sentence is kept with the run; a consumer has a hand in some.
ERROR_LENGTH_MAX: Final = 300

_USER_AGENT: Final = f"Sweephand/{__version__}"

#: All that can come of a request by a consumer's or the network's doing.
_FAILURES: Final = (EgressError, NoConnectionError, HTTPException, OSError, ValueError)


class _StaleError(Exception):
    """A kept connection had come to its end, unnoticed, when it was used again."""


class HttpTargets:
    """The consumers behind HTTP endpoints. Safe to use from many threads at once.

    A refused address is a failed attempt like another, and is tried again: names change their addresses.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        allow_insecure: bool,
        egress: Egress | None = None,
        make_context: Callable[[], ssl.SSLContext] = tls_context,
    ) -> None:
        self._clock = clock
        self._allow_insecure = allow_insecure
        self._connections = Connections(egress or Egress(allow_loopback=allow_insecure), make_context)

    def deliver(self, attempt: Attempt) -> Answer:
        """Make the request within the target's time-out and say what came of it (ports.Targets)."""
        try:
            target = http_target(attempt.spec, allow_insecure=self._allow_insecure)
        except UrlError as error:
            return Answer(succeeded=False, error=f"The target's URL cannot be called: {error}")
        if attempt.within_ms is not None:
            target = target._replace(timeout_ms=min(target.timeout_ms, attempt.within_ms))
        try:
            return self._answer(target, attempt)
        except _FAILURES as error:
            return Answer(succeeded=False, error=_sentence(error, target))

    def _answer(self, target: HttpTarget, attempt: Attempt) -> Answer:
        ends = monotonic() + target.timeout_ms / SECOND_MS
        request = _request(target, attempt)
        kept = self._connections.kept(target.url)
        if kept is not None:
            # The request may have arrived; a consumer that sees it twice sees one webhook-id.
            with suppress(_StaleError):
                return self._exchanged(kept, request, attempt, ends)
        made = self._connections.made(target.url, _left_s(ends))
        return self._exchanged(made, request, attempt, ends)

    def _exchanged(self, connection: Connection, request: Request, attempt: Attempt, ends: float) -> Answer:
        """What comes of the request over that connection, which is kept if it can be used again."""
        can_be_kept = True  # as long as nothing has been sent
        try:
            if not attempt.may_send():
                return WITHDRAWN
            can_be_kept = False
            connection.sock.settimeout(_left_s(ends))
            response = _response(connection, request)
            body, can_be_kept = beginning_of(response, ANSWER_BYTES_MAX)
        finally:
            if can_be_kept:
                self._connections.keep(request.url, connection)
            else:
                connection.close()
        return answer_to(response.status, body, response.headers.get("retry-after"), self._clock.now())


def adapter(stack: Stack) -> HttpTargets:
    """The adapter of the target type `http`."""
    return HttpTargets(stack.clock, allow_insecure=stack.reach.allow_insecure)


def _request(target: HttpTarget, attempt: Attempt) -> Request:
    """The signed request."""
    body = attempt.body if target.sends_body else b""
    headers = {"user-agent": _USER_AGENT}
    if target.sends_body:
        headers["content-type"] = "application/json"
    headers |= target.headers
    headers |= delivery_headers(attempt, body)
    return Request(target.method, target.url, headers, body if target.sends_body else None)


def _response(connection: Connection, request: Request) -> HTTPResponse:
    """The head of the answer; _StaleError if the connection was kept before and has come to its end."""
    try:
        # Who does not want to read it all can have answered all the same.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sock.sendall(request.written())
        return answer_on(connection.sock, request.method)
    except (ConnectionError, ssl.SSLEOFError) as error:
        if connection.was_kept:
            raise _StaleError from error
        raise


def _left_s(ends: float) -> float:
    # Zero would mean "do not wait"; the least that means "at once" is as good here.
    return max(ends - monotonic(), 0.001)


def _sentence(error: Exception, target: HttpTarget) -> str:
    """What went wrong, for whoever reads the run."""
    told = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in str(error))
    match error:
        case EgressError():
            sentence = told
        case NoConnectionError():
            sentence = f"No connection to {target.url.host}, port {target.url.port}: {told}"
        case TimeoutError():
            sentence = f"No answer within {target.timeout_ms / SECOND_MS:g} s."
        case ssl.SSLError():
            sentence = f"No secure connection to {target.url.host}: {told}"
        case ValueError():  # a target that no validation of today would have let pass
            sentence = f"The request cannot be made: {told}"
        case ConnectionError():
            sentence = f"The connection ended before an answer came: {told}"
        case _:
            sentence = f"What came is no answer in HTTP: {told or type(error).__name__}"
    return sentence[:ERROR_LENGTH_MAX]
