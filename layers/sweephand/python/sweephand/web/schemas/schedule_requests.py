"""What callers may write about time: of a job, and of a schedule that is not stored."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, WithJsonSchema

from sweephand.base import limits
from sweephand.web.schemas.formats import INSTANT, DurationText, InstantText, TimePointText, ZoneText
from sweephand.web.schemas.request_body import RequestBody

_SCHEDULE = (
    "When it recurs. Text: a cron expression of 5 or 6 fields (seconds first), a macro such as @daily, "
    "`@every 1h30m`, EventBridge's `rate(5 minutes)`, `cron(0 10 ? * 6L 2027)` or "
    "`at(2027-03-01T09:00:00)`, or an ISO 8601 repetition such as `R4/PT3S` or "
    "`R/2027-01-01T00:00:00Z/P1D`; `CRON_TZ=Europe/Riga ` before it sets the zone. An object: cron's fields "
    f"by name. A list: up to {limits.INSTANTS_MAX} instants. Left out of a one-off and on demand."
)
_FIELDS = {
    "second": "0 to 59.",
    "minute": "0 to 59.",
    "hour": "0 to 23.",
    "dayOfMonth": "1 to 31; L, LW, 15W.",
    "month": "1 to 12, or JAN to DEC.",
    "dayOfWeek": "0 to 7, both of which are Sunday, or SUN to SAT; 5L, 5#2.",
    "year": "1970 to 2199.",
}


def _field(meaning: str) -> dict[str, Any]:
    text = {"type": ["string", "integer"], "minLength": 1, "maxLength": limits.SCHEDULE_LENGTH_MAX}
    return {"anyOf": [text, {"type": "null"}], "description": meaning}


#: schedules/ judges a schedule, since it knows each notation. The model accepts any value.
Schedule = Annotated[
    Any,
    WithJsonSchema(
        {
            "anyOf": [
                {
                    "oneOf": [
                        {
                            "type": "string",
                            "minLength": 1,
                            "maxLength": limits.SCHEDULE_LENGTH_MAX,
                            "pattern": "^[\\t -~]+$",
                        },
                        {
                            "type": "object",
                            "properties": {name: _field(meaning) for name, meaning in _FIELDS.items()},
                            "additionalProperties": False,
                            "minProperties": 1,
                        },
                        {
                            "type": "array",
                            "items": INSTANT,
                            "minItems": 1,
                            "maxItems": limits.INSTANTS_MAX,
                        },
                    ]
                },
                {"type": "null"},
            ]
        }
    ),
]
_TIMEZONE = "An IANA time zone such as Europe/Paris; UTC by default."
_DUE_TIME = (
    "When a one-off fires, or the earliest a recurring job may: RFC 3339 with its offset, or a duration from "
    "now (10s, PT2H)."
)
_TTL = "No fire after it: RFC 3339 with its offset, or a duration from dueTime, else from now."
_REPEATS = f"How many occurrences in all; a whole number from 1 to {limits.REPEATS_MAX}."
_DST = (
    "What becomes of a fixed local time on the days on which the clock changes: an object. An expression "
    "whose minute or hour begins with a star follows real time whatever this says."
)
_JITTER = (
    "The whole series comes later by one offset within this window, always the same for one job, made from "
    "its namespace and name, so that many jobs of one schedule do not fire at once. A duration of more than "
    f"0, at most {limits.JITTER_S_MAX} s."
)


class Dst(RequestBody):
    """What becomes of a fixed local time on the days on which the clock changes."""

    gap: Literal["shift", "skip"] | None = Field(
        None,
        description="A local time that does not exist that day: `shift` (default) fires once at the instant "
        "the gap ends, `skip` does not fire. Gaps of three hours and more are never made up.",
    )
    overlap: Literal["first", "last", "both"] | None = Field(
        None,
        description="A local time that exists twice that day: `first` (default), `last`, or `both`.",
    )


class Timing(RequestBody):
    """When something is due."""

    schedule: Schedule = Field(None, description=_SCHEDULE)
    timezone: ZoneText | None = Field(None, max_length=64, description=_TIMEZONE)
    due_time: TimePointText | None = Field(None, max_length=64, description=_DUE_TIME)
    ttl: TimePointText | None = Field(None, max_length=64, description=_TTL)
    repeats: int | None = Field(None, ge=1, le=limits.REPEATS_MAX, description=_REPEATS)
    dst: Dst | None = Field(None, description=_DST)
    jitter: DurationText | None = Field(None, max_length=64, description=_JITTER)


#: A preview needs a due time. Unlike a stored job, it cannot fire on demand.
_IS_TIMED: dict[str, Any] = {
    "anyOf": [
        {"required": ["schedule"], "properties": {"schedule": {"type": ["string", "object", "array"]}}},
        {"required": ["dueTime"], "properties": {"dueTime": {"type": "string"}}},
    ]
}


class PreviewRequest(Timing):
    """A schedule that is not stored: `schedule`, `dueTime` or both are required."""

    model_config = ConfigDict(json_schema_extra=_IS_TIMED)

    after: InstantText | None = Field(
        None,
        description="Due times after this instant (RFC 3339 with its offset). By default those from now on, "
        "the one that is due at this instant among them. An instant in the past: the schedule is read as if "
        "it had been written then.",
    )
    limit: int | None = Field(
        None,
        ge=1,
        le=limits.OCCURRENCES_MAX,
        description=f"How many; 1 to {limits.OCCURRENCES_MAX}, {limits.PAGE_ITEMS_DEFAULT} by default.",
    )
