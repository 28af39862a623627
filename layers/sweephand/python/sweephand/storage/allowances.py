"""How the allowances of the stack and of namespaces are stored: one item each in the Jobs table."""

from typing import Final

from sweephand.base.errors import StoreError
from sweephand.base.instants import DAY_MS, SECOND_MS, Instant
from sweephand.model.allowance import Allowance, first_slot, minute_us_of, step_us_of
from sweephand.storage.item import IntegerAttribute, Item
from sweephand.storage.table import ItemKey, RawItem, Refusal, Table

_SORT_KEY: Final = "minute"

#: Other processes can take slots between a read and a write. After so many tries, the message comes again.
_TRIES_MAX: Final = 20

#: An item that no process has used for so long is removed.
_KEPT_MS: Final = 14 * DAY_MS


class AllowanceItem(Item):
    """The next free slot, and the limit for which that holds."""

    next_us = IntegerAttribute(attr_name="next")
    per_minute = IntegerAttribute(attr_name="limit")


class DynamoAllowances:
    """flow_ports.AllowanceStore on the Jobs table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self, bucket: str) -> Allowance | None:
        """The allowance as it is stored. One strong read."""
        raw = self._table.get(_key(bucket))
        return None if raw is None else _allowance(raw)

    def take(self, bucket: str, now: Instant, per_minute: int, count: int) -> int:
        """Take slots by one addition while this minute's allowance is in use, and else by compare-and-set."""
        taken_us, expires_at = count * step_us_of(per_minute), (now + _KEPT_MS) // SECOND_MS
        for _ in range(_TRIES_MAX):
            is_in_use = (AllowanceItem.next_us >= minute_us_of(now)) & (
                AllowanceItem.per_minute == per_minute
            )
            actions = [AllowanceItem.next_us.add(taken_us), AllowanceItem.expires_at.set(expires_at)]
            answer = self._table.update(_key(bucket), actions, is_in_use)
            if not isinstance(answer, Refusal):
                return _allowance(answer).next_us - taken_us
            stored = None if answer.stored is None else _allowance(answer.stored)
            first_us = first_slot(stored, now, per_minute)
            item = AllowanceItem(
                *_key(bucket),
                next_us=first_us + taken_us,
                per_minute=per_minute,
                expires_at=expires_at,
            )
            if stored is None:
                unchanged = AllowanceItem.pk.does_not_exist()
            else:
                unchanged = (AllowanceItem.next_us == stored.next_us) & (
                    AllowanceItem.per_minute == stored.per_minute
                )
            if self._table.put(item, unchanged) is None:
                return first_us
        raise StoreError(f"the allowance {bucket} was changed {_TRIES_MAX} times between a read and a write")


def _key(bucket: str) -> ItemKey:
    return f"allowance#{bucket}", _SORT_KEY


def _allowance(raw: RawItem) -> Allowance:
    item = AllowanceItem.read(raw)
    return Allowance(item.next_us, item.per_minute)
