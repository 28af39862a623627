"""How the shards' leases are stored in the Timers table: in one partition, which a single query reads."""

from collections.abc import Sequence
from typing import Any, Final

from pynamodb.attributes import UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from sweephand.base.instants import Instant
from sweephand.model.timer import Chunk, Cursor, Heartbeat, Lease, Place, WheelState
from sweephand.schedules import Occurrence
from sweephand.storage.item import IntegerAttribute, Item, JsonAttribute
from sweephand.storage.table import ItemKey, RawItem, Refusal, Table

_PARTITION: Final = "leases"
_TICK: Final[ItemKey] = (_PARTITION, "tick")
_SHARDS: Final[ItemKey] = (_PARTITION, "shards")


#: Stored as `within` if the cursor stands in a pack, and no occurrence is done of the timer that comes next.
#: A version that cannot read packs then copies the pack ahead instead of passing it. No occurrence has the
#: number 0.
_NO_OCCURRENCE: Final = Occurrence(0, 0)


class LeaseItem(Item):
    """A shard's lease. Without `owner` the shard is free. `within` is an occurrence, stored as a list.

    `in_batch` is `[cursor, index, after_ms]`: which trigger of the occurrence `within` is the last one done,
    if that is not the first. A version that does not know batches moves the cursor and leaves it as it is.

    `part` is `[cursor, entry, chunk]`, where a chunk is `[key, entry, judged_at]` or null. A version that
    does not know packs moves the cursor and leaves `part` as it is. So `part` names the cursor to which it
    belongs.

    `peak` is `[swept_at, peak]`. A version that does not know peaks leaves it as it is with a release. So it
    names the sweep to which it belongs.
    """

    cursor = UnicodeAttribute()
    within = JsonAttribute(null=True)
    in_batch = JsonAttribute(null=True, attr_name="batch")
    part = JsonAttribute(null=True)
    fence = IntegerAttribute()
    owner = UnicodeAttribute(null=True)
    lease_until = IntegerAttribute(attr_name="until")
    found = IntegerAttribute()
    swept_at = IntegerAttribute(attr_name="swept")
    judged_at = IntegerAttribute(null=True, attr_name="judged")
    tries = IntegerAttribute(null=True)
    left_at = IntegerAttribute(null=True, attr_name="left")
    peak = JsonAttribute(null=True)


class HeartbeatItem(Item):
    """When tick last ran. `off_since` is there while the stack is switched off.

    A version that does not know the switch, or the limit, writes the heartbeat without it.
    """

    at = IntegerAttribute()
    off_since = IntegerAttribute(null=True, attr_name="off")
    limit = IntegerAttribute(null=True)


class ShardsItem(Item):
    """The number of shards over which new jobs are spread."""

    shards = IntegerAttribute()


