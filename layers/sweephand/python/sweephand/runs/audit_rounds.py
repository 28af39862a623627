"""The rounds of the audit of jobs: tick goes through all jobs once a week, a step at a time."""

from typing import Final, Protocol

from sweephand.base.timing import AUDIT_ROUND_MS, AUDIT_STEP_MAX_MS
from sweephand.ports.clock import Clock, Ids
from sweephand.runs.audit import Auditor
from sweephand.runs.audit_findings import BEGINNING, Audited, AuditRound

#: For so long, a round waits for shards whose sweepers are late. Then it passes over their jobs.
_PATIENCE_MS: Final = AUDIT_ROUND_MS // 2


class AuditRoundStore(Protocol):
    """The round of the audit of jobs. The token is `version`."""

    def get(self) -> AuditRound | None:
        """The round as it was last written; None before the first one."""
        ...

    def put(self, written: AuditRound, replacing: str | None) -> bool:
        """Write it if the stored version is `replacing` (None: if there is none); return whether it did."""
        ...


class AuditRounds:
    """Takes the steps of a round. Of two ticks at once, one takes the step."""

    def __init__(self, *, auditor: Auditor, rounds: AuditRoundStore, clock: Clock, ids: Ids) -> None:
        self._auditor = auditor
        self._rounds = rounds
        self._clock = clock
        self._ids = ids

    def step(self) -> Audited | None:
        """Examine the next jobs of the round, and write what was lost.

        None if the round is over and the next one does not begin yet, or if another step is at work. If a
        step fails or crashes, a later one repeats it. It also repeats a step that met a shard whose sweepers
        are late. StoreError and UnavailableError: the step failed.
        """
        stored, now = self._rounds.get(), self._clock.now()
        if stored is not None and stored.held_until > now:
            return None
        begun = stored
        if begun is None or (begun.progress is None and now - begun.began_at >= AUDIT_ROUND_MS):
            begun = AuditRound(now, BEGINNING, 0, "")
        if begun.progress is None:
            return None
        held = begun._replace(held_until=now + AUDIT_STEP_MAX_MS, version=self._ids.token())
        if not self._rounds.put(held, None if stored is None else stored.version):
            return None
        audited = self._auditor.audit(begun=begun.progress)
        must_wait = audited.late > 0 and now - begun.began_at < _PATIENCE_MS
        reached = begun.progress if must_wait else audited.reached
        done = held._replace(progress=reached, held_until=0, version=self._ids.token())
        # If this write is refused, the step took too long, and another step has begun.
        self._rounds.put(done, held.version)
        return audited
