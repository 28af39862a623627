"""Reading the retry and deadline timers of version 1, which had an attribute for each field of their message.

They are no longer written: since version 2 such a timer carries its message as the queue does. A retry timer
can lie as far ahead as a retry policy reaches. So these timers are read for as long as a stack may have been
deployed before version 2.
"""

from pynamodb.attributes import UnicodeAttribute

from sweephand.model.job import JobKey
from sweephand.model.timer import DeadlineTimer, RetryTimer
from sweephand.model.trigger import DeadlineMessage, Trigger, TriggerMessage
from sweephand.model.wire_parts import (
    demand_from_json,
    failure_from_json,
    payload_from_json,
    redrive_from_json,
)
from sweephand.storage.item import IntegerAttribute, Item, JsonAttribute
from sweephand.storage.table import RawItem


class FormerItem(Item):
    """A retry timer or a deadline timer of version 1. Only a deadline timer has an owner."""

    namespace = UnicodeAttribute(null=True, attr_name="n")
    name = UnicodeAttribute(null=True, attr_name="j")
    uid = UnicodeAttribute(null=True, attr_name="u")
    rev = UnicodeAttribute(null=True, attr_name="r")
    due_at = IntegerAttribute(null=True, attr_name="d")
    sequence = IntegerAttribute(null=True, attr_name="q")
    armed_at = IntegerAttribute(null=True, attr_name="a")
    index = IntegerAttribute(null=True, attr_name="i")
    not_before = IntegerAttribute(null=True, attr_name="b")
    attempt = IntegerAttribute(null=True, attr_name="t")
    first_attempt_at = IntegerAttribute(null=True, attr_name="f")
    faults = IntegerAttribute(null=True, attr_name="x")
    redrive = JsonAttribute(null=True, attr_name="w")
    owner = UnicodeAttribute(null=True, attr_name="o")
    demand = JsonAttribute(null=True, attr_name="k")
    payload = JsonAttribute(null=True, attr_name="p")
    had_token = IntegerAttribute(null=True, attr_name="h")
    last_failure = JsonAttribute(null=True, attr_name="e")


_REQUIRED = (
    "namespace",
    "name",
    "uid",
    "rev",
    "due_at",
    "sequence",
    "armed_at",
    "index",
    "not_before",
    "attempt",
    "faults",
)


def read_former(raw: RawItem, shard: int) -> RetryTimer | DeadlineTimer:
    """The timer of an item of version 1. ValueError if the item is damaged."""
    item = FormerItem.read(raw)
    missing = [name for name in _REQUIRED if getattr(item, name) is None]
    if missing:
        raise ValueError(f"no timer of any kind: it lacks {missing}")
    trigger = Trigger(
        JobKey(item.namespace, item.name),
        item.uid,
        item.rev,
        item.due_at,
        item.sequence,
        item.armed_at,
        item.index,
        demand_from_json(item.demand),
    )
    owner: str | None = item.owner
    if owner is not None:
        message = DeadlineMessage(trigger, item.attempt, owner, shard, item.not_before, item.faults)
        return DeadlineTimer(shard, message)
    return RetryTimer(
        shard,
        TriggerMessage(
            trigger,
            item.not_before,
            item.attempt,
            item.first_attempt_at,
            item.faults,
            redrive=redrive_from_json(item.redrive),
            payload=payload_from_json(item.payload),
            had_token=bool(item.had_token),
            last_failure=failure_from_json(item.last_failure),
        ),
    )
