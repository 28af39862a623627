"""Reads the body of a request as a JSON object. It checks the content type, then the size, then the JSON."""

import binascii
from base64 import b64decode
from collections.abc import Collection, Mapping
from email.message import Message
from typing import Any, Final

from sweephand.base import limits
from sweephand.base.errors import InvalidError, MalformedError, TooLargeError, UnsupportedError, Violation
from sweephand.web.http import json_text

_EMPTY_MESSAGE: Final = "The body is empty. Give a JSON object."


def read_body(
    event: Mapping[str, Any],
    content_type: str | None,
    *,
    limit: str,
    types: Collection[str] | None = None,
    may_be_empty: bool = False,
) -> Mapping[str, Any]:
    """The JSON object in an event's body. If the body is empty and `may_be_empty`, an object without fields.

    `types` are the content types that the call accepts. With None it accepts application/json and each type
    that ends in `+json`. An empty body needs no content type. `limit` is the name of the limit of the body's
    bytes (base/limits.py).

    The checks come in this order. Raises UnsupportedError for another content type, and TooLargeError for a
    body over the limit. Raises MalformedError for text that is not JSON, and InvalidError for JSON that is
    not an object.
    """
    if not event.get("body") and may_be_empty:
        return {}
    if not event.get("body") and content_type is None:
        raise MalformedError(_EMPTY_MESSAGE)
    _check_type(content_type, types)
    text = _decode(event, limit)
    if not text.strip():
        raise MalformedError(_EMPTY_MESSAGE)
    value = json_text.read(text)
    if not isinstance(value, Mapping):
        raise InvalidError([Violation("", "Give a JSON object.")])
    return value


def body_violations(event: Mapping[str, Any]) -> list[Violation]:
    """The violations of a body that a call receives although it takes none.

    An empty object is no violation, since many clients send one with every POST. It needs no content type.
    Raises TooLargeError for a body over the limit, and MalformedError for a body that is not UTF-8.
    """
    text = _decode(event, "callbackBodyBytesMax").strip()
    if text.startswith("{") and text.endswith("}"):
        text = text[1:-1].strip()
    return [Violation("", "This call takes no body; leave it out.")] if text else []


def _check_type(written: str | None, types: Collection[str] | None) -> None:
    if written is None:
        raise UnsupportedError("The body has no content type. Send content-type: application/json.")
    header = Message()
    header["content-type"] = written.replace("\r", " ").replace("\n", " ")
    kind = header.get_content_type()
    is_json = kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json"))
    if not (is_json if types is None else kind in types):
        expected = "application/json" if types is None else " or ".join(types)
        raise UnsupportedError(f"Send {expected}, not {kind}.")
    charset = header.get_content_charset("utf-8")
    if charset not in ("utf-8", "utf8", "us-ascii"):
        raise UnsupportedError("Send UTF-8. RFC 8259 requires it of JSON on a network.")


def _decode(event: Mapping[str, Any], limit: str) -> str:
    body = event.get("body") or ""
    if event.get("isBase64Encoded"):
        try:
            encoded = b64decode(body, validate=True)
        except (binascii.Error, ValueError):
            raise MalformedError("The body is not valid Base64.") from None
        _check_size(len(encoded), limit)
        try:
            return encoded.decode()
        except UnicodeDecodeError as error:
            raise MalformedError(f"The body is not UTF-8: byte {error.start} is not valid.") from None
    try:
        _check_size(len(body.encode()), limit)
    except UnicodeEncodeError:
        raise MalformedError("The body is not UTF-8.") from None
    return str(body)


def _check_size(size: int, limit: str) -> None:
    bytes_max = limits.table()[limit]
    if size > bytes_max:
        raise TooLargeError(f"The body has {size} bytes. Give at most {bytes_max} ({limit}).")
