"""What a timer is, and where it lies in the wheel: buckets, sort keys, packs, cursors."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any, Final, Generic, NamedTuple, TypeAlias, TypeVar

from sweephand.base.instants import SECOND_MS, Instant, from_datetime, rfc3339
from sweephand.base.timing import BUCKET_MS
from sweephand.model.definition import CATCH_UP_DEFAULT, CatchUpPolicy, Payload
from sweephand.model.job import JobKey
from sweephand.model.orders import ResumeMessage
from sweephand.model.run_id import Demand
from sweephand.model.trigger import DeadlineMessage, TriggerMessage, key_of_message
from sweephand.model.watch import WatchMessage
from sweephand.schedules import Occurrence, Series

_Message = TypeVar("_Message", TriggerMessage, DeadlineMessage, WatchMessage, ResumeMessage)

#: The length of `2026-11-21T01:08`, and of the same text with `#42.000`.
_MINUTE_LENGTH: Final = 16
_POSITION_LENGTH: Final = 23

#: The part of a copy's sort key that precedes the position of the timer that was put off.
_PUT_OFF_FROM: Final = "#put-off-from#"


def bucket_of(instant: Instant) -> Instant:
    """The first instant of the bucket that holds the instant. A bucket is a minute."""
    return instant - instant % BUCKET_MS


def position_key(instant: Instant) -> str:
    """The position of an instant in a shard, sortable as text: `2026-11-21T01:08#42.000`."""
    second, ms = divmod(instant, SECOND_MS)
    return f"{_second(second)}.{ms:03d}"


def instant_at(key: str) -> Instant:
    """The instant of the position with which a sort key begins."""
    minute, second = key[:_MINUTE_LENGTH], key[_MINUTE_LENGTH + 1 : _POSITION_LENGTH]
    return from_datetime(datetime.fromisoformat(f"{minute}:{second}+00:00"))


def bucket_key(instant: Instant) -> str:
    """The bucket part of a position, with which the sort key of every timer of that bucket begins."""
    return _second(bucket_of(instant) // SECOND_MS)[:_MINUTE_LENGTH]


@lru_cache(maxsize=1_024)
def _second(number: int) -> str:
    """The position of a second since 1970. A sweep asks for a few of them thousands of times."""
    text = rfc3339(number * SECOND_MS)
    return f"{text[:_MINUTE_LENGTH]}#{text[17:19]}"


class OccurrenceTimer(NamedTuple):
    """The promise that a sweeper expands the triggers of one revision, from `first` on.

    The timer carries all that the sweeper needs, because the job may have a later revision by then. It is
    written once and never changed. What it yields depends only on the timer, its job and the lease. `catchup`
    is the rule of its revision, so that a later revision does not decide again about what this one has
    skipped. `followed_at` is when the next part of a list begins, which has its own timer. `put_off_to` is
    set in the copy of a timer that could not be expanded in its own bucket. The copy has `judged_at`, the
    instant by which a sweeper first decided which occurrences are late. `stored_key` is set in a copy that an
    older version made of a timer that it could not read (UnreadTimer). It is the copy's position in the
    wheel, which the cursor must follow. The timer of a batch on demand has the `demand`, and the `payload`
    that was given with it, if any. If its triggers `may_be_repeated`, a rebuild has written it: each of them
    may have been sent before.
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
    demand: Demand | None = None
    payload: Payload | None = None
    may_be_repeated: bool = False
    judged_at: Instant | None = None

    @property
    def due_at(self) -> Instant:
        """When a sweeper expands it: when its first trigger is due, or later if the timer was put off."""
        return self.first.at if self.put_off_to is None else self.put_off_to

    @property
    def put_off_by_ms(self) -> int:
        """The time in ms by which the timer was put off after its first trigger's due time; usually 0."""
        return self.due_at - self.first.at

    @property
    def sort_key(self) -> str:
        """The position, then the parts that make the key unique among the timers of a job at one instant.

        The key of a timer that was put off also names its first trigger. Otherwise it could equal the key of
        a slow sweeper's successor, which may lie at the very instant to which the timer was put off.
        """
        if self.stored_key is not None:
            return self.stored_key
        put_off = "" if self.put_off_to is None else trigger_name(self.first)
        asked = "" if self.demand is None else f"#{self.demand.kind}-{self.demand.token}"
        namespace, name = self.key
        return f"{position_key(self.due_at)}#{namespace}/{name}#{self.rev}#occurrence#{put_off}{asked}"


class TimerName(NamedTuple):
    """What tells an occurrence timer from the others of its bucket: its job, revision and first trigger."""

    key: JobKey
    rev: str
    due_at: Instant
    batch_index: int


