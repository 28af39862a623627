"""What a change of a job is, and how none of them is lost: the latest one travels in the job.

Whoever writes the job next files the change of the version that it found, before its own commit. So every
change that is filed was committed, whoever is killed where; and what a write costs more, it costs when the
next one comes.
"""

import json
from collections.abc import Sequence
from typing import Any, Final, Literal, NamedTuple

from sweephand.base.instants import Instant
from sweephand.model.definition import Definition

What = Literal["created", "replaced", "patched", "paused", "resumed", "deleted"]

#: Who paused a job, where Sweephand did by itself.
SWEEPHAND = "sweephand"


#: Fields whose values no change shows: they may hold secrets, or are large.
_NAMED_ONLY: Final = frozenset({"target", "onComplete", "data"})

#: A value whose JSON is longer than this is not shown.
_SHOWN_MAX: Final = 128


#: If all of them together are longer, only their names are kept.
_ALL_SHOWN_MAX: Final = 1_024


class FieldChange(NamedTuple):
    """A top-level field that a write changed: its name, and its values if they may be shown.

    `values` are the one before and the one after, None for a field that is not there.
    """

    name: str
    values: tuple[Any, Any] | None = None


def changed_fields(before: Definition, after: Definition) -> tuple[FieldChange, ...]:
    """What differs between two definitions of a job, by name."""
    names = before.written.keys() | after.written.keys()
    pairs = {name: (before.written.get(name), after.written.get(name)) for name in names}
    found = [
        FieldChange(name, pair if _may_be_shown(name, pair) else None)
        for name, pair in pairs.items()
        if pair[0] != pair[1]
    ]
    if (before.payload and before.payload.digest) != (after.payload and after.payload.digest):
        found.append(FieldChange("data"))
    found.sort(key=lambda each: each.name)
    if len(json.dumps(found)) > _ALL_SHOWN_MAX:
        # It travels in the job, which every trigger reads.
        found = [FieldChange(each.name) for each in found]
    return tuple(found)


def _may_be_shown(name: str, values: tuple[Any, Any]) -> bool:
    return name not in _NAMED_ONLY and all(len(json.dumps(each)) <= _SHOWN_MAX for each in values)


class Change(NamedTuple):
    """One write of a job. `who` is the id of the key that asked for it, or SWEEPHAND.

    `version` is the token of the write: of two changes at one instant each has its own place. `fields` are
    those that it changed; None of a change that says so by itself, or that an earlier release wrote.
    """

    at: Instant
    who: str
    what: What
    version: str
    reason: str | None = None
    fields: tuple[FieldChange, ...] | None = None

    @property
    def position(self) -> str:
        """Where it lies among the changes of its job: sortable as text."""
        return f"{self.at:014d}#{self.version}"


def fields_to_item(change: Change | None) -> list[Any] | None:
    """The fields of a change as JSON: `[name]`, or `[name, before, after]`."""
    if change is None or change.fields is None:
        return None
    return [[each.name, *(each.values or ())] for each in change.fields]


def fields_from_item(item: Sequence[Sequence[Any]] | None) -> tuple[FieldChange, ...] | None:
    """The fields that fields_to_item() wrote; None where none were written."""
    if item is None:
        return None
    return tuple(FieldChange(name, (values[0], values[1]) if values else None) for name, *values in item)
