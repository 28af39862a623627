"""Decides which file owns a job: a label of the job names the file, with the digest of what the file wrote.

A person who changes the job by other means does not change the label to fit. Then no file owns the job.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from hashlib import sha256
from http import HTTPStatus
from typing import Any, Final, cast

from sweephand_client.api.client import Client
from sweephand_client.http import exact_json
from sweephand_client.http.errors import Problem
from sweephand_client.openapi.requests import JobRequest
from sweephand_client.tasks.jobs_file import OWNER_LABEL

_DIGITS: Final = 16

#: A label has at most 128 characters.
_OWNER_LENGTH_MAX: Final = 128 - _DIGITS - 1

#: A number of any size has a text.
_NUMBERS: Final = Context(prec=400, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])

#: The changes of a job that write its definition.
_WRITES: Final = ("created", "replaced", "patched")


@dataclass(frozen=True, slots=True)
class Mark:
    """What the label of a job says, and whether the job is still as that file wrote it."""

    owner: str
    fits: bool

    def is_of(self, owner: str) -> bool:
        """Whether this owner wrote the job as it is."""
        return self.fits and self.owner == owner[:_OWNER_LENGTH_MAX]


def split_mark(definition: Mapping[str, Any]) -> tuple[dict[str, Any], Mark | None]:
    """A stored definition without its mark, and the mark; None if it has none."""
    labels = definition.get("labels")
    if not isinstance(labels, Mapping):
        return dict(definition), None
    others = {name: each for name, each in labels.items() if name != OWNER_LABEL}
    fields = {name: each for name, each in definition.items() if name != "labels"}
    if others:
        fields["labels"] = others
    text = labels.get(OWNER_LABEL)
    if not isinstance(text, str):
        return fields, None
    owner, _, digest = text.rpartition(" ")
    return fields, Mark(owner, digest == _digest(fields))


def marked(definition: Mapping[str, Any], stored: Mapping[str, Any], owner: str) -> JobRequest:
    """The definition to write, with the mark of this owner. `stored` is its stored form without a mark."""
    labels = definition.get("labels")
    if not isinstance(labels, Mapping | None):
        # The stack refuses it.
        return cast("JobRequest", definition)
    mark = f"{owner[:_OWNER_LENGTH_MAX]} {_digest(stored)}"
    return cast("JobRequest", {**definition, "labels": {**(labels or {}), OWNER_LABEL: mark}})


def foreign(client: Client, namespace: str, name: str, mark: Mark | None) -> Problem:
    """Why a file leaves a job alone: who else wrote it, and when."""
    writes = (each for each in client.jobs.changes(namespace, name) if each["what"] in _WRITES)
    last = next(writes, None)
    by = "An unknown key wrote it" if last is None else f"{last['who']} wrote it at {last['time']}"
    if mark is None:
        said = f"No file owns the job. {by}."
    elif not mark.fits:
        said = f"It is not as the file {mark.owner} wrote it. {by}."
    else:
        said = f"The file {mark.owner} owns the job. {by}."
    return Problem(
        HTTPStatus.CONFLICT, "", f"{said} Say --take-over if this file shall own it.", kind="foreign"
    )


def _digest(definition: Mapping[str, Any]) -> str:
    """The digest of a stored definition. `data` counts as text, since a consumer gets its bytes."""
    fields = {name: each if name == "data" else _plain(each) for name, each in sorted(definition.items())}
    return sha256(exact_json.write(fields).encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def _plain(value: Any) -> Any:
    """A value that has one text. The stack may write a number in another way, and fields in another order."""
    match value:
        case Mapping():
            return {name: _plain(each) for name, each in sorted(value.items())}
        case list():
            return [_plain(each) for each in value]
        case bool():
            return value
        case int() | Decimal():
            return str(_NUMBERS.normalize(Decimal(value)))
    return value
