"""The JSON form of a bundle: each revision once, and for each trigger its revision, time and number."""

from typing import Any

from sweephand.model.job import JobKey
from sweephand.model.trigger import BundleMessage, Trigger, TriggerMessage
from sweephand.model.wire_fields import Fields


def fits_bundle(message: TriggerMessage) -> bool:
    """Whether a bundle can carry all that the message says.

    That holds for the first attempt at an occurrence that has not waited, failed or been redriven.
    """
    trigger = message.trigger
    plain = TriggerMessage(trigger, not_before=trigger.due_at, is_owed=message.is_owed)
    return trigger.demand is None and message == plain


def bundle_to_json(bundle: BundleMessage) -> dict[str, Any]:
    """The fields of a bundle. A trigger takes about 15 bytes, and a revision about 80."""
    first_at, namespace = bundle.not_before, bundle.triggers[0].trigger.key.namespace
    revisions: dict[tuple[str, str, str, int], int] = {}
    triggers = []
    for message in bundle.triggers:
        trigger = message.trigger
        assert fits_bundle(message), "the sender looks at each message"
        assert trigger.key.namespace == namespace, "a bundle has one namespace"
        revision = (trigger.key.name, trigger.uid, trigger.rev, trigger.armed_at)
        place = revisions.setdefault(revision, len(revisions))
        row: list[int | bool] = [place, trigger.due_at - first_at, trigger.sequence]
        if trigger.index or message.is_owed:
            row.append(trigger.index)
        if message.is_owed:
            row.append(True)
        triggers.append(row)
    return {"ns": namespace, "at": first_at, "revs": [list(each) for each in revisions], "due": triggers}


def read_bundle(fields: Fields) -> BundleMessage:
    """The bundle that bundle_to_json() wrote; an error if it cannot be read.

    It may have any number of triggers. A later version may put more into a bundle, and this version must not
    make them dead letters.
    """
    namespace, first_at = fields.text("ns"), fields.number("at")
    revisions = [
        (JobKey(namespace, row.text("job")), row.text("uid"), row.text("rev"), row.number("armed"))
        for row in fields.rows("revs", "job", "uid", "rev", "armed")
    ]

    def message(row: Fields) -> TriggerMessage:
        key, uid, rev, armed_at = revisions[row.number("revision")]
        trigger = Trigger(
            key=key,
            uid=uid,
            rev=rev,
            due_at=first_at + row.number("after"),
            sequence=row.number("seq"),
            armed_at=armed_at,
            index=row.number_or_none("index") or 0,
        )
        return TriggerMessage(trigger, not_before=trigger.due_at, is_owed=row.is_set("owed"))

    rows = fields.rows("due", "revision", "after", "seq", "index", "owed")
    return BundleMessage(tuple(message(row) for row in rows))
