"""The calls about runs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Unpack

from sweephand_client.api.calls import Calls, job_path, label_query
from sweephand_client.http.transport import Query
from sweephand_client.openapi import operations
from sweephand_client.openapi.job_answers import (
    RunResponse,
)
from sweephand_client.openapi.requests import (
    CancelRunsRequest,
    CompletionRequest,
    FailureRequest,
    FlaggedRunFilter,
    RedriveRunsRequest,
    RunFilter,
)
from sweephand_client.openapi.run_answers import (
    CallbackResponse,
    NamespaceRunResponse,
    RedriveResponse,
    WholeRunResponse,
)


class Runs(Calls):
    """The runs of jobs, also of deleted ones. Each method is one call, unless it says otherwise."""

    def list(self, namespace: str, job: str, *, state: RunFilter | None = None) -> Iterator[RunResponse]:
        """The runs of a job, newest due time first. Reads pages as they are needed."""
        return self._items(operations.LIST_RUNS, job_path(namespace, job), {"state": state})

    def list_flagged(
        self,
        namespace: str,
        *,
        state: FlaggedRunFilter | None = None,
        since: str | None = None,
        labels: Mapping[str, str] | None = None,
        until: str | None = None,
        prefix: str = "",
        reason: str = "",
    ) -> Iterator[NamespaceRunResponse]:
        """The runs of all jobs that failed, were skipped, or are retried, newest due time first.

        With `since` and `until` (RFC 3339), those due from the one on and before the other. With `reason`,
        those that say this text. Reads pages as they are needed.
        """
        query: Query = {
            "state": state,
            "since": since,
            "until": until,
            "prefix": prefix,
            "reason": reason or None,
            "label": label_query(labels),
        }
        return self._items(operations.LIST_NAMESPACE_RUNS, {"namespace": namespace}, query)

    def newest(self, namespace: str, job: str, *, limit: int = 50) -> Sequence[RunResponse]:
        """One page of the runs of a job, newest due time first."""
        return next(self._pages(operations.LIST_RUNS, job_path(namespace, job), limit=limit))

    def get(
        self, namespace: str, job: str, run_id: str, *, include: Literal["neighbours"] | None = None
    ) -> WholeRunResponse:
        """One run, with the runs before and after it if you `include` its neighbours.

        For a trigger without a record, the API derives its run from the job.
        """
        query: Query = {"include": include}
        return self._transport.call(operations.GET_RUN, _run(namespace, job, run_id), query=query)

    def redrive(self, namespace: str, job: str, run_id: str) -> RedriveResponse:
        """Try a failed run again, with all attempts of the job's retry policy. Never sent twice by itself."""
        return self._transport.call(operations.REDRIVE_RUN, _run(namespace, job, run_id))

    def redrive_many(self, namespace: str, **chosen: Unpack[RedriveRunsRequest]) -> int:
        """Redrive the failed runs that these fields select, by as many calls as it takes: how many.

        With `dryRun`, it only counts them. No call is sent again after a lost answer.
        """
        return self._count(operations.REDRIVE_RUNS, namespace, body=chosen)

    def cancel(self, namespace: str, job: str, run_id: str) -> RunResponse:
        """Cancel a run that is running or being retried. ConflictError if it is over or has not begun."""
        return self._transport.call(operations.CANCEL_RUN, _run(namespace, job, run_id))

    def cancel_many(self, namespace: str, **chosen: Unpack[CancelRunsRequest]) -> int:
        """Cancel the retried and running runs that these fields select, by as many calls as it takes.

        Returns how many. With `dryRun`, it only counts them.
        """
        return self._count(operations.CANCEL_RUNS, namespace, body=chosen)

    # The callbacks of a consumer. `token` is the run token of the attempt. Without it, the client's key
    # proves the caller, and needs the role `write`. GoneError and ConflictError mean that the consumer has to
    # stop. A callback may be sent twice.

    def heartbeat(
        self, namespace: str, job: str, run_id: str, *, token: str | None = None
    ) -> CallbackResponse:
        """Say that the consumer is still working. `heartbeatBy` says when the next callback has to come."""
        path = _run(namespace, job, run_id)
        return self._transport.call(operations.HEARTBEAT_RUN, path, headers=_bearer(token))

    def complete(
        self, namespace: str, job: str, run_id: str, result: Any = None, *, token: str | None = None
    ) -> CallbackResponse:
        """Say that the work is done. `result` is any JSON up to 2 KB, and stays with the run."""
        path, body = _run(namespace, job, run_id), CompletionRequest(result=result)
        return self._transport.call(operations.COMPLETE_RUN, path, body=body, headers=_bearer(token))

    def fail(
        self,
        namespace: str,
        job: str,
        run_id: str,
        reason: str | None = None,
        *,
        retry: bool = True,
        token: str | None = None,
    ) -> CallbackResponse:
        """Say that the attempt has failed. Without `retry`, the run is given up."""
        path, body = _run(namespace, job, run_id), FailureRequest(reason=reason, retry=retry)
        return self._transport.call(operations.FAIL_RUN, path, body=body, headers=_bearer(token))


def _bearer(token: str | None) -> dict[str, str]:
    return {} if token is None else {"authorization": f"Bearer {token}"}


def _run(namespace: str, job: str, run_id: str) -> dict[str, str]:
    return {"namespace": namespace, "name": job, "runId": run_id}
