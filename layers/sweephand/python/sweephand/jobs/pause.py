"""Pausing: after a pause, no delivery of the job begins."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sweephand.base.errors import NotFoundError, PreconditionError
from sweephand.base.instants import Instant
from sweephand.jobs.preconditions import check_job_revision, check_time_limit, existing_job, within_time_limit
from sweephand.model.change import Change
from sweephand.model.job import Job, JobKey
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.jobs import ChangeStore, JobStore


class Pauser:
    """Pauses jobs: for a caller, and for Sweephand itself after an answer that asks for it."""

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
        if_match: tuple[str, ...] | None = None,
        target: Mapping[str, Any] | None = None,
    ) -> Job:
        """Pause a job. Once this returns, no delivery of it begins, except of triggers on demand.

        A job that is paused already is not changed: it keeps the instant and the reason of its pause.
        Triggers that fell due before the pause wait for the resume. The resume decides about those that fall
        due after it. With `uid`, the job must be that one, and not a later one of its name. With `target`,
        the job's target must still be equal. Raises NotFoundError, PreconditionError, and UnavailableError
        after 20 s; then nothing was written. Raises StoreError, after which the pause may be written. The
        caller may safely ask again.
        """
        while True:
            stored = existing_job(self._jobs.get(key), key, requested_at)
            if uid is not None and stored.uid != uid:
                raise NotFoundError(
                    f"The job {key.name} of namespace {key.namespace} was deleted and created again."
                )
            check_job_revision(key, stored, if_match)
            if target is not None and stored.definition.target != target:
                raise PreconditionError(f"The target of the job {key.name} was changed.")
            if stored.paused_at is not None:
                return stored
            if stored.change is not None:
                self._changes.put(key, stored.change)
            now = self._clock.now()
            check_time_limit(self._clock, requested_at)
            # A pause before the cut would leave the present revision with an end before its beginning.
            paused_at = max(now, stored.cut)
            token = self._ids.token()
            paused = replace(
                stored,
                version=token,
                paused_at=paused_at,
                pause_reason=reason,
                updated_at=max(now, stored.updated_at),
                # A paused job never expires, so that the user finds it however long the pause lasts.
                expires_at=None,
                change=Change(paused_at, who, "paused", token, reason),
            )
            if self._jobs.put(paused, stored.version, within_time_limit(self._clock, requested_at)):
                return paused
