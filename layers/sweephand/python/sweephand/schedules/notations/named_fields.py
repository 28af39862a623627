"""Cron by the names of its fields: `{"hour": "3,6,9", "dayOfWeek": "MON-FRI"}`.

References: semantics.md for the names. Each field is written as in cron with six fields. A time field that is
left out below a given one is 0, and every other field that is left out is `*`, as in APScheduler's cron
trigger.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from sweephand.base.errors import pointer
from sweephand.base.limits import PROBLEM_ERRORS_MAX, SCHEDULE_LENGTH_MAX
from sweephand.base.spelling import suggestion
from sweephand.schedules.errors import ScheduleError, SchedulePartsError, quoted
from sweephand.schedules.notations import cron_fields
from sweephand.schedules.notations.cron import Cron, CronFields, cron_of
from sweephand.schedules.notations.cron_fields import FieldRule, parse_field
from sweephand.schedules.timeline import Beginning, Timeline

_RULES: Final[Mapping[str, FieldRule]] = {
    "second": cron_fields.SECOND,
    "minute": cron_fields.MINUTE,
    "hour": cron_fields.HOUR,
    "dayOfMonth": cron_fields.DAY_OF_MONTH,
    "month": cron_fields.MONTH,
    "dayOfWeek": cron_fields.DAY_OF_WEEK,
    "year": cron_fields.YEAR,
}
_DAY_FIELDS: Final = ("dayOfMonth", "month", "dayOfWeek", "year")
_TIME_FIELDS: Final = ("second", "minute", "hour")
_NAMES: Final = ", ".join(_RULES)


@dataclass(frozen=True)
class NamedFields:
    """The given fields in the order of cron, each with its text."""

    given: tuple[tuple[str, str], ...]

    def timeline(self, beginning: Beginning) -> Timeline:
        """The matches of the expression that the fields make."""
        return self.cron.timeline(beginning)

    @cached_property
    def cron(self) -> Cron:
        """The expression that the fields make. Raises ScheduleError."""
        texts = self.texts
        days = ", ".join(f"{name} {quoted(texts[name])}" for name in _DAY_FIELDS)
        return cron_of(CronFields(*(parse_field(texts[name], rule) for name, rule in _RULES.items())), days)

    @property
    def texts(self) -> dict[str, str]:
        """All seven fields; those that were left out have their default."""
        given = dict(self.given)
        names = list(_RULES)
        highest = max(names.index(name) for name in given)

        def left_out(name: str) -> str:
            return "0" if name in _TIME_FIELDS and names.index(name) < highest else "*"

        return {name: given.get(name) or left_out(name) for name in names}

    def __str__(self) -> str:
        """The object as a caller writes it, for messages."""
        return json.dumps(self.to_item())

    def to_item(self) -> dict[str, str]:
        """The given fields."""
        return dict(self.given)

    @classmethod
    def from_item(cls, item: Mapping[str, Any]) -> "NamedFields":
        """The fields that to_item() wrote."""
        return cls(tuple(item.items()))


def parse_fields(written: Mapping[str, object]) -> NamedFields:
    """The fields of an object.

    Raises SchedulePartsError, which names the fields that cannot be read: one more than a problem names.
    """
    lengths = [len(each) for each in map(written.get, _RULES) if isinstance(each, str)]
    # A field that is too long by itself is refused at its own name, and is not read either.
    if sum(each for each in lengths if each <= SCHEDULE_LENGTH_MAX) > SCHEDULE_LENGTH_MAX:
        raise ScheduleError(
            f"fields that are too long together; expected at most {SCHEDULE_LENGTH_MAX} characters"
        )
    texts: dict[str, str] = {}
    faults: list[ScheduleError] = []
    for name, value in written.items():
        try:
            if value is not None:
                texts[name] = _read(name, value)
        except ScheduleError as fault:
            faults.append(ScheduleError(str(fault), pointer(name)))
            if len(faults) > PROBLEM_ERRORS_MAX:
                break
    if faults:
        raise SchedulePartsError(faults)
    if not texts:
        raise ScheduleError(f"an object without fields; expected at least one of {_NAMES}")
    fields = NamedFields(tuple((name, texts[name]) for name in _RULES if name in texts))
    # The expression is read here once, so that days which never come are refused.
    assert fields.cron is not None, "an expression that cannot be read raises"
    return fields


def _read(name: str, value: object) -> str:
    rule = _RULES.get(name)
    if rule is None:
        raise ScheduleError(
            f"{quoted(name)} is no field of a schedule; expected {_NAMES}.{suggestion(name, _RULES)}"
        )
    text = str(value) if type(value) is int else value
    if not isinstance(text, str) or not 0 < len(text) <= SCHEDULE_LENGTH_MAX:
        raise ScheduleError(f"{quoted(str(value))} as the {rule.title} field: expected text such as '3,6,9'")
    parse_field(text, rule)
    return text
