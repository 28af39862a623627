"""What a field of a body is, as one value: its name, its shape, its rules, and what it means.

A job has such fields, and so have a flow policy and the limits of a namespace.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from sweephand.base import limits
from sweephand.base.errors import BadRequestError, Violation
from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.model.definition import Payload
from sweephand.schedules import parse_duration_ms
from sweephand.schedules.text_patterns import DURATION_SCHEMA
from sweephand.targets.queues import Reach
from sweephand.targets.target_type import TargetType

#: The sentence about durations that ends the meaning of a field.
DURATION_RULE: Final = "A Go duration (90s, 1h30m), days (7d) or an ISO 8601 duration (PT90S, P7D)."

_UNITS: Final = (("d", DAY_MS), ("h", HOUR_MS), ("m", MINUTE_MS), ("s", SECOND_MS))


class Text(NamedTuple):
    """A text. A rule judges its syntax, and the check of shapes only its length, if `length_max` is set."""

    schema: Mapping[str, Any]
    length_max: int | None = None


class Number(NamedTuple):
    """A number from `least` to `most`, which may have to be whole."""

    least: int
    most: int
    is_whole: bool = True

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema."""
        kind = "integer" if self.is_whole else "number"
        return {"type": kind, "minimum": self.least, "maximum": self.most}


class Flag(NamedTuple):
    """True or false."""

    schema: Mapping[str, Any] = MappingProxyType({"type": "boolean"})


class OneOf(NamedTuple):
    """One of some texts."""

    values: tuple[str, ...]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema."""
        return {"type": "string", "enum": list(self.values)}


class Duration(NamedTuple):
    """A duration. `most` names the limit of its days, and `least` that of its seconds (base/limits.py)."""

    most: str
    least: str | None = None
    may_be_zero: bool = False
    schema: Mapping[str, Any] = DURATION_SCHEMA

    def violations(self, at: str, value: object) -> list[Violation]:
        """The violation of a text that is no such duration, at the JSON pointer `at`; else empty."""
        if not isinstance(value, str):
            return []
        try:
            duration_ms = parse_duration_ms(value)
        except (BadRequestError, ValueError) as error:
            return [Violation(at, str(error))]
        table = limits.table()
        if duration_ms > table[self.most] * DAY_MS:
            return [Violation(at, f"Give at most {table[self.most]}d ({self.most}).")]
        if duration_ms == 0 and not self.may_be_zero:
            return [Violation(at, "Give a duration of more than 0.")]
        if self.least is not None and duration_ms < table[self.least] * SECOND_MS:
            return [Violation(at, f"Give at least {table[self.least]}s ({self.least}).")]
        return []


class Texts(NamedTuple):
    """An object of up to `count_max` texts, whose names and texts have up to `length_max` characters."""

    count_max: int
    length_max: int
    schema: Mapping[str, Any]


class Json(NamedTuple):
    """Any JSON value. `schema` describes those that are accepted where the value is read."""

    schema: Mapping[str, Any] = MappingProxyType({})


class TargetOf(NamedTuple):
    """A target of one of some types, whose own rules judge the shapes of its fields too.

    A target that `has_body` is sent a body, whether the job has data or not.
    """

    types: Callable[[], Mapping[str, TargetType]]
    has_body: bool


@dataclass(frozen=True, slots=True)
class Object:
    """An object with these fields. `name` is that of its schema in the OpenAPI document."""

    name: str
    fields: tuple["Field", ...]


Shape: TypeAlias = Text | Number | Flag | OneOf | Duration | Texts | Json | TargetOf | Object


class Judged(NamedTuple):
    """The job whose fields are judged: all fields of `written`, of which those in `sound` have their shape.

    `asked` are the fields that the request writes, and `payload` is the job's `data`.
    """

    written: Mapping[str, Any]
    sound: Mapping[str, Any]
    asked: Collection[str]
    payload: Payload | None
    reach: Reach


#: Judges the value of a field whose shape is right. The text is the JSON pointer of the field.
Rule: TypeAlias = Callable[[str, Any, Judged], Iterable[Violation]]


@dataclass(frozen=True, slots=True)
class Field:
    """One field. `meaning` says what it means, what its bounds are, and its default.

    The OpenAPI document describes the field by `meaning`, and the violations of its shape end in it. `rules`
    judge its value, also beside other fields. They run in their order.
    """

    name: str
    shape: Shape
    meaning: str
    rules: tuple[Rule, ...] = ()
    is_required: bool = False


def top_field(violation: Violation) -> str:
    """The field of the document in which a violation lies."""
    return violation.pointer[1:].partition("/")[0]


def duration(name: str, shape: Duration, meaning: str, default_ms: int, *rules: Rule) -> Field:
    """A field for a duration with a default. Its meaning states the default and the bounds."""
    table = limits.table()
    least = f"at least {table[shape.least]}s, " if shape.least else ""
    bounds = f"{_text(default_ms)} by default, {least}at most {table[shape.most]}d"
    return Field(name, shape, f"{meaning}; {bounds}. {DURATION_RULE}", rules)


def _text(duration_ms: int) -> str:
    """A duration of whole seconds in the largest unit that divides it. The exception is one day: `24h`."""
    assert duration_ms % SECOND_MS == 0, "a default is a number of whole seconds"
    return next(
        f"{duration_ms // unit_ms}{unit}"
        for unit, unit_ms in _UNITS
        if duration_ms % unit_ms == 0 and (unit, duration_ms) != ("d", DAY_MS)
    )
