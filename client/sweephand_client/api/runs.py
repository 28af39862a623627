"""The calls about runs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from sweephand_client.api.answers import NamespaceRun, Redriven, Run
from sweephand_client.api.paging import items, label_query, pages
from sweephand_client.http.transport import Query, Transport


class Runs:
    """The runs of jobs, also of deleted ones. Each method is one call, unless it says otherwise."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(self, namespace: str, job: str, *, state: str | None = None) -> Iterator[Run]:
        """The runs of a job, newest due time first. Reads pages as they are needed."""
        return items(self._transport, "listRuns", {"namespace": namespace, "name": job}, {"state": state})

    def list_flagged(
        self,
        namespace: str,
        *,
        state: str | None = None,
        since: str | None = None,
        labels: Mapping[str, str] | None = None,
    ) -> Iterator[NamespaceRun]:
        """The runs of all jobs that failed, were skipped, or are retried, newest due time first.

        With `since` (RFC 3339), only those due at that instant or later. Reads pages as they are needed.
        """
        query: Query = {"state": state, "since": since, "label": label_query(labels)}
        return items(self._transport, "listNamespaceRuns", {"namespace": namespace}, query)

    def newest(self, namespace: str, job: str, *, limit: int = 50) -> Sequence[Run]:
        """One page of the runs of a job, newest due time first."""
        path = {"namespace": namespace, "name": job}
        return cast("Sequence[Run]", next(pages(self._transport, "listRuns", path, {}, limit=limit)))

    def get(self, namespace: str, job: str, run_id: str) -> Run:
        """One run. For a trigger without a record, the API derives its run from the job."""
        return cast("Run", self._transport.call("getRun", _run(namespace, job, run_id)).body)

    def redrive(self, namespace: str, job: str, run_id: str) -> Redriven:
        """Try a failed run again, with all attempts of the job's retry policy. Never sent twice by itself."""
        return cast("Redriven", self._transport.call("redriveRun", _run(namespace, job, run_id)).body)

    def cancel(self, namespace: str, job: str, run_id: str) -> Run:
        """Cancel a run that is running or being retried. ConflictError if it is over or has not begun."""
        return cast("Run", self._transport.call("cancelRun", _run(namespace, job, run_id)).body)


def _run(namespace: str, job: str, run_id: str) -> dict[str, str]:
    return {"namespace": namespace, "name": job, "runId": run_id}
