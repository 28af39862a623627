"""The calls about jobs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableSequence, Sequence
from typing import Any, Final, cast

from sweephand_client.api.answers import (
    Backfilled,
    Batch,
    BulkResult,
    Change,
    Explanation,
    Job,
    ListedBatch,
    Occurrences,
    Triggered,
    WholeJob,
)
from sweephand_client.api.paging import items, label_query
from sweephand_client.api.preconditions import preconditions
from sweephand_client.http import exact_json
from sweephand_client.http.errors import problem_of
from sweephand_client.http.repetition import changed_nothing
from sweephand_client.http.transport import Transport

#: The limits of one bulk write (`/v1/limits`: jobsPerBulkMax, bodyBytesMax), less what is around the jobs.
_JOBS_MAX: Final = 100
_BYTES_MAX: Final = 1_048_576 - 1_024

#: How often a job of a bulk write is sent that the stack had no time for.
_ROUNDS_MAX: Final = 5


class Jobs:
    """The jobs of all namespaces. Each method is one call, unless it says otherwise."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def put(
        self,
        namespace: str,
        name: str,
        job: Mapping[str, Any],
        *,
        if_match: str | None = None,
        if_absent: bool = False,
    ) -> Job:
        """Create or replace a job.

        With `if_match`, only if the job has that revision. With `if_absent`, only if it does not exist. Else
        PreconditionError. Without either it is not sent again after a lost answer, since it would begin the
        series of a job anew that is completed by then.
        """
        headers = preconditions(if_match, if_absent=if_absent)
        answer = self._transport.call("putJob", _job(namespace, name), body=job, headers=headers)
        return cast("Job", answer.body)

    def patch(
        self, namespace: str, name: str, fields: Mapping[str, Any], *, if_match: str | None = None
    ) -> Job:
        """Write some fields of a job. None removes a field."""
        answer = self._transport.call(
            "patchJob", _job(namespace, name), body=fields, headers=preconditions(if_match)
        )
        return cast("Job", answer.body)

    def get(self, namespace: str, name: str) -> WholeJob:
        """A job with its data and its last run."""
        return cast("WholeJob", self._transport.call("getJob", _job(namespace, name)).body)

    def delete(self, namespace: str, name: str, *, if_match: str | None = None) -> None:
        """Delete a job. After the answer no delivery of it begins.

        It also deletes a job whose retention is over and that get() does not show any more, while the stack
        still stores it.
        """
        self._transport.call("deleteJob", _job(namespace, name), headers=preconditions(if_match))

    def list(
        self,
        namespace: str,
        *,
        prefix: str = "",
        contains: str = "",
        state: str | None = None,
        policy: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Iterator[Job]:
        """The jobs in the order of their names, without their data. Reads pages as they are needed.

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
        }
        return items(self._transport, "listJobs", {"namespace": namespace}, query)

    def put_many(self, namespace: str, jobs: Iterable[Mapping[str, Any]]) -> Iterator[BulkResult]:
        """Create or replace many jobs, each with its `name`. The result of each, in the order of `jobs`.

        Makes a call for each hundred jobs or megabyte. A refused job does not stop the others. A job is sent
        again if the stack had no time for it and did not write it. Raises the error of a call that is refused
        as a whole, or whose answer was lost: `may_have_written` says whether it may have written its jobs.
        The calls before it have written theirs.
        """
        for chunk in _chunks(jobs):
            results = self._put_chunk(namespace, chunk)
            for _ in range(_ROUNDS_MAX - 1):
                left = [at for at, each in enumerate(results) if _had_no_time(each)]
                if not left:
                    break
                again = self._put_chunk(namespace, [chunk[at] for at in left])
                for at, result in zip(left, again, strict=True):
                    results[at] = result
            yield from results

    def _put_chunk(self, namespace: str, chunk: Sequence[Mapping[str, Any]]) -> MutableSequence[BulkResult]:
        answer = self._transport.call("putJobs", {"namespace": namespace}, body={"jobs": list(chunk)})
        return cast("MutableSequence[BulkResult]", answer.body["results"])

    def pause(
        self, namespace: str, name: str, *, reason: str | None = None, if_match: str | None = None
    ) -> Job:
        """Pause a job. After the answer no delivery of it begins, except of triggers by hand."""
        body = {} if reason is None else {"reason": reason}
        answer = self._transport.call(
            "pauseJob", _job(namespace, name), body=body, headers=preconditions(if_match)
        )
        return cast("Job", answer.body)

    def resume(
        self, namespace: str, name: str, *, catchup: str | None = None, if_match: str | None = None
    ) -> Job:
        """Resume a job. `catchup` (latest, all, none) says which of the missed triggers fire."""
        body = {} if catchup is None else {"catchup": catchup}
        answer = self._transport.call(
            "resumeJob", _job(namespace, name), body=body, headers=preconditions(if_match)
        )
        return cast("Job", answer.body)

    def trigger(self, namespace: str, name: str, **data: Any) -> Triggered:
        """Make a trigger now. `data=…` replaces the job's data. It is never sent twice by itself."""
        _check_only_data(data)
        return cast("Triggered", self._transport.call("triggerJob", _job(namespace, name), body=data).body)

    def backfill(self, namespace: str, name: str, *, since: str, until: str) -> Backfilled:
        """Make the triggers of a past range. Both ends are RFC 3339. It is never sent twice by itself."""
        body = {"from": since, "to": until}
        return cast("Backfilled", self._transport.call("backfillJob", _job(namespace, name), body=body).body)

    def occurrences(
        self, namespace: str, name: str, *, after: str | None = None, limit: int = 50
    ) -> Occurrences:
        """The next due times of a job, also of a paused one."""
        query = {"after": after, "limit": limit}
        answer = self._transport.call("listOccurrences", _job(namespace, name), query=query)
        return cast("Occurrences", answer.body)

    def explain(self, namespace: str, name: str, *, at: str | None = None) -> Explanation:
        """Why the job fired at an instant (RFC 3339), or did not. By default at its latest due time."""
        answer = self._transport.call("explainJob", _job(namespace, name), query={"at": at})
        return cast("Explanation", answer.body)

    def changes(self, namespace: str, name: str) -> Iterator[Change]:
        """The changes of a job, newest first, also of a deleted one."""
        return items(self._transport, "listChanges", _job(namespace, name), {})

    def batches(self, namespace: str, name: str) -> Iterator[ListedBatch]:
        """The batches of a job, newest first."""
        return items(self._transport, "listBatches", _job(namespace, name), {})

    def batch(self, namespace: str, name: str, batch_id: str) -> Batch:
        """The progress of one batch."""
        path = {**_job(namespace, name), "batchId": batch_id}
        return cast("Batch", self._transport.call("getBatch", path).body)

    def pause_many(
        self,
        namespace: str,
        *,
        prefix: str | None = None,
        labels: Mapping[str, str] | None = None,
        reason: str | None = None,
    ) -> int:
        """Pause all jobs with that prefix and those labels, by as many calls as it takes: how many."""
        body = _filter(prefix, labels) | ({} if reason is None else {"reason": reason})
        return self._in_bulk("pauseJobs", namespace, body)

    def resume_many(
        self,
        namespace: str,
        *,
        prefix: str | None = None,
        labels: Mapping[str, str] | None = None,
        catchup: str | None = None,
    ) -> int:
        """Resume all jobs with that prefix and those labels, by as many calls as it takes: how many."""
        body = _filter(prefix, labels) | ({} if catchup is None else {"catchup": catchup})
        return self._in_bulk("resumeJobs", namespace, body)

    def redrive_many(
        self, namespace: str, *, prefix: str | None = None, labels: Mapping[str, str] | None = None
    ) -> int:
        """Redrive the failed runs of those jobs, by as many calls as it takes. Returns how many runs.

        No call is sent again after a lost answer.
        """
        return self._in_bulk("redriveRuns", namespace, _filter(prefix, labels))

    def delete_many(
        self, namespace: str, *, prefix: str | None = None, labels: Mapping[str, str] | None = None
    ) -> int:
        """Delete all jobs with that prefix and those labels, by as many calls as it takes: how many."""
        query = {"prefix": prefix, "label": label_query(labels)}

        def call(cursor: str | None) -> Mapping[str, Any]:
            body: Mapping[str, Any] = self._transport.call(
                "deleteJobs", {"namespace": namespace}, query={**query, "cursor": cursor}
            ).body
            return body

        return _count(call)

    def _in_bulk(self, operation: str, namespace: str, body: Mapping[str, Any]) -> int:
        def call(cursor: str | None) -> Mapping[str, Any]:
            asked = body if cursor is None else {**body, "cursor": cursor}
            found: Mapping[str, Any] = self._transport.call(
                operation, {"namespace": namespace}, body=asked
            ).body
            return found

        return _count(call)


def _count(call: Callable[[str | None], Mapping[str, Any]]) -> int:
    """The sum of the counts of bulk calls, each with the cursor of the one before."""
    found = call(None)
    count: int = found["count"]
    while "nextCursor" in found:
        found = call(found["nextCursor"])
        count += found["count"]
    return count


def _chunks(jobs: Iterable[Mapping[str, Any]]) -> Iterator[list[Mapping[str, Any]]]:
    """The jobs in lists that one bulk write takes. A job that is too large alone is a list of its own."""
    chunk: list[Mapping[str, Any]] = []
    size = 0
    for job in jobs:
        length = len(exact_json.write(job).encode()) + 1  # and a comma
        if chunk and (len(chunk) == _JOBS_MAX or size + length > _BYTES_MAX):
            yield chunk
            chunk, size = [], 0
        chunk.append(job)
        size += length
    if chunk:
        yield chunk


def _had_no_time(result: BulkResult) -> bool:
    """Whether the stack had no time for a job of a bulk write, and so did not write it."""
    return "problem" in result and changed_nothing(problem_of(result["status"], result["problem"]))


def _job(namespace: str, name: str) -> dict[str, str]:
    return {"namespace": namespace, "name": name}


def _filter(prefix: str | None, labels: Mapping[str, str] | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if prefix:
        found["prefix"] = prefix
    if labels:
        found["labels"] = dict(labels)
    return found


def _check_only_data(given: Mapping[str, Any]) -> None:
    if given.keys() - {"data"}:
        raise TypeError(f"trigger() takes only data=…, not {', '.join(sorted(given))}")
