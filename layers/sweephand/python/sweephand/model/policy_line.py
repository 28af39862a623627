"""The line of a policy: entries of waiting triggers, in partitions that workers claim.

An entry stands until it is deleted, and it is only deleted in the content that was read. There is no cursor,
so an entry that is written late is seen.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final, NamedTuple

from sweephand.base.instants import Instant
from sweephand.base.timing import LINE_AHEAD_MS
from sweephand.model.policy_names import PolicyKey, Priority
from sweephand.model.trigger import TriggerMessage
from sweephand.model.wire import encode

#: Triggers of one entry. With the wire form of a trigger that carries its own data, see ENTRY_BYTES_MAX.
ENTRY_TRIGGERS_MAX: Final = 100

#: The wire forms in one entry take at most this together, unless a single one takes more. An item may have
#: 400 KB, and one trigger on demand carries up to 2 KB of data.
ENTRY_BYTES_MAX: Final = 200_000

#: A token has this many hexadecimal digits: 96 bits.
_TOKEN_LENGTH: Final = 24


class LinePlace(NamedTuple):
    """One partition of a policy's line."""

    policy: PolicyKey
    priority: Priority
    partition: int


class LineEntry(NamedTuple):
    """Triggers that wait together. A worker takes them up at `at`.

    `token` is a hash of what the entry holds and of where it comes from. A writer that repeats itself writes
    the same token. The same trigger that comes into the line once more, after it had to wait elsewhere, has
    another one. `name` is the token, so an entry only ever replaces an entry that is equal.

    A worker that has ended without settling its triggers may have begun some of them, if `may_be_begun`. The
    token does not depend on that. See LineClaim.may_have_begun() for entries that were never written again.
    """

    at: Instant
    name: str
    messages: tuple[TriggerMessage, ...]
    token: str
    may_be_begun: bool = False

    @property
    def payloads(self) -> Sequence[tuple[str, str]]:
        """The payloads outside of jobs that its triggers name, each by the uid of its job and its ref."""
        return [
            (each.trigger.uid, each.payload.ref)
            for each in self.messages
            if each.payload is not None and each.payload.ref is not None
        ]

    @property
    def sort_key(self) -> str:
        """The place of the entry in its partition: by time, then by name."""
        return entry_key(self.at, self.name)

    def part(self, messages: Iterable[TriggerMessage]) -> "LineEntry":
        """An entry of some of its triggers. A worker takes it up when the first of them is due."""
        found = tuple(messages)
        part = entry_of(found, min(each.not_before for each in found), self.token)
        return part._replace(may_be_begun=self.may_be_begun)

    def begun(self, messages: Iterable[TriggerMessage], at: Instant) -> "LineEntry":
        """An entry of some of its triggers, which were begun. A worker takes it up at that instant."""
        return entry_of(messages, at, self.token)._replace(may_be_begun=True)


class LineClaim(NamedTuple):
    """The claim of a partition: its owner, or None if it was released; `fence` goes up by one each time.

    Before `crashed_until`, workers took up entries here that have ended without releasing the claim. It is 0
    if there were none.
    """

    owner: str | None
    until: Instant
    fence: int
    crashed_until: Instant = 0

    @classmethod
    def after(cls, seen: "LineClaim | None", owner: str, until: Instant) -> "LineClaim":
        """The claim of `owner` after `seen`, which nobody holds; None if there was no claim before."""
        if seen is None:
            return cls(owner, until, 1)
        abandoned_at = 0 if seen.owner is None else seen.until
        return cls(owner, until, seen.fence + 1, max(seen.crashed_until, abandoned_at))

    def is_held(self, now: Instant) -> bool:
        """Whether a worker walks the partition."""
        return self.owner is not None and self.until > now

    def was_abandoned(self, now: Instant) -> bool:
        """Whether the last worker neither released nor renewed it. It has probably crashed."""
        return self.owner is not None and self.until <= now

    def may_have_begun(self, entry: LineEntry) -> bool:
        """Whether a worker that crashed may have taken up that entry of the partition."""
        return entry.at < self.crashed_until + LINE_AHEAD_MS


class LineTop(NamedTuple):
    """What a worker sees of a partition: its claim, None before the first, and the first entries.

    If it `has_newer`, entries that only a newer version can read stand among these, and were left out.
    """

    claim: LineClaim | None
    entries: tuple[LineEntry, ...]
    has_newer: bool = False


class LineCount(NamedTuple):
    """How many triggers wait in the first entries of a partition, and the time of the first entry.

    `is_all` says that the partition has no further entries in that time.
    """

    triggers: int
    first_at: Instant | None
    is_all: bool


class KeptEntries(NamedTuple):
    """What one call has kept in a partition: how many entries, and the payloads that their triggers name.

    A payload is named by the uid of its job and its ref. `next` is the sort key behind which another call
    goes on; None if nothing is left there.
    """

    entries: int
    payloads: Sequence[tuple[str, str]]
    next: str | None


def entry_key(at: Instant, name: str) -> str:
    """The sort key of an entry."""
    return f"{at:014d}#{name}"


def entry_of(
    messages: Iterable[TriggerMessage], at: Instant, source: str, name: str | None = None
) -> LineEntry:
    """An entry of those triggers, which must not be empty, in the order of their times.

    `source` is the id of the message that brought them, or the token of the entry that they were part of.
    Without a `name` the entry is named by its token, so that it only ever replaces an entry that is equal.
    """
    ordered = tuple(sorted(messages, key=lambda each: (each.not_before, each.trigger.id, each.attempt)))
    assert ordered, "an entry without triggers is never deleted"
    token = _token_of(source, ordered)
    return LineEntry(at, name or token, ordered, token)


def entries_of(messages: Iterable[TriggerMessage], source: str, now: Instant) -> Sequence[LineEntry]:
    """Those triggers in few entries, each to be taken up when its first is due.

    The triggers of one entry are due within a second, or are overdue by `now`. A worker takes up no others
    together.
    """
    entries: list[list[TriggerMessage]] = []
    size, ends_at = 0, now
    for message in sorted(messages, key=lambda each: (each.not_before, each.trigger.id)):
        taken = len(encode(message))
        is_full = entries and (len(entries[-1]) == ENTRY_TRIGGERS_MAX or size + taken > ENTRY_BYTES_MAX)
        if not entries or is_full or message.not_before > ends_at:
            entries.append([])
            size, ends_at = 0, max(message.not_before, now) + LINE_AHEAD_MS
        entries[-1].append(message)
        size += taken
    return [entry_of(each, each[0].not_before, source) for each in entries]


def partition_of(name: str, partitions: int) -> int:
    """The partition for an entry of that name. Entries spread evenly."""
    return int(sha256(name.encode()).hexdigest()[:8], 16) % partitions


def _token_of(source: str, messages: Sequence[TriggerMessage]) -> str:
    content = sha256(source.encode())
    for message in messages:
        content.update(b"\n")
        content.update(encode(message).encode())
    return content.hexdigest()[:_TOKEN_LENGTH]
