"""The line of a job whose runs may not overlap: the trigger that holds it, and those that wait.

A line is a value. Its methods return the line as it would be after a change. The rules of `overlap` decide
which change is made (runs/flow/overlap.py), and a conditional write makes it (runs/flow/overlap_queue.py).
"""

import json
from typing import Final, NamedTuple

from sweephand.base.instants import Instant
from sweephand.model.job import JobKey
from sweephand.model.trigger import Trigger, TriggerMessage
from sweephand.model.wire import encode

#: What was asked for, with data of its own as a rule, may take so many bytes of a line. An item has 400 KB;
#: a thousand triggers of a schedule take a quarter of that, in the short form that the store has for them.
ASKED_BYTES_MAX: Final = 200_000


class Holder(NamedTuple):
    """Who holds a line, and since when; `message` is the attempt that took it."""

    message: TriggerMessage
    since: Instant

    @property
    def id(self) -> str:
        """The trigger's id."""
        return self.message.trigger.id


class Line(NamedTuple):
    """The trigger that holds and those that wait, in the order of their due times.

    Nobody waits where nobody holds.
    """

    holder: Holder | None = None
    waiting: tuple[TriggerMessage, ...] = ()

    def has(self, message: TriggerMessage) -> bool:
        """Whether that trigger waits."""
        return any(each.trigger.id == message.trigger.id for each in self.waiting)

    def has_room_for(self, message: TriggerMessage) -> bool:
        """Whether the line can be stored with one more, however many may wait."""
        return is_replaceable(message) or sum(map(_bytes, (*self.waiting, message))) <= ASKED_BYTES_MAX

    def joined_by(self, message: TriggerMessage) -> "Line":
        """The line with one more that waits, in its place."""
        others = [each for each in self.waiting if each.trigger.id != message.trigger.id]
        return self._replace(waiting=tuple(sorted((*others, _owed(message)), key=place_of)))

    def without(self, trigger: Trigger) -> "Line":
        """The line without one of those that wait."""
        left = tuple(each for each in self.waiting if each.trigger.id != trigger.id)
        return self._replace(waiting=left)

    def is_held_by(self, message: TriggerMessage) -> bool:
        """Whether that very attempt holds it, by that revision: another may owe a trigger of its name."""
        return self.holder is not None and _is_same(self.holder.message, message)

    def without_exactly(self, message: TriggerMessage) -> "Line":
        """The line without that very attempt, if it waits."""
        return self._replace(waiting=tuple(each for each in self.waiting if not _is_same(each, message)))

    def held_by(self, message: TriggerMessage, now: Instant) -> "Line":
        """The line with another holder, who waits no more."""
        return self.without(message.trigger)._replace(holder=Holder(_owed(message), now))

    def taken_over_by(self, message: TriggerMessage) -> "Line":
        """The line when its holder comes by another revision, which may outlive the one that it came by."""
        if self.holder is None or self.holder.message.attempt != message.attempt or self.is_held_by(message):
            return self
        return self._replace(holder=self.holder._replace(message=_owed(message)))

    def advanced(self, now: Instant) -> "Line":
        """The line when its holder's run is over: the first of those that wait holds it now."""
        return self.held_by(self.waiting[0], now) if self.waiting else Line()


class StoredLine(NamedTuple):
    """A line as stored: of the job of that uid. `version` changes with every write."""

    key: JobKey
    uid: str
    version: str
    line: Line
    expires_at: Instant | None = None


def is_replaceable(message: TriggerMessage) -> bool:
    """Whether a newer one may take its place: it has not been attempted, and nobody asked for it."""
    return message.attempt == 1 and message.trigger.demand is None


def place_of(message: TriggerMessage) -> tuple[Instant, int, str]:
    """The place of a trigger in its line: by due time, then by index, then by id."""
    trigger = message.trigger
    return trigger.due_at, trigger.index, trigger.id


def _owed(message: TriggerMessage) -> TriggerMessage:
    """The message as a line keeps it: whoever has a place in one was judged to be owed when it arrived."""
    return message.waiting()._replace(faults=0)


def _is_same(message: TriggerMessage, other: TriggerMessage) -> bool:
    return (message.trigger.id, message.trigger.rev, message.attempt) == (
        other.trigger.id,
        other.trigger.rev,
        other.attempt,
    )


def _bytes(message: TriggerMessage) -> int:
    """How many a trigger takes in a line beyond the short form: a message is JSON, and text in JSON there."""
    return 0 if is_replaceable(message) else len(json.dumps(encode(message)))
