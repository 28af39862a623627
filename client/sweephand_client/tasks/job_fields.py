"""Which fields of a job its caller wrote, and when two definitions are the same."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, get_type_hints

from sweephand_client.http import exact_json
from sweephand_client.openapi.job_answers import WholeJobResponse
from sweephand_client.openapi.requests import JobRequest

#: The fields of a job that Sweephand sets. A definition cannot have them.
SET_BY_SWEEPHAND: Final = get_type_hints(WholeJobResponse).keys() - get_type_hints(JobRequest).keys()

#: The objects in which the API takes a field of null as left out.
_KNOWN_OBJECTS: Final = ("target", "onComplete", "onAlert", "retry", "dst", "catchup", "batch", "calendar")

_DEFAULT_TARGET: Final = {"type": "default"}


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field before and after. A side that does not have the field is None."""

    name: str
    before: Any
    after: Any


def written_fields(job: Mapping[str, Any]) -> dict[str, Any]:
    """The definition in an answer of the API: the fields that a PUT of the same job has."""
    return {name: value for name, value in job.items() if name not in SET_BY_SWEEPHAND}


def stored_form(definition: Mapping[str, Any], default_retry: Mapping[str, Any] | None) -> dict[str, Any]:
    """The definition as the API stores it after a PUT.

    The API leaves out null, except in `data`. It adds the target `default` and the namespace's default
    retry.
    """
    found: dict[str, Any] = {"target": _DEFAULT_TARGET}
    if default_retry is not None:
        found["retry"] = dict(default_retry)
    for name, value in definition.items():
        if value is None and name != "data":
            continue
        found[name] = without_nulls(value) if name in _KNOWN_OBJECTS else value
    return found


def differing_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """The names of the fields in which two stored definitions differ, in order.

    `data` is compared as text, since a consumer gets its bytes. A list or an object is compared by value.
    """
    return sorted(name for name in before.keys() | after.keys() if not _equals(name, before, after))


def changed_fields(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[FieldChange, ...]:
    """What differing_fields() names, with the values of both."""
    return tuple(
        FieldChange(name, before.get(name), after.get(name)) for name in differing_fields(before, after)
    )


def _equals(name: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    if (name in before) != (name in after):
        return False
    if name == "data":
        return exact_json.write(before[name]) == exact_json.write(after[name])
    return bool(before[name] == after[name])


def without_nulls(value: Any) -> Any:
    """An object without its fields of null; any other value as it is."""
    if not isinstance(value, Mapping):
        return value
    return {name: inner for name, inner in value.items() if inner is not None}
