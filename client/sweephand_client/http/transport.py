"""Sends one call of the API, repeats it where that is safe, and reads its answer."""

import random
import re
import ssl
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any, Final, Protocol, cast
from urllib.parse import quote, urlencode, urlsplit

import urllib3

from sweephand_client.http import exact_json
from sweephand_client.http.authorization import Authorization
from sweephand_client.http.errors import (
    InputError,
    Problem,
    RefusedError,
    StackFailedError,
    UnreachableError,
    error_of,
    problem_of,
)
from sweephand_client.http.operation import (
    Body,
    Failure,
    Operation,
    Repetition,
    Result,
    failure_of,
    retry_after_s,
)

#: The gateway of AWS answers within 30 s.
_READ_S: Final = 35
_CONNECT_S: Final = 5

#: The rule of docs for names. `.` and `..` would lead to another path.
NAME: Final = re.compile(r"(?!\.\.?$)[A-Za-z0-9._~:@+=-]{1,128}")
NAME_RULE: Final = "1 to 128 of A-Z a-z 0-9 . _ ~ : @ + = - and not only one or two dots"

Query = Mapping[str, str | int | Sequence[str] | None]


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer that is not worth another attempt. `body` is its JSON, and None if it has none."""

    status: int
    body: Any


@dataclass(frozen=True, slots=True)
class _Failed:
    failure: Failure
    error: RefusedError | StackFailedError | UnreachableError
    retry_after_s: float | None = None


class Pool(Protocol):
    """The connections of a transport, as urllib3.PoolManager has them."""

    def request(self, method: str, url: str, *, body: Any, headers: Any, redirect: bool) -> Any:
        """The answer, with its `status`, its `headers` and its body as `data`."""
        ...

    def clear(self) -> None:
        """Close all connections."""
        ...


class Transport:
    """Calls one stack. Threads may share it: each call takes a connection of its own from the pool.

    `sleep` waits for seconds, and `draw` gives a random number from 0 to 1. `pool` makes the connections
    (None: those of urllib3). Raises InputError for an address that is not https, unless it is one of this
    machine.
    """

    def __init__(
        self,
        url: str,
        authorization: Authorization | None,
        *,
        repetition: Repetition = Repetition(),  # noqa: B008 - it does not change
        sleep: Callable[[float], None] = time.sleep,
        draw: Callable[[], float] = random.random,
        pool: Pool | None = None,
    ) -> None:
        self.url = checked_url(url)
        self._authorization = authorization
        self._repetition = repetition
        self._sleep = sleep
        self._draw = draw
        self._pool: Pool = pool or urllib3.PoolManager(
            maxsize=8, timeout=urllib3.Timeout(connect=_CONNECT_S, read=_READ_S), retries=False
        )

    def close(self) -> None:
        """Close the connections. The next call opens one."""
        self._pool.clear()

    def call(
        self,
        operation: Operation[Body, Result],
        path: Mapping[str, str] | None = None,
        *,
        query: Query | None = None,
        body: Body | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Result:
        """The body of the answer to an operation, None if it has none.

        An authorization in `headers` takes the place of the transport's. A DELETE of one thing is done if it
        is answered 404 after an attempt whose answer was lost. Raises
        UnreachableError, StackFailedError, or the subclass of RefusedError that the status names. The error
        of a write says whether the stack may have carried it out.
        """
        url, data = self._encoded(operation, path or {}, query or {}, body)
        attempt, waited_s, may_have_written = 0, 0.0, False
        reads = operation.reads(body)
        while True:
            attempt += 1
            found = self._attempt(operation, url, data, headers or {})
            if isinstance(found, _Answer):
                if 200 <= found.status < 300:  # noqa: PLR2004 - 2xx
                    return cast("Result", found.body)
                if may_have_written and _is_done(operation, found):
                    return cast("Result", None)
                raise _error_after(found, url, reads=reads, may_have_written=may_have_written)
            may_have_written |= found.failure == "unanswered" and not reads
            delay_s = self._repetition.delay_s(
                found.failure,
                is_repeatable=operation.is_repeatable(headers or {}, body),
                attempt=attempt,
                waited_s=waited_s,
                retry_after_s=found.retry_after_s,
                fraction=self._draw(),
            )
            if delay_s is None:
                found.error.may_have_written = may_have_written
                raise found.error
            self._sleep(delay_s)
            waited_s += delay_s

    def _encoded(
        self, operation: Operation[Any, Any], path: Mapping[str, str], query: Query, body: Any
    ) -> tuple[str, bytes | None]:
        """The whole address and the bytes of the body. InputError for a text that is not Unicode."""
        try:
            url = self.url + _filled(operation, path) + _query_text(query)
            return url, None if body is None else exact_json.write(body).encode()
        except UnicodeEncodeError as error:
            wrong = ascii(error.object[error.start : error.end])
            raise InputError(f"{wrong} is no character of Unicode. Give a text in UTF-8.") from None

    def _attempt(
        self, operation: Operation[Any, Any], url: str, data: bytes | None, headers: Mapping[str, str]
    ) -> _Answer | _Failed:
        sent = {"accept": "application/json", "user-agent": "sweephand-client", **headers}
        if data is not None:
            sent["content-type"] = "application/json"
        if self._authorization is not None and "authorization" not in sent:
            sent = self._authorization.headers(operation.method, url, sent, data)
        try:
            response = self._pool.request(operation.method, url, body=data, headers=sent, redirect=False)
        except (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError) as error:
            return _Failed("not-sent", UnreachableError(self.url, _reason(error)))
        except urllib3.exceptions.SSLError as error:
            if _is_certificate(error):
                raise UnreachableError(self.url, _reason(error)) from None
            # TLS may also break after the request has left.
            return _Failed("unanswered", UnreachableError(self.url, _reason(error)))
        except urllib3.exceptions.HTTPError as error:
            return _Failed("unanswered", UnreachableError(self.url, _reason(error)))
        answered = {name.lower(): value for name, value in response.headers.items()}
        parsed = self._body(response.status, answered, response.data)
        problem = problem_of(response.status, parsed)
        failure = failure_of(problem)
        if failure is None:
            return _Answer(response.status, parsed)
        return _Failed(failure, error_of(problem, url), retry_after_s(answered.get("retry-after")))

    def _body(self, status: int, headers: Mapping[str, str], data: bytes) -> Any:
        """The JSON object of an answer, None if it has none.

        UnreachableError if a success has none, and is not 204: no API of Sweephand is there.
        """
        found = None
        if "json" in headers.get("content-type", ""):
            with suppress(ValueError):
                found = exact_json.read(data.decode())
        is_empty = status == HTTPStatus.NO_CONTENT and not data
        if status < HTTPStatus.BAD_REQUEST and not (is_empty or isinstance(found, Mapping)):
            raise UnreachableError(self.url, f"what answers there ({status}) is no API of Sweephand")
        return found


def checked_url(url: str) -> str:
    """The address without a slash at its end. Raises InputError if a key must not be sent there."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise InputError(f"{url!r} is no address of a stack. Give its ApiUrl, as in https://….amazonaws.com")
    if parts.username is not None:
        raise InputError("The address has a name or password in it. Give the key by SWEEPHAND_KEY.")
    if parts.scheme == "http" and not is_loopback(parts.hostname):
        raise InputError(f"{url!r} would send the key unencrypted. Give an address with https.")
    return url.rstrip("/")


