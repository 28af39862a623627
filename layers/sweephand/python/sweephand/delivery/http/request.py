"""The request of a delivery: its headers with the signatures, and its body as JSON or as a CloudEvent.

Sources: Standard Webhooks 1.0, schemes v1 and v1a; CloudEvents 1.0, JSON format and HTTP protocol binding.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, Protocol
from urllib.parse import quote

from standardwebhooks.webhooks import Webhook

from sweephand import __version__
from sweephand.base.errors import SweephandError
from sweephand.base.instants import Instant, to_datetime
from sweephand.delivery.http.http1 import HttpRequest
from sweephand.model.attempt import Attempt
from sweephand.model.secret import ED25519_PREFIX, HMAC_PREFIX, ReadValues, scheme_of
from sweephand.model.webhook import (
    CONTENT_TYPE,
    EVENT_ATTRIBUTES,
    NAMES,
    SIGNED_HEADERS,
    Signed,
    header_of,
    values_of,
)
from sweephand.targets.http import BINARY, STRUCTURED, HttpTarget
from sweephand.targets.http_headers import filled
from sweephand.targets.target_type import SecretRef, referred

_USER_AGENT: Final = f"Sweephand/{__version__}"

#: How many secrets are kept decoded: those of the namespaces that one function delivers for.
_SIGNERS_MAX: Final = 2_048

#: The content type of a structured event (CloudEvents 1.0, HTTP protocol binding, 3.2).
_STRUCTURED_TYPE: Final = "application/cloudevents+json; charset=utf-8"

#: Printable ASCII without the space, the quotation mark and the percent sign.
_UNQUOTED: Final = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"%')


class UnusableSecretError(SweephandError):
    """A target names a secret that does not exist or cannot sign. The message names the secret."""


class SecretValues:
    """The values of the secrets that an attempt's target names. Each has one value at least, newest first."""

    def __init__(self, values: Mapping[str, Sequence[str]]) -> None:
        self._values = values

    @classmethod
    def read(cls, namespace: str, refs: Sequence[SecretRef], read: ReadValues | None) -> "SecretValues":
        """The values of those secrets. Raises UnusableSecretError, and StoreError if they cannot be read."""
        found = {} if read is None else read(namespace, {each.name for each in refs})
        missing = [each for each in refs if not found.get(each.name)]
        if missing:
            raise UnusableSecretError(
                f"There is no secret {missing[0].name} in namespace {namespace}, and the target's "
                f"{missing[0].pointer} names it. Create the secret, then redrive this run."
            )
        unfit = [each.name for each in refs if each.must_sign and scheme_of(found[each.name][0]) is None]
        if unfit:
            raise UnusableSecretError(
                f"The secret {unfit[0]} in namespace {namespace} cannot sign. Give it a value that begins "
                f"with {HMAC_PREFIX} or {ED25519_PREFIX}, then redrive this run."
            )
        return cls(found)

    def signing(self, name: str) -> tuple[str, ...]:
        """The values of a secret that signs, newest first."""
        return tuple(self._values[name])

    def text(self, value: Any) -> str | None:
        """The value of the secret to which a header's value refers; None if it refers to none."""
        name = referred(value)
        return None if name is None else self._values[name][0]

    def all(self) -> list[str]:
        """Every value of every secret."""
        return [value for each in self._values.values() for value in each]


#: For a target that names no secret.
NO_SECRETS: Final = SecretValues({})


def signed_request(target: HttpTarget, attempt: Attempt, values: SecretValues) -> HttpRequest:
    """The signed request, with the values of the secrets that its headers name."""
    body = _body(target, attempt)
    headers = {"user-agent": _USER_AGENT}
    if target.sends_body:
        headers["content-type"] = _STRUCTURED_TYPE if target.format == STRUCTURED else "application/json"
    if target.format == BINARY:
        headers |= _event_headers(attempt)
    trigger, number = attempt.trigger, attempt.number
    for name, value in target.headers.items():
        text = values.text(value)
        headers[name] = filled(value, trigger, number) if text is None else text
    if target.signing_secret is not None:
        attempt = attempt._replace(secrets=values.signing(target.signing_secret))
    headers |= delivery_headers(attempt, body)
    url = target.url._replace(target=filled(target.url.target, trigger, number))
    return HttpRequest(target.method, url, headers, body if target.sends_body else None)


def _body(target: HttpTarget, attempt: Attempt) -> bytes:
    if not target.sends_body:
        return b""
    return _structured(attempt) if target.format == STRUCTURED else attempt.body


def delivery_headers(attempt: Attempt, body: bytes) -> dict[str, str]:
    """The headers that Sweephand sets itself. `body` is the request's body, which the signatures cover."""
    event = attempt.event
    signed = Signed(attempt, signatures(attempt.secrets, attempt.id, attempt.sent_at, body))
    names = values_of(NAMES, attempt, event)
    found = values_of(SIGNED_HEADERS, signed, event)
    found |= {header_of(name): value for name, value in names.items()}
    # Most values are texts, and most others are numbers, whose JSON is their text.
    return {
        name: str(each) if isinstance(each, str | int) else _compact(each) for name, each in found.items()
    }


#: Made once, because `json.dumps` would make an encoder for each header.
_compact: Final = json.JSONEncoder(separators=(",", ":")).encode


def signatures(secrets: Sequence[str], trigger_id: str, sent_at: Instant, body: bytes) -> str:
    """One signature of the body for each secret, in their order, separated by spaces.

    The prefix of a secret says which scheme signs: `whsk_` stands for ed25519, any other for HMAC.
    """
    moment = to_datetime(sent_at)
    text = body.decode()
    return " ".join(_signer(secret).sign(trigger_id, moment, text) for secret in secrets)


class _Signer(Protocol):
    def sign(self, msg_id: str, timestamp: datetime, data: str) -> str: ...


@lru_cache(_SIGNERS_MAX)
def _signer(secret: str) -> _Signer:
    if not secret.startswith(ED25519_PREFIX):
        return Webhook(secret)
    from sweephand.access.ed25519 import Ed25519Webhook  # noqa: PLC0415 - takes 7 ms, and few have such a key

    return Ed25519Webhook(secret)


def _structured(attempt: Attempt) -> bytes:
    """The event as JSON. `data` has the very bytes that the caller wrote, so that numbers stay exact."""
    attributes = values_of((*EVENT_ATTRIBUTES, CONTENT_TYPE), attempt, attempt.event)
    return _compact(attributes)[:-1].encode() + b',"data":' + attempt.body + b"}"


def _event_headers(attempt: Attempt) -> dict[str, str]:
    """The headers of the event in binary mode. What a header value cannot hold is escaped (3.1.3.2)."""
    attributes = values_of(EVENT_ATTRIBUTES, attempt, attempt.event)
    return {f"ce-{name}": quote(value, safe=_UNQUOTED) for name, value in attributes.items()}
