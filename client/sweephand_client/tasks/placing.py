"""Decides how an exported job is written into another stack, so that it fires when it would have fired.

A relative time counts from the request that writes the job. So an import must not send it again as it was
written: a reminder in two hours would start its two hours anew, and `@every 1h` would move to another minute.
The export keeps the next and the last due time of each job beside its definition.
"""

import datetime as dt
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

#: The API takes a time that is at most so long past as now.
_GRACE: Final = dt.timedelta(minutes=1)

_ZONE: Final = r"(?:(?:CRON_TZ|TZ)=[^ ]* *)?"
#: A schedule that counts from where its series began: @every, rate(…), and a repetition without a start.
_ANCHORED: Final = re.compile(_ZONE + r"(?:@every\b|rate\s*\(|R[0-9]*/P)", re.IGNORECASE)
#: A repetition that has a number of fires.
_COUNTED: Final = re.compile(_ZONE + "R[0-9]+/", re.IGNORECASE)
#: A repetition by months or years: the day of its start decides the day in every month.
_BY_MONTHS: Final = re.compile(_ZONE + r"R[0-9]*/P[0-9]+[YM]", re.IGNORECASE)
_ABSOLUTE: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt ]")

#: The due times of a schedule after an instant, as the stack calculates them.
Preview = Callable[[Mapping[str, Any]], str | None]


@dataclass(frozen=True, slots=True)
class Placed:
    """The definition to write, or None for a job that would not fire any more. `notes` tell what differs."""

    definition: Mapping[str, Any] | None
    notes: tuple[str, ...] = field(default=())


def is_anchored(schedule: object) -> bool:
    """Whether a schedule counts from the beginning of its series."""
    return isinstance(schedule, str) and _ANCHORED.match(schedule) is not None


def place(
    definition: Mapping[str, Any],
    *,
    next_at: str | None,
    last_at: str | None,
    now: dt.datetime,
    next_in_phase: Preview,
) -> Placed:
    """The definition that fires at the due times that were left when the job was exported.

    `next_at` is the next due time at the export; None for a job that fires only on demand. `last_at` is the
    last one, if it is known. `next_in_phase` calculates the first due time from now on of an anchored
    schedule that fires at its `dueTime`.
    """
    if next_at is None:
        return _on_demand(definition)
    if last_at is not None and instant(last_at) < now - _GRACE:
        return Placed(None, (f"its last due time, {last_at}, is past",))
    if definition.get("schedule") is None:
        return _one_off(definition, next_at, now)
    found = dict(definition)
    notes: list[str] = []
    if is_anchored(definition["schedule"]):
        anchor = next_at
        if instant(next_at) < now:
            coming = next_in_phase({**_timing(definition), "dueTime": next_at})
            if coming is None:
                return Placed(None, ("no due time is left",))
            anchor = coming
        found["dueTime"] = anchor
        found.pop("jitter", None)  # same
        if _BY_MONTHS.match(definition["schedule"]) and int(anchor[8:10]) > 27:  # noqa: PLR2004 - each month has 28 days
            notes.append("its day of the month may differ, because the start of its series is not known")
    elif "dueTime" in definition and not _is_coming(definition["dueTime"], now):
        found.pop("dueTime")
        if instant(next_at) > now:
            found["dueTime"] = next_at
    notes += _bound(found, definition, last_at)
    return Placed(found, tuple(notes))


def instant(text: str) -> dt.datetime:
    """The instant that an RFC 3339 text names. ValueError for other text, and for one without an offset."""
    found = dt.datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(f"{text!r} has no offset from UTC")
    return found


def rfc3339(at: dt.datetime) -> str:
    """An instant as the API writes it."""
    return at.astimezone(dt.UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _bound(found: dict[str, Any], definition: Mapping[str, Any], last_at: str | None) -> list[str]:
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


def _one_off(definition: Mapping[str, Any], next_at: str, now: dt.datetime) -> Placed:
    if instant(next_at) < now - _GRACE:
        return Placed(None, (f"it was due at {next_at}",))
    if _is_absolute(definition.get("dueTime")):
        return Placed(definition)
    found = {**definition, "dueTime": next_at}
    found.pop("jitter", None)  # the due time of the stack has the offset of the jitter already
    return Placed(found)


def _on_demand(definition: Mapping[str, Any]) -> Placed:
    if "ttl" in definition and not _is_absolute(definition["ttl"]):
        return Placed(definition, (f"its ttl, {definition['ttl']}, counts from the import",))
    return Placed(definition)


def _timing(definition: Mapping[str, Any]) -> dict[str, Any]:
    return {name: definition[name] for name in ("schedule", "timezone", "dst") if name in definition}


def _is_absolute(text: object) -> bool:
    return isinstance(text, str) and _ABSOLUTE.match(text) is not None


def _is_coming(text: object, now: dt.datetime) -> bool:
    """Whether a time is an instant that the API accepts now."""
    try:
        return _is_absolute(text) and instant(str(text)) > now - _GRACE
    except ValueError:
        return False
