"""The fields of a request that say when a job is due, and the body of a preview."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, WithJsonSchema

from sweephand.base import limits
from sweephand.jobs import field_bounds
from sweephand.web.schemas.formats import (
    INSTANT,
    DurationText,
    InstantText,
    TimePointText,
    ZoneText,
    bounded,
)
from sweephand.web.schemas.request_body import RequestBody

_SCHEDULE = (
    "The recurrence. Text: a cron expression of 5 or 6 fields (seconds first), a macro such as @daily, "
    "`@every 1h30m`, EventBridge's `rate(5 minutes)`, `cron(0 10 ? * 6L 2027)` or "
    "`at(2027-03-01T09:00:00)`, or an ISO 8601 repetition such as `R4/PT3S` or "
    "`R/2027-01-01T00:00:00Z/P1D`; `CRON_TZ=Europe/Riga ` before an expression sets the zone. An object: "
    f"cron's fields by name. A list: up to {limits.INSTANTS_MAX} instants. A one-off and a job on demand "
    "have no schedule."
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


#: The model accepts any value, since schedules/ knows the notations and validates a schedule.
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
_DST = (
    "What happens to a fixed local time on a day when the clock changes: an object. It has no effect on an "
    "expression whose minute or hour begins with a star, since such an expression follows real time."
)

_Repeats = Annotated[int, bounded("integer", field_bounds.REPEATS)]


class Dst(RequestBody):
    """The rule for a fixed local time on a day when the clock changes."""

    gap: Literal["shift", "skip"] | None = Field(
        None,
        description="What happens to a local time that does not exist that day: `shift` (default) fires once "
        "when the gap ends, `skip` does not fire. A local time in a gap of three hours or more never fires.",
    )
    overlap: Literal["first", "last", "both"] | None = Field(
        None,
        description="Which instant of a local time fires that exists twice that day: `first` (default), "
        "`last`, or `both`.",
    )


class Timing(RequestBody):
    """The fields that say when a job is due."""

    schedule: Schedule = Field(None, description=_SCHEDULE)
    timezone: ZoneText | None = Field(None, description=field_bounds.TIMEZONE.meaning)
    due_time: TimePointText | None = Field(None, description=field_bounds.DUE_TIME.meaning)
    ttl: TimePointText | None = Field(None, description=field_bounds.TTL.meaning)
    repeats: _Repeats | None = Field(None, description=field_bounds.REPEATS.meaning)
    dst: Dst | None = Field(None, description=_DST)
    jitter: DurationText | None = Field(None, description=field_bounds.JITTER.meaning)


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
        description="Only due times after this instant (RFC 3339 with an offset). By default those from now "
        "on. They include a due time at the very instant of the request. With an instant in the past, the "
        "schedule begins at that instant.",
    )
    limit: int | None = Field(
        None,
        ge=1,
        le=limits.OCCURRENCES_MAX,
        description=f"How many due times; 1 to {limits.OCCURRENCES_MAX}, {limits.PAGE_ITEMS_DEFAULT} by "
        "default.",
    )
