"""How far the audits have come, in memory."""

import threading
from typing import Generic, TypeVar

from sweephand.model.audit_round import AuditRound
from sweephand.model.keep_round import KeepRound

Round = TypeVar("Round", AuditRound, KeepRound)


class MemoryAudits:
    """jobs.payload_audit.AuditStore."""

    def __init__(self) -> None:
        self._reached = ""

    def position(self) -> str:
        return self._reached

    def save_position(self, position: str) -> None:
        self._reached = position


class _Rounds(Generic[Round]):
    """A round that is written on the condition of its version."""

    def __init__(self) -> None:
        self._stored: Round | None = None
        self._lock = threading.Lock()

    def get(self) -> Round | None:
        return self._stored

    def put(self, written: Round, replacing: str | None) -> bool:
        with self._lock:
            version = None if self._stored is None else self._stored.version
            if version not in (replacing, written.version):
                return False
            self._stored = written
            return True


class MemoryAuditRounds(_Rounds[AuditRound]):
    """runs.audit_rounds.AuditRoundStore."""


class MemoryKeepRounds(_Rounds[KeepRound]):
    """ports.KeepRoundStore."""
