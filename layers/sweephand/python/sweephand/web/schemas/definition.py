"""Which job documents are valid: every field of one is looked at, and everything that is wrong is told."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from sweephand.base.errors import BadRequestError, InvalidError, Violation
from sweephand.base.instants import DAY_MS, SECOND_MS, Instant
from sweephand.base.limits import (
    CATCHUP_WINDOW_DAYS_MAX,
    CATCHUP_WINDOW_S_MIN,
    DATA_BYTES_MAX,
    DEFINITION_BYTES_MAX,
    RETENTION_DAYS_MAX,
    RETRY_DAYS_MAX,
    RUN_DAYS_MAX,
)
from sweephand.model.definition import Definition, Payload
from sweephand.schedules import parse_duration_ms, series_of
from sweephand.schedules.request import IDLE_ON_DEMAND
from sweephand.targets.queues import JobQueues
from sweephand.targets.registry import END_TARGET_TYPES, TARGET_TYPES, data_violations, target_violations
from sweephand.targets.sqs import ESCAPES, read_queue_url
from sweephand.targets.url import UrlError
from sweephand.web.http import json_text
from sweephand.web.http.operation import Taken
from sweephand.web.http.problems import DataTooLargeError, pointer
from sweephand.web.schemas.job_responses import WholeJobResource
from sweephand.web.schemas.requests import LATER, JobDocument
from sweephand.web.schemas.validation import check

#: Fields of a job that cannot be written: those that releases to come bring, and those that are only shown.
_ELSEWHERE: Final = dict.fromkeys(
    WholeJobResource.__annotations__.keys() - {field.alias for field in JobDocument.model_fields.values()},
    "It is shown and not written; leave it out.",
) | dict.fromkeys(LATER, "Not supported yet; leave it out.")

#: The fields that are targets.
_TARGETS: Final = frozenset({"target", "onComplete"})

#: Fields that have an effect only beside another, and the value that this must have.
_ONLY_WITH: Final[Mapping[str, tuple[str, str]]] = {
    "waitLimit": ("overlap", "wait"),
    "heartbeatTimeout": ("completion", "async"),
    "maxRunTime": ("completion", "async"),
}

# Path of the duration, whether it may be zero, and the most days it may say.
_DURATIONS: Final[tuple[tuple[tuple[str, ...], bool, int], ...]] = (
    (("retry", "maxAge"), False, RETRY_DAYS_MAX),
    (("retry", "initialDelay"), True, RETRY_DAYS_MAX),
    (("retry", "maxDelay"), True, RETRY_DAYS_MAX),
    (("catchup", "window"), False, CATCHUP_WINDOW_DAYS_MAX),
    (("heartbeatTimeout",), False, RUN_DAYS_MAX),
    (("maxRunTime",), False, RUN_DAYS_MAX),
    (("historyRetention",), False, RETENTION_DAYS_MAX),
    (("retention",), True, RETENTION_DAYS_MAX),
)


def read_definition(
    document: Mapping[str, Any],
    *,
    allow_insecure_targets: bool,
    queues: JobQueues,
    requested_at: Instant,
) -> Taken[Definition]:
    """The definition of a job document as `json_text.read` gives it, or everything that is wrong with it.

    `null` for a field is the field left out, except for `data`, of which null is a value. Times that
    cannot be (a zone that does not exist, a dueTime long past) are told with the other violations; a
    document that has none is left to the writer, for an equal definition may have a dueTime that was
    future when it was written. DataTooLargeError for `data` over its limit.
    """
    payload = read_payload(document)
    fields = {name: json_text.plain(value) for name, value in document.items() if name != "data"}
    return judged(
        _without_nulls(fields),
        payload,
        allow_insecure_targets=allow_insecure_targets,
        queues=queues,
        requested_at=requested_at,
    )


def judged(
    written: Mapping[str, Any],
    payload: Payload | None,
    *,
    allow_insecure_targets: bool,
    queues: JobQueues,
    requested_at: Instant,
    said: Collection[str] | None = None,
) -> Taken[Definition]:
    """The definition of the fields that were written, or everything that is wrong with them.

    `said` are the fields that this request writes; None for all of them. What was stored before may be
    without effect, so that a stored job can always be patched.
    """
    violations = check(JobDocument, written, elsewhere=_ELSEWHERE)[1]
    # Targets are judged by their registry alone, which knows each type's fields.
    violations = [each for each in violations if _top(each)[1:] not in _TARGETS & written.keys()]
    faulty = {_top(each) for each in violations}
    sound = {name: value for name, value in written.items() if pointer(name) not in faulty}
    for name in sorted(_TARGETS & sound.keys(), reverse=True):
        target, at = sound[name], pointer(name)
        # The end of a run is always told in a body.
        has_data = payload is not None or name == "onComplete"
        types = END_TARGET_TYPES if name == "onComplete" else TARGET_TYPES
        violations += target_violations(
            target, has_data=has_data, allow_insecure=allow_insecure_targets, at=at, types=types
        )
        if isinstance(target, Mapping):
            url = target.get("queueUrl")
            violations += queues.violations(f"{at}/queueUrl", url, allow_insecure=allow_insecure_targets)
    dead_letter_queue = sound.get("deadLetterQueue")
    violations += queues.violations(
        "/deadLetterQueue", dead_letter_queue, allow_insecure=allow_insecure_targets
    )
    if payload is not None:
        violations += data_violations(sound.get("target"), payload.size)
    violations += (durations := _duration_violations(written))
    if "catchup" in sound and not durations:
        violations += _window_violations(sound["catchup"])
    violations += _queue_violations(dead_letter_queue, allow_insecure=allow_insecure_targets)
    violations += _label_violations(sound.get("labels", {}))
    violations += _idle_violations(sound, written.keys() if said is None else said)
    violations += _on_demand_violations(written)
    if not violations:
        violations += _size_violations(written)
    if violations:
        timing = timing_violations(written, sound, requested_at, may_be_on_demand=True)
        return Taken(None, (*violations, *timing))
    return Taken(Definition(written, payload))


def read_payload(document: Mapping[str, Any]) -> Payload | None:
    """The payload of a document's `data`, if it has any; DataTooLargeError over its limit."""
    if "data" not in document:
        return None
    # Escaped already here, so that its size is what any target sends.
    payload = Payload.of(json_text.write(document["data"]).translate(ESCAPES))
    if payload.size > DATA_BYTES_MAX:
        raise DataTooLargeError(
            Violation(
                "/data",
                f"{payload.size} bytes of compact JSON; give at most {DATA_BYTES_MAX} (dataBytesMax).",
            )
        )
    return payload


