"""Reads and writes JSON without a change to its numbers, names and texts, so that `data` leaves as it came.

A number stays the text that the caller wrote until other code asks for its value. So 1.10, 1e400 and long
integers are kept. Reading a number cannot overflow, and takes little time at any length.
"""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import simplejson

from sweephand.base.errors import MalformedError
from sweephand.base.limits import JSON_DEPTH_MAX

# The longest integer that becomes an int. No field of Sweephand takes a longer one.
_DIGITS_MAX: Final = 30

# How many characters of a name a message quotes.
_QUOTED_MAX: Final = 64

# Made once, because `simplejson.dumps` makes an encoder for each call that does not use the defaults.
_ENCODER: Final = simplejson.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)


class Number(simplejson.RawJSON):
    """A number as the caller wrote it."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

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
    """The value of a JSON text, with its numbers as Number.

    Raises MalformedError for text that is not JSON (RFC 8259), and for nesting beyond the limit. Raises it
    also for JSON that parsers read differently: a name twice in one object, or half of a surrogate pair.
    """
    try:
        value = simplejson.loads(
            text,
            parse_int=Number,
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


def with_plain_numbers(value: Any) -> Any:
    """The value with an int or float in place of each Number."""
    if isinstance(value, Number):
        return value.value()
    if isinstance(value, Mapping):
        return {name: with_plain_numbers(each) for name, each in value.items()}
    if isinstance(value, list):
        return [with_plain_numbers(each) for each in value]
    return value


_TOO_DEEP: Final = f"The body is nested too deeply. Give at most {JSON_DEPTH_MAX} levels."

_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")


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
