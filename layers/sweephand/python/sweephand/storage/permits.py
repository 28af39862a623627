"""How the permits of policies are stored in the Jobs table: holders, and the tokens of a rate.

Each away entry is an attribute of its holder: `a_` and its id, with the instant at which it ends. So entering
or removing one is a single update, which may be repeated and never meets another writer.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from pynamodb.attributes import UnicodeAttribute
from pynamodb.expressions.operand import Path

from sweephand.base.instants import Instant
from sweephand.model.policy import GROUP_SIZE, PermitHolder, PolicyKey, RateBucket
from sweephand.storage.item import IntegerAttribute, Item
from sweephand.storage.table import ItemKey, RawItem, Refusal, Table

_AWAY: Final = "a_"


class HolderItem(Item):
    """A holder as stored, without its away entries."""

    owner = UnicodeAttribute(null=True)
    until = IntegerAttribute(null=True)
    idle_until = IntegerAttribute(null=True, attr_name="idle")


class BucketItem(Item):
    """The tokens of a rate."""

    next_us = IntegerAttribute(null=True, attr_name="next")
    owner = UnicodeAttribute(null=True)
    mark_until = IntegerAttribute(null=True, attr_name="mark")
    mark_owner = UnicodeAttribute(null=True, attr_name="marker")
    covered_until = IntegerAttribute(null=True, attr_name="covered")
    step_us = IntegerAttribute(null=True, attr_name="step")


class DynamoPermits:
    """ports.PermitStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def holders(self, key: PolicyKey, group: int) -> Sequence[PermitHolder]:
        """The holders of a group, by one query. Those that are not stored were never taken."""
        result = self._table.query(HolderItem.pk == _partition(key, str(group)))
        stored = {holder.slot: holder for holder in map(_holder, result.items)}
        first = group * GROUP_SIZE
        return [stored.get(slot) or PermitHolder(slot) for slot in range(first, first + GROUP_SIZE)]

    def take(
        self, key: PolicyKey, seen: PermitHolder, owner: str, now: Instant, until: Instant
    ) -> PermitHolder | None:
        """Take the holder if it is free or already taken by this owner."""
        unowned = HolderItem.owner.does_not_exist()
        ended = HolderItem.until < now
        over = [each for each, ends_at in seen.away.items() if ends_at <= now]
        actions = [
            HolderItem.owner.set(owner),
            HolderItem.until.set(until),
            HolderItem.idle_until.remove(),
            *(Path(_AWAY + each).remove() for each in over),
        ]
        answer = self._table.update(_holder_key(key, seen.slot), actions, unowned | ended)
        if not isinstance(answer, Refusal):
            return _holder(answer)
        stored = _holder(answer.existing)
        return stored if stored.owner == owner else None

    def holder(self, key: PolicyKey, slot: int) -> PermitHolder:
        """The holder of that number. One strong read."""
        raw = self._table.get(_holder_key(key, slot))
        return PermitHolder(slot) if raw is None else _holder(raw)

    def enter(
        self, key: PolicyKey, slot: int, owner: str, away: Mapping[str, Instant], *, releasing: bool = False
    ) -> bool:
        """Set the away entries, and remove the owner if so asked, if this owner has the holder.

        A release that is repeated finds no owner. It shows its own away entries then, or had none to show: a
        holder without an owner is released.
        """
        actions = [Path(_AWAY + each).set(until) for each, until in away.items()]
        if releasing:
            actions += [HolderItem.owner.remove(), HolderItem.until.remove(), HolderItem.idle_until.remove()]
        if not actions:
            return True
        answer = self._table.update(_holder_key(key, slot), actions, HolderItem.owner == owner)
        if not isinstance(answer, Refusal):
            return True
        if not releasing or answer.stored is None:
            return False
        stored = _holder(answer.stored)
        return stored.owner is None and all(stored.away.get(each) == at for each, at in away.items())

    def announce(self, key: PolicyKey, slot: int, owner: str, until: Instant) -> None:
        """Store the instant if this owner has the holder."""
        self._table.update(
            _holder_key(key, slot), [HolderItem.idle_until.set(until)], HolderItem.owner == owner
        )

    def remove(self, key: PolicyKey, slot: int, away: Sequence[str]) -> None:
        """Remove the away entries, if the holder is stored at all."""
        if away:
            actions = [Path(_AWAY + each).remove() for each in away]
            self._table.update(_holder_key(key, slot), actions, HolderItem.pk.exists())

    def bucket(self, key: PolicyKey) -> RateBucket:
        """The tokens of the policy's rate. One strong read."""
        raw = self._table.get(_bucket_key(key))
        return RateBucket() if raw is None else _bucket(raw)

    def move_bucket(self, key: PolicyKey, bucket: RateBucket, seen: RateBucket) -> bool:
        """Store the next slot and who moved it, if both are as they were seen, or if this write is there."""
        unseen = BucketItem.next_us.does_not_exist()
        unchanged = BucketItem.next_us == seen.next_us
        if seen.owner is not None:
            unchanged &= BucketItem.owner == seen.owner
        assert bucket.owner is not None, "whoever moves a bucket has an id"
        actions = [
            BucketItem.next_us.set(bucket.next_us),
            BucketItem.owner.set(bucket.owner),
            BucketItem.step_us.set(bucket.step_us),
        ]
        condition = unseen if seen.owner is None else unchanged
        answer = self._table.update(_bucket_key(key), actions, condition)
        if not isinstance(answer, Refusal):
            return True
        stored = None if answer.stored is None else _bucket(answer.stored)
        return stored is not None and (stored.next_us, stored.owner) == (bucket.next_us, bucket.owner)

    def mark(self, key: PolicyKey, now: Instant, until: Instant, owner: str) -> bool:
        """Set the mark if there is none, if it has ended, or if this very mark is stored already."""
        unmarked = BucketItem.mark_until.does_not_exist()
        ended = BucketItem.mark_until <= now
        actions = [BucketItem.mark_until.set(until), BucketItem.mark_owner.set(owner)]
        answer = self._table.update(_bucket_key(key), actions, unmarked | ended)
        return not isinstance(answer, Refusal) or _bucket(answer.existing).mark_owner == owner

    def clear_mark(self, key: PolicyKey) -> None:
        """Remove the mark, if the bucket is stored at all."""
        self._table.update(
            _bucket_key(key),
            [BucketItem.mark_until.remove(), BucketItem.mark_owner.remove()],
            BucketItem.pk.exists(),
        )

    def cover(self, key: PolicyKey, until: Instant) -> None:
        """Store the instant if it is later than the stored one."""
        unset = BucketItem.covered_until.does_not_exist()
        earlier = BucketItem.covered_until < until
        self._table.update(_bucket_key(key), [BucketItem.covered_until.set(until)], unset | earlier)


def _partition(key: PolicyKey, part: str) -> str:
    return f"permits#{key.namespace}#{key.name}#{part}"


def _holder_key(key: PolicyKey, slot: int) -> ItemKey:
    return _partition(key, str(slot // GROUP_SIZE)), f"{slot:05d}"


def _bucket_key(key: PolicyKey) -> ItemKey:
    return _partition(key, "rate"), "bucket"


def _holder(raw: RawItem) -> PermitHolder:
    item = HolderItem.read(raw)
    away = {
        name.removeprefix(_AWAY): int(value["N"]) for name, value in raw.items() if name.startswith(_AWAY)
    }
    return PermitHolder(int(item.sk), item.owner, item.until or 0, away, item.idle_until or 0)


def _bucket(raw: RawItem) -> RateBucket:
    item = BucketItem.read(raw)
    return RateBucket(
        item.next_us or 0,
        item.owner,
        item.mark_until or 0,
        item.mark_owner,
        item.covered_until or 0,
        item.step_us or 0,
    )