class DynamoLeases:
    """ports.LeaseStore on the Timers table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def state(self) -> WheelState:
        """All leases, the number of shards and the heartbeat, by one query for each MB."""
        leases: list[Lease] = []
        shards, heartbeat = 0, None
        beyond, has_more = "\0", True
        while has_more:
            result = self._table.query((LeaseItem.pk == _PARTITION) & (LeaseItem.sk > beyond))
            has_more = result.has_more
            for raw in result.items:
                beyond = raw["sk"]["S"]
                if beyond == _TICK[1]:
                    heartbeat = _heartbeat(raw)
                elif beyond == _SHARDS[1]:
                    shards = ShardsItem.read(raw).shards
                else:
                    leases.append(_lease(raw))
        return WheelState(tuple(leases), shards, *(heartbeat or (None,)))

    def beat(self, heartbeat: Heartbeat) -> Heartbeat | None:
        """Write the heartbeat, and read the one before in the same request."""
        at, off_since, limit = heartbeat
        before = self._table.swap(HeartbeatItem(*_TICK, at=at, off_since=off_since, limit=limit))
        return None if before is None else _heartbeat(before)

    def raise_shards(self, count: int) -> int:
        """Write the leases that are missing, then the number of shards, unless it is that high already."""
        stored = self._table.get(_SHARDS)
        shards = 0 if stored is None else ShardsItem.read(stored).shards
        for shard in range(shards, count):
            self._table.put(_item(Lease(shard, Cursor())), LeaseItem.pk.does_not_exist())
        if shards >= count:
            return shards
        uncounted = ShardsItem.shards.does_not_exist()
        lower = ShardsItem.shards < count
        refusal = self._table.put(ShardsItem(*_SHARDS, shards=count), uncounted | lower)
        if refusal is None or refusal.stored is None:
            return count
        return ShardsItem.read(refusal.stored).shards

    def claim(self, lease: Lease, owner: str, now: Instant, until: Instant) -> Lease | None:
        """Take the shard for `owner`, if the shard is free or already taken by this owner."""
        known = LeaseItem.fence.exists()
        unowned = LeaseItem.owner.does_not_exist()
        ended = LeaseItem.lease_until < now
        actions = [
            LeaseItem.owner.set(owner),
            LeaseItem.lease_until.set(until),
            LeaseItem.fence.add(1),
            LeaseItem.tries.add(1),
            LeaseItem.judged_at.set(LeaseItem.judged_at | now),
        ]
        answer = self._table.update(_key(lease.shard), actions, known & (unowned | ended))
        if not isinstance(answer, Refusal):
            return _lease(answer)
        stored = None if answer.stored is None else _lease(answer.stored)
        return stored if stored is not None and stored.owner == owner else None

    def commit(
        self, lease: Lease, cursor: Cursor, until: Instant, judged_at: Instant | None = None
    ) -> Lease | None:
        """Move the cursor and renew the lease, if the lease still has this fence.

        Repeating the write changes nothing, so that a retried write needs no token but the fence.
        """
        actions = [*_moved(cursor), LeaseItem.lease_until.set(until)]
        if cursor != lease.cursor:
            actions.append(LeaseItem.tries.remove())
        if judged_at is not None:
            actions.append(LeaseItem.judged_at.set(judged_at))
        answer = self._table.update(_key(lease.shard), actions, _is_held_by(lease))
        return None if isinstance(answer, Refusal) else _lease(answer)

    def release(
        self,
        lease: Lease,
        found: int,
        now: Instant,
        *,
        cursor: Cursor | None = None,
        left_at: Instant | None = None,
        peak: int = 0,
    ) -> Lease | None:
        """Give the shard up, and move the cursor if there is one, if the lease still has this fence.

        Repeating the write changes nothing, as for a commit.
        """
        actions = [
            *([] if cursor is None else _moved(cursor)),
            LeaseItem.owner.remove(),
            LeaseItem.lease_until.set(0),
            LeaseItem.found.set(found),
            LeaseItem.swept_at.set(now),
            LeaseItem.judged_at.remove(),
            LeaseItem.tries.remove(),
            LeaseItem.left_at.remove() if left_at is None else LeaseItem.left_at.set(left_at),
            LeaseItem.peak.set([now, peak]) if peak else LeaseItem.peak.remove(),
        ]
        answer = self._table.update(_key(lease.shard), actions, _is_held_by(lease))
        return None if isinstance(answer, Refusal) else _lease(answer)


def _moved(cursor: Cursor) -> list[Action]:
    """The actions that store a cursor."""
    part, in_batch = _part(cursor), _in_batch(cursor)
    return [
        LeaseItem.cursor.set(cursor.key),
        LeaseItem.within.set(_within(cursor)),
        LeaseItem.part.remove() if part is None else LeaseItem.part.set(part),
        LeaseItem.in_batch.remove() if in_batch is None else LeaseItem.in_batch.set(in_batch),
    ]


def _is_held_by(lease: Lease) -> Condition:
    return LeaseItem.fence == lease.fence


def _key(shard: int) -> ItemKey:
    return _PARTITION, f"{shard:04d}"


def _heartbeat(raw: RawItem) -> Heartbeat:
    item = HeartbeatItem.read(raw)
    return Heartbeat(item.at, item.off_since, item.limit)


def _item(lease: Lease) -> LeaseItem:
    return LeaseItem(
        *_key(lease.shard),
        cursor=lease.cursor.key,
        within=_within(lease.cursor),
        part=_part(lease.cursor),
        in_batch=_in_batch(lease.cursor),
        fence=lease.fence,
        owner=lease.owner,
        lease_until=lease.lease_until,
        found=lease.found,
        swept_at=lease.swept_at,
        judged_at=lease.judged_at,
        tries=lease.tries or None,
        left_at=lease.left_at,
        peak=[lease.swept_at, lease.peak] if lease.peak else None,
    )


def _lease(raw: RawItem) -> Lease:
    item = LeaseItem.read(raw)
    peak_of, peak = item.peak or (item.swept_at, 0)
    return Lease(
        shard=int(item.sk),
        cursor=_cursor(item.cursor, item.within, item.part, item.in_batch),
        fence=item.fence,
        owner=item.owner,
        lease_until=item.lease_until,
        found=item.found,
        swept_at=item.swept_at,
        judged_at=item.judged_at,
        tries=item.tries or 0,
        left_at=item.left_at,
        peak=peak if peak_of == item.swept_at else 0,
    )


def _within(cursor: Cursor) -> Sequence[int] | None:
    """The occurrence as every version reads it: its due time and its number."""
    within = _NO_OCCURRENCE if cursor.entry and cursor.within is None else cursor.within
    return within and [within.due_at, within.sequence]


def _in_batch(cursor: Cursor) -> list[Any] | None:
    """What a version that does not know batches would not read of a cursor; None if there is nothing."""
    within = cursor.within
    return (
        None
        if within is None or not within.batch_index
        else [cursor.key, within.batch_index, within.after_ms]
    )


def _part(cursor: Cursor) -> list[Any] | None:
    """What a version that does not know packs would not read of a cursor; None if there is nothing."""
    if not cursor.entry and cursor.chunk is None:
        return None
    chunk = cursor.chunk and [*cursor.chunk.last, cursor.chunk.judged_at]
    return [cursor.key, cursor.entry, chunk]


def _cursor(
    key: str, within: Sequence[int] | None, part: Sequence[Any] | None, in_batch: Sequence[Any] | None
) -> Cursor:
    occurrence = None if within is None else Occurrence(*within)
    if occurrence is not None and in_batch is not None and in_batch[0] == key:
        occurrence = occurrence._replace(batch_index=in_batch[1], after_ms=in_batch[2])
    known = None if occurrence == _NO_OCCURRENCE else occurrence
    if part is None or part[0] != key or (part[1] and occurrence is None):
        # There is no such part, or a version that does not know packs has moved the cursor since.
        return Cursor(key, known)
    _, entry, chunk = part
    return Cursor(key, known, entry, chunk and Chunk(Place(*chunk[:2]), chunk[2]))
