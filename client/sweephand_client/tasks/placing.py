"""Decides how an exported job is written into another stack, so that it fires when it would have fired.

A relative time counts from the request that writes the job. So an import must not send it again as it was
written: a reminder in two hours would start its two hours anew, and `@every 1h` would move to another minute.
The export keeps the next and the last due time of each job beside its definition.
"""

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from sweephand_client.openapi.requests import JobRequest, PreviewRequest

#: The API takes a time that is at most so long past as now.
_GRACE: Final = dt.timedelta(minutes=1)

_ZONE: Final = r"(?:(?:CRON_TZ|TZ)=[^ ]* *)?"
#: A schedule that counts from where its series began: @every, rate(…), and a repetition without a start.
_ANCHORED: Final = re.compile(_ZONE + r"(?:@every\b|rate\s*\(|R[0-9]*/P)", re.IGNORECASE)
#: A repetition: how often, perhaps a start, and the period. A `dueTime` takes the place of the start.
_REPETITION: Final = re.compile(rf"^({_ZONE}R[0-9]*/)(?:[^/]*/)?(P.*)", re.IGNORECASE)
#: A period that keeps to the wall clock.
_BY_DAYS: Final = re.compile(r"P[0-9]", re.IGNORECASE)
#: A repetition that has a number of fires.
_COUNTED: Final = re.compile(_ZONE + "R[0-9]+/", re.IGNORECASE)
#: A period of months or years: the day of its start decides the day in every month.
_BY_MONTHS: Final = re.compile(r"P[0-9]+[YM]", re.IGNORECASE)
_ABSOLUTE: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]")

#: The due times of a schedule after an instant, as the stack calculates them.
Preview = Callable[[PreviewRequest], str | None]


@dataclass(frozen=True, slots=True)
class Placed:
    """The definition to write, or None for a job that would not fire any more. `notes` tell what differs."""

    definition: JobRequest | None
    notes: tuple[str, ...] = field(default=())


def is_anchored(definition: JobRequest) -> bool:
    """Whether the schedule of a job counts from the beginning of its series."""
    schedule = definition.get("schedule")
    if not isinstance(schedule, str):
        return False
    begins_at_due_time = "dueTime" in definition and _REPETITION.match(schedule) is not None
    return begins_at_due_time or _ANCHORED.match(schedule) is not None


def repeats_by_days(definition: JobRequest) -> bool:
    """Whether the schedule of a job is anchored and keeps to the time of day of its beginning."""
    return is_anchored(definition) and _BY_DAYS.match(_period(definition)) is not None


def _period(definition: JobRequest) -> str:
    """The period of a repetition; empty for any other anchored schedule."""
    found = _REPETITION.match(str(definition["schedule"]))
    return "" if found is None else found[2]


def place(
    definition: JobRequest,
    *,
    next_at: str | None,
    last_at: str | None,
    start_at: str | None = None,
    now: dt.datetime,
    next_in_phase: Preview,
) -> Placed:
    """The definition that fires at the due times that were left when the job was exported.

    `next_at` is the next due time at the export; None for a job that fires only on demand. `last_at` is the
    last one, if it is known. If a clock change moves `next_at` to another time of day, `start_at` is an
    earlier due time that was not moved. If none is known, it is `next_at` itself. `next_in_phase` calculates
    the first due time from now on of an anchored schedule that fires at its `dueTime`.
    """
    if next_at is None:
        return _on_demand(definition)
    if last_at is not None and instant(last_at) < now - _GRACE:
        return Placed(None, (f"its last due time, {last_at}, is past",))
    if definition.get("schedule") is None:
        return _one_off(definition, next_at, now)
    if not is_anchored(definition):
        placed = Placed(_by_the_clock(definition, next_at, now))
    elif start_at is not None and start_at != next_at:
        placed = _started(definition, start_at)
    else:
        anchor = next_at
        if instant(next_at) < now:
            coming = next_in_phase(_timing(definition, next_at))
            if coming is None:
                return Placed(None, ("no due time is left",))
            anchor = coming
        placed = _due_first(definition, anchor, is_moved=start_at is not None)
    assert placed.definition is not None, "a due time is left"
    found = placed.definition.copy()
    notes = _bound(found, definition, last_at)
    return Placed(found, (*placed.notes, *notes))


