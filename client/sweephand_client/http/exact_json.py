"""Reads and writes JSON with exact numbers: 1.10 stays 1.10, and no digit of a long number is lost."""

from decimal import Decimal, InvalidOperation
from typing import Any, Final

import simplejson

#: The longest text that becomes an int. Python refuses an int of more than 4,300 digits.
_INT_LENGTH_MAX: Final = 300


class Written(simplejson.RawJSON):
    """A number with an exponent of more digits than a Decimal takes.

    Two of them are equal if their texts are.
    """

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Written) and self.encoded_json == other.encoded_json

    def __hash__(self) -> int:
        return hash(self.encoded_json)

    def __repr__(self) -> str:
        return f"Written({self.encoded_json})"


def read(text: str | bytes) -> Any:
    """The value of a JSON text. Raises ValueError for other text.

    Integers of up to 300 digits are int. Other numbers are Decimal, or Written if a Decimal cannot hold them.
    """
    try:
        return simplejson.loads(text, parse_int=integer, parse_float=fraction, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("The JSON is nested too deeply.") from None


def integer(text: str) -> int | Decimal:
    """The value of a JSON number without fraction and exponent."""
    return int(text) if len(text) <= _INT_LENGTH_MAX else Decimal(text)


def fraction(text: str) -> Decimal | Written:
    """The value of a JSON number with a fraction or an exponent."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return Written(text)


def write(value: Any, *, indent: int | None = None) -> str:
    """The JSON text of a value: on one line, or indented. Raises ValueError for NaN and infinity."""
    separators = (",", ":") if indent is None else (",", ": ")
    text: str = simplejson.dumps(
        value, use_decimal=True, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators
    )
    return text


def terminal_safe(text: str) -> str:
    """An equal JSON text with an escape sequence for each character that does not print, except line breaks.

    Such a character could control a terminal, or show a text in another order (U+202E) than it has.
    """
    return "".join(
        each if each.isprintable() or each == "\n" else simplejson.dumps(each)[1:-1] for each in text
    )


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
