"""How JSON is read and written, so that `data` leaves as it came: no number, name or letter is changed.

A number is kept as it was written until somebody asks for its value: 1.10, 1e400 and integers of any
length survive, and reading one can neither overflow nor take long.
"""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import simplejson

from sweephand.base.errors import MalformedError
from sweephand.base.limits import JSON_DEPTH_MAX

# What may come before the point that is still worth a value: no field of Sweephand takes more.
_DIGITS_MAX: Final = 30

# How much of a name a message repeats.
_QUOTED_MAX: Final = 64


class Number(simplejson.RawJSON):
    """A number as it was written."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def value(self) -> int | float:
        """Its value: whole numbers as int (5.0 and 5e0 too, as JSON Schema has it), else the nearest float.

        A number beyond 30 digits is answered as the nearest float, infinity included: it lies outside
        the range of every field.
        """
        if len(self.text) <= _DIGITS_MAX and self.text.lstrip("-").isdecimal():
            return int(self.text)
        number = float(self.text)
        return int(number) if number.is_integer() and abs(number) < 10**15 else number


def read(text: str) -> Any:
    """The value of a JSON text, numbers as Number.

    MalformedError for what is not JSON (RFC 8259), for what would mean different things to different
    readers (a name twice in one object, half a surrogate pair), and for nesting beyond the limit.
    """
    try:
        value = simplejson.loads(
            text,
            parse_int=Number,
            parse_float=Number,
            parse_constant=_refuse_constant,
            object_pairs_hook=_object_without_duplicates,
            allow_nan=True,  # so that parse_constant is asked
        )
    except simplejson.JSONDecodeError as error:
        said = error.msg.replace("%r", "").removesuffix(" at").rstrip()
        # Some of simplejson's messages expect the character at fault to be put in.
        at = f"line {error.lineno}, column {error.colno}"
        raise MalformedError(f"The body is not JSON: {' '.join(said.split())} at {at}.") from None
    except RecursionError:
        raise MalformedError(_TOO_DEEP) from None
    if text.count("[") + text.count("{") > JSON_DEPTH_MAX:
        _check_depth(value)
    if _SURROGATE_ESCAPE.search(text):
        _check_unicode(value)
    return value


def write(value: Any) -> str:
    """The compact JSON text of a value that was read or built; Numbers and Raw texts stand as they are."""
    text: str = simplejson.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text


def raw(text: str) -> Any:
    """A JSON text that `write` puts in as it is."""
    return simplejson.RawJSON(text)


def with_plain_numbers(value: Any) -> Any:
    """The same with every Number replaced by its value."""
    if isinstance(value, Number):
        return value.value()
    if isinstance(value, Mapping):
        return {name: with_plain_numbers(each) for name, each in value.items()}
    if isinstance(value, list):
        return [with_plain_numbers(each) for each in value]
    return value


_TOO_DEEP: Final = f"The body is nested too deeply: at most {JSON_DEPTH_MAX} levels."

_SURROGATE_ESCAPE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def _object_without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        # One pass: a body has room for over a hundred thousand names.
        times = Counter(name for name, _ in pairs)
        twice = next(name for name, count in times.items() if count > 1)
        raise MalformedError(f"The name {_quoted(twice)} stands twice in one object; give it once.")
    return found


def _refuse_constant(name: str) -> Any:
    raise MalformedError(f"{name} is not JSON; a number has digits, and null stands for none.")


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
            "The body has half a surrogate pair in a text; \\ud800 to \\udfff come in pairs."
        ) from None


def _quoted(name: str) -> str:
    return ascii(name) if len(name) <= _QUOTED_MAX else ascii(name[:_QUOTED_MAX] + "...")
