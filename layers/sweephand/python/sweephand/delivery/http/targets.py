"""Delivering to an HTTP endpoint: one signed request, one answer, one deadline."""

import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from http.client import HTTPException, HTTPResponse
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple

from sweephand import __version__
from sweephand.base.instants import SECOND_MS
from sweephand.delivery.adapter import Stack
from sweephand.delivery.http.answers import answer_to
from sweephand.delivery.http.cloudevents import CONTENT_TYPE, binary_headers, structured
from sweephand.delivery.http.connections import Connection, Connections, NoConnectionError, Peer
from sweephand.delivery.http.egress import Egress, EgressError
from sweephand.delivery.http.http1 import HttpRequest, read_answer, read_body
from sweephand.delivery.http.signing import delivery_headers
from sweephand.delivery.http.sockets import tls_context
from sweephand.delivery.preflight import WITHDRAWN
from sweephand.ports import Answer, Attempt, Clock
from sweephand.targets.http import HttpTarget, http_target
from sweephand.targets.http_format import BINARY, STRUCTURED
from sweephand.targets.http_headers import secret_headers
from sweephand.targets.placeholders import filled
from sweephand.targets.registry import secret_refs
from sweephand.targets.url import UrlError

if TYPE_CHECKING:
    # Only targets that name secrets need them.
    from sweephand.delivery.http.secret_values import SecretValues
    from sweephand.model.namespace import AllowedTargets
    from sweephand.model.secret import ReadValues

    # Many stacks and namespaces have no such lists.
    from sweephand.targets.destinations import Destinations
    from sweephand.targets.secret_refs import SecretRef

#: A longer answer is not read completely. Its connection is closed, since a new one costs less.
ANSWER_BYTES_MAX: Final = 16_384

#: The error text is kept with the run, and a consumer can influence parts of it.
ERROR_LENGTH_MAX: Final = 300

_USER_AGENT: Final = f"Sweephand/{__version__}"

#: All errors that a consumer or the network can cause.
_FAILURES: Final = (EgressError, NoConnectionError, HTTPException, OSError, ValueError)


class _StaleError(Exception):
    """An idle connection turned out to be closed when it was used again, as `error` says."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class _Call(NamedTuple):
    """An attempt at a target, with whom it connects, and when its time is up, on the monotonic clock in s."""

    target: HttpTarget
    attempt: Attempt
    peer: Peer
    ends: float


class HttpTargets:
    """Delivers to HTTP endpoints. Safe to use from many threads at once.

    An address that is not permitted is a failed attempt, and it is retried: a name can get another address. A
    host that a list does not allow is a final failure.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        allow_insecure: bool,
        egress: Egress | None = None,
        make_context: Callable[[], ssl.SSLContext] = tls_context,
        read_secrets: "ReadValues | None" = None,
        destinations: "Destinations | None" = None,
    ) -> None:
        """`destinations` are the lists of the stack; None if it has none."""
        self._clock = clock
        self._lists = () if destinations is None else (destinations,)
        self._allow_insecure = allow_insecure
        self._read_secrets = read_secrets
        self._connections = Connections(egress or Egress(allow_loopback=allow_insecure), make_context)

    def deliver(self, attempt: Attempt) -> Answer:
        """Make the request within the target's time-out and return the answer (ports.Targets).

        The time-out counts from the reading of the secrets that the target names.
        """
        try:
            target = http_target(attempt.spec, allow_insecure=self._allow_insecure)
        except UrlError as error:
            return Answer(succeeded=False, error=f"The target's URL cannot be called: {error}")
        lists = self._lists_of(attempt.allowed(False))
        if _refusal(lists, target.url.host) is not None:
            # Perhaps an admin has allowed the host a moment ago.
            lists = self._lists_of(attempt.allowed(True))
            refusal = _refusal(lists, target.url.host)
            if refusal is not None:
                return Answer(succeeded=False, error=refusal, is_final=True)
        if attempt.within_ms is not None:
            target = target._replace(timeout_ms=min(target.timeout_ms, attempt.within_ms))
        call = _Call(target, attempt, Peer.of(target.url, lists), monotonic() + target.timeout_ms / SECOND_MS)
        refs = secret_refs(attempt.spec)
        return self._with_secrets(call, refs) if refs else self._made(call, None)

    def _lists_of(self, allowed: "AllowedTargets | None") -> "tuple[Destinations, ...]":
        """The lists that a host and its addresses have to pass: the stack's, and those of the namespace."""
        if allowed is None or not any(allowed):
            return self._lists
        from sweephand.targets.destinations import of_namespace  # noqa: PLC0415 - many namespaces have none

        return (*self._lists, of_namespace(allowed))

    def _with_secrets(self, call: "_Call", refs: "Sequence[SecretRef]") -> Answer:
        from sweephand.delivery.http.secret_values import (  # noqa: PLC0415 - most targets name no secret
            SecretValues,
            UnusableSecretError,
        )

        try:
            namespace = call.attempt.trigger.key.namespace
            values = SecretValues.read(namespace, refs, self._read_secrets)
        except UnusableSecretError as error:
            return Answer(succeeded=False, error=str(error)[:ERROR_LENGTH_MAX], is_final=True)
        return self._made(call, values)

    def _made(self, call: "_Call", values: "SecretValues | None") -> Answer:
        try:
            return self._answer(call, values)
        except _FAILURES as error:
            return Answer(succeeded=False, error=_sentence(error, call, values))

    def _answer(self, call: "_Call", values: "SecretValues | None") -> Answer:
        request = _request(call.target, call.attempt, values)
        sends_once = call.attempt.sends_once
        idle = self._connections.take_idle(call.peer, is_surely_open=sends_once)
        if idle is not None:
            try:
                return self._send(idle, request, call, values)
            except _StaleError as stale:
                # The consumer may have received the request. If so, it sees the same webhook-id twice.
                if sends_once:
                    raise stale.error from None
        namespace = call.attempt.trigger.key.namespace
        connection = self._connections.connect(call.peer, _left_s(call.ends), namespace)
        return self._send(connection, request, call, values)

    def _send(
        self, connection: Connection, request: HttpRequest, call: "_Call", values: "SecretValues | None"
    ) -> Answer:
        """Send the request over that connection and return the answer, without the values that it repeats.

        A connection that can be reused is kept.
        """
        can_be_kept = True  # as long as nothing has been sent
        try:
            if not call.attempt.may_send():
                return WITHDRAWN
            can_be_kept = False
            connection.sock.settimeout(_left_s(call.ends))
            response = _response(connection, request)
            body, can_be_kept = read_body(response, ANSWER_BYTES_MAX)
        finally:
            if can_be_kept:
                self._connections.put_idle(connection)
            else:
                connection.close()
        body = _without_secrets(body, call, values)
        return answer_to(response.status, body, response.headers.get("retry-after"), self._clock.now())


