"""How the state of the wheel is stored: leases in the Timers table, its history, and the expiry switch."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, get_args

from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.attributes import UnicodeAttribute
from pynamodb.expressions.condition import Condition
from pynamodb.expressions.update import Action

from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.base.layouts import SENTENCE, WHOLE, Field, Layout, Part, choice_of
from sweephand.base.timing import CHANGE_RETENTION_MS
from sweephand.model.timer import Chunk, Cursor, Heartbeat, Lease, Place, WheelState
from sweephand.model.wheel_event import WheelEvent, WheelEventKind
from sweephand.model.wire_parts import OCCURRENCE
from sweephand.storage.item import FormAttribute, IntegerAttribute, Item, StoredItem, expiry, fields_of
from sweephand.storage.table import ItemKey, RawItem, Refusal, Table

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


_PARTITION: Final = "leases"
_TICK: Final[ItemKey] = (_PARTITION, "tick")
_SHARDS: Final[ItemKey] = (_PARTITION, "shards")


_CHUNK: Final = Layout(
    Chunk,
    Part("last", Layout(Place, Field("key", "k", SENTENCE), Field("entry", "e", SENTENCE, ""))),
    Field("judged_at", "j", WHOLE),
)


_HEARTBEAT: Final = Layout(
    Heartbeat,
    Field("at", "at", WHOLE),
    Field("off_since", "off", WHOLE, None),
    Field("limit", "limit", WHOLE, 0),
    Field("off_at", "was_off", WHOLE, None),
)


class LeaseItem(Item):
    """A shard's lease. Without `owner` the shard is free.

    `within`, `entry` and `chunk` are those of the cursor.
    """

    cursor = UnicodeAttribute()
    within = FormAttribute(OCCURRENCE.form, null=True)
    entry = UnicodeAttribute(null=True)
    chunk = FormAttribute(_CHUNK.form, null=True)
    fence = IntegerAttribute()
    owner = UnicodeAttribute(null=True)
    lease_until = IntegerAttribute(attr_name="until")
    found = IntegerAttribute()
    swept_at = IntegerAttribute(attr_name="swept")
    judged_at = IntegerAttribute(null=True, attr_name="judged")
    tries = IntegerAttribute(null=True)
    left_at = IntegerAttribute(null=True, attr_name="left")
    peak = IntegerAttribute(null=True)


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
        before = self._table.swap(StoredItem(*_TICK, _HEARTBEAT, heartbeat))
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
            LeaseItem.peak.set(peak) if peak else LeaseItem.peak.remove(),
        ]
        answer = self._table.update(_key(lease.shard), actions, _is_held_by(lease))
        return None if isinstance(answer, Refusal) else _lease(answer)


def _moved(cursor: Cursor) -> list[Action]:
    """The actions that store a cursor."""
    within, chunk = cursor.within, cursor.chunk
    return [
        LeaseItem.cursor.set(cursor.key),
        LeaseItem.within.remove() if within is None else LeaseItem.within.set(within),
        LeaseItem.entry.set(cursor.entry) if cursor.entry else LeaseItem.entry.remove(),
        LeaseItem.chunk.remove() if chunk is None else LeaseItem.chunk.set(chunk),
    ]


def _is_held_by(lease: Lease) -> Condition:
    return LeaseItem.fence == lease.fence


def _key(shard: int) -> ItemKey:
    return _PARTITION, f"{shard:04d}"


def _heartbeat(raw: RawItem) -> Heartbeat:
    return Heartbeat(**fields_of(_HEARTBEAT, raw))


def _item(lease: Lease) -> LeaseItem:
    return LeaseItem(
        *_key(lease.shard),
        cursor=lease.cursor.key,
        within=lease.cursor.within,
        entry=lease.cursor.entry or None,
        chunk=lease.cursor.chunk,
        fence=lease.fence,
        owner=lease.owner,
        lease_until=lease.lease_until,
        found=lease.found,
        swept_at=lease.swept_at,
        judged_at=lease.judged_at,
        tries=lease.tries or None,
        left_at=lease.left_at,
        peak=lease.peak or None,
    )


def _lease(raw: RawItem) -> Lease:
    item = LeaseItem.read(raw)
    return Lease(
        shard=int(item.sk),
        cursor=Cursor(item.cursor, item.within, item.entry or "", item.chunk),
        fence=item.fence,
        owner=item.owner,
        lease_until=item.lease_until,
        found=item.found,
        swept_at=item.swept_at,
        judged_at=item.judged_at,
        tries=item.tries or 0,
        left_at=item.left_at,
        peak=item.peak or 0,
    )


#: In the Jobs table, because a rebuild of the wheel begins with an empty Timers table.
_HISTORY: Final = "wheel"


#: An event as stored. The sort key holds when tick found it.
_EVENT: Final = Layout(
    WheelEvent,
    Field("kind", "kind", choice_of(*get_args(WheelEventKind))),
    Field("since", "since", WHOLE),
    Field("limit", "limit", WHOLE, 0),
)


class DynamoWheelHistory:
    """ports.WheelHistory on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def put(self, events: Sequence[WheelEvent]) -> None:
        """Write each event: 1 WRU."""
        for event in events:
            place = (_HISTORY, f"{event.at:014d}#{event.kind}")
            expires_at = expiry(event.at + CHANGE_RETENTION_MS)
            self._table.put(StoredItem(*place, _EVENT, event, expires_at=expires_at))

    def after(self, instant: Instant, limit: int) -> Sequence[WheelEvent]:
        """The first events after an instant, by one query."""
        later = (Item.pk == _HISTORY) & (Item.sk > f"{instant:014d}$")
        return [
            WheelEvent(at=int(raw["sk"]["S"].partition("#")[0]), **fields_of(_EVENT, raw))
            for raw in self._table.query(later, limit).items
        ]


_EXPIRY_ATTRIBUTE: Final = "expires_at"


class DynamoExpirySwitch:
    """ports.ExpirySwitch over the time to live of tables."""

    def __init__(self, client: "DynamoDBClient", tables: Sequence[str]) -> None:
        self._client = client
        self._tables = tables

    def set(self, *, is_on: bool) -> None:
        """One request for each table, and a second one if something is to be changed."""
        former = "DISABLED" if is_on else "ENABLED"
        for table in self._tables:
            try:
                answer = self._client.describe_time_to_live(TableName=table)
                if answer["TimeToLiveDescription"]["TimeToLiveStatus"] == former:
                    self._client.update_time_to_live(
                        TableName=table,
                        TimeToLiveSpecification={"AttributeName": _EXPIRY_ATTRIBUTE, "Enabled": is_on},
                    )
            except (ClientError, BotoCoreError) as error:
                raise StoreError(f"The time to live of table {table} was not set: {error}") from error
