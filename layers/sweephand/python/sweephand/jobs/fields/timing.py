"""The fields that say when a job is due. schedules/ judges them, all together."""

from collections.abc import Mapping
from typing import Any, Final

from sweephand.base import limits
from sweephand.base.errors import InvalidError, Violation
from sweephand.base.instants import Instant
from sweephand.base.names import NAME_SCHEMA, text_schema
from sweephand.jobs.fields.field import Field, Json, Number, Object, OneOf, Text, is_name, top_field
from sweephand.schedules import Series
from sweephand.schedules.day_rule import DAY_KINDS, MOVED_DAYS_MAX, OTHERWISES
from sweephand.schedules.durations import DURATION_CHARS_MAX
from sweephand.schedules.request import series_of
from sweephand.schedules.time_points import DURATION_SCHEMA, TIME_POINT_SCHEMA

#: The longest RFC 3339 instant that the API reads has 32 decimals of a second and an offset.
INSTANT_SCHEMA: Final[dict[str, Any]] = {"type": "string", "format": "date-time", "maxLength": 58}

_ZONE_CHARS_MAX: Final = 64

_CRON_FIELDS: Final = {
    "second": "0 to 59.",
    "minute": "0 to 59.",
    "hour": "0 to 23.",
    "dayOfMonth": "1 to 31; L, LW, 15W.",
    "month": "1 to 12, or JAN to DEC.",
    "dayOfWeek": "0 to 7, both of which are Sunday, or SUN to SAT; 5L, 5#2.",
    "year": "1970 to 2199.",
}


def _cron_field(meaning: str) -> dict[str, Any]:
    text = {"type": ["string", "integer"], "minLength": 1, "maxLength": limits.SCHEDULE_LENGTH_MAX}
    return {"anyOf": [text, {"type": "null"}], "description": meaning}


_SCHEDULE_SCHEMA: Final[dict[str, Any]] = {
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
                    "properties": {name: _cron_field(meaning) for name, meaning in _CRON_FIELDS.items()},
                    "additionalProperties": False,
                    "minProperties": 1,
                },
                {
                    "type": "array",
                    "items": INSTANT_SCHEMA,
                    "minItems": 1,
                    "maxItems": limits.INSTANTS_MAX,
                },
            ]
        },
        {"type": "null"},
    ]
}

DST: Final = Object(
    "Dst",
    (
        Field(
            "gap",
            OneOf(("shift", "skip")),
            "What happens to a local time that does not exist that day: `shift` (default) fires once "
            "when the gap ends, `skip` does not fire. A local time in a gap of three hours or more never "
            "fires.",
        ),
        Field(
            "overlap",
            OneOf(("first", "last", "both")),
            "Which instant of a local time fires that exists twice that day: `first` (default), "
            "`last`, or `both`.",
        ),
    ),
)

ZONE: Final = Text(text_schema("^[A-Za-z0-9_+/-]+$", _ZONE_CHARS_MAX), _ZONE_CHARS_MAX)

CALENDAR: Final = Object(
    "JobCalendar",
    (
        Field(
            "name",
            Text(NAME_SCHEMA),
            "The name of a calendar of the namespace. It must exist when the job is written.",
            (is_name,),
            is_required=True,
        ),
        Field(
            "days",
            OneOf(DAY_KINDS),
            "On which days of the calendar the job fires: `open` (default) or `closed`.",
        ),
        Field(
            "otherwise",
            OneOf(OTHERWISES),
            "What happens to an occurrence on another day: `skip` (default) drops it. `next`, `previous` and "
            f"`nearest` move it to such a day, at the same local time, at most {MOVED_DAYS_MAX} days away. "
            "Of two days that are equally near, `nearest` takes the later one.",
        ),
    ),
)

