"""What a timer is and where it lies in the wheel: buckets, sort keys, cursors."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

from sweephand.base.instants import Instant, from_datetime, rfc3339
from sweephand.base.timing import BUCKET_MS
from sweephand.model.definition import CATCH_UP_DEFAULT, CatchUpPolicy
from sweephand.model.job import JobKey
from sweephand.model.trigger import DeadlineMessage, TriggerMessage
from sweephand.schedules import Occurrence, Series

#: `2026-11-21T01:08`, and that with `#42.000`.
_MINUTE_LENGTH: Final = 16
_POSITION_LENGTH: Final = 23

#: What the sort key of a copy says before the position of the timer that was put off.
_PUT_OFF_FROM: Final = "#put-off-from#"


def bucket_of(instant: Instant) -> Instant:
    """The first instant of the bucket (a minute) in which that instant lies."""
    return instant - instant % BUCKET_MS


def position_key(instant: Instant) -> str:
    """Where an instant lies in a shard: `2026-11-21T01:08#42.000`, sortable as text."""
    written = rfc3339(instant)
    return f"{written[:16]}#{written[17:23]}"


def instant_at(key: str) -> Instant:
    """The instant whose position a sort key begins with."""
    minute, second = key[:_MINUTE_LENGTH], key[_MINUTE_LENGTH + 1 : _POSITION_LENGTH]
    return from_datetime(datetime.fromisoformat(f"{minute}:{second}+00:00"))


def bucket_key(instant: Instant) -> str:
    """The bucket part of a position: what every timer of that bucket begins with."""
    return rfc3339(instant)[:16]


def onward(series: Series, first: Occurrence) -> Iterator[Occurrence]:
    """An occurrence of a series and those after it."""
    yield first
    yield from series.occurrences(first.due_at, known=first)


class OccurrenceTimer(NamedTuple):
    """The promise that the occurrences of one revision are looked at from `first` on.

    It carries all that a sweep needs, since the job may have a later revision by then. It is written
    once and never changed; what it yields depends on it, its job and the lease alone. `catchup` is the rule
    of its revision: a later one does not decide anew what this one has skipped. `followed_at` is when the
    next part of a list begins, which has a timer of its own. `put_off_to` is set in the copy of a timer that
    could not be expanded in its own bucket. `stored_key` is set in a copy that an older version made, which
    could not read it (UnreadTimer): its place in the wheel, which the cursor has to follow.
    """

    shard: int
    key: JobKey
    uid: str
    rev: str
    series: Series
    first: Occurrence
    armed_at: Instant
    catchup: CatchUpPolicy = CATCH_UP_DEFAULT
    followed_at: Instant | None = None
    put_off_to: Instant | None = None
    stored_key: str | None = None

    @property
    def due_at(self) -> Instant:
        """When it is looked at: when its first trigger is due, or later if that was put off."""
        return self.first.due_at if self.put_off_to is None else self.put_off_to

    @property
    def put_off_by_ms(self) -> int:
        """How long after its first trigger is due it is looked at, in milliseconds; 0 as a rule."""
        return self.due_at - self.first.due_at

    @property
    def sort_key(self) -> str:
        """Position, then what makes it unique: two timers of one job at one instant never share a key.

        One that was put off names its first trigger too: the successor of a slow sweeper may lie at the
        very instant to which it was put off.
        """
        if self.stored_key is not None:
            return self.stored_key
        put_off = "" if self.put_off_to is None else str(self.first.due_at)
        return f"{position_key(self.due_at)}#{self.key}#{self.rev}#occurrence#{put_off}"


class RetryTimer(NamedTuple):
    """The promise that one attempt, too far ahead for the queue, is sent when it is due."""

    shard: int
    message: TriggerMessage
    stored_key: str | None = None

    @property
    def key(self) -> JobKey:
        """The job whose trigger it is."""
        return self.message.trigger.key

    @property
    def due_at(self) -> Instant:
        """When the attempt may begin, or when it is looked at if an older version put that off."""
        return self.message.not_before if self.stored_key is None else instant_at(self.stored_key)

    @property
    def sort_key(self) -> str:
        """Position, then trigger and attempt: each attempt of each trigger has one timer."""
        return self.stored_key or _attempt_key("retry", self.message)


class DeadlineTimer(NamedTuple):
    """The promise that a run which its consumer works on is looked at when it should have reported."""

    shard: int
    message: DeadlineMessage
    stored_key: str | None = None

    @property
    def key(self) -> JobKey:
        """The job whose run it is."""
        return self.message.trigger.key

    @property
    def due_at(self) -> Instant:
        """When it is looked at."""
        return self.message.not_before if self.stored_key is None else instant_at(self.stored_key)

    @property
    def sort_key(self) -> str:
        """Position, then trigger, attempt and whose acceptance: each look at each of them has one timer."""
        return self.stored_key or f"{_attempt_key('deadline', self.message)},{self.message.owner}"


def _attempt_key(kind: str, message: TriggerMessage | DeadlineMessage) -> str:
    trigger = message.trigger
    unique = f"{trigger.rev}#{kind}#{trigger.id},{message.attempt}"
    return f"{position_key(message.not_before)}#{trigger.key}#{unique}"


class UnreadTimer(NamedTuple):
    """A timer that this version cannot read, since a newer one wrote it: only the store knows its `item`.

    If its item is damaged instead, `why` says what about it cannot be read.

    It is copied ahead, whole, until a version that can read it is there again. Its place is all that is known
    of it, so the sort key of a copy says where the timer stood first: two timers never share a copy's key.
    """

    shard: int
    sort_key: str
    item: Mapping[str, Any]
    why: str | None = None

    @property
    def due_at(self) -> Instant:
        """When it is looked at."""
        return instant_at(self.sort_key)

    def put_off(self, by_ms: int) -> "UnreadTimer":
        """The copy of it, so much later; whoever makes it again makes the same."""
        place, rest = self.sort_key[:_POSITION_LENGTH], self.sort_key[_POSITION_LENGTH:]
        if _PUT_OFF_FROM not in rest:
            rest += _PUT_OFF_FROM + place
        return self._replace(sort_key=position_key(self.due_at + by_ms) + rest)


Timer: TypeAlias = OccurrenceTimer | RetryTimer | DeadlineTimer

#: What a page of the wheel holds.
StoredTimer: TypeAlias = Timer | UnreadTimer


class Cursor(NamedTuple):
    """How far a shard has been swept.

    Every timer whose sort key is less than `key` has been dealt with; the timer at `key` has been too
    if `within` is None, else up to and including the occurrence `within`.
    """

    key: str = ""
    within: Occurrence | None = None


class Lease(NamedTuple):
    """One shard's cursor, and who may move it.

    `fence` grows with every claim: a commit with an older one is refused. `found` is how many triggers
    were sent in the minute of the last sweep, at `swept_at`: from these tick sizes the next. `judged_at` is
    the instant by which it is judged what of the page at the cursor is late; it stands while a sweeper
    holds the shard, and after one that died, so that who repeats its page decides the same. `tries` is how
    often the shard was claimed since its cursor last moved. `left_at` is when the first timer is due that the
    last sweep had no time for; None if it left nothing.
    """

    shard: int
    cursor: Cursor
    fence: int = 0
    owner: str | None = None
    lease_until: Instant = 0
    found: int = 0
    swept_at: Instant = 0
    judged_at: Instant | None = None
    tries: int = 0
    left_at: Instant | None = None


class WheelState(NamedTuple):
    """What the leases partition holds: the leases by shard, the number of shards, tick's heartbeat."""

    leases: tuple[Lease, ...]
    shards: int
    heartbeat_at: Instant | None
