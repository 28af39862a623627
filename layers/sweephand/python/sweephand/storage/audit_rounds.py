"""How the round of the audit of jobs is stored: one item in the Timers table, which tick may write."""

from typing import Final

from pynamodb.attributes import UnicodeAttribute

from sweephand.model.audit_round import AuditRound, JobProgress
from sweephand.storage.item import IntegerAttribute, Item, JsonAttribute
from sweephand.storage.table import ItemKey, Table

#: Beside the position of the audit of payloads.
_PLACE: Final[ItemKey] = ("audits", "jobs")


class RoundItem(Item):
    """The round. `reached` is `[namespace, name, before]`, and absent when the round is over."""

    began_at = IntegerAttribute(attr_name="began")
    reached = JsonAttribute(null=True)
    held_until = IntegerAttribute(attr_name="until")
    version = UnicodeAttribute()


class DynamoAuditRounds:
    """audit_rounds.AuditRoundStore on the Timers table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self) -> AuditRound | None:
        """The round. One strong read."""
        raw = self._table.get(_PLACE)
        if raw is None:
            return None
        item = RoundItem.read(raw)
        progress = None if item.reached is None else JobProgress(*item.reached)
        return AuditRound(item.began_at, progress, item.held_until, item.version)

    def put(self, written: AuditRound, replacing: str | None) -> bool:
        """Write the round on the condition of its version. One write."""
        item = RoundItem(
            *_PLACE,
            began_at=written.began_at,
            reached=None if written.progress is None else list(written.progress),
            held_until=written.held_until,
            version=written.version,
        )
        unchanged = RoundItem.pk.does_not_exist() if replacing is None else RoundItem.version == replacing
        refusal = self._table.put(item, unchanged)
        if refusal is None or refusal.stored is None:
            return refusal is None
        # The SDK has repeated a write that had succeeded.
        return bool(RoundItem.read(refusal.stored).version == written.version)
