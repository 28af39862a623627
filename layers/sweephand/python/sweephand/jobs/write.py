"""Writing jobs: which draft a request makes of what is stored, until one is committed."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sweephand.base.errors import PreconditionError
from sweephand.base.instants import Instant
from sweephand.jobs.commit import Commits
from sweephand.jobs.draft import amended, created, replaced
from sweephand.jobs.preconditions import check_revision, present
from sweephand.jobs.series import is_over
from sweephand.jobs.time_limit import check_patience, in_time
from sweephand.model.change import Change
from sweephand.model.definition import Definition
from sweephand.model.job import Job, JobKey
from sweephand.ports import ChangeStore, Clock, Ids, JobStore

#: What a patch makes of a definition; InvalidError for what it cannot be made.
Patch: TypeAlias = Callable[[Definition], Definition]


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The job as it now is, and what a write did to it."""

    job: Job
    outcome: Literal["created", "replaced", "unchanged"]


class Writer:
    """Creates, replaces, patches and deletes jobs.

    Of several who write one, one commits, and the others start over from what it wrote.
    """

    def __init__(
        self,
        *,
        jobs: JobStore,
        changes: ChangeStore,
        commits: Commits,
        clock: Clock,
        ids: Ids,
        shards: Callable[[], int],
    ) -> None:
        self._jobs = jobs
        self._changes = changes
        self._commits = commits
        self._clock = clock
        self._ids = ids
        self._shards = shards

    def put(
        self,
        key: JobKey,
        definition: Definition,
        *,
        caller: str,
        requested_at: Instant,
        if_match: str | None = None,
        if_absent: bool = False,
    ) -> WriteResult:
        """Create or replace a job; an equal definition changes nothing, unless the job is completed.

        `if_match` is the revision that must rule, `if_absent` asks that there be no job. Relative times
        count from `requested_at`. A paused job stays paused. Raises InvalidError (times that cannot be),
        PreconditionError, and UnavailableError after 20 s; in each case nothing was committed. StoreError:
        it may have been, and asking again is safe.
        """
        while True:
            # Of a bulk call, too: what has not begun in time must not be armed for nothing.
            self._commits.check_patience(requested_at)
            found = self._jobs.get(key)
            stored = None if found is None or found.is_gone(requested_at) else found
            if if_absent and stored is not None:
                raise PreconditionError(f"There is a job {key.name} already, in revision {stored.rev}.")
            check_revision(key, stored, if_match)
            if stored is None:
                uid, token = self._ids.token(), self._ids.token()
                draft = created(
                    key,
                    definition,
                    uid=uid,
                    token=token,
                    shards=self._shards(),
                    who=caller,
                    now=requested_at,
                )
            elif definition.equals(stored.definition) and not is_over(stored, requested_at):
                return WriteResult(stored, "unchanged")
            else:
                token = self._ids.token()
                draft = replaced(stored, definition, token=token, who=caller, now=requested_at)
            job = self._commits.commit(draft, stored, over=found)
            if job is not None:
                return WriteResult(job, "created" if stored is None else "replaced")

    def patch(
        self, key: JobKey, patch: Patch, *, caller: str, requested_at: Instant, if_match: str | None = None
    ) -> WriteResult:
        """Write some of a job anew; what is equal then changes nothing, even if the job is completed.

        `patch` is asked of the definition that is stored, again if somebody else has written the job
        meanwhile. `repeats` goes on counting. Raises as put() does, and NotFoundError.
        """
        while True:
            self._commits.check_patience(requested_at)
            stored = present(self._jobs.get(key), key, requested_at)
            check_revision(key, stored, if_match)
            definition = patch(stored.definition)
            if definition.equals(stored.definition):
                return WriteResult(stored, "unchanged")
            token = self._ids.token()
            draft = amended(stored, definition, token=token, who=caller, now=requested_at)
            job = self._commits.commit(draft, stored, over=stored)
            if job is not None:
                return WriteResult(job, "replaced")

    def delete(self, key: JobKey, *, who: str, requested_at: Instant, if_match: str | None = None) -> None:
        """Remove a job: once this returns, no delivery of it begins.

        A job that somebody creates under the name after this has found the one to remove is left alone.
        Raises NotFoundError, PreconditionError, and UnavailableError after 20 s. Its timers and
        messages are dropped when they are read; its runs and changes stay.
        """
        deleted = Change(requested_at, who, "deleted", self._ids.token())
        refused: Job | None = None
        while True:
            found = self._jobs.get(key)
            if refused is not None and found is not None and found.uid != refused.uid:
                # The SDK may repeat a deletion whose answer was lost. By then the job is gone, and somebody
                # may have created another one of its name.
                self._commits.let_go(refused, found)
                return
            job = present(found, key, requested_at)
            check_revision(key, job, if_match)
            # Filed first: a deletion that was killed may be one change too many, never one too few.
            for change in (job.change, deleted):
                if change is not None:
                    self._changes.put(key, change)
            check_patience(self._clock, requested_at)
            if self._jobs.delete(job, in_time(self._clock, requested_at)):
                self._commits.let_go(job, None)
                return
            refused = job
