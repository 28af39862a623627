"""Under which key of its policy a trigger counts: the value that `by` names, of the trigger's job."""

from sweephand.model.definition import Definition
from sweephand.model.policy_names import BY_HOST, BY_JOB, BY_LABEL, key_parts
from sweephand.targets.registry import target_host
from sweephand.targets.url import UrlError


def gate_key(by: str | None, definition: Definition, job: str) -> str | None:
    """The key of the triggers of a job of that name; None under a policy without `by`.

    The value is empty if the job does not have that label, or if its target has no host.
    """
    return None if by is None else f"{by}:{_value(by, definition, job)}"


def is_under(key: str | None, definition: Definition, job: str) -> bool:
    """Whether the triggers of that job still count under the key of a gate."""
    if key is None:
        return True
    by, value = key_parts(key)
    return value == _value(by, definition, job)


def _value(by: str, definition: Definition, job: str) -> str:
    if by == BY_JOB:
        return job
    if by == BY_HOST:
        return _host(definition)
    value: object = definition.labels.get(by.removeprefix(BY_LABEL))
    return value if isinstance(value, str) else ""


def _host(definition: Definition) -> str:
    try:
        host = target_host(definition.target)
    except UrlError:
        host = None
    return "" if host is None else host.rstrip(".")