TIMING: Final = (
    Field(
        "schedule",
        Json(_SCHEDULE_SCHEMA),
        "The recurrence. Text: a cron expression of 5 or 6 fields (seconds first), a macro such as @daily, "
        "`@every 1h30m`, EventBridge's `rate(5 minutes)`, `cron(0 10 ? * 6L 2027)` or "
        "`at(2027-03-01T09:00:00)`, or an ISO 8601 repetition such as `R4/PT3S` or "
        "`R/2027-01-01T00:00:00Z/P1D`; `CRON_TZ=Europe/Riga ` before an expression sets the zone. An object: "
        f"cron's fields by name. A list: up to {limits.INSTANTS_MAX} instants. A one-off and a job on demand "
        "have no schedule.",
    ),
    Field(
        "timezone",
        ZONE,
        "An IANA time zone such as Europe/Paris; UTC by default.",
    ),
    Field(
        "dueTime",
        Text(TIME_POINT_SCHEMA, DURATION_CHARS_MAX),
        "When a one-off fires, or the earliest due time of a recurring job: RFC 3339 with an offset, or a "
        "duration from now (10s, PT2H).",
    ),
    Field(
        "ttl",
        Text(TIME_POINT_SCHEMA, DURATION_CHARS_MAX),
        "The latest due time: RFC 3339 with an offset, or a duration from dueTime. Without dueTime, from "
        "now.",
    ),
    Field(
        "repeats",
        Number(1, limits.REPEATS_MAX),
        f"How many occurrences the series has in all; a whole number from 1 to {limits.REPEATS_MAX}.",
    ),
    Field(
        "dst",
        DST,
        "What happens to a fixed local time on a day when the clock changes: an object. It has no effect on "
        "an expression whose minute or hour begins with a star, since such an expression follows real time.",
    ),
    Field(
        "jitter",
        Text(DURATION_SCHEMA, DURATION_CHARS_MAX),
        "Delays the whole series by one offset within this window, so that jobs of the same schedule do not "
        "fire at once. A job always has the same offset, which is made from its namespace and name. A "
        f"duration of more than 0, at most {limits.JITTER_S_MAX} s.",
    ),
    Field(
        "calendar",
        CALENDAR,
        "On which days the job fires, by a calendar of the namespace: an object. The local day of an "
        "occurrence decides. A schedule of elapsed time, such as `@every 1h`, can only skip, and so can one "
        f"that fires more than {limits.CALENDAR_MOVES_PER_DAY_MAX} times a day.",
    ),
)


def series_of_fields(
    written: Mapping[str, Any],
    requested_at: Instant,
    *,
    key: str | None = None,
    closed: str | None = None,
    may_be_on_demand: bool = False,
) -> Series:
    """As series_of(), with these fields of a job. `closed` are the closed days of its calendar."""
    return series_of(
        schedule=written.get("schedule"),
        timezone=written.get("timezone"),
        due_time=written.get("dueTime"),
        ttl=written.get("ttl"),
        repeats=written.get("repeats"),
        dst=written.get("dst"),
        jitter=written.get("jitter"),
        calendar=written.get("calendar"),
        closed=closed,
        key=key,
        requested_at=requested_at,
        may_be_on_demand=may_be_on_demand,
    )


def timing_violations(
    written: Mapping[str, Any],
    sound: Mapping[str, Any],
    requested_at: Instant,
    *,
    may_be_on_demand: bool = False,
) -> list[Violation]:
    """What is wrong with the times of a job or of a schedule.

    `sound` are the fields of `written` whose shape is right. Only these are judged. With `may_be_on_demand`,
    neither a schedule nor a dueTime is required.
    """
    is_timed = "schedule" in written or "dueTime" in written
    try:
        # A time whose shape is wrong was written all the same: the job does not fire on demand alone.
        series_of_fields(sound, requested_at, may_be_on_demand=may_be_on_demand and not is_timed)
    except InvalidError as error:
        # Where such a time was written, do not add that a time is missing.
        return [each for each in error.violations if top_field(each) in sound or not is_timed]
    return []
