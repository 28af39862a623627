"""How Sweephand pauses a job by itself, because of what became of one of its triggers."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from sweephand.base.errors import NotFoundError, PreconditionError
from sweephand.jobs.pause import Pauser
from sweephand.model.change import SWEEPHAND
from sweephand.model.job import JobKey
from sweephand.ports import ChangeStore, Clock, Ids, JobStore


class AutoPause:
    """settle.Pauses over the jobs: the same pause as a caller's, by nobody's wish but the consumer's."""

    def __init__(self, *, jobs: JobStore, changes: ChangeStore, clock: Clock, ids: Ids) -> None:
        self._pauser = Pauser(jobs=jobs, changes=changes, clock=clock, ids=ids)
        self._clock = clock

    def pause(self, key: JobKey, *, uid: str, reason: str, target: Mapping[str, Any] | None = None) -> None:
        """Pause the job if it is there, the one of that uid, still of that target, and not paused yet."""
        now = self._clock.now()
        with suppress(NotFoundError, PreconditionError):
            self._pauser.pause(key, reason=reason, who=SWEEPHAND, requested_at=now, uid=uid, target=target)
