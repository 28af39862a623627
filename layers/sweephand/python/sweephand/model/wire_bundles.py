"""The JSON form of a bundle: each revision once, and for each trigger its revision, time and number.

A revision with a batch stands there once for each occurrence, because the triggers of a batch are due later
than their occurrence.
"""

from typing import Any, Final

from sweephand.model.job import JobKey
from sweephand.model.trigger import BatchPlace, BundleMessage, Trigger, TriggerMessage
from sweephand.model.wire_fields import Fields
from sweephand.model.wire_parts import lane_to_json

_DEFAULTS: Final = TriggerMessage._field_defaults  # its fields after `trigger` and `not_before`

#: What a bundle can say of a message besides its trigger, its due time and its priority: that it is owed, and
#: nothing else. The priority is the last field.
_CARRIED: Final = tuple(tuple({**_DEFAULTS, "is_owed": is_owed}.values())[:-1] for is_owed in (False, True))


def fits_bundle(message: TriggerMessage) -> bool:
    """Whether a bundle can carry all that the message says.

    That holds for the first attempt at an occurrence that has not waited, failed or been redriven.
    """
    trigger = message.trigger
    return trigger.demand is None and message.not_before == trigger.at and message[2:-1] in _CARRIED


def bundle_to_json(bundle: BundleMessage) -> dict[str, Any]:
    """The fields of a bundle. A trigger takes about 15 bytes, and a revision about 80."""
    first_at, namespace = bundle.not_before, bundle.triggers[0].trigger.key.namespace
    revisions: dict[tuple[str | int, ...], int] = {}
    triggers = []
    for message in bundle.triggers:
        trigger = message.trigger
        assert fits_bundle(message), "the sender looks at each message"
        assert trigger.key.namespace == namespace, "a bundle has one namespace"
        assert message.priority == bundle.triggers[0].priority, "a bundle has one lane"
        revision = (trigger.key.name, trigger.uid, trigger.rev, trigger.armed_at)
        batch = () if trigger.batch is None else (trigger.due_at, *_size_of(trigger.batch))
        place = revisions.setdefault((*revision, *batch), len(revisions))
        row: list[int | bool] = [place, trigger.at - first_at, trigger.sequence]
        if trigger.index or message.is_owed:
            row.append(trigger.index)
        if message.is_owed:
            row.append(True)
        triggers.append(row)
    fields = {"ns": namespace, "at": first_at, "revs": [list(each) for each in revisions], "due": triggers}
    return fields | lane_to_json(bundle.triggers[0].priority)


def _size_of(batch: BatchPlace) -> tuple[int, ...]:
    """What all triggers of a batch have in common."""
    size = batch.size, batch.window_ms
    return size if batch.is_counted else (*size, 0)


def read_bundle(fields: Fields) -> BundleMessage:
    """The bundle that bundle_to_json() wrote; an error if it cannot be read.

    It may have any number of triggers. A later version may put more into a bundle, and this version must not
    make them dead letters.
    """
    namespace, first_at, priority = fields.text("ns"), fields.number("at"), fields.priority()
    revisions = fields.rows("revs", "job", "uid", "rev", "armed", "due", "size", "window", "uncounted")

    def message(row: Fields) -> TriggerMessage:
        revision, at = revisions[row.number("revision")], first_at + row.number("after")
        due_at, batch = at, None
        if (size := revision.number_or_none("size")) is not None:
            due_at = revision.number("due")
            batch = BatchPlace(
                size,
                revision.number("window"),
                at - due_at,
                is_counted=revision.number_or_none("uncounted") is None,
            )
        trigger = Trigger(
            key=JobKey(namespace, revision.text("job")),
            uid=revision.text("uid"),
            rev=revision.text("rev"),
            due_at=due_at,
            sequence=row.number("seq"),
            armed_at=revision.number("armed"),
            index=row.number_or_none("index") or 0,
            batch=batch,
        )
        is_owed = row.is_set("owed")
        return TriggerMessage(trigger, not_before=trigger.at, is_owed=is_owed, priority=priority)

    rows = fields.rows("due", "revision", "after", "seq", "index", "owed")
    return BundleMessage(tuple(message(row) for row in rows))
