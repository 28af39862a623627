"""How rounds of tick are stored: one item each in the Timers table, which tick may write."""

from typing import Any, Final

from pynamodb.attributes import UnicodeAttribute

from sweephand.model.audit_round import AuditRound, JobProgress
from sweephand.model.keep_round import KeepPlace, KeepRound
from sweephand.storage.item import IntegerAttribute, Item, JsonAttribute
from sweephand.storage.table import ItemKey, Table

#: Beside the position of the audit of payloads.
_JOBS: Final[ItemKey] = ("audits", "jobs")
_WAITING: Final[ItemKey] = ("audits", "waiting")


class RoundItem(Item):
    """A round. `reached` has the fields of its progress or place, and is absent when the round is over."""

    began_at = IntegerAttribute(attr_name="began")
    reached = JsonAttribute(null=True)
    held_until = IntegerAttribute(attr_name="until")
    done_at = IntegerAttribute(attr_name="done", null=True)
    version = UnicodeAttribute()


class DynamoAuditRounds:
    """audit_rounds.AuditRoundStore on the Timers table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self) -> AuditRound | None:
        """The round. One strong read."""
        item = _read(self._table, _JOBS)
        if item is None:
            return None
        progress = None if item.reached is None else JobProgress(*item.reached)
        return AuditRound(item.began_at, progress, item.held_until, item.version)

    def put(self, written: AuditRound, replacing: str | None) -> bool:
        """Write the round on the condition of its version. One write."""
        item = RoundItem(
            *_JOBS,
            began_at=written.began_at,
            reached=None if written.progress is None else list(written.progress),
            held_until=written.held_until,
            version=written.version,
        )
        return _is_put(self._table, item, replacing, written.version)


class DynamoKeepRounds:
    """keep_ports.KeepRoundStore on the Timers table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self) -> KeepRound | None:
        """The round. One strong read."""
        item = _read(self._table, _WAITING)
        if item is None:
            return None
        place = None if item.reached is None else KeepPlace(*item.reached)
        return KeepRound(item.began_at, place, item.held_until, item.version, item.done_at)

    def put(self, written: KeepRound, replacing: str | None) -> bool:
        """Write the round on the condition of its version. One write."""
        item = RoundItem(
            *_WAITING,
            began_at=written.began_at,
            reached=None if written.place is None else list(written.place),
            held_until=written.held_until,
            done_at=written.done_at,
            version=written.version,
        )
        return _is_put(self._table, item, replacing, written.version)


def _read(table: Table, place: ItemKey) -> Any:
    """The attributes of a round; None if there is none."""
    raw = table.get(place)
    return None if raw is None else RoundItem.read(raw)


def _is_put(table: Table, item: RoundItem, replacing: str | None, version: str) -> bool:
    unchanged = RoundItem.pk.does_not_exist() if replacing is None else RoundItem.version == replacing
    refusal = table.put(item, unchanged)
    if refusal is None or refusal.stored is None:
        return refusal is None
    # The SDK has repeated a write that had succeeded.
    return bool(RoundItem.read(refusal.stored).version == version)
