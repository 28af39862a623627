"""Delivering to an HTTP endpoint: one signed request, one answer, one deadline."""

import ssl
from collections.abc import Callable, Sequence
from contextlib import suppress
from http.client import HTTPException, HTTPResponse
from time import monotonic
from typing import Final, NamedTuple

from sweephand.access.repeated_secrets import RepeatedSecrets
from sweephand.base.instants import SECOND_MS
from sweephand.delivery.adapter import WITHDRAWN, Stack
from sweephand.delivery.http.connections import Connection, Connections, NoConnectionError, Peer
from sweephand.delivery.http.egress import Egress, EgressError
from sweephand.delivery.http.http1 import HttpRequest, answer_to, read_answer, read_body
from sweephand.delivery.http.request import NO_SECRETS, SecretValues, UnusableSecretError, signed_request
from sweephand.delivery.http.sockets import tls_context
from sweephand.model.attempt import ANSWER_BYTES_KEPT, Answer, Attempt
from sweephand.model.namespace import AllowedTargets
from sweephand.model.secret import ReadValues
from sweephand.ports.clock import Clock
from sweephand.targets.destinations import Destinations, of_namespace
from sweephand.targets.http import HttpTarget, http_target
from sweephand.targets.http_headers import secret_headers
from sweephand.targets.registry import secret_refs
from sweephand.targets.url import UrlError

#: A longer answer is not read completely. Its connection is closed, since a new one costs less.
ANSWER_BYTES_MAX: Final = 16_384

#: The error text is kept with the run, and a consumer can influence parts of it.
ERROR_LENGTH_MAX: Final = 300

#: So much of an answer is searched for secrets. It is twice what a run keeps of it. So enough is seen of a
#: secret that begins in what the run keeps.
ANSWER_BYTES_SEEN: Final = 2 * ANSWER_BYTES_KEPT

#: All errors that a consumer or the network can cause.
_FAILURES: Final = (EgressError, NoConnectionError, HTTPException, OSError, ValueError)


class _StaleError(Exception):
    """An idle connection turned out to be closed when it was used again, as `error` says."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class Call(NamedTuple):
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
        read_secrets: ReadValues | None = None,
        destinations: Destinations | None = None,
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
        url = target.url
        peer = Peer(url.scheme, url.host, url.port, lists)
        call = Call(target, attempt, peer, monotonic() + target.timeout_ms / SECOND_MS)
        refs = secret_refs(attempt.spec)
        values = NO_SECRETS
        if refs:
            try:
                values = SecretValues.read(attempt.trigger.key.namespace, refs, self._read_secrets)
            except UnusableSecretError as error:
                return Answer(succeeded=False, error=str(error)[:ERROR_LENGTH_MAX], is_final=True)
        try:
            return self._answer(call, values)
        except _FAILURES as error:
            return Answer(succeeded=False, error=_sentence(error, call, values))

    def _lists_of(self, allowed: AllowedTargets | None) -> tuple[Destinations, ...]:
        """The lists that a host and its addresses have to pass: the stack's, and those of the namespace."""
        if allowed is None or not any(allowed):
            return self._lists
        return (*self._lists, of_namespace(allowed))

    def _answer(self, call: Call, values: SecretValues) -> Answer:
        """Make the request, and return its answer. A subclass may reach its consumers in another way."""
        request = signed_request(call.target, call.attempt, values)
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

    def _send(self, connection: Connection, request: HttpRequest, call: Call, values: SecretValues) -> Answer:
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
        return self._answer_of(response.status, body, response.headers.get("retry-after"), call, values)

    def _answer_of(
        self, status: int, body: bytes, retry_after: str | None, call: Call, values: SecretValues
    ) -> Answer:
        """The answer that a response is, without the values that it repeats."""
        return answer_to(status, _without_secrets(body, call, values), retry_after, self._clock.now())


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


def _refusal(lists: Sequence[Destinations], host: str) -> str | None:
    return next(filter(None, (each.host_refusal(host) for each in lists)), None)


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


def _without_secrets(text: bytes, call: Call, values: SecretValues) -> bytes:
    """The beginning of a consumer's text, without the secrets of the request that it repeats."""
    secrets = [*values.all(), *call.attempt.secrets, *secret_headers(call.target.headers)]
    return without(secrets, text)


def without(secrets: Sequence[str], text: bytes) -> bytes:
    """The beginning of a consumer's text, without the secrets that it repeats.

    It is longer than what a run keeps. Consumers repeat headers in their messages of errors.
    """
    if not text:
        return text
    shown = text[:ANSWER_BYTES_SEEN].decode(errors="surrogateescape")
    return RepeatedSecrets(secrets).hidden_in(shown, is_cut=True).encode(errors="surrogateescape")


def _sentence(error: Exception, call: Call, values: SecretValues) -> str:
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