def _without_nulls(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that were given; within objects whose fields Sweephand knows too."""
    given = {name: value for name, value in fields.items() if value is not None}
    for name in ("target", "onComplete", "retry", "dst", "catchup"):
        if isinstance(given.get(name), dict):
            given[name] = {inner: value for inner, value in given[name].items() if value is not None}
    return given


def _top(violation: Violation) -> str:
    """The pointer of the document's field in which a violation lies."""
    return "/" + violation.pointer[1:].partition("/")[0]


def _duration_violations(written: Mapping[str, Any]) -> list[Violation]:
    found: list[Violation] = []
    for path, may_be_zero, days_max in _DURATIONS:
        value: Any = written
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        if isinstance(value, str):
            found += duration_violations(pointer(*path), value, may_be_zero=may_be_zero, days_max=days_max)
    return found


def _window_violations(catchup: Mapping[str, Any]) -> list[Violation]:
    """Whether a window that can be read is too short."""
    if parse_duration_ms(catchup.get("window", "1h")) >= CATCHUP_WINDOW_S_MIN * SECOND_MS:
        return []
    return [Violation("/catchup/window", f"Give at least {CATCHUP_WINDOW_S_MIN}s (catchupWindowSecondsMin).")]


def duration_violations(at: str, text: str, *, may_be_zero: bool, days_max: int) -> list[Violation]:
    """What is wrong with a duration, if anything; `at` is its pointer."""
    try:
        duration_ms = parse_duration_ms(text)
    except (BadRequestError, ValueError) as error:
        return [Violation(at, str(error))]
    if duration_ms > days_max * DAY_MS:
        return [Violation(at, f"Give at most {days_max}d.")]
    if duration_ms == 0 and not may_be_zero:
        return [Violation(at, "Give a duration of more than 0.")]
    return []


def _queue_violations(url: str | None, *, allow_insecure: bool) -> list[Violation]:
    if url is None:
        return []
    try:
        read_queue_url(url, allow_insecure=allow_insecure)
    except UrlError as error:
        return [Violation("/deadLetterQueue", str(error))]
    return []


def _size_violations(written: Mapping[str, Any]) -> list[Violation]:
    """Whether fields that are each within their limits are too much together."""
    size = len(json_text.write(written).encode())
    if size <= DEFINITION_BYTES_MAX:
        return []
    most = f"at most {DEFINITION_BYTES_MAX} (definitionBytesMax)"
    return [Violation("", f"All but data has {size} bytes of compact JSON; give {most}.")]


def _idle_violations(sound: Mapping[str, Any], said: Collection[str]) -> list[Violation]:
    """The fields of a request that would have no effect, for want of another."""
    return [
        Violation(pointer(name), f"Give it with {other}: {value} only: without that it has no effect.")
        for name, (other, value) in _ONLY_WITH.items()
        if name in sound and name in said and sound.get(other) != value
    ]


def _on_demand_violations(written: Mapping[str, Any]) -> list[Violation]:
    """What is said of occurrences that a job without schedule and dueTime never has.

    `repeats`, `dst` and `jitter` are refused with the other times (schedules/request.py).
    """
    if not written.keys().isdisjoint({"schedule", "dueTime"}):
        return []
    idle = [name for name in ("catchup",) if name in written]
    if written.get("deleteAfterCompletion") is True:
        idle.append("deleteAfterCompletion")
    return [Violation(pointer(name), IDLE_ON_DEMAND) for name in idle]


def _label_violations(labels: Mapping[str, str]) -> list[Violation]:
    return [
        Violation(
            pointer("labels", name), "Give a name without a colon: a list is filtered by label=name:value."
        )
        for name in labels
        if ":" in name
    ]


def timing_violations(
    written: Mapping[str, Any],
    sound: Mapping[str, Any],
    requested_at: Instant,
    *,
    may_be_on_demand: bool = False,
) -> list[Violation]:
    """What is wrong with the times of a document among its fields that are `sound` so far."""
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
            # A time that was written and cannot be read is no time left out.
            may_be_on_demand=may_be_on_demand and not is_timed,
        )
    except InvalidError as error:
        # That a time is missing is no news where one was written that could not be read.
        return [each for each in error.violations if _top(each)[1:] in sound or not is_timed]
    return []
