"""Reads the five time fields of a crontab line as cron does.

References: crontab(5) and entry.c of Debian's cron 3.0pl1, and of cronie. Both refuse a step after a single
number (`1/20`), which the API takes. Debian's cron reads a range that runs backwards as no value at all, and
passes over what follows a number that it understands (`5#2`). Such a field is refused here.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

#: The programs that read crontabs. Their grammars differ in a few places, which docs/crontab.md lists.
Dialect = Literal["debian", "cronie"]

_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_DAYS: Final = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_TERM: Final = re.compile(r"(?:\*|([0-9a-z]+)(?:-([0-9a-z]+))?)(?:/([0-9]+))?", re.ASCII | re.IGNORECASE)


class CronLineError(ValueError):
    """Says what cron or the API cannot read in a line, and what would be right."""


@dataclass(frozen=True, slots=True)
class _Field:
    title: str
    low: int
    high: int
    names: tuple[str, ...] = ()

    @property
    def expected(self) -> str:
        """The values of the field, as a message says them."""
        named = f" or {self.names[0]} to {self.names[-1]}" if self.names else ""
        return f"{self.low} to {self.high}{named}"


_FIELDS: Final = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day-of-month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("day-of-week", 0, 7, _WEEKDAYS),
)


def read_schedule(fields: Sequence[str], dialect: Dialect) -> str:
    """The five fields as a `schedule` of the API, which reads them as this cron does.

    Raises CronLineError for a field that this cron or the API refuses, and for days that never come.
    """
    if dialect == "cronie":
        fields = [*fields[:4], _until_sunday(fields[4])]
    _, _, days, months, _ = (_values(text, rule) for text, rule in zip(fields, _FIELDS, strict=True))
    # Cron asks for both day fields if one of them begins with a star, and else for either of them.
    if fields[4].startswith("*") and min(days) > max(_DAYS[month - 1] for month in months):
        raise CronLineError(
            f"{' '.join(fields[2:4])} (day-of-month, month) never comes, so the line never runs"
        )
    return " ".join(fields)


def _until_sunday(text: str) -> str:
    """The days of the week, with 7 at the end of a range to Sunday: cronie reads `fri-sun` as `fri-7`."""
    return re.sub(r"\b(?!(?:sun|0+)-)(\w+)-(?:sun|0+)(?=,|$)", r"\1-7", text, flags=re.IGNORECASE)


def _values(text: str, rule: _Field) -> set[int]:
    """What a field names."""
    values: set[int] = set()
    for term in text.split(","):
        found = _TERM.fullmatch(term)
        if "~" in term:
            raise CronLineError(
                f"the random {term!r} in the {rule.title} field is no schedule: "
                "write a time, and spread jobs by jitter"
            )
        if not found:
            raise CronLineError(
                f"{term!r} is no {rule.title}: expected {rule.expected}, a range, a list or *"
            )
        first, last, step = found.groups()
        if step is not None and not int(step[-9:]):
            raise CronLineError(f"the step of {term!r} in the {rule.title} field: expected 1 or more")
        if step is not None and first is not None and last is None:
            raise CronLineError(
                f"{term!r} in the {rule.title} field: cron takes a step after * or a range only"
            )
        low = rule.low if first is None else _number(first, term, rule)
        high = rule.high if first is None else _number(last or first, term, rule)
        if low > high:
            raise CronLineError(f"{term!r} in the {rule.title} field runs backwards: expected two ranges")
        values.update(range(low, high + 1, int(step or 1)))
    return values


def _number(text: str, term: str, rule: _Field) -> int:
    if text.lower() in rule.names:
        return rule.names.index(text.lower()) + rule.low
    # The API reads nine digits at most.
    number = int(text) if text.isdecimal() and len(text) < 10 else -1  # noqa: PLR2004
    if not rule.low <= number <= rule.high:
        within = "" if text == term else f" in {term!r}"
        raise CronLineError(f"{text!r}{within} is no {rule.title}: expected {rule.expected}")
    return number