def name_of(timer: OccurrenceTimer) -> TimerName:
    """The name of a timer."""
    return TimerName(timer.key, timer.rev, timer.first.due_at, timer.first.batch_index)


def trigger_name(trigger: Occurrence) -> str:
    """The name of a trigger, unique within its series: its due time, and its index if it is not the first."""
    return f"{trigger.due_at},{trigger.batch_index}" if trigger.batch_index else str(trigger.due_at)


class _MessageTimer(NamedTuple, Generic[_Message]):
    """The promise that a message too far ahead for the queue's delay is sent when it is due."""

    shard: int
    message: _Message
    stored_key: str | None = None

    @property
    def key(self) -> JobKey:
        """The job of the message."""
        return key_of_message(self.message)

    @property
    def due_at(self) -> Instant:
        """When the message is due, or a later instant if an older version put the timer off."""
        return self.message.not_before if self.stored_key is None else instant_at(self.stored_key)


class RetryTimer(_MessageTimer[TriggerMessage]):
    """The promise that an attempt is sent when it may begin."""

    __slots__ = ()

    @property
    def sort_key(self) -> str:
        """The position, then trigger and attempt: each attempt at each trigger has one timer."""
        return self.stored_key or _attempt_key("retry", self.message)


class DeadlineTimer(_MessageTimer[DeadlineMessage]):
    """The promise that a run is checked at the instant by which its consumer must have reported."""

    __slots__ = ()

    @property
    def sort_key(self) -> str:
        """The position, then trigger, attempt and owner: each check of an acceptance has one timer."""
        return self.stored_key or f"{_attempt_key('deadline', self.message)},{self.message.owner}"


class ResumeTimer(_MessageTimer[ResumeMessage]):
    """The promise that a job is resumed when its pause ends by itself."""

    __slots__ = ()

    @property
    def sort_key(self) -> str:
        """The position, then the job: two pauses that end at one instant have one timer."""
        return self.stored_key or f"{position_key(self.due_at)}#{self.key}#{self.message.uid}#resume"


def _attempt_key(kind: str, message: TriggerMessage | DeadlineMessage) -> str:
    trigger = message.trigger
    unique = f"{trigger.rev}#{kind}#{trigger.id},{message.attempt}"
    return f"{position_key(message.not_before)}#{trigger.key}#{unique}"


class WatchTimer(_MessageTimer[WatchMessage]):
    """The promise that a revision's triggers are checked from the message's first one on.

    A watched revision has one at a time, whose next one follows from it and the lease. Others look again.
    """

    __slots__ = ()

    @property
    def due_at(self) -> Instant:
        """When the check is due, or a later instant if an older version put the timer off."""
        return self.message.check_at if self.stored_key is None else instant_at(self.stored_key)

    @property
    def sort_key(self) -> str:
        """The position, then the revision. Two watches of a revision that reach one instant become one."""
        what = "again" if self.message.held_from else "watch"
        return self.stored_key or f"{position_key(self.due_at)}#{self.key}#{self.message.rev}#{what}"


class UnreadTimer(NamedTuple):
    """A timer that a newer version wrote and this version cannot read. Only the store knows its `item`.

    If the item is damaged instead, `why` says what about it cannot be read.

    Sweepers copy the whole item ahead until a version runs that can read it. Nothing but its position is
    known. So the sort key of a copy names the position of the original, and two timers never share a copy's
    key.
    """

    shard: int
    sort_key: str
    item: Mapping[str, Any]
    why: str | None = None

    @property
    def due_at(self) -> Instant:
        """When a sweeper meets it."""
        return instant_at(self.sort_key)

    def put_off(self, by_ms: int) -> "UnreadTimer":
        """The copy of the timer at a position that is later by `by_ms`; a repetition makes the same copy."""
        place, rest = self.sort_key[:_POSITION_LENGTH], self.sort_key[_POSITION_LENGTH:]
        if _PUT_OFF_FROM not in rest:
            rest += _PUT_OFF_FROM + place
        return self._replace(sort_key=position_key(self.due_at + by_ms) + rest)


class TimerPack(NamedTuple):
    """Occurrence timers of one shard and one bucket that share an item, in the order of their sort keys.

    The pack lies at the beginning of its bucket. If an older version could not read the pack, the item is a
    copy at a later place. Then each timer has that place as its `put_off_to`.
    """

    shard: int
    sort_key: str
    timers: tuple[OccurrenceTimer, ...]

    @property
    def due_at(self) -> Instant:
        """When a sweeper meets it: the beginning of its bucket, or later if it was put off."""
        return instant_at(self.sort_key)


def pack_key(bucket_at: Instant, name: str) -> str:
    """The sort key of the pack of that name in the bucket that begins at `bucket_at`."""
    return f"{position_key(bucket_at)}#pack#{name}"


