"""How a trigger is handed to an HTTP endpoint: one signed request, one answer, one deadline."""

import ssl
from collections.abc import Callable
from http.client import HTTPException
from time import monotonic
from typing import Final

from urllib3 import BaseHTTPResponse
from urllib3.exceptions import HTTPError, NewConnectionError, ProtocolError, SSLError
from urllib3.exceptions import TimeoutError as RequestTimeoutError
from urllib3.util import Timeout

from sweephand import __version__
from sweephand.delivery.answers import answer_to
from sweephand.delivery.connections import Pools, StaleConnectionError
from sweephand.delivery.egress import Egress, EgressError
from sweephand.delivery.signing import delivery_headers
from sweephand.delivery.sockets import tls_context
from sweephand.delivery.wanted import WITHDRAWN, WithdrawnError, is_wanted
from sweephand.instants import SECOND_MS
from sweephand.ports import Answer, Attempt, Clock
from sweephand.targets.http import HttpTarget, http_target
from sweephand.targets.url import UrlError

#: A longer answer is not read to its end to keep its connection: a new one costs less.
ANSWER_BYTES_MAX: Final = 16_384

#: An error's sentence is kept with the run; a consumer has a hand in some.
ERROR_LENGTH_MAX: Final = 300

#: A kept connection can have been closed by its other end a moment ago, and so can the next one.
STALE_MAX: Final = 3

_USER_AGENT: Final = f"Sweephand/{__version__}"

#: All that can come of a request by a consumer's or the network's doing.
_FAILURES: Final = (EgressError, HTTPError, HTTPException, OSError, ValueError)


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
        self._pools = Pools(egress or Egress(allow_loopback=allow_insecure), make_context)

    def deliver(self, attempt: Attempt) -> Answer:
        """Make the request within the target's time-out and say what came of it (ports.Targets)."""
        try:
            target = http_target(attempt.spec, allow_insecure=self._allow_insecure)
        except UrlError as error:
            return Answer(succeeded=False, error=f"The target's URL cannot be called: {error}")
        asked = is_wanted.set(attempt.is_wanted)
        try:
            response = self._response(target, attempt)
        except WithdrawnError:
            return WITHDRAWN
        except _FAILURES as error:
            return Answer(succeeded=False, error=_sentence(error, target))
        finally:
            is_wanted.reset(asked)
        body = _beginning(response)
        return answer_to(response.status, body, response.headers.get("retry-after"), self._clock.now())

    def _response(self, target: HttpTarget, attempt: Attempt) -> BaseHTTPResponse:
        """The head of the response, its body yet to be read."""
        body = attempt.body if target.sends_body else b""
        headers = {"user-agent": _USER_AGENT}
        if target.sends_body:
            headers["content-type"] = "application/json"
        headers |= target.headers
        headers |= delivery_headers(attempt, body)
        pool = self._pools.pool(target.url)
        ends = monotonic() + target.timeout_ms / SECOND_MS
        for stale in range(STALE_MAX + 1):
            try:
                return pool.urlopen(
                    target.method,
                    target.url.target,
                    body=body if target.sends_body else None,
                    headers=headers,
                    retries=False,
                    redirect=False,
                    assert_same_host=False,
                    timeout=Timeout(total=max(ends - monotonic(), 0.001)),
                    preload_content=False,
                    decode_content=False,
                )
            except ProtocolError as error:
                # The request may have arrived; a consumer that sees it twice sees one webhook-id.
                if stale == STALE_MAX or not isinstance(_cause(error), StaleConnectionError):
                    raise
        raise AssertionError("the last try returns or raises")


def _beginning(response: BaseHTTPResponse) -> bytes:
    """The first bytes of the response's body: what came in time.

    Its connection is kept if the body ends there. Whatever goes wrong here, the status has been received:
    the consumer has answered.
    """
    body = bytearray()
    try:
        while len(body) < ANSWER_BYTES_MAX:
            part = response.read1(ANSWER_BYTES_MAX - len(body))
            if not part:
                break
            body += part
    except _FAILURES:
        pass
    finally:
        response.close()
    return bytes(body)


def _cause(error: BaseException) -> BaseException:
    """What urllib3 wrapped, where it wrapped something."""
    last = error.args[-1] if isinstance(error, ProtocolError) and error.args else None
    return last if isinstance(last, BaseException) else error


def _sentence(error: Exception, target: HttpTarget) -> str:
    """What went wrong, for whoever reads the run."""
    cause = _cause(error)
    told = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in str(cause))
    match cause:
        case EgressError():
            sentence = told
        case NewConnectionError():  # before the time-outs: urllib3 counts it among them
            sentence = (
                f"No connection to {target.url.host}, port {target.url.port}: {cause.__cause__ or cause}"
            )
        case RequestTimeoutError() | TimeoutError():
            sentence = f"No answer within {target.timeout_ms / SECOND_MS:g} s."
        case SSLError() | ssl.SSLError():
            sentence = f"No secure connection to {target.url.host}: {told}"
        case ValueError():  # a target that no validation of today would have let pass
            sentence = f"The request cannot be made: {told}"
        case ConnectionError():
            sentence = f"The connection ended before an answer came: {told}"
        case _:
            sentence = f"What came is no answer in HTTP: {told or type(cause).__name__}"
    return sentence[:ERROR_LENGTH_MAX]
