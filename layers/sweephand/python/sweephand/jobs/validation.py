"""Which jobs are valid: judges a job by the fields of jobs/fields.

Every API of Sweephand validates jobs by these functions: the HTTPS API, and later ones. An API first reads
its own documents and checks their shapes: the type and the bounds of each field, and that no field is
unknown.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from sweephand.base import limits
from sweephand.base.errors import Violation, pointer
from sweephand.base.instants import Instant
from sweephand.jobs.fields.field import Duration, Field, Judged, Object, TargetOf, top_field
from sweephand.jobs.fields.registry import FIELDS
from sweephand.jobs.fields.timing import timing_violations
from sweephand.model.definition import Payload
from sweephand.targets.queue_url import ESCAPES
from sweephand.targets.queues import Reach
from sweephand.targets.registry import target_violations

#: Made once, because `json.dumps` makes an encoder for each call that does not use the defaults.
_COMPACT: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)


def job_violations(
    written: Mapping[str, Any],
    payload: Payload | None,
    *,
    reach: Reach,
    requested_at: Instant,
    refused: Collection[Violation] = (),
    asked: Collection[str] | None = None,
) -> list[Violation]:
    """What is wrong with a job, in the order of its fields; empty if it can be accepted.

    `written` are its fields without `data`, as plain JSON values; `payload` is its `data`. `refused` are the
    violations that the caller has found in the shapes of fields. No rule judges these fields, and the result
    does not repeat these violations. `asked` are the fields that this request writes, by default all of them.

    The times of a job (a zone that does not exist, a dueTime long past) are checked only if something else is
    wrong, so that the answer names everything at once. In a valid job, the times are left to the writer
    (jobs/series.py). It accepts a past dueTime if the stored job has the same one.
    """
    unsound = {top_field(each) for each in refused}
    sound = {name: value for name, value in written.items() if name not in unsound}
    job = Judged(written, sound, written.keys() if asked is None else asked, payload, reach)
    found = _violations(FIELDS, written, "", job)
    if not found and not refused:
        found += _size_violations(written)
    if found or refused:
        found += timing_violations(written, sound, requested_at, may_be_on_demand=True)
    return found


def object_violations(shape: Object, value: Mapping[str, Any], at: str = "") -> list[Violation]:
    """What is wrong with an object beside its shape, if it is no part of a job; `at` is its JSON pointer."""
    return _violations(shape.fields, value, at, Judged(value, value, (), None, Reach()))


def payload_of(text: str) -> Payload:
    """The payload of `data` in compact JSON.

    It is escaped for every target here, so that its size is the size of what is sent.
    """
    return Payload.of(text.translate(ESCAPES))


def payload_violations(payload: Payload) -> list[Violation]:
    """The violation of a payload that no target takes, for its size; else empty."""
    if payload.size <= limits.DATA_BYTES_MAX:
        return []
    most = f"give at most {limits.DATA_BYTES_MAX} (dataBytesMax)"
    return [Violation("/data", f"{payload.size} bytes of compact JSON; {most}.")]


def _violations(fields: Iterable[Field], values: Mapping[str, Any], at: str, job: Judged) -> list[Violation]:
    """The violations of values that are there, at the JSON pointer `at`.

    A duration is judged beside a field of another shape in its object, so that both are named at once.
    """
    found: list[Violation] = []
    for field in (each for each in fields if each.name in values):
        value, place = values[field.name], at + pointer(field.name)
        if isinstance(field.shape, Duration):
            found += field.shape.violations(place, value)
        elif isinstance(field.shape, Object) and isinstance(value, Mapping):
            found += _violations(field.shape.fields, value, place, job)
        if at or field.name not in job.sound:
            continue
        if isinstance(field.shape, TargetOf):
            has_data = field.shape.has_body or job.payload is not None
            types = field.shape.types()
            found += target_violations(value, has_data=has_data, reach=job.reach, at=place, types=types)
        for rule in field.rules:
            found += rule(place, value, job)
    return found


def _size_violations(written: Mapping[str, Any]) -> list[Violation]:
    """Whether the fields are too large together. Each is within its own limit."""
    size = len(_COMPACT.encode(written).encode())
    if size <= limits.DEFINITION_BYTES_MAX:
        return []
    most = f"at most {limits.DEFINITION_BYTES_MAX} (definitionBytesMax)"
    return [Violation("", f"All but data has {size} bytes of compact JSON; give {most}.")]