def adapter(stack: Stack) -> HttpTargets:
    """The adapter of the target type `http`."""
    reach = stack.reach
    egress = Egress(allow_loopback=reach.allow_insecure, private=reach.private)
    return HttpTargets(
        stack.clock,
        allow_insecure=reach.allow_insecure,
        egress=egress,
        read_secrets=stack.read_secrets,
        destinations=reach.destinations,
    )


def _refusal(lists: "Sequence[Destinations]", host: str) -> str | None:
    return next(filter(None, (each.host_refusal(host) for each in lists)), None)


def _request(target: HttpTarget, attempt: Attempt, values: "SecretValues | None") -> HttpRequest:
    """The signed request, with the values of the secrets that its headers name."""
    body = _body(target, attempt)
    headers = {"user-agent": _USER_AGENT}
    if target.sends_body:
        headers["content-type"] = CONTENT_TYPE if target.format == STRUCTURED else "application/json"
    if target.format == BINARY:
        headers |= binary_headers(attempt)
    trigger, number = attempt.trigger, attempt.number
    for name, value in target.headers.items():
        text = None if values is None else values.text(value)
        headers[name] = filled(value, trigger, number) if text is None else text
    if target.signing_secret is not None and values is not None:
        attempt = attempt._replace(secrets=values.signing(target.signing_secret))
    headers |= delivery_headers(attempt, body)
    url = target.url._replace(target=filled(target.url.target, trigger, number))
    return HttpRequest(target.method, url, headers, body if target.sends_body else None)


def _body(target: HttpTarget, attempt: Attempt) -> bytes:
    if not target.sends_body:
        return b""
    return structured(attempt) if target.format == STRUCTURED else attempt.body


def _response(connection: Connection, request: HttpRequest) -> HTTPResponse:
    """The head of the answer. _StaleError if the consumer had closed the connection while it was idle."""
    try:
        # A consumer may answer, and close its side, before it has read the whole request.
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sock.sendall(request.encode())
        return read_answer(connection.sock, request.method)
    except (ConnectionError, ssl.SSLEOFError) as error:
        if connection.was_idle:
            raise _StaleError(error) from error
        raise


def _left_s(ends: float) -> float:
    # Zero would mean "do not block". A millisecond has the same effect as an expired time-out.
    return max(ends - monotonic(), 0.001)


def _without_secrets(text: bytes, call: "_Call", values: "SecretValues | None") -> bytes:
    """The beginning of a consumer's text, without the secrets of the request that it repeats."""
    if not text:
        return text
    from sweephand.delivery.http.secret_values import SecretValues  # noqa: PLC0415 - many answers are empty

    known = SecretValues({}) if values is None else values
    return known.hidden_in(text, (*call.attempt.secrets, *secret_headers(call.target.headers)))


def _sentence(error: Exception, call: "_Call", values: "SecretValues | None") -> str:
    """Why the attempt failed, as a sentence for the reader of the run."""
    target = call.target
    text = _without_secrets(str(error).encode(errors="replace"), call, values).decode(errors="replace")
    text = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in text)
    match error:
        case EgressError():
            sentence = text
        case NoConnectionError():
            sentence = f"No connection to {target.url.host}, port {target.url.port}: {text}"
        case TimeoutError():
            sentence = f"No answer within {target.timeout_ms / SECOND_MS:g} s."
        case ssl.SSLError():
            sentence = f"No secure connection to {target.url.host}: {text}"
        case ValueError():  # a target that today's validation would refuse
            sentence = f"The request cannot be made: {text}"
        case ConnectionError():
            sentence = f"The connection ended before an answer came: {text}"
        case _:
            sentence = f"The response is not valid HTTP: {text or type(error).__name__}"
    return sentence[:ERROR_LENGTH_MAX]
