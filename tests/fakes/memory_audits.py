"""How far the audits have come, in memory."""

import threading

from sweephand.runs.audit_findings import AuditRound


class MemoryAudits:
    """jobs.payload_audit.AuditStore."""

    def __init__(self) -> None:
        self._reached = ""

    def position(self) -> str:
        return self._reached

    def save_position(self, position: str) -> None:
        self._reached = position


class MemoryAuditRounds:
    """runs.audit_rounds.AuditRoundStore."""

    def __init__(self) -> None:
        self._stored: AuditRound | None = None
        self._lock = threading.Lock()

    def get(self) -> AuditRound | None:
        return self._stored

    def put(self, written: AuditRound, replacing: str | None) -> bool:
        with self._lock:
            version = None if self._stored is None else self._stored.version
            if version not in (replacing, written.version):
                return False
            self._stored = written
            return True
