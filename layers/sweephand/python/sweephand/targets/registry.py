"""Which types of target there are, and whether a job's target is one that can be accepted."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, Protocol

from sweephand.base.errors import Violation, pointer_part
from sweephand.base.instants import SECOND_MS
from sweephand.base.limits import DATA_BYTES_MAX, SQS_DATA_BYTES_MAX, TARGET_TIMEOUT_S_MAX
from sweephand.base.spelling import suggestion
from sweephand.targets import http, job, sqs


class Violations(Protocol):
    """What is wrong with a target of one type."""

    def __call__(self, spec: Mapping[str, Any], *, has_data: bool, allow_insecure: bool) -> list[Violation]:
        """The violations, in order; their pointers begin below the target."""
        ...


class TargetType(NamedTuple):
    """The fields that a type takes, its own judgement of them, and what an attempt is bounded by.

    `time_ms` says how long it takes at most; `data_limit` and `data_bytes_max` how much data it sends, by the
    limit's name in /v1/limits.
    """

    fields: tuple[str, ...]
    violations: Violations
    time_ms: Callable[[Mapping[str, Any]], int]
    data_bytes_max: int = DATA_BYTES_MAX
    data_limit: str = "dataBytesMax"


TARGET_TYPES: Final[Mapping[str, TargetType]] = {
    "http": TargetType(http.FIELDS, http.http_violations, http.http_time_ms),
    "sqs": TargetType(sqs.FIELDS, sqs.sqs_violations, sqs.sqs_time_ms, SQS_DATA_BYTES_MAX, "sqsDataBytesMax"),
}

#: Who can be told of a run's end.
END_TARGET_TYPES: Final[Mapping[str, TargetType]] = {
    **TARGET_TYPES,
    "job": TargetType(job.FIELDS, job.job_violations, job.job_time_ms),
}


def attempt_ms_max(spec: Mapping[str, Any]) -> int:
    """How long an attempt at a target may take at most, in ms, from connecting to its answer.

    The longest that there is for a type that this version does not know.
    """
    target_type = END_TARGET_TYPES.get(spec.get("type", ""))
    return TARGET_TIMEOUT_S_MAX * SECOND_MS if target_type is None else target_type.time_ms(spec)


def target_violations(
    target: object,
    *,
    has_data: bool,
    allow_insecure: bool,
    at: str = "/target",
    types: Mapping[str, TargetType] = TARGET_TYPES,
) -> list[Violation]:
    """What is wrong with a job's target; empty if it can be accepted. Never raises, whatever it is given.

    `at` is the JSON pointer of the target in the document, `types` those it may be of. `has_data` says
    whether there is a body to send, `allow_insecure` whether the stack allows `http` and loopback.
    """
    if not isinstance(target, Mapping):
        return [Violation(at, f"Give an object with a type: {_either(types)}.")]
    kind = target.get("type")
    target_type = types.get(kind) if isinstance(kind, str) else None
    if target_type is None:
        return [
            Violation(
                f"{at}/type", f"{suggestion(kind, types)} Give the target's type: {_either(types)}.".lstrip()
            )
        ]
    unknown = [
        Violation(
            f"{at}/{pointer_part(name)}",
            f"{suggestion(name, target_type.fields)} Leave it out: {kind} takes "
            f"{', '.join(target_type.fields)}.".lstrip(),
        )
        for name in target
        if name not in target_type.fields
    ]
    own = target_type.violations(target, has_data=has_data, allow_insecure=allow_insecure)
    return unknown + [Violation(at + each.pointer, each.detail) for each in own]


def data_violations(target: object, data_bytes: int) -> list[Violation]:
    """What is wrong with data of that size, as compact JSON, for a target that can be accepted."""
    kind = target.get("type") if isinstance(target, Mapping) else None
    target_type = TARGET_TYPES.get(kind) if isinstance(kind, str) else None
    if target_type is None or data_bytes <= target_type.data_bytes_max:
        return []
    most = f"give at most {target_type.data_bytes_max} ({target_type.data_limit})"
    return [Violation("/data", f"{data_bytes} bytes of compact JSON; for a target of type {kind} {most}.")]


def _either(types: Mapping[str, TargetType]) -> str:
    *others, last = types
    return f"{', '.join(others)} or {last}"
