"""Pausing: the moment from which on no delivery of a job begins."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sweephand.base.errors import NotFoundError, PreconditionError
from sweephand.base.instants import Instant
from sweephand.jobs.preconditions import check_revision, present
from sweephand.jobs.time_limit import check_patience, in_time
from sweephand.model.change import Change
from sweephand.model.job import Job, JobKey
from sweephand.ports import ChangeStore, Clock, Ids, JobStore


class Pauser:
    """Pauses jobs: for a caller, and for Sweephand itself where a consumer's answer asks for it."""

    def __init__(self, *, jobs: JobStore, changes: ChangeStore, clock: Clock, ids: Ids) -> None:
        self._jobs = jobs
        self._changes = changes
        self._clock = clock
        self._ids = ids

    def pause(
        self,
        key: JobKey,
        *,
        reason: str | None,
        who: str,
        requested_at: Instant,
        uid: str | None = None,
        if_match: str | None = None,
        target: Mapping[str, Any] | None = None,
    ) -> Job:
        """Pause a job: once this returns, no delivery of it begins but those that are asked for by hand.

        A paused job stays as it is, with the moment and the reason of its first pause. What fell due up to
        the moment is held until the resume; what falls due after it is for the resume to decide on. With
        `uid`, the job must be that one, not a later one of its name; with `target`, its target must be that
        one still. Raises NotFoundError, PreconditionError, and UnavailableError after 20 s: nothing was
        written. StoreError: it may have been, and asking again is safe.
        """
        while True:
            stored = present(self._jobs.get(key), key, requested_at)
            if uid is not None and stored.uid != uid:
                raise NotFoundError(f"The job {key.name} of namespace {key.namespace} is another one by now.")
            check_revision(key, stored, if_match)
            if target is not None and stored.definition.target != target:
                raise PreconditionError(f"The job {key.name} has another target by now.")
            if stored.paused_at is not None:
                return stored
            if stored.change is not None:
                self._changes.put(key, stored.change)
            now = self._clock.now()
            check_patience(self._clock, requested_at)
            # Not before the cut: the revision that rules must not be left with less than nothing.
            paused_at = max(now, stored.cut)
            token = self._ids.token()
            paused = replace(
                stored,
                version=token,
                paused_at=paused_at,
                pause_reason=reason,
                updated_at=max(now, stored.updated_at),
                # Who paused it will want to find it, however long that takes.
                expires_at=None,
                change=Change(paused_at, who, "paused", token, reason),
            )
            if self._jobs.put(paused, stored.version, in_time(self._clock, requested_at)):
                return paused
