"""How far the audits of jobs and of payloads have come: one item each in the Timers table."""

from typing import Final

from pynamodb.attributes import UnicodeAttribute

from sweephand.base.layouts import NAME, SENTENCE, WHOLE, Field, Layout
from sweephand.runs.audit_findings import AuditRound, JobProgress
from sweephand.storage.item import Item, StoredItem, fields_of
from sweephand.storage.table import ItemKey, Table, put_version

#: Beside the position of the audit of payloads.
_JOBS: Final[ItemKey] = ("audits", "jobs")

_PROGRESS: Final = Layout(
    JobProgress,
    Field("namespace", "namespace", SENTENCE, ""),
    Field("name", "name", SENTENCE, ""),
    Field("before", "before", SENTENCE, ""),
    Field("waiting", "waiting", SENTENCE, ""),
)

_ROUND: Final = Layout(
    AuditRound,
    Field("began_at", "began", WHOLE),
    Field("held_until", "until", WHOLE),
    Field("version", "version", NAME),
    Field("progress", "reached", _PROGRESS.form, None),
)


class DynamoAuditRounds:
    """audit_rounds.AuditRoundStore on the Timers table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self) -> AuditRound | None:
        """The round. One strong read."""
        raw = self._table.get(_JOBS)
        return None if raw is None else AuditRound(**fields_of(_ROUND, raw))

    def put(self, written: AuditRound, replacing: str | None) -> bool:
        """Write the round on the condition of its version. One write."""
        item = StoredItem(*_JOBS, _ROUND, written)
        return put_version(self._table, item, written.version, replacing)


#: Not in the partition of the leases: the reader of that partition must know each of its items.
_PAYLOADS: Final[ItemKey] = ("audits", "payloads")


class AuditItem(Item):
    """The position of the audit."""

    reached = UnicodeAttribute()


class DynamoAudits:
    """payload_audit.AuditStore on the Timers table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def position(self) -> str:
        """The position; "" before the first step. One strong read."""
        raw = self._table.get(_PAYLOADS)
        return "" if raw is None else str(AuditItem.read(raw).reached)

    def save_position(self, position: str) -> None:
        """Write the position. One write."""
        self._table.put(AuditItem(*_PAYLOADS, reached=position))