def is_loopback(host: str) -> bool:
    """Whether a host is this machine by its address, or has the name localhost."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _filled(operation: Operation[Any, Any], given: Mapping[str, str]) -> str:
    for name, value in given.items():
        if not NAME.fullmatch(value):
            raise InputError(f"{value!r} is no {name}. Give {NAME_RULE}.")
    return operation.path.format(**{name: quote(value, safe="") for name, value in given.items()})


def _query_text(query: Query) -> str:
    pairs = [
        (name, str(each))
        for name, value in query.items()
        if value is not None and value != ""
        for each in ([value] if isinstance(value, str | int) else value)
    ]
    # A signature of AWS is made of a space as %20. A plus sign would be another text.
    return f"?{urlencode(pairs, quote_via=quote)}" if pairs else ""


def _is_certificate(error: urllib3.exceptions.SSLError) -> bool:
    """Whether the handshake failed for the certificate: then no request has left, and none ever will."""
    cause = error.args[0] if error.args else None
    return not isinstance(cause, ssl.SSLError) or isinstance(cause, ssl.SSLCertVerificationError)


def _is_done(operation: Operation[Any, Any], answer: _Answer) -> bool:
    """Whether the answer says that an earlier attempt was carried out: what it was to delete is gone."""
    is_gone = answer.status == HTTPStatus.NOT_FOUND
    return is_gone and operation.method == "DELETE" and operation.is_about_one


def _error_after(answer: _Answer, url: str, *, reads: bool, may_have_written: bool) -> Exception:
    problem = problem_of(answer.status, answer.body)
    if may_have_written and answer.status in (HTTPStatus.CONFLICT, HTTPStatus.PRECONDITION_FAILED):
        # The attempt whose answer was lost may have made the state or the revision that is in the way.
        problem = Problem(
            problem.status,
            problem.title,
            f"{problem.detail} An earlier attempt of this request may have made it so. Read it again.",
            problem.errors,
            problem.kind,
        )
    # After a 5xx that is not repeated, it is as unknown as after a lost answer.
    is_unknown = answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR and not reads
    return error_of(problem, url, may_have_written=may_have_written or is_unknown)


def _reason(error: Exception) -> str:
    """The last part of urllib3's message, without the object at its front."""
    said = str(error).rpartition(": ")[2]
    # The object at the front may have opened a parenthesis.
    return said.removesuffix(")" * (said.count(")") - said.count("("))) or type(error).__name__
