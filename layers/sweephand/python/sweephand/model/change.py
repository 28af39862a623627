"""What a change of a job is, and how no change is lost: a job carries its latest change.

The next writer of the job files the change of the stored version before its own commit. So every filed change
was committed, wherever a writer crashes. The cost of filing a change thus falls on the next write.
"""

import json
from collections.abc import Collection, Mapping
from typing import Any, Final, Literal, NamedTuple

from sweephand.base.instants import Instant
from sweephand.model.definition import TARGET_FIELDS, CatchUpPolicy, Definition
from sweephand.schedules import Series

ChangeKind = Literal["created", "replaced", "patched", "paused", "resumed", "deleted"]

#: `who` of a change that Sweephand made by itself, such as a pause after an error.
SWEEPHAND = "sweephand"


#: Fields whose values a change never shows, because they may hold secrets or are large.
_NAMED_ONLY: Final = frozenset({*TARGET_FIELDS, "data"})

#: The most characters of JSON that a value may have to be shown.
_SHOWN_MAX: Final = 128


#: If all fields of a change have more characters of JSON than this, only their names are kept.
_ALL_SHOWN_MAX: Final = 1_024


class FieldChange(NamedTuple):
    """A top-level field that a write changed: its name, and its values if they may be shown.

    `values` are the value before the write and the value after it, each None if the field was absent.
    """

    name: str
    values: tuple[Any, Any] | None = None


def changed_fields(before: Definition, after: Definition) -> tuple[FieldChange, ...]:
    """The fields that differ between two definitions of a job, sorted by name."""
    found = changes_between(before.written, after.written, _NAMED_ONLY)
    if (before.payload and before.payload.digest) != (after.payload and after.payload.digest):
        found.append(FieldChange("data"))
    found.sort(key=lambda each: each.name)
    if len(json.dumps(found)) > _ALL_SHOWN_MAX:
        # The change travels in the job, which every trigger reads.
        found = [FieldChange(each.name) for each in found]
    return tuple(found)


def changes_between(
    before: Mapping[str, Any], after: Mapping[str, Any], named_only: Collection[str] = ()
) -> list[FieldChange]:
    """The fields that differ, sorted by name. Those that are `named_only` or long are without values."""
    pairs = {name: (before.get(name), after.get(name)) for name in sorted(before.keys() | after.keys())}
    return [
        FieldChange(name, pair if name not in named_only and _is_short(pair) else None)
        for name, pair in pairs.items()
        if pair[0] != pair[1]
    ]


def _is_short(values: tuple[Any, Any]) -> bool:
    return all(len(json.dumps(each)) <= _SHOWN_MAX for each in values)


class Former(NamedTuple):
    """What the revision that a write replaced needs in order to be armed again (wheel/rebuild.py).

    `alert_after_ms` is None if that revision had no watch.
    """

    rev: str
    series: Series
    catchup: CatchUpPolicy
    alert_after_ms: int | None = None

    @classmethod
    def of(cls, rev: str, series: Series, definition: Definition) -> "Former":
        """What is needed of a revision with that series and definition."""
        return cls(rev, series, definition.catchup, definition.alert_after_ms)


class Change(NamedTuple):
    """One write of a job. `who` is the id of the API key that asked for it, or SWEEPHAND.

    `version` is the token of the write. It gives two changes at one instant different positions. `fields` are
    the fields that the write changed. It is None if `what` says all (a pause). `former` is the revision that
    the write replaced, if the new one is armed in another way. `until` is when a pause ends by itself, or has
    ended by this resume. A filed change of a job has the `uid` of that job, whose name a later job may have.
    """

    at: Instant
    who: str
    what: ChangeKind
    version: str
    reason: str | None = None
    fields: tuple[FieldChange, ...] | None = None
    former: Former | None = None
    until: Instant | None = None
    uid: str = ""

    @property
    def position(self) -> str:
        """The position of the change among the changes of its job, sortable as text."""
        return f"{self.at:014d}#{self.version}"


#: What was changed: an API key, a secret that jobs name, what signs deliveries, or a namespace's settings, or
#: one of its calendars or windows.
AdminSubject = Literal["key", "secret", "signing-secret", "signing-key", "settings", "calendar", "window"]

AdminVerb = Literal["created", "replaced", "rotated", "revoked", "deleted"]


#: The last instant whose position has the length of all others, in the year 5138.
_INSTANT_MAX: Final = 10**14 - 1


class AdminChange(NamedTuple):
    """One change, by the caller `who`: the id of a key, `jwt:` and a subject, or `operator`.

    `name` is the id of the key, or the name of the secret, calendar or window. It is empty for what a
    namespace has once. `version` gives two changes at one instant different positions. `fields` are
    as those of a job's change.
    """

    at: Instant
    who: str
    what: AdminVerb
    subject: AdminSubject
    namespace: str
    name: str
    version: str
    fields: "tuple[FieldChange, ...]" = ()
    reason: str | None = None

    @property
    def position(self) -> str:
        """The position of the change in the trail, sortable as text."""
        return f"{self.at:014d}#{self.version}"


def position_at(instant: Instant) -> str:
    """The position that lies behind every change from before an instant, and before every other one."""
    return f"{min(max(instant, 0), _INSTANT_MAX):014d}"