Timer: TypeAlias = OccurrenceTimer | RetryTimer | DeadlineTimer | WatchTimer | ResumeTimer

#: A timer that an audit expects in the wheel.
AwaitedTimer = TypeVar("AwaitedTimer", bound=OccurrenceTimer | ResumeTimer)

#: An item of a page of the wheel, readable or not.
StoredTimer: TypeAlias = Timer | TimerPack | UnreadTimer


def packs_of(bucket_at: Instant) -> tuple[str, str]:
    """The sort keys between which all packs of a bucket lie that were not put off."""
    before = f"{position_key(bucket_at)}#pack"
    return f"{before}#", f"{before}$"


class Place(NamedTuple):
    """The place of a timer in its shard. Places compare in the order in which timers are swept.

    `key` is the sort key of the timer's item. `entry` is the timer's own sort key if the item is a pack, and
    "" otherwise. So a place does not depend on which other timers are in the pack.
    """

    key: str
    entry: str = ""


class PlacedTimer(NamedTuple):
    """A timer and its place. `is_last` says that no timer of the same item follows."""

    place: Place
    timer: Timer | UnreadTimer
    is_last: bool = True


class Chunk(NamedTuple):
    """Consecutive timers of a shard, up to `last`, whose successors are all written.

    `judged_at` is the instant by which a sweeper decides which of their occurrences are late. Successors and
    triggers of a chunk must follow from the same decision.
    """

    last: Place
    judged_at: Instant


class Cursor(NamedTuple):
    """How far a shard has been swept.

    Every timer with a sort key less than `key` is done. If `within` and `entry` are absent, the item at `key`
    is done too. If the item is a pack, `entry` is the sort key of a timer in it: the timers before it are
    done. The timer at the cursor is done, or done up to and including the trigger `within` if that is set.
    If `chunk` is set, the successors of the timers up to the chunk's end are written, although not all of
    their triggers are sent.
    """

    key: str = ""
    within: Occurrence | None = None
    entry: str = ""
    chunk: Chunk | None = None

    @property
    def place(self) -> Place:
        """The place of the timer at the cursor."""
        return Place(self.key, self.entry)

    @property
    def is_within_item(self) -> bool:
        """Whether the item at `key` is only partly done."""
        return self.within is not None or self.entry != ""


def placed_timers(items: Sequence[StoredTimer], cursor: Cursor) -> list[PlacedTimer]:
    """The timers of a page that are not done, each with its place. Packs are opened.

    `items` is a page at `cursor`, as TimerStore.page returns it. The list is empty if the cursor stands in a
    pack, and the stored pack has no timer after the cursor.
    """
    found: list[PlacedTimer] = []
    reached = cursor.place
    for item in items:
        if not isinstance(item, TimerPack):
            found.append(PlacedTimer(Place(item.sort_key), item))
            continue
        last = len(item.timers) - 1
        for number, timer in enumerate(item.timers):
            place = Place(item.sort_key, timer.sort_key)
            if place > reached or (place == reached and cursor.within is not None):
                found.append(PlacedTimer(place, timer, number == last))
    return found


class Lease(NamedTuple):
    """The cursor of one shard, and the sweeper that may move it.

    `fence` grows with every claim, and a commit with an older fence is refused. `found` is the number of
    triggers sent in the minute of the last sweep, at `swept_at`. From it, tick computes how many sweepers it
    needs. `judged_at` is the instant by which a sweeper decides which occurrences of the page at the cursor
    are late. It stays while a sweeper holds the shard. It also stays after a crash, so that the sweeper which
    repeats the page decides the same. `tries` counts the claims of the shard since its cursor last moved.
    `left_at` is the due time of the first timer for which the last sweep had no time; None if it left no
    timer. `peak` is the largest number of triggers of the minute at `swept_at` that were sent ahead and fall
    due within one second. From it, tick computes how many delivery functions it wakes.
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
    peak: int = 0


class Heartbeat(NamedTuple):
    """A heartbeat of tick: when, since when the stack is switched off, and its limit of triggers a minute.

    A `limit` of 0 stands for none. `off_at` is when tick last found that the stack had been off for long.
    """

    at: Instant
    off_since: Instant | None = None
    limit: int = 0
    off_at: Instant | None = None


class WheelState(NamedTuple):
    """The content of the leases partition: the leases by shard, the number of shards, tick's heartbeat.

    `off_since` is when tick first found the stack switched off. It is None while the stack is on. `limit` and
    `off_at` are those of the heartbeat.
    """

    leases: tuple[Lease, ...]
    shards: int
    heartbeat_at: Instant | None
    off_since: Instant | None = None
    limit: int = 0
    off_at: Instant | None = None
