"""Writing jobs: drafts a new version from the stored one and a request, until a draft is committed."""

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sweephand.base.errors import UnavailableError
from sweephand.base.instants import Instant
from sweephand.jobs.calendars import CalendarCheck
from sweephand.jobs.commit import Commits, Draft
from sweephand.jobs.draft import draft_creation, draft_patch, draft_replacement, shard_of
from sweephand.jobs.policy_check import PolicyCheck
from sweephand.jobs.preconditions import (
    check_job_revision,
    check_revision,
    check_time_limit,
    existing_job,
    stored_job,
    within_time_limit,
)
from sweephand.jobs.quotas import Quotas
from sweephand.jobs.series import is_over
from sweephand.jobs.settings_cache import JobDefaults
from sweephand.jobs.write_check import SecretCheck, WriteCheck
from sweephand.model.change import Change
from sweephand.model.definition import Definition
from sweephand.model.job import Job, JobKey
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.jobs import ChangeStore, JobStore

#: Makes a patched definition; InvalidError if the patch cannot be applied.
Patch: TypeAlias = Callable[[Definition], Definition]


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The job after the write, and what the write did."""

    job: Job
    outcome: Literal["created", "replaced", "unchanged"]


class Writer:
    """Creates, replaces, patches and deletes jobs.

    If several callers write one job at once, one commits. The others start again from its version.
    """

    def __init__(
        self,
        *,
        jobs: JobStore,
        changes: ChangeStore,
        commits: Commits,
        policies: PolicyCheck,
        calendars: CalendarCheck,
        defaults: JobDefaults,
        secrets: SecretCheck,
        quotas: Quotas,
        clock: Clock,
        ids: Ids,
        shards: Callable[[], int],
    ) -> None:
        self._jobs = jobs
        self._changes = changes
        self._commits = commits
        self._check = WriteCheck(
            policies=policies, calendars=calendars, defaults=defaults, secrets=secrets, quotas=quotas
        )
        self._quotas = quotas
        self._clock = clock
        self._ids = ids
        self._shards = shards

    def for_call(self) -> "Writer":
        """A writer for one call that writes several jobs: it reads each thing that they name once."""
        writer = copy(self)
        vars(writer).update(_check=self._check.once())
        return writer

    def put(
        self,
        key: JobKey,
        definition: Definition,
        *,
        caller: str,
        requested_at: Instant,
        if_match: tuple[str, ...] | None = None,
        if_absent: bool = False,
        traceparent: str | None = None,
        reason: str | None = None,
        is_dry: bool = False,
        is_paused: bool = False,
    ) -> WriteResult:
        """Create or replace a job. An equal definition changes nothing, unless the job is completed.

        If it `is_dry`, nothing is written: the result is what the write would have made, and the errors are
        its errors, except for QuotaError.

        `if_match` are the revisions of which the job must have one. With `if_absent`, there must be no job.
        Relative times count from `requested_at`. A paused job stays paused, and a new one begins so if it
        `is_paused`. A job without `retry` gets that
        of its namespace. `traceparent` is the trace context of the request. `reason` says why, in the change.
        Raises InvalidError for impossible times, for data over the namespace's limit, and for what the job
        names and does not exist: a policy, a calendar, a secret or a default target. Raises QuotaError,
        PreconditionError, and UnavailableError after 20 s. In each case nothing was committed. Raises
        StoreError, after which the write may be committed. The caller may safely ask again.
        """
        definition = self._check.with_retry(key.namespace, definition)
        while True:
            # A bulk call may reach this job only after the limit. Arming it would then be in vain.
            self._commits.check_time_limit(requested_at)
            found = self._jobs.get(key)
            stored = None if found is None or found.is_gone(requested_at) else found
            present = None if stored is None else stored.rev
            check_revision(f"job {key.name}", present, if_match, if_absent=if_absent)
            is_equal = stored is not None and definition.equals(stored.definition)
            if stored is not None and is_equal and not is_over(stored, requested_at):
                return WriteResult(stored, "unchanged")
            if stored is None:
                draft = self.draft_new(key, definition, caller=caller, requested_at=requested_at)
                draft = draft.with_pause() if is_paused else draft
            else:
                self._check.check(key.namespace, definition, policy=stored.definition.policy)
                wanted = self._check.with_days(key.namespace, definition, stored)
                token = self._ids.token()
                draft = draft_replacement(stored, wanted, token=token, who=caller, now=requested_at)
            if is_dry:
                job: Job | None = draft.job
            else:
                job = self._commit(draft.with_origin(traceparent).with_reason(reason), stored, over=found)
            if job is not None:
                return WriteResult(job, "created" if stored is None else "replaced")

    def draft_new(
        self,
        key: JobKey,
        definition: Definition,
        *,
        caller: str,
        requested_at: Instant,
        shard: int | None = None,
    ) -> Draft:
        """The draft of a job that does not exist, in `shard` or in one drawn for it. Writes nothing.

        Raises InvalidError as put() does.
        """
        definition = self._check.with_retry(key.namespace, definition)
        self._check.check(key.namespace, definition)
        definition = self._check.with_days(key.namespace, definition)
        uid, token = self._ids.token(), self._ids.token()
        if shard is None:
            shard = shard_of(uid, self._shards())
        return draft_creation(
            key, definition, uid=uid, token=token, shard=shard, who=caller, now=requested_at
        )

    def patch(
        self,
        key: JobKey,
        patch: Patch,
        *,
        caller: str,
        requested_at: Instant,
        if_match: tuple[str, ...] | None = None,
        traceparent: str | None = None,
    ) -> WriteResult:
        """Patch a job. If the definition stays equal, nothing changes, even if the job is completed.

        `patch` gets the stored definition. It is called again if another caller has written the job
        meanwhile. The count of `repeats` continues. A policy and secrets that the patch leaves as they are
        need not exist. Neither need the default target of targets that it leaves as they are. Raises as put()
        does, and NotFoundError.
        """
        while True:
            self._commits.check_time_limit(requested_at)
            stored = existing_job(self._jobs.get(key), key, requested_at)
            check_job_revision(key, stored, if_match)
            definition = patch(stored.definition)
            if "retry" in stored.definition.written:
                definition = self._check.with_retry(key.namespace, definition)
            if definition.equals(stored.definition):
                return WriteResult(stored, "unchanged")
            self._check.check(key.namespace, definition, stored.definition)
            definition = self._check.with_days(key.namespace, definition, stored)
            token = self._ids.token()
            draft = draft_patch(stored, definition, token=token, who=caller, now=requested_at)
            job = self._commits.commit(draft.with_origin(traceparent), stored, over=stored)
            if job is not None:
                return WriteResult(job, "replaced")

    def _commit(self, draft: Draft, stored: Job | None, *, over: Job | None) -> Job | None:
        """As Commits.commit(). A new job first takes a place among those that its namespace may store."""
        if stored is not None:
            return self._commits.commit(draft, stored, over=over)
        reserved = self._quotas.reserve(draft.job.key.namespace)
        if reserved.refusal is not None:
            raise reserved.refusal
        try:
            job = self._commits.commit(draft.with_place(reserved.counted_in), None, over=over)
        except UnavailableError:
            self._quotas.release(reserved)
            raise
        if job is None:
            self._quotas.release(reserved)
        return job

    def delete(
        self,
        key: JobKey,
        *,
        who: str,
        requested_at: Instant,
        if_match: tuple[str, ...] | None = None,
        reason: str | None = None,
    ) -> None:
        """Delete a job. Once this returns, no delivery of it begins.

        A job that has expired is deleted too while it is stored, since its late triggers may still wait. If a
        caller creates a job of the same name after this has found the one to delete, the new job stays. Its
        timers and messages are dropped when they are read. Its runs and changes stay. Raises NotFoundError if
        no job is stored, PreconditionError, and UnavailableError after 20 s.
        """
        deleted = Change(requested_at, who, "deleted", self._ids.token(), reason)
        refused: Job | None = None
        while True:
            found = self._jobs.get(key)
            if refused is not None and found is not None and found.uid != refused.uid:
                # The SDK may repeat a deletion whose answer was lost. By then the job is deleted, and another
                # caller may have created a new job of its name.
                self._commits.discard_unused_payload(refused, found)
                return
            job = stored_job(found, key)
            check_job_revision(key, job, if_match)
            # The change is filed first. After a crash the deletion may be filed without effect, but never
            # lost.
            for change in (job.change, deleted):
                if change is not None:
                    self._changes.put(key, change._replace(uid=job.uid))
            deletion = self._quotas.before_deletion(job)
            check_time_limit(self._clock, requested_at)
            if self._jobs.delete(job, within_time_limit(self._clock, requested_at)):
                # A job that has expired may be off the count already. If not, the next count frees its place.
                if deletion is not None and not job.is_gone(self._clock.now()):
                    self._quotas.after_deletion(deletion)
                self._commits.discard_unused_payload(job, None)
                return
            refused = job
