"""Follows the runs of a job: tells of each change of a run soon after it was recorded."""

from collections import OrderedDict
from collections.abc import Iterator
from typing import Final

from sweephand_client.api.client import Client
from sweephand_client.http.errors import NotFoundError
from sweephand_client.openapi.job_answers import RunResponse

OVER: Final = frozenset({"succeeded", "failed", "skipped", "cancelled"})

#: How many runs one look reads, and how many it remembers. A run that is older is not told of again.
_PAGE: Final = 100
_REMEMBERED_MAX: Final = 10_000

#: Runs that are not over and no longer among the newest, which each look reads one by one.
_OPEN_MAX: Final = 20

_Mark = tuple[str, int, str | None]


class Tail:
    """The runs of one job as they change. A look makes a call, and one for each older run that is not over.

    More than a hundred runs between two looks can be missed; `missed` then counts the looks.
    """

    def __init__(self, client: Client, namespace: str, job: str) -> None:
        self._client = client
        self._namespace = namespace
        self._job = job
        self._seen: OrderedDict[str, _Mark] = OrderedDict()
        self.missed = 0

    def begin(self, last: int) -> list[RunResponse]:
        """Remember the runs that there are, and return the newest of them, oldest first.

        Raises NotFoundError if there is neither the job nor a run of it.
        """
        runs = self._client.runs.newest(self._namespace, self._job, limit=_PAGE)
        for run in runs:
            self._remember(run)
        return list(reversed(runs[:last])) if last else []

    def look(self) -> list[RunResponse]:
        """The runs that are new or have changed since the last look, oldest first."""
        page = self._client.runs.newest(self._namespace, self._job, limit=_PAGE)
        known = [run for run in page if run["id"] in self._seen]
        if self._seen and len(page) == _PAGE and not known:
            self.missed += 1
        listed = {run["id"] for run in page}
        open_ids = [name for name, mark in self._seen.items() if mark[0] not in OVER and name not in listed]
        runs = [*page, *self._read(open_ids[-_OPEN_MAX:])]
        changed = [run for run in runs if self._seen.get(run["id"]) != _mark(run)]
        for run in reversed(changed):
            self._remember(run)
        return sorted(changed, key=lambda run: (run["dueAt"], run["id"]))

    def _read(self, run_ids: list[str]) -> Iterator[RunResponse]:
        for run_id in run_ids:
            try:
                yield self._client.runs.get(self._namespace, self._job, run_id)
            except NotFoundError:
                del self._seen[run_id]

    def _remember(self, run: RunResponse) -> None:
        self._seen[run["id"]] = _mark(run)
        self._seen.move_to_end(run["id"])
        if len(self._seen) > _REMEMBERED_MAX:
            self._seen.popitem(last=False)


def _mark(run: RunResponse) -> _Mark:
    return run["state"], run["attempts"], run["nextAttemptAt"]
