"""Pausing a job because a run of it failed: its consumer is gone, or the job pauses on errors."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from sweephand.base.errors import NotFoundError, PreconditionError
from sweephand.jobs.pause import Pauser
from sweephand.model.change import SWEEPHAND
from sweephand.model.job import JobKey
from sweephand.ports import ChangeStore, Clock, Ids, JobStore


class AutoPause:
    """Pauses jobs in Sweephand's own name, by the same use case as a caller's pause."""

    def __init__(self, *, jobs: JobStore, changes: ChangeStore, clock: Clock, ids: Ids) -> None:
        self._pauser = Pauser(jobs=jobs, changes=changes, clock=clock, ids=ids)
        self._clock = clock

    def pause(self, key: JobKey, *, uid: str, reason: str, target: Mapping[str, Any] | None = None) -> None:
        """Pause the job, unless it is gone, has another uid or another target, or is paused already.

        With `target` None, any target is accepted.
        """
        now = self._clock.now()
        with suppress(NotFoundError, PreconditionError):
            self._pauser.pause(key, reason=reason, who=SWEEPHAND, requested_at=now, uid=uid, target=target)
