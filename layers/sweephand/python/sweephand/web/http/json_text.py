"""Reads and writes JSON without a change to its numbers, names and texts, so that `data` leaves as it came.

A number stays the text that the caller wrote until other code asks for its value. So 1.10, 1e400 and long
integers are kept. Reading a number cannot overflow, and takes little time at any length. An integer of few
digits is read as an int, which is written as the same text.

The body of a request is a JSON object. The content type is checked first, then the size, then the JSON.
"""

import binascii
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Collection, Mapping
from email.message import Message
from typing import Any, Final

import simplejson

from sweephand.base import limits
from sweephand.base.errors import InvalidError, MalformedError, TooLargeError, UnsupportedError, Violation
from sweephand.base.limits import FIELD_VALUES_MAX, JSON_DEPTH_MAX

# The longest integer that becomes an int. No field of Sweephand takes a longer one.
_DIGITS_MAX: Final = 30

# The longest integer that is read as an int at once. A body has room for half a million small numbers, and an
# int takes a third of the time that a Number takes.
_SHORT_DIGITS_MAX: Final = 15

# How many characters of a name a message quotes.
_QUOTED_MAX: Final = 64

# Made once, because `simplejson.dumps` makes an encoder for each call that does not use the defaults.
_ENCODER: Final = simplejson.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)


class Number(simplejson.RawJSON):
    """A number as the caller wrote it."""

    @property
    def text(self) -> str:
        """The number's text."""
        text: str = self.encoded_json
        return text

    def __repr__(self) -> str:
        return self.text

    def value(self) -> int | float:
        """The value: an int for a whole number, else the nearest float.

        5.0 and 5e0 are whole numbers too, as in JSON Schema. Of an integer with more than 30 characters it is
        the nearest float, which may be infinite. Such an integer is outside the range of every field.
        """
        if len(self.text) <= _DIGITS_MAX and self.text.lstrip("-").isdecimal():
            return int(self.text)
        number = float(self.text)
        return int(number) if number.is_integer() and abs(number) < 10**15 else number


def read(text: str) -> Any:
    """The value of a JSON text. A number is an int if `write` gives the same text for it, else a Number.

    Raises MalformedError for text that is not JSON (RFC 8259), and for nesting beyond the limit. Raises it
    also for JSON that parsers read differently: a name twice in one object, or half of a surrogate pair.
    """
    try:
        value = simplejson.loads(
            text,
            parse_int=_integer,
            parse_float=Number,
            parse_constant=_refuse_constant,
            object_pairs_hook=_object_without_duplicates,
            allow_nan=True,  # otherwise simplejson does not call parse_constant
        )
    except simplejson.JSONDecodeError as error:
        # Some messages of simplejson have a placeholder for the wrong character.
        message = error.msg.replace("%r", "").removesuffix(" at").rstrip()
        at = f"line {error.lineno}, column {error.colno}"
        raise MalformedError(f"The body is not JSON: {' '.join(message.split())} at {at}.") from None
    except RecursionError:
        raise MalformedError(_TOO_DEEP) from None
    if text.count("[") + text.count("{") > JSON_DEPTH_MAX:
        _check_depth(value)
    if _SURROGATE_ESCAPE.search(text):
        _check_unicode(value)
    return value


def write(value: Any) -> str:
    """The compact JSON text of a value. A Number and the result of `raw` keep their text."""
    text: str = _ENCODER.encode(value)
    return text


def raw(text: str) -> Any:
    """A value that stands for a JSON text. `write` inserts the text unchanged."""
    return simplejson.RawJSON(text)


def with_plain_numbers(value: Any, limit: str = "fieldValuesMax") -> Any:
    """The value with an int or float in place of each Number.

    The value is a body without `data`, or one of its fields. Raises InvalidError if it has more values in it
    than any body takes. A body has room for hundreds of thousands of them. `limit` is the name of the limit.
    """
    _check_count(value, limit)
    return _plain(value)


_TOO_DEEP: Final = f"The body is nested too deeply. Give at most {JSON_DEPTH_MAX} levels."

_TOO_MANY: Final = "There are more than {0} values besides `data`. Give at most {0} ({1})."

_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def _plain(value: Any) -> Any:
    if isinstance(value, Number):
        return value.value()
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value


def _check_count(value: Any, limit: str) -> None:
    left, count = [value], 0
    while left:
        each = left.pop()
        if not isinstance(each, dict | list):
            continue
        count += len(each)
        # No limit of values is lower, so a usual body needs no look at the table.
        if count > FIELD_VALUES_MAX and count > (most := limits.table()[limit]):
            raise InvalidError([Violation("", _TOO_MANY.format(most, limit))])
        left += each.values() if isinstance(each, dict) else each


#: The only short integer that is another text as an int.
_MINUS_ZERO: Final = Number("-0")


def _integer(text: str) -> int | Number:
    if text == "-0":
        return _MINUS_ZERO
    return int(text) if len(text) <= _SHORT_DIGITS_MAX else Number(text)


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        # Count in one pass, since a body has room for over a hundred thousand names.
        times = Counter(name for name, _ in pairs)
        twice = next(name for name, count in times.items() if count > 1)
        raise MalformedError(f"The name {_quoted(twice)} stands twice in one object. Give it once.")
    return found


def _refuse_constant(name: str) -> Any:
    raise MalformedError(f"{name} is not JSON. Give a number in digits, or null.")


def _check_depth(value: Any) -> None:
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(JSON_DEPTH_MAX):
        if not level:
            return
        level = [
            inner
            for each in level
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, dict | list)
        ]
    if level:
        raise MalformedError(_TOO_DEEP)


def _check_unicode(value: Any) -> None:
    try:
        write(value).encode()
    except UnicodeEncodeError:
        raise MalformedError(
            "A text in the body has half of a surrogate pair. Give \\ud800 to \\udfff in pairs."
        ) from None


def _quoted(name: str) -> str:
    return ascii(name) if len(name) <= _QUOTED_MAX else ascii(name[:_QUOTED_MAX] + "...")


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
    if not event.get("body"):
        if may_be_empty:
            return {}
        # The gateway adds a content type to an empty body.
        raise MalformedError(_EMPTY_MESSAGE)
    _check_type(content_type, types)
    text = _decode(event, limit)
    if not text.strip():
        raise MalformedError(_EMPTY_MESSAGE)
    value = read(text)
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