def _by_the_clock(definition: JobRequest, next_at: str, now: dt.datetime) -> JobRequest:
    """The definition of a schedule that matches the clock, which is not to begin before its `dueTime`."""
    if "dueTime" not in definition or _is_coming(definition["dueTime"], now):
        return definition
    found = definition.copy()
    if instant(next_at) > now:
        found["dueTime"] = next_at
    else:
        del found["dueTime"]
    return found


def _started(definition: JobRequest, start_at: str) -> Placed:
    """A repetition that counts from an earlier due time."""
    found = _without_jitter(definition)
    found.pop("dueTime", None)
    written = str(definition["schedule"])
    found["schedule"] = _REPETITION.sub(lambda each: f"{each[1]}{start_at}/{each[2]}", written)
    notes = _day_notes(definition, start_at) + _jitter_notes(definition)
    if "jitter" in definition:
        notes.append("its due time at the clock change may differ, because its jitter moved it there")
    return Placed(found, tuple(notes))


def _due_first(definition: JobRequest, anchor: str, *, is_moved: bool) -> Placed:
    """An anchored schedule that counts from a due time to come, which a clock change may have moved."""
    found = _without_jitter(definition)
    found["dueTime"] = anchor
    notes = _day_notes(definition, anchor) + _jitter_notes(definition)
    if is_moved:
        notes.append("its time of day may differ, because a clock change moved the only due time known")
    calendar = definition.get("calendar")
    if calendar is not None and calendar.get("otherwise") not in (None, "skip"):
        notes.append("its days may differ, because its calendar may have moved the due time it counts from")
    return Placed(found, tuple(notes))


def _day_notes(definition: JobRequest, anchor: str) -> list[str]:
    if _BY_MONTHS.match(_period(definition)) and int(anchor[8:10]) > 27:  # noqa: PLR2004 - each month has 28 days
        return ["its day of the month may differ, because the start of its series is not known"]
    return []


def _jitter_notes(definition: JobRequest) -> list[str]:
    if "jitter" in definition and "calendar" in definition:
        return ["its days may differ, because its calendar now judges the due times that its jitter moved"]
    return []


def instant(text: str) -> dt.datetime:
    """The instant that an RFC 3339 text names. ValueError for other text, and for one without an offset."""
    found = dt.datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(f"{text!r} has no offset from UTC")
    return found


def rfc3339(at: dt.datetime) -> str:
    """An instant as the API writes it."""
    return at.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _bound(found: JobRequest, definition: JobRequest, last_at: str | None) -> list[str]:
    """Give the definition the end that its series had. Returns notes.

    The stack has counted the fires before the export, and counts anew after the import. So the last due time
    bounds the series.
    """
    ttl, schedule = definition.get("ttl"), definition.get("schedule")
    is_counted = "repeats" in definition or (
        isinstance(schedule, str) and _COUNTED.match(schedule) is not None
    )
    if not is_counted and (ttl is None or _is_absolute(ttl)):
        return []
    if last_at is None:
        return ["its repeats are counted anew, because their end is too far away"]
    found["ttl"] = last_at
    return []


def _one_off(definition: JobRequest, next_at: str, now: dt.datetime) -> Placed:
    if instant(next_at) < now - _GRACE:
        return Placed(None, (f"it was due at {next_at}",))
    if _is_absolute(definition.get("dueTime")):
        return Placed(definition)
    found = _without_jitter(definition)
    found["dueTime"] = next_at
    return Placed(found)


def _without_jitter(definition: JobRequest) -> JobRequest:
    """The definition for a due time of the stack, which has the offset of the jitter already."""
    found = definition.copy()
    found.pop("jitter", None)
    return found


def _on_demand(definition: JobRequest) -> Placed:
    if "ttl" in definition and not _is_absolute(definition["ttl"]):
        return Placed(definition, (f"its ttl, {definition['ttl']}, counts from the import",))
    return Placed(definition)


def _timing(definition: JobRequest, due_time: str) -> PreviewRequest:
    found: PreviewRequest = {"schedule": definition["schedule"], "dueTime": due_time}
    if "timezone" in definition:
        found["timezone"] = definition["timezone"]
    if "dst" in definition:
        found["dst"] = definition["dst"]
    return found


def _is_absolute(text: object) -> bool:
    return isinstance(text, str) and _ABSOLUTE.match(text) is not None


def _is_coming(text: object, now: dt.datetime) -> bool:
    """Whether a time is an instant that the API accepts now."""
    try:
        return _is_absolute(text) and instant(str(text)) > now - _GRACE
    except ValueError:
        return False
