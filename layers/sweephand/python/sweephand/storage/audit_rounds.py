"""How the round of the audit of jobs is stored: one item of the Timers table, which tick may write."""

from typing import Final

from sweephand.base.layouts import NAME, SENTENCE, WHOLE, Field, Layout
from sweephand.model.audit_round import AuditRound, JobProgress
from sweephand.storage.item import StoredItem, fields_of
from sweephand.storage.table import ItemKey, Table
from sweephand.storage.versions import put_version

#: Beside the position of the audit of payloads.
_JOBS: Final[ItemKey] = ("audits", "jobs")

_PROGRESS: Final = Layout(
    JobProgress,
    Field("namespace", "namespace", SENTENCE, ""),
    Field("name", "name", SENTENCE, ""),
    Field("before", "before", SENTENCE, ""),
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
