"""Which target types there are, and whether a target can be accepted."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

from sweephand.base.errors import Violation, first_violations, pointer
from sweephand.base.instants import SECOND_MS
from sweephand.base.limits import TARGET_TIMEOUT_S_MAX
from sweephand.base.names import SUGGESTIONS_MAX, suggestion
from sweephand.model.definition import Payload
from sweephand.targets import default, eventbridge, http, job, lambda_function, sns, sqs, stepfunctions
from sweephand.targets.raw_format import is_raw, raw_data_violations
from sweephand.targets.reach import Reach
from sweephand.targets.target_type import SecretRef, TargetType

#: Every target type by its name. A new type is registered here and nowhere else.
_TYPES: Final[dict[str, TargetType]] = {
    each.name: each
    for each in (
        http.TYPE,
        sqs.TYPE,
        lambda_function.TYPE,
        sns.TYPE,
        eventbridge.TYPE,
        stepfunctions.TYPE,
        default.TYPE,
        job.TYPE,
    )
}


@contextmanager
def registered(target_type: TargetType) -> Iterator[None]:
    """Registers one more type until the block ends. Its name has to be new.

    It is registered for all threads of the process. Do not use it while requests are handled.
    """
    assert target_type.name not in _TYPES, "a type's name is registered once"
    _TYPES[target_type.name] = target_type
    try:
        yield
    finally:
        del _TYPES[target_type.name]


def end_target_types() -> Mapping[str, TargetType]:
    """The types that a job's `onComplete` may be of, by name: every type."""
    return dict(_TYPES)


def target_types() -> Mapping[str, TargetType]:
    """The types that a job's `target` may be of, by name."""
    return {name: each for name, each in _TYPES.items() if each.takes_triggers}


def default_target_types() -> Mapping[str, TargetType]:
    """The types that the default target of a namespace may be of, by name."""
    return {name: each for name, each in target_types().items() if not each.is_default}


def data_limits() -> dict[str, int]:
    """The most bytes of data that each type takes, by the name of the limit in /v1/limits."""
    return {each.data_limit: each.data_bytes_max for each in target_types().values()}


def _type_of(spec: Mapping[str, Any]) -> TargetType | None:
    """The type of a target; None for one that this version does not know."""
    return _TYPES.get(spec.get("type", ""))


def attempt_ms_max(spec: Mapping[str, Any]) -> int:
    """How long an attempt at a target may take at most, in ms, from connecting to the answer.

    A type that this version does not know gets the longest time that any HTTP target may have.
    """
    target_type = _type_of(spec)
    return TARGET_TIMEOUT_S_MAX * SECOND_MS if target_type is None else target_type.attempt_ms_max(spec)


def stands_for_default(spec: Mapping[str, Any]) -> bool:
    """Whether a target stands for the default target of its namespace."""
    target_type = _type_of(spec)
    return target_type is not None and target_type.is_default


def triggers_job(spec: Mapping[str, Any]) -> bool:
    """Whether a target is another job of the namespace, which the end of a run triggers."""
    target_type = _type_of(spec)
    return target_type is not None and target_type.triggered_job is not None


def triggered_job(spec: Mapping[str, Any], state: str) -> str | None:
    """The name of the job that a run triggers which ended in `state`; None if it triggers none."""
    target_type = _type_of(spec)
    if target_type is None or target_type.triggered_job is None:
        return None
    return target_type.triggered_job(spec, state)


def secret_refs(spec: Mapping[str, Any]) -> Sequence[SecretRef]:
    """The secrets that a valid target names; none of a type that this version does not know."""
    target_type = _type_of(spec)
    return () if target_type is None else target_type.secret_refs(spec)


def target_host(spec: Mapping[str, Any]) -> str | None:
    """The host of a valid target, if lists of hosts govern its type; else None."""
    target_type = _type_of(spec)
    return None if target_type is None else target_type.host(spec)


def with_hidden_values(spec: Mapping[str, Any], hidden: str) -> dict[str, Any]:
    """A target as a caller sees it who may only read: `hidden` stands in place of values that can be secrets.

    Of a type that this version does not know, the values of every object are hidden.
    """
    target_type = _type_of(spec)
    open_names = (
        {"type"}
        if target_type is None
        else {"type"} | {each.name for each in target_type.own_fields if not each.hides_values}
    )
    return {
        name: dict.fromkeys(value, hidden) if name not in open_names and isinstance(value, Mapping) else value
        for name, value in spec.items()
    }


def target_violations(
    target: object,
    *,
    has_data: bool,
    reach: Reach,
    at: str = "/target",
    types: Mapping[str, TargetType] | None = None,
) -> list[Violation]:
    """What is wrong with a target; empty if it can be accepted. It never raises, whatever the value is.

    `at` is the JSON pointer of the target in its document. `types` are the types that it may be of, by
    default those of a job's `target`. `has_data` says whether there is a body to send.
    """
    types = target_types() if types is None else types
    if not isinstance(target, Mapping):
        return [Violation(at, f"Give an object with a type: {either(types)}.")]
    name = target.get("type")
    target_type = types.get(name) if isinstance(name, str) else None
    if target_type is None:
        detail = f"{suggestion(name, types)} Give the target's type: {either(types)}.".lstrip()
        return [Violation(f"{at}/type", detail)]
    unknown = first_violations(_unknown_fields(target, target_type, at))
    own = target_type.rules(target, has_data=has_data, reach=reach)
    return unknown + [Violation(at + each.pointer, each.detail) for each in own]


def _unknown_fields(target: Mapping[str, Any], target_type: TargetType, at: str) -> Iterator[Violation]:
    fields = target_type.field_names
    takes = f"Leave it out: {target_type.name} takes {', '.join(fields)}."
    for number, field in enumerate(each for each in target if each not in fields):
        meant = suggestion(field, fields) if number < SUGGESTIONS_MAX else ""
        yield Violation(at + pointer(field), f"{meant} {takes}".lstrip())


def data_violations(target: object, data: Payload, labels: Mapping[str, str]) -> list[Violation]:
    """The violation of data that its target does not take; empty if the target takes it.

    `labels` are those of the job. A target that is refused for another reason takes any data here.
    """
    name = target.get("type") if isinstance(target, Mapping) else None
    target_type = target_types().get(name) if isinstance(name, str) else None
    if not isinstance(target, Mapping) or target_type is None:
        return []
    if data.size <= (room := target_type.data_room(labels)):
        form, text = target_type.raw_form, data.text
        if form is None or text is None or not is_raw(target):
            return []
        return raw_data_violations(form, text, str(target.get("scheduleArn") or ""))
    less = "" if room == target_type.data_bytes_max else " less the labels"
    most = f"give at most {room} ({target_type.data_limit}{less})"
    return [Violation("/data", f"{data.size} bytes of compact JSON; for a target of type {name} {most}.")]


def either(types: Mapping[str, TargetType]) -> str:
    """The names of types as a sentence lists them: `http, sqs or job`."""
    *others, last = types
    return f"{', '.join(others)} or {last}" if others else last
