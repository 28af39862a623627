"""Reads and writes JSON with exact numbers: 1.10 stays 1.10, and no digit of a long number is lost."""

from typing import Any

import simplejson


def read(text: str | bytes) -> Any:
    """The value of a JSON text. Numbers that are not whole are Decimal. Raises ValueError for other text."""
    return simplejson.loads(text, use_decimal=True, parse_constant=_refuse)


def write(value: Any, *, indent: int | None = None) -> str:
    """The JSON text of a value: on one line, or indented. Raises ValueError for NaN and infinity."""
    separators = (",", ":") if indent is None else (",", ": ")
    text: str = simplejson.dumps(
        value, use_decimal=True, ensure_ascii=False, allow_nan=False, indent=indent, separators=separators
    )
    return text


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
