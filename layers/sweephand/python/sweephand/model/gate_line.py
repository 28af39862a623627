"""The line of a gate: entries of triggers that wait. Functions lease them, and delete them on their lease."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.model.policy_names import PRIORITIES, Priority
from sweephand.model.trigger import TriggerMessage
from sweephand.model.wire import encode

#: Triggers of one entry.
ENTRY_TRIGGERS_MAX: Final = 20

#: The wire forms in one entry take at most this together, unless a single one takes more.
ENTRY_BYTES_MAX: Final = 100_000

#: Triggers join an entry as long as the wire forms take at most this together. Deflated, that is about 1 KB,
#: so each write of the entry costs one unit.
JOINED_BYTES_MAX: Final = 4_000

#: A name of an entry has this many hexadecimal digits: 96 bits.
_NAME_LENGTH: Final = 24


class Entry(NamedTuple):
    """Triggers that wait together since `at`.

    `token` is another one after each write. While it is leased, its `owner` delivers its triggers, until
    `until` at the latest.
    """

    at: Instant
    priority: Priority
    name: str
    messages: tuple[TriggerMessage, ...]
    token: str
    owner: str | None = None
    until: Instant = 0

    @property
    def sort_key(self) -> str:
        """The place of the entry in its line: by priority, then by time."""
        return f"{PRIORITIES.index(self.priority)}#{self.at:014d}#{self.name}"

    @property
    def second(self) -> str:
        """The sort key before those of all entries of its priority that wait since the same second."""
        return f"{PRIORITIES.index(self.priority)}#{self.at // SECOND_MS * SECOND_MS:014d}"

    def joined_by(self, other: "Entry", size: int, token: str) -> "Entry | None":
        """The entry with the triggers of another one besides; None if they may not stand together.

        They may if both wait since the same second, and there are at most `size` of them. Nobody may have
        leased this entry, and no function may have crashed with any of the triggers.
        """
        messages = (*self.messages, *other.messages)
        is_free = self.owner is None and not self.crashes and not other.crashes
        fits = len(messages) <= size and sum(len(encode(each)) for each in messages) <= JOINED_BYTES_MAX
        if not (is_free and fits) or self.second != other.second:
            return None
        return self._replace(messages=messages, token=token)

    def is_takeable(self, now: Instant) -> bool:
        """Whether a function may lease it: nobody has, or the lease is over."""
        return self.owner is None or self.until < now

    def is_abandoned(self, now: Instant) -> bool:
        """Whether a function has leased it and crashed."""
        return self.owner is not None and self.until < now

    @property
    def crashes(self) -> int:
        """How many functions have crashed with one of its triggers."""
        return max(each.crashes for each in self.messages)

    @property
    def payloads(self) -> Sequence[tuple[str, str]]:
        """The payloads outside of jobs that its triggers name, each by the uid of its job and its ref."""
        return [
            (each.trigger.uid, each.payload.ref)
            for each in self.messages
            if each.payload is not None and each.payload.ref is not None
        ]


class LineTop(NamedTuple):
    """The first entries of a line, leased ones too, and whether others may follow.

    If it `has_newer`, entries that only a newer version can read stand among these, and were left out.
    """

    entries: Sequence[Entry]
    has_more: bool = False
    has_newer: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether the line holds nothing at all."""
        return not (self.entries or self.has_more or self.has_newer)

    def takeable(self, now: Instant) -> list[Entry]:
        """The entries that a function may lease."""
        return [each for each in self.entries if each.is_takeable(now)]


class LineCount(NamedTuple):
    """How many triggers wait in the first entries of a line, and since when the first one.

    `is_all` says that the line has no further entries. Without it, there may be some.
    """

    triggers: int
    first_at: Instant | None
    is_all: bool


def entries_of(
    messages: Iterable[TriggerMessage], priority: Priority, source: str, size: int = ENTRY_TRIGGERS_MAX
) -> list[Entry]:
    """Those triggers in few entries of at most so many, in the order of their times.

    `source` is the id of the message that brought them. Whoever repeats the call writes the same entries.
    """
    packs: list[list[TriggerMessage]] = []
    taken = 0
    for message in sorted(messages, key=lambda each: (each.not_before, each.trigger.id, each.attempt)):
        length = len(encode(message))
        if not packs or len(packs[-1]) == size or taken + length > ENTRY_BYTES_MAX:
            packs.append([])
            taken = 0
        packs[-1].append(message)
        taken += length
    return [_entry(tuple(pack), priority, source) for pack in packs]


def _entry(messages: tuple[TriggerMessage, ...], priority: Priority, source: str) -> Entry:
    content = sha256(source.encode())
    for message in messages:
        content.update(b"\n" + encode(message).encode())
    name = content.hexdigest()[:_NAME_LENGTH]
    return Entry(messages[0].not_before, priority, name, messages, name)
