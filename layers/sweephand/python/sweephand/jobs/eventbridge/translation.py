"""Makes a job from a schedule of EventBridge Scheduler: when it fires, where it delivers, what it sends."""

import datetime as dt
import re
import zoneinfo
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from sweephand.jobs.eventbridge.targets import input_of, target_fields

_RATE: Final = re.compile(r"rate\(\s*([0-9]+)\s+(minute|hour|day)s?\s*\)")
_CRON: Final = re.compile(r"cron\((.*)\)")
_AT: Final = re.compile(r"at\((.*)\)")
_LETTERS: Final = {"minute": "M", "hour": "H", "day": "H"}


class OverError(Exception):
    """A schedule that would not fire any more. The message says why."""


class Translated(NamedTuple):
    """The fields of a job but `data`, and the text that its consumer gets.

    `changes` are sentences that say what differs from EventBridge Scheduler. `needs` are pairs of a parameter
    of the stack and an ARN that it has to list.
    """

    fields: dict[str, Any]
    input: str
    changes: tuple[str, ...]
    needs: frozenset[tuple[str, str]]

    def data(self, value: Any, sent: str) -> Any:
        """The data of the job: `value` if it leaves as the very input, and else the input as a text.

        `value` is the JSON value of the input, and `sent` the JSON text by which a delivery carries it. An
        HTTP target gets the value in either case.
        """
        if self.fields["target"]["type"] == "http":
            return value
        return self.input if isinstance(value, str) or sent != self.input else value


_PHASE: Final = (
    "rate(…) becomes an ISO 8601 repetition from its StartDate or creation on, which keeps its phase."
)
_OFFSET: Final = (
    "EventBridge fires at any moment of the flexible window. The job fires at one offset in it, each time."
)
_BOUNDS: Final = (
    "StartDate and EndDate bound the moved due times, so one more or one less can fire at each end."
)
_REPEATED: Final = "In the hour that a clock change repeats, the job follows real time and fires again."
_DEAD_LETTERS: Final = "A dead letter says what happened, and has another form (docs/retries.md)."


def translate(
    shown: Mapping[str, Any], *, arn: str, created_at: dt.datetime, now: dt.datetime, with_roles: bool = True
) -> Translated:
    """The job of a schedule in the form of GetSchedule. `arn` and `created_at` are the schedule's.

    Raises NoTargetError for a target that no job can have, and OverError for what would not fire after `now`.
    """
    target = shown["Target"]
    made = target_fields(target, arn, with_roles=with_roles)
    job: dict[str, Any] = {}
    changes: list[str] = []
    if shown.get("Description"):
        job["description"] = shown["Description"]
    job |= _times(shown, created_at, now, changes)
    window = shown.get("FlexibleTimeWindow", {})
    if window.get("Mode") == "FLEXIBLE":
        job["jitter"] = f"PT{window['MaximumWindowInMinutes']}M"
        changes.append(_OFFSET)
        if "dueTime" in job or "ttl" in job:
            changes.append(_BOUNDS)
    if shown.get("ActionAfterCompletion") == "DELETE":
        job["deleteAfterCompletion"] = True
    if "deadLetterQueue" in made.fields:
        changes.append(_DEAD_LETTERS)
    return Translated({**job, **made.fields}, input_of(target, arn), tuple(changes), made.needs)


def _times(
    shown: Mapping[str, Any], created_at: dt.datetime, now: dt.datetime, changes: list[str]
) -> dict[str, Any]:
    """When the job fires. Adds to `changes` what differs."""
    expression, zone = str(shown["ScheduleExpression"]), str(shown.get("ScheduleExpressionTimezone", "UTC"))
    job: dict[str, Any] = {"schedule": expression}
    if zone != "UTC":
        job["timezone"] = zone
    if found := _AT.fullmatch(expression):
        # EventBridge ignores StartDate and EndDate here.
        if (at := _instant(found[1], zone)) is not None and at <= now:
            raise OverError("Its time has passed. A one-time schedule fires once.")
        return job
    start, end = shown.get("StartDate"), shown.get("EndDate")
    if end is not None and end <= now:
        raise OverError("Its EndDate has passed, so it would not fire any more.")
    if found := _RATE.fullmatch(expression):
        count = int(found[1]) * (24 if found[2] == "day" else 1)
        began = start or created_at
        job = {"schedule": f"R/{_written(began)}/PT{count}{_LETTERS[found[2]]}"}
        changes.append(_PHASE)
    else:
        if start is not None and start > now:
            job["dueTime"] = _written(start)
        if _changes_its_clock(zone, now):
            job["dst"] = {"gap": "skip"}
            if (fields := _CRON.fullmatch(expression)) and re.match(r"[*?]|\S+ +[*?]", fields[1].strip()):
                changes.append(_REPEATED)
    if end is not None:
        job["ttl"] = _written(end)
    return job


def _written(at: dt.datetime) -> str:
    """An instant in UTC, as the API takes it."""
    at = at.astimezone(dt.UTC)
    return at.isoformat(timespec="milliseconds" if at.microsecond else "seconds").replace("+00:00", "Z")


def _instant(local: str, zone: str) -> dt.datetime | None:
    """The instant of a local time, None for what is none. The API says then what is wrong."""
    try:
        return dt.datetime.fromisoformat(local).replace(tzinfo=zoneinfo.ZoneInfo(zone))
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return None


def _changes_its_clock(zone: str, now: dt.datetime) -> bool:
    """Whether the clock of a zone changes within two years. A zone that is not known here may."""
    try:
        known = zoneinfo.ZoneInfo(zone)
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return True
    return len({(now + dt.timedelta(weeks=each)).astimezone(known).utcoffset() for each in range(104)}) > 1
