"""Pausing: after a pause, no delivery of the job begins, until a resume or until the pause ends by itself."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sweephand.base.errors import NotFoundError, PreconditionError
from sweephand.base.instants import Instant
from sweephand.jobs.preconditions import check_job_revision, check_time_limit, existing_job, within_time_limit
from sweephand.model.change import SWEEPHAND, Change
from sweephand.model.job import Job, JobKey, PauseEnd
from sweephand.model.orders import ResumeMessage
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.jobs import ChangeStore, JobStore


class Pauser:
    """Pauses jobs: for a caller, and for Sweephand itself after an answer that asks for it."""

    def __init__(
        self,
        *,
        jobs: JobStore,
        changes: ChangeStore,
        send_at: Callable[[ResumeMessage, int], None],
        clock: Clock,
        ids: Ids,
    ) -> None:
        """`send_at` is that of Requeue."""
        self._jobs = jobs
        self._send_at = send_at
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
        end: PauseEnd | None = None,
        uid: str | None = None,
        if_match: tuple[str, ...] | None = None,
        target: Mapping[str, Any] | None = None,
    ) -> Job:
        """Pause a job. Once this returns, no delivery of it begins, except of triggers on demand.

        With an `end`, the job resumes by itself then. A job that is paused already keeps the instant and the
        reason of its pause. It gets the `end` of this call, or none if this call has none; Sweephand's own
        pause changes nothing. Triggers that fell due before the pause wait for the resume. The resume decides
        about those that fall due after it. With `uid`, the job must be that one, and not a later one of its
        name. With `target`, the job's target must still be equal. Raises NotFoundError, PreconditionError,
        and UnavailableError after 20 s; then nothing was written. Raises StoreError, after which the pause
        may be written. The caller may safely ask again.
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
            if stored.paused_at is not None and (who == SWEEPHAND or stored.pause_end == end):
                return stored
            if stored.change is not None:
                self._changes.put(key, stored.change._replace(uid=stored.uid))
            if end is not None:
                # The order comes before the commit, so that each pause that ends by itself has one.
                self._send_at(ResumeMessage(key, stored.uid, end.at, requested_at), stored.shard)
            now = self._clock.now()
            check_time_limit(self._clock, requested_at)
            # A pause before the cut would leave the present revision with an end before its beginning.
            changed_at = max(now, stored.cut, stored.paused_at or 0)
            is_new = stored.paused_at is None
            token = self._ids.token()
            ends_at = None if end is None else end.at
            paused = replace(
                stored,
                version=token,
                paused_at=changed_at if is_new else stored.paused_at,
                pause_reason=reason if is_new else stored.pause_reason,
                pause_end=end,
                updated_at=max(now, stored.updated_at),
                # A paused job never expires, so that the user finds it however long the pause lasts.
                expires_at=None,
                change=Change(changed_at, who, "paused", token, reason, until=ends_at),
            )
            if self._jobs.put(paused, stored.version, within_time_limit(self._clock, requested_at)):
                return paused
