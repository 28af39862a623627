"""Which jobs are valid: the rules of a job's fields, each by itself and together.

Every API of Sweephand validates jobs by these functions: the HTTPS API, and later ones. An API first reads
its own documents and checks their shapes: the type of each field, and that no field is unknown.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any, Final, NamedTuple

from sweephand.base import limits
from sweephand.base.errors import BadRequestError, InvalidError, Violation, pointer
from sweephand.base.instants import DAY_MS, SECOND_MS, Instant
from sweephand.base.limits import (
    CATCHUP_WINDOW_S_MIN,
    DATA_BYTES_MAX,
    DEFINITION_BYTES_MAX,
)
from sweephand.base.names import name_violations
from sweephand.jobs.batches import batch_violations
from sweephand.jobs.field_bounds import bounds_violations, value_at
from sweephand.jobs.labels import label_name_violations
from sweephand.jobs.watch_rules import watch_violations
from sweephand.model.definition import TARGET_FIELDS, Payload
from sweephand.schedules import parse_duration_ms
from sweephand.schedules.request import IDLE_ON_DEMAND, series_of
from sweephand.targets.reach import ESCAPES, Reach, read_queue_url
from sweephand.targets.registry import data_violations, end_target_types, target_types, target_violations
from sweephand.targets.url import UrlError

#: The fields that hold a target. target_violations() judges their shapes too, since each type has its own
#: fields.
TARGETS: Final = frozenset(TARGET_FIELDS)

#: Made once, because `json.dumps` makes an encoder for each call that does not use the defaults.
_COMPACT: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


class _DurationRule(NamedTuple):
    """Where a duration stands in a job, and the limit of its days (base/limits.py)."""

    path: tuple[str, ...]
    limit: str
    may_be_zero: bool = False


_DURATIONS: Final = (
    _DurationRule(("retry", "maxAge"), "retryDaysMax"),
    _DurationRule(("retry", "initialDelay"), "retryDaysMax", may_be_zero=True),
    _DurationRule(("retry", "maxDelay"), "retryDaysMax", may_be_zero=True),
    _DurationRule(("catchup", "window"), "catchupWindowDaysMax"),
    _DurationRule(("batch", "window"), "batchWindowDaysMax"),
    _DurationRule(("heartbeatTimeout",), "runDaysMax"),
    _DurationRule(("alertAfter",), "alertAfterDaysMax"),
    _DurationRule(("maxRunTime",), "runDaysMax"),
    _DurationRule(("historyRetention",), "retentionDaysMax"),
    _DurationRule(("retention",), "retentionDaysMax", may_be_zero=True),
)

#: A field that has an effect only beside another field, and the value that the other field must have.
_ONLY_WITH: Final[Mapping[str, tuple[str, str]]] = {
    "waitLimit": ("overlap", "wait"),
    "heartbeatTimeout": ("completion", "async"),
    "maxRunTime": ("completion", "async"),
}


def job_violations(
    written: Mapping[str, Any],
    payload: Payload | None,
    *,
    reach: Reach,
    requested_at: Instant,
    refused: Collection[Violation] = (),
    asked: Collection[str] | None = None,
) -> list[Violation]:
    """What is wrong with a job; empty if it can be accepted.

    `written` are its fields without `data`, as plain JSON values; `payload` is its `data`. `refused` are the
    violations that the caller has found in the shapes and bounds of fields. No rule judges these fields, and
    the result does not repeat these violations. `asked` are the fields that this request writes, by default
    all of them. A field that was stored before may be without effect, so that a stored job can always be
    patched.

    The times of a job (a zone that does not exist, a dueTime long past) are checked only if something else is
    wrong, so that the answer names everything at once. In a valid job, the times are left to the writer
    (jobs/series.py). It accepts a past dueTime if the stored job has the same one.
    """
    bounds = bounds_violations(written, refused)
    unsound = {top_field(each) for each in (*refused, *bounds)}
    sound = {name: value for name, value in written.items() if name not in unsound}
    found = _target_violations(sound, payload, reach)
    durations = _duration_violations(written)
    found += durations
    if "catchup" in sound and not durations:
        found += _window_violations(sound["catchup"])
    found += _dead_letter_queue_violations(sound.get("deadLetterQueue"), reach)
    found += label_name_violations(sound.get("labels", {}))
    if "policy" in sound:
        found += name_violations("/policy", sound["policy"])
    found += _idle_violations(sound, written.keys() if asked is None else asked)
    found += _on_demand_violations(written)
    found += watch_violations(written, sound, are_durations_valid=not durations)
    found += batch_violations(sound)
    if not found and not unsound:
        found += _size_violations(written)
    if found or unsound:
        found += timing_violations(written, sound, requested_at, may_be_on_demand=True)
    return bounds + found


def payload_of(text: str) -> Payload:
    """The payload of `data` in compact JSON.

    It is escaped for every target here, so that its size is the size of what is sent.
    """
    return Payload.of(text.translate(ESCAPES))


def payload_violations(payload: Payload) -> list[Violation]:
    """The violation of a payload that no target takes, for its size; else empty."""
    if payload.size <= DATA_BYTES_MAX:
        return []
    most = f"give at most {DATA_BYTES_MAX} (dataBytesMax)"
    return [Violation("/data", f"{payload.size} bytes of compact JSON; {most}.")]


def duration_violations(at: str, text: str, *, may_be_zero: bool, limit: str) -> list[Violation]:
    """What is wrong with a duration; `at` is its JSON pointer.

    `limit` is the name of the limit that says how many days it may be at most (base/limits.py).
    """
    try:
        duration_ms = parse_duration_ms(text)
    except (BadRequestError, ValueError) as error:
        return [Violation(at, str(error))]
    days_max = limits.table()[limit]
    if duration_ms > days_max * DAY_MS:
        return [Violation(at, f"Give at most {days_max}d ({limit}).")]
    if duration_ms == 0 and not may_be_zero:
        return [Violation(at, "Give a duration of more than 0.")]
    return []


def retry_violations(retry: Mapping[str, Any], *, at: str) -> list[Violation]:
    """What is wrong with a retry policy, whose shape is right; `at` is its JSON pointer."""
    written = {"retry": retry}
    found = bounds_violations(written) + _duration_violations(written)
    return [Violation(at + each.pointer.removeprefix("/retry"), each.detail) for each in found]


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
        series_of(
            schedule=sound.get("schedule"),
            timezone=sound.get("timezone"),
            due_time=sound.get("dueTime"),
            ttl=sound.get("ttl"),
            repeats=sound.get("repeats"),
            dst=sound.get("dst"),
            jitter=sound.get("jitter"),
            requested_at=requested_at,
            # A time whose shape is wrong was written all the same: the job does not fire on demand alone.
            may_be_on_demand=may_be_on_demand and not is_timed,
        )
    except InvalidError as error:
        # Where such a time was written, do not add that a time is missing.
        return [each for each in error.violations if top_field(each) in sound or not is_timed]
    return []


def top_field(violation: Violation) -> str:
    """The field of the document in which a violation lies."""
    return violation.pointer[1:].partition("/")[0]


def _target_violations(sound: Mapping[str, Any], payload: Payload | None, reach: Reach) -> list[Violation]:
    found: list[Violation] = []
    if "target" in sound:
        found += target_violations(
            sound["target"], has_data=payload is not None, reach=reach, types=target_types()
        )
    if "onComplete" in sound:
        # The notice of a run's end always has a body.
        found += target_violations(
            sound["onComplete"], has_data=True, reach=reach, at="/onComplete", types=end_target_types()
        )
    if "onAlert" in sound:
        found += target_violations(
            sound["onAlert"], has_data=True, reach=reach, at="/onAlert", types=target_types()
        )
    if payload is not None:
        found += data_violations(sound.get("target"), payload.size)
    return found


def _duration_violations(written: Mapping[str, Any]) -> list[Violation]:
    found: list[Violation] = []
    for path, limit, may_be_zero in _DURATIONS:
        value = value_at(written, path) if path[0] in written else None
        if isinstance(value, str):
            found += duration_violations(pointer(*path), value, may_be_zero=may_be_zero, limit=limit)
    return found


def _window_violations(catchup: Mapping[str, Any]) -> list[Violation]:
    """Whether a catch-up window is too short. It has been found to be a valid duration."""
    window = catchup.get("window")
    if window is None or parse_duration_ms(window) >= CATCHUP_WINDOW_S_MIN * SECOND_MS:
        return []
    return [Violation("/catchup/window", f"Give at least {CATCHUP_WINDOW_S_MIN}s (catchupWindowSecondsMin).")]


def _dead_letter_queue_violations(url: str | None, reach: Reach) -> list[Violation]:
    if url is None:
        return []
    try:
        read_queue_url(url, allow_insecure=reach.allow_insecure)
    except UrlError as error:
        return [Violation("/deadLetterQueue", str(error))]
    return reach.queues.violations("/deadLetterQueue", url, allow_insecure=reach.allow_insecure)


def _size_violations(written: Mapping[str, Any]) -> list[Violation]:
    """Whether the fields are too large together. Each is within its own limit."""
    size = len(_COMPACT.encode(written).encode())
    if size <= DEFINITION_BYTES_MAX:
        return []
    most = f"at most {DEFINITION_BYTES_MAX} (definitionBytesMax)"
    return [Violation("", f"All but data has {size} bytes of compact JSON; give {most}.")]


def _idle_violations(sound: Mapping[str, Any], asked: Collection[str]) -> list[Violation]:
    """The fields of the request that would have no effect, since another field lacks the value they need."""
    return [
        Violation(pointer(name), f"Give it with {other}: {value} only: without that it has no effect.")
        for name, (other, value) in _ONLY_WITH.items()
        if name in sound and name in asked and sound.get(other) != value
    ]


def _on_demand_violations(written: Mapping[str, Any]) -> list[Violation]:
    """The fields that say something about occurrences of a job that has none.

    schedules/request.py refuses `repeats`, `dst` and `jitter` of such a job, with its times.
    """
    if not written.keys().isdisjoint({"schedule", "dueTime"}):
        return []
    idle = [name for name in ("catchup", "alertAfter") if name in written]
    if written.get("deleteAfterCompletion") is True:
        idle.append("deleteAfterCompletion")
    return [Violation(pointer(name), IDLE_ON_DEMAND) for name in idle]
