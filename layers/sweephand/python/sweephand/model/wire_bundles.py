"""The JSON form of a bundle: each revision once, and for each trigger its revision, time and number.

A revision with a batch stands there once for each occurrence, because the triggers of a batch are due later
than their occurrence.
"""

from typing import Any, Final, NamedTuple

from sweephand.base.instants import Instant
from sweephand.base.layouts import NAME, TRUTH, WHOLE, Field, Layout
from sweephand.model.job import JobKey
from sweephand.model.policy_names import PRIORITY_DEFAULT, Priority
from sweephand.model.trigger import BatchPlace, BundleMessage, Trigger, TriggerMessage
from sweephand.model.wire_parts import BATCH_PLACE, PRIORITY


class _Revision(NamedTuple):
    """A revision of a bundle. With a `batch`, it is one of its occurrences, which is due at `due_at`."""

    name: str
    uid: str
    rev: str
    armed_at: Instant
    due_at: Instant | None = None
    batch: BatchPlace | None = None


class _Place(NamedTuple):
    """A trigger of a bundle: the number of its revision, and how long after the first one it is due."""

    revision: int
    after_ms: int
    sequence: int
    batch_index: int
    is_owed: bool


class _Bundle(NamedTuple):
    """A bundle as it is stored."""

    namespace: str
    first_at: Instant
    revisions: tuple[_Revision, ...]
    places: tuple[_Place, ...]
    priority: Priority


_REVISION: Final = Layout(
    _Revision,
    Field("name", "job", NAME),
    Field("uid", "uid", NAME),
    Field("rev", "rev", NAME),
    Field("armed_at", "armed", WHOLE),
    Field("due_at", "due", WHOLE, None),
    Field("batch", "batch", BATCH_PLACE.form, None),
)

_PLACE: Final = Layout(
    _Place,
    Field("revision", "n", WHOLE, 0),
    Field("after_ms", "after", WHOLE, 0),
    Field("sequence", "seq", WHOLE),
    Field("batch_index", "index", WHOLE, 0),
    Field("is_owed", "owed", TRUTH, default=False),
)

_BUNDLE: Final = Layout(
    _Bundle,
    Field("namespace", "ns", NAME),
    Field("first_at", "at", WHOLE),
    Field("revisions", "revs", _REVISION.columns),
    Field("places", "due", _PLACE.columns),
    Field("priority", "lane", PRIORITY, PRIORITY_DEFAULT),
)


def fits_bundle(message: TriggerMessage) -> bool:
    """Whether a bundle can carry all that the message says.

    That holds for the first attempt at an occurrence that has not waited, failed or been redriven.
    """
    trigger = message.trigger
    plain = TriggerMessage(trigger, trigger.at, is_owed=message.is_owed, priority=message.priority)
    return trigger.demand is None and message == plain


def bundle_to_json(bundle: BundleMessage) -> dict[str, Any]:
    """The fields of a bundle. A trigger takes about 15 bytes, and a revision about 80."""
    first = bundle.triggers[0]
    namespace, priority = first.trigger.key.namespace, first.priority
    revisions: dict[_Revision, int] = {}
    places = []
    for message in bundle.triggers:
        trigger = message.trigger
        assert fits_bundle(message), "the sender looks at each message"
        assert trigger.key.namespace == namespace, "a bundle has one namespace"
        assert message.priority == priority, "a bundle has one lane"
        revision = _Revision(trigger.key.name, trigger.uid, trigger.rev, trigger.armed_at)
        if trigger.batch is not None:
            revision = revision._replace(due_at=trigger.due_at, batch=trigger.batch._replace(after_ms=0))
        number = revisions.setdefault(revision, len(revisions))
        after_ms = trigger.at - bundle.not_before
        places.append(_Place(number, after_ms, trigger.sequence, trigger.index, message.is_owed))
    return _BUNDLE.write(_Bundle(namespace, bundle.not_before, tuple(revisions), tuple(places), priority))


def read_bundle(stored: Any) -> BundleMessage:
    """The bundle that bundle_to_json() wrote; an error if it cannot be read.

    It may have any number of triggers. A later version may put more into a bundle, and this version must not
    make them dead letters.
    """
    bundle = _BUNDLE.read(stored)

    def message(place: _Place) -> TriggerMessage:
        revision, at = bundle.revisions[place.revision], bundle.first_at + place.after_ms
        due_at, batch = at, None
        if revision.batch is not None and revision.due_at is not None:
            due_at, batch = revision.due_at, revision.batch._replace(after_ms=at - revision.due_at)
        trigger = Trigger(
            key=JobKey(bundle.namespace, revision.name),
            uid=revision.uid,
            rev=revision.rev,
            due_at=due_at,
            sequence=place.sequence,
            armed_at=revision.armed_at,
            index=place.batch_index,
            batch=batch,
        )
        return TriggerMessage(trigger, trigger.at, is_owed=place.is_owed, priority=bundle.priority)

    return BundleMessage(tuple(map(message, bundle.places)))
