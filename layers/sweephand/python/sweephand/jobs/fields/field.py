"""What a field of a body is, as one value: its name, its shape, its rules, and what it means.

A job has such fields, and so have a flow policy and the limits of a namespace.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeAlias

from sweephand.base import limits
from sweephand.base.errors import BadRequestError, Violation, pointer
from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.base.names import name_violations
from sweephand.jobs.eventbridge.written import read_written
from sweephand.model.definition import Payload
from sweephand.schedules import parse_duration_ms
from sweephand.schedules.request import IDLE_ON_DEMAND
from sweephand.schedules.time_points import DURATION_SCHEMA
from sweephand.targets.reach import Reach, read_queue_url
from sweephand.targets.registry import data_violations
from sweephand.targets.target_type import TargetType, labels_bytes
from sweephand.targets.url import UrlError

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


#: The data of a job without data.
_NULL: Final = Payload.of("null")


def takes_data(_: str, target: Mapping[str, Any], job: Judged) -> list[Violation]:
    """A target takes the data."""
    labels = job.sound.get("labels", {})
    return data_violations(target, job.payload or _NULL, labels)


def is_queue(at: str, url: str, job: Judged) -> list[Violation]:
    """A text is the URL of an SQS queue that the jobs of the stack may reach."""
    allow_insecure = job.reach.allow_insecure
    try:
        read_queue_url(url, allow_insecure=allow_insecure)
    except UrlError as error:
        return [Violation(at, str(error))]
    return job.reach.queues.violations(at, url, allow_insecure=allow_insecure)


def is_written_as_schedule(at: str, text: str, _: Judged) -> list[Violation]:
    """A text is one that EventBridge Scheduler's API has made."""
    detail = "Leave it out. Only /v1/scheduler and the import of schedules write it."
    return [] if read_written(text) is not None else [Violation(at, detail)]


def is_name(at: str, name: str, _: Judged) -> list[Violation]:
    """A text is a name."""
    return name_violations(at, name)


def has_no_colons(at: str, labels: Mapping[str, str], _: Judged) -> list[Violation]:
    """A list can be filtered by each label."""
    detail = "Give a name without a colon: a list is filtered by label=name:value."
    return [Violation(at + pointer(name), detail) for name in labels if ":" in name]


def fit_in_delivery(at: str, labels: Mapping[str, str], _: Judged) -> list[Violation]:
    """Each delivery carries the labels."""
    size, most = labels_bytes(labels), limits.LABELS_BYTES_MAX
    return (
        []
        if size <= most
        else [Violation(at, f"{size} bytes of JSON in ASCII; give at most {most} (labelsBytesMax).")]
    )


def only_with(other: str, needed: str) -> Rule:
    """A field that has no effect unless `other` has this value.

    A field that was stored before may be without effect, so that a stored job can always be patched.
    """

    def rule(at: str, _: object, job: Judged) -> list[Violation]:
        if at[1:] not in job.asked or job.sound.get(other) == needed:
            return []
        return [Violation(at, f"Give it with {other}: {needed} only: without that it has no effect.")]

    return rule


def needs_times(at: str, value: object, job: Judged) -> list[Violation]:
    """A field that says something about occurrences needs a job that has some.

    schedules/request.py refuses `repeats`, `dst` and `jitter` of a job that has none, with its times.
    """
    has_times = "schedule" in job.written or "dueTime" in job.written
    return [] if has_times or value is False else [Violation(at, IDLE_ON_DEMAND)]


def not_with_batch(why: str, allowed: object = None) -> Rule:
    """A field that a job with a batch cannot have yet, except with the value `allowed`."""

    def rule(at: str, value: object, job: Judged) -> list[Violation]:
        return [Violation(at, why)] if "batch" in job.sound and value != allowed else []

    return rule


def goes_with(other: str, what: str) -> Rule:
    """A field that needs `other`; `what` says what to give there."""

    def rule(at: str, _: object, job: Judged) -> list[Violation]:
        if other in job.written:
            return []
        return [Violation(pointer(other), f"Give it with {at[1:]}: {what}.")]

    return rule


def suits_a_watch(at: str, history: str, job: Judged) -> list[Violation]:
    """A watched job records its successes (decision 110)."""
    if "alertAfter" not in job.sound or history != "failures":
        return []
    detail = "Give outcome or full, or leave it out: a watch needs the records of successes."
    return [Violation(at, detail)]
