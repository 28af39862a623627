"""How rounds of tick are stored: one item each in the Timers table, which tick may write."""

from typing import Any, Final

from sweephand.base.layouts import NAME, SENTENCE, WHOLE, Field, Layout, choice_of
from sweephand.model.audit_round import AuditRound, JobProgress
from sweephand.model.keep_round import KEEP_PARTS, KeepPlace, KeepRound
from sweephand.storage.item import StoredItem, fields_of
from sweephand.storage.table import ItemKey, Table
from sweephand.storage.versions import put_version

#: Beside the position of the audit of payloads.
_JOBS: Final[ItemKey] = ("audits", "jobs")
_WAITING: Final[ItemKey] = ("audits", "waiting")

_PROGRESS: Final = Layout(
    JobProgress,
    Field("namespace", "namespace", SENTENCE, ""),
    Field("name", "name", SENTENCE, ""),
    Field("before", "before", SENTENCE, ""),
)

_PLACE: Final = Layout(
    KeepPlace,
    Field("part", "part", choice_of(*KEEP_PARTS)),
    Field("name", "name", SENTENCE, ""),
    Field("after", "after", SENTENCE, ""),
    Field("before", "before", SENTENCE, ""),
)

_ROUND: Final = (
    Field("began_at", "began", WHOLE),
    Field("held_until", "until", WHOLE),
    Field("version", "version", NAME),
)

_AUDIT_ROUND: Final = Layout(AuditRound, *_ROUND, Field("progress", "reached", _PROGRESS.form, None))

_KEEP_ROUND: Final = Layout(
    KeepRound, *_ROUND, Field("place", "reached", _PLACE.form, None), Field("done_at", "done", WHOLE, None)
)


class DynamoAuditRounds:
    """audit_rounds.AuditRoundStore on the Timers table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self) -> AuditRound | None:
        """The round. One strong read."""
        fields = _read(self._table, _JOBS, _AUDIT_ROUND)
        return None if fields is None else AuditRound(**fields)

    def put(self, written: AuditRound, replacing: str | None) -> bool:
        """Write the round on the condition of its version. One write."""
        item = StoredItem(*_JOBS, _AUDIT_ROUND, written)
        return put_version(self._table, item, written.version, replacing)


class DynamoKeepRounds:
    """ports.KeepRoundStore on the Timers table."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def get(self) -> KeepRound | None:
        """The round. One strong read."""
        fields = _read(self._table, _WAITING, _KEEP_ROUND)
        return None if fields is None else KeepRound(**fields)

    def put(self, written: KeepRound, replacing: str | None) -> bool:
        """Write the round on the condition of its version. One write."""
        item = StoredItem(*_WAITING, _KEEP_ROUND, written)
        return put_version(self._table, item, written.version, replacing)


def _read(table: Table, place: ItemKey, layout: Layout[Any]) -> dict[str, Any] | None:
    """The fields of a round; None if there is none."""
    raw = table.get(place)
    return None if raw is None else fields_of(layout, raw)
