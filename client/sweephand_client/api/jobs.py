"""The calls about jobs."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal, Unpack

from sweephand_client.api.calls import Calls, job_path, label_query, preconditions
from sweephand_client.http import exact_json
from sweephand_client.http.errors import problem_of
from sweephand_client.http.operation import changed_nothing
from sweephand_client.http.transport import Query
from sweephand_client.openapi import operations
from sweephand_client.openapi.job_answers import (
    BackfillResponse,
    BulkWriteResponse,
    BulkWriteResult,
    ChangeResponse,
    ExplainResponse,
    JobResponse,
    OccurrencesResponse,
    TriggerResponse,
    WholeJobResponse,
)
from sweephand_client.openapi.requests import (
    BackfillRequest,
    BulkPauseRequest,
    BulkResumeRequest,
    BulkWriteRequest,
    CatchUpMode,
    JobPatchRequest,
    JobPauseRequest,
    JobRequest,
    JobState,
    NamedJobRequest,
    ResumeRequest,
    TriggerRequest,
)
from sweephand_client.openapi.run_answers import (
    BatchResponse,
    ListedBatchResponse,
)

#: The limits of one bulk write (`/v1/limits`: jobsPerBulkMax, bodyBytesMax), less what is around the jobs:
#: a reason of 512 characters takes up to 6,144 bytes.
JOBS_MAX: Final = 100
_BYTES_MAX: Final = 1_048_576 - 8_192

#: How often a job of a bulk write is sent that the stack had no time for.
_ROUNDS_MAX: Final = 5


class Jobs(Calls):
    """The jobs of all namespaces. Each method is one call, unless it says otherwise."""

    def put(
        self,
        namespace: str,
        name: str,
        job: JobRequest,
        *,
        if_match: str | None = None,
        if_absent: bool = False,
        reason: str | None = None,
    ) -> JobResponse:
        """Create or replace a job.

        With `if_match`, only if the job has that revision. With `if_absent`, only if it does not exist. Else
        PreconditionError. Without either it is not sent again after a lost answer. A second call would begin
        the series of a job anew that is completed by then. `reason` says why, in the job's changes.
        """
        return self._transport.call(
            operations.PUT_JOB,
            job_path(namespace, name),
            query={"reason": reason},
            body=job,
            headers=preconditions(if_match, if_absent=if_absent),
        )

    def patch(
        self, namespace: str, name: str, fields: JobPatchRequest, *, if_match: str | None = None
    ) -> JobResponse:
        """Write some fields of a job. None removes a field."""
        return self._transport.call(
            operations.PATCH_JOB, job_path(namespace, name), body=fields, headers=preconditions(if_match)
        )

    def get(self, namespace: str, name: str, *, include: Literal["health"] | None = None) -> WholeJobResponse:
        """A job with its data and its last run, and with its health if you `include` that."""
        return self._transport.call(operations.GET_JOB, job_path(namespace, name), query={"include": include})

    def delete(
        self, namespace: str, name: str, *, if_match: str | None = None, reason: str | None = None
    ) -> None:
        """Delete a job. After the answer no delivery of it begins.

        It also deletes a job whose retention is over and that get() does not show any more, while the stack
        still stores it. `reason` says why, in the job's changes.
        """
        self._transport.call(
            operations.DELETE_JOB,
            job_path(namespace, name),
            query={"reason": reason},
            headers=preconditions(if_match),
        )

    def list(
        self,
        namespace: str,
        *,
        prefix: str = "",
        contains: str = "",
        state: JobState | None = None,
        policy: str | None = None,
        labels: Mapping[str, str] | None = None,
        health: Literal["failing"] | None = None,
        sort: Literal["name", "failure"] | None = None,
        include: Literal["health"] | None = None,
        page: int | None = None,
    ) -> Iterator[JobResponse]:
        """The jobs in the order of their names, without their data. Reads pages as they are needed.

        With `health`, those whose newest runs fail, the newest failure first, unless you `sort` them by name.
        With `include`, each shows its health too, which costs a read for each. A call looks at `page` jobs,
        200 at most.

        With `contains`, the jobs whose names contain that text. With `policy`, those that name that policy,
        also if it was deleted. To find them, or those of a state or with labels, the stack reads all jobs
        with the prefix.
        """
        query = {
            "prefix": prefix,
            "contains": contains or None,
            "state": state,
            "policy": policy,
            "label": label_query(labels),
            "health": health,
            "sort": sort,
            "include": include,
        }
        return self._items(operations.LIST_JOBS, {"namespace": namespace}, query, page)

    def put_many(
        self,
        namespace: str,
        jobs: Iterable[NamedJobRequest],
        *,
        dry_run: bool = False,
        reason: str | None = None,
    ) -> Iterator[BulkWriteResult]:
        """Create or replace many jobs, each with its `name`. The result of each, in the order of `jobs`.

        A job may have a precondition: `ifMatch` (a `rev`, or `*`) or `ifNoneMatch` (`*`).
        Makes a call for each hundred jobs or megabyte. A refused job does not stop the others. A job is sent
        again if the stack had no time for it and did not write it. Raises the error of a call that is refused
        as a whole, or whose answer was lost: `may_have_written` says whether it may have written its jobs.
        The calls before it have written theirs. With `dry_run` nothing is written: the results say what would
        become of the jobs. `reason` says why, in the jobs' changes.
        """
        options: BulkWriteRequest = {"jobs": [], "dryRun": dry_run, "reason": reason}
        for chunk in _chunks(jobs):
            results = self._put_chunk(namespace, {**options, "jobs": chunk})["results"]
            for _ in range(_ROUNDS_MAX - 1):
                left = [at for at, each in enumerate(results) if _had_no_time(each)]
                if not left:
                    break
                again = self._put_chunk(namespace, {**options, "jobs": [chunk[at] for at in left]})["results"]
                for at, result in zip(left, again, strict=True):
                    results[at] = result
            yield from results

    def _put_chunk(self, namespace: str, body: BulkWriteRequest) -> BulkWriteResponse:
        return self._transport.call(operations.PUT_JOBS, {"namespace": namespace}, body=body)

    def pause(
        self,
        namespace: str,
        name: str,
        *,
        reason: str | None = None,
        until: str | None = None,
        catchup: CatchUpMode | None = None,
        if_match: str | None = None,
    ) -> JobResponse:
        """Pause a job. After the answer no delivery of it begins, except of triggers by hand.

        With `until` (RFC 3339, or a duration from now on), it resumes by itself then, with that `catchup`.
        """
        return self._transport.call(
            operations.PAUSE_JOB,
            job_path(namespace, name),
            body=JobPauseRequest(reason=reason, until=until, catchup=catchup),
            headers=preconditions(if_match),
        )

    def resume(
        self, namespace: str, name: str, *, catchup: CatchUpMode | None = None, if_match: str | None = None
    ) -> JobResponse:
        """Resume a job. `catchup` (latest, all, none) says which of the missed triggers fire."""
        return self._transport.call(
            operations.RESUME_JOB,
            job_path(namespace, name),
            body=ResumeRequest(catchup=catchup),
            headers=preconditions(if_match),
        )

    def trigger(self, namespace: str, name: str, **data: Unpack[TriggerRequest]) -> TriggerResponse:
        """Make a trigger now. `data=…` replaces the job's data. It is never sent twice by itself."""
        if unknown := data.keys() - TriggerRequest.__annotations__:
            raise TypeError(f"trigger() takes only data=…, not {', '.join(sorted(unknown))}")
        return self._transport.call(operations.TRIGGER_JOB, job_path(namespace, name), body=data)

    def backfill(self, namespace: str, name: str, *, since: str, until: str) -> BackfillResponse:
        """Make the triggers of a past range. Both ends are RFC 3339. It is never sent twice by itself."""
        return self._transport.call(
            operations.BACKFILL_JOB,
            job_path(namespace, name),
            body=BackfillRequest({"from": since, "to": until}),
        )

    def occurrences(
        self, namespace: str, name: str, *, after: str | None = None, limit: int = 50
    ) -> OccurrencesResponse:
        """The next due times of a job, also of a paused one."""
        query = {"after": after, "limit": limit}
        return self._transport.call(operations.LIST_OCCURRENCES, job_path(namespace, name), query=query)

    def explain(self, namespace: str, name: str, *, at: str | None = None) -> ExplainResponse:
        """Why the job fired at an instant (RFC 3339), or did not. By default at its latest due time."""
        return self._transport.call(operations.EXPLAIN_JOB, job_path(namespace, name), query={"at": at})

    def changes(self, namespace: str, name: str) -> Iterator[ChangeResponse]:
        """The changes of a job, newest first, also of a deleted one."""
        return self._items(operations.LIST_CHANGES, job_path(namespace, name))

    def batches(self, namespace: str, name: str) -> Iterator[ListedBatchResponse]:
        """The batches of a job, newest first."""
        return self._items(operations.LIST_BATCHES, job_path(namespace, name))

    def batch(self, namespace: str, name: str, batch_id: str) -> BatchResponse:
        """The progress of one batch."""
        path = {**job_path(namespace, name), "batchId": batch_id}
        return self._transport.call(operations.GET_BATCH, path)

    def pause_many(
        self,
        namespace: str,
        *,
        prefix: str | None = None,
        labels: Mapping[str, str] | None = None,
        reason: str | None = None,
        until: str | None = None,
        catchup: CatchUpMode | None = None,
    ) -> int:
        """Pause all jobs with that prefix and those labels, by as many calls as it takes: how many."""
        body = BulkPauseRequest(
            prefix=prefix or None, labels=_labels(labels), reason=reason, until=until, catchup=catchup
        )
        return self._count(operations.PAUSE_JOBS, namespace, body=body)

    def resume_many(
        self,
        namespace: str,
        *,
        prefix: str | None = None,
        labels: Mapping[str, str] | None = None,
        catchup: CatchUpMode | None = None,
    ) -> int:
        """Resume all jobs with that prefix and those labels, by as many calls as it takes: how many."""
        body = BulkResumeRequest(prefix=prefix or None, labels=_labels(labels), catchup=catchup)
        return self._count(operations.RESUME_JOBS, namespace, body=body)

    def delete_many(
        self, namespace: str, *, prefix: str | None = None, labels: Mapping[str, str] | None = None
    ) -> int:
        """Delete all jobs with that prefix and those labels, by as many calls as it takes: how many."""
        query: Query = {"prefix": prefix, "label": label_query(labels)}
        return self._count(operations.DELETE_JOBS, namespace, query=query)


def _chunks(jobs: Iterable[NamedJobRequest]) -> Iterator[list[NamedJobRequest]]:
    """The jobs in lists that one bulk write takes. A job that is too large alone is a list of its own."""
    chunk: list[NamedJobRequest] = []
    size = 0
    for job in jobs:
        length = len(exact_json.write(job).encode()) + 1  # and a comma
        if chunk and (len(chunk) == JOBS_MAX or size + length > _BYTES_MAX):
            yield chunk
            chunk, size = [], 0
        chunk.append(job)
        size += length
    if chunk:
        yield chunk


def _had_no_time(result: BulkWriteResult) -> bool:
    """Whether the stack had no time for a job of a bulk write, and so did not write it."""
    return "problem" in result and changed_nothing(problem_of(result["status"], result["problem"]))


def _labels(labels: Mapping[str, str] | None) -> dict[str, str] | None:
    return dict(labels) if labels else None
