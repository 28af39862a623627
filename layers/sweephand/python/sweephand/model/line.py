"""The line of a job whose runs may not overlap: the trigger that holds it, and the triggers that wait.

A line is a value. Each method returns the line after a change. The rules of `overlap` decide which change is
made (runs/flow/overlap.py), and a conditional write makes it (runs/flow/overlap_queue.py).
"""

import json
from typing import Final, NamedTuple

from sweephand.base.instants import Instant
from sweephand.model.job import JobKey
from sweephand.model.trigger import Trigger, TriggerMessage
from sweephand.model.wire import encode

#: Triggers on demand usually carry their own data. Together they may take this many bytes of a line. An item
#: may have 400 KB. A thousand triggers of a schedule take a twentieth of that, in the short form.
ON_DEMAND_BYTES_MAX: Final = 200_000


class Holder(NamedTuple):
    """The attempt that holds a line, and since when it does."""

    message: TriggerMessage
    since: Instant

    @property
    def id(self) -> str:
        """The trigger's id."""
        return self.message.trigger.id


class Line(NamedTuple):
    """The trigger that holds the line, and the waiting triggers in the order of their due times.

    If no trigger holds the line, no trigger waits.
    """

    holder: Holder | None = None
    waiting: tuple[TriggerMessage, ...] = ()

    def has(self, message: TriggerMessage) -> bool:
        """Whether that trigger waits in the line."""
        return any(each.trigger.id == message.trigger.id for each in self.waiting)

    def has_room_for(self, message: TriggerMessage) -> bool:
        """Whether a store can still write the line with one more waiting message, whatever its waitLimit."""
        return is_replaceable(message) or sum(map(_bytes, (*self.waiting, message))) <= ON_DEMAND_BYTES_MAX

    def joined_by(self, message: TriggerMessage) -> "Line":
        """The line with that message among those that wait, in its place."""
        others = [each for each in self.waiting if each.trigger.id != message.trigger.id]
        return self._replace(waiting=tuple(sorted((*others, _owed(message)), key=place_of)))

    def without(self, trigger: Trigger) -> "Line":
        """The line without that trigger among those that wait."""
        left = tuple(each for each in self.waiting if each.trigger.id != trigger.id)
        return self._replace(waiting=left)

    def is_held_by(self, message: TriggerMessage) -> bool:
        """Whether exactly this attempt of this revision holds the line.

        Another revision may have sent a trigger of the same name.
        """
        return self.holder is not None and _is_same(self.holder.message, message)

    def without_attempt(self, message: TriggerMessage) -> "Line":
        """The line without exactly this attempt of this revision among those that wait."""
        return self._replace(waiting=tuple(each for each in self.waiting if not _is_same(each, message)))

    def held_by(self, message: TriggerMessage, now: Instant) -> "Line":
        """The line with that message as its holder, which no longer waits."""
        return self.without(message.trigger)._replace(holder=Holder(_owed(message), now))

    def taken_over_by(self, message: TriggerMessage) -> "Line":
        """The line after another revision has sent the holder's attempt again.

        The holder's message is replaced, because the job may keep that revision longer than the first one.
        """
        if self.holder is None or self.holder.message.attempt != message.attempt or self.is_held_by(message):
            return self
        return self._replace(holder=self.holder._replace(message=_owed(message)))

    def advanced(self, now: Instant) -> "Line":
        """The line after its holder's run is over: the first waiting trigger becomes the holder."""
        return self.held_by(self.waiting[0], now) if self.waiting else Line()


class StoredLine(NamedTuple):
    """A stored line, which belongs to the job of that uid. `version` changes with every write."""

    key: JobKey
    uid: str
    version: str
    line: Line
    expires_at: Instant | None = None


def is_replaceable(message: TriggerMessage) -> bool:
    """Whether a newer trigger may replace the message: a first attempt of a trigger that a schedule made."""
    return message.attempt == 1 and message.trigger.demand is None


def place_of(message: TriggerMessage) -> tuple[Instant, int, str]:
    """The place of a trigger in its line: by due time, then by index, then by id."""
    trigger = message.trigger
    return trigger.due_at, trigger.index, trigger.id


def _owed(message: TriggerMessage) -> TriggerMessage:
    """The message as a line keeps it. It counts as owed, because that was judged when the message arrived."""
    return message.waiting()._replace(faults=0)


def _is_same(message: TriggerMessage, other: TriggerMessage) -> bool:
    return (message.trigger.id, message.trigger.rev, message.attempt) == (
        other.trigger.id,
        other.trigger.rev,
        other.attempt,
    )


def _bytes(message: TriggerMessage) -> int:
    """The bytes of a message in a line, as JSON within JSON; 0 for one that is stored in the short form."""
    return 0 if is_replaceable(message) else len(json.dumps(encode(message)))
