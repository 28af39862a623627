"""Reading the changes of a job: the filed ones, and the latest one, which the job itself carries."""

from sweephand.base.errors import NotFoundError
from sweephand.model.change import Change
from sweephand.model.job import JobKey
from sweephand.ports import ChangeStore, JobStore, Page


class ChangeHistory:
    """Reads the changes of jobs, deleted jobs included."""

    def __init__(self, *, jobs: JobStore, changes: ChangeStore) -> None:
        self._jobs = jobs
        self._changes = changes

    def page(self, key: JobKey, before: str, limit: int) -> Page[Change]:
        """Up to `limit` changes of the jobs of a key, newest first, after the position `before` ("": newest).

        Raises NotFoundError if there is neither such a job nor any change of one.
        """
        job = self._jobs.get(key)
        filed = self._changes.page(key, before, limit)
        found = {each.position: each for each in filed.items}
        if job is not None and job.change is not None and (not before or job.change.position < before):
            # Its change may be filed already: a writer files it before its commit, and may then lose or
            # crash.
            found[job.change.position] = job.change
        if job is None and not found and not before:
            raise NotFoundError(
                f"There is no job and no change of a job {key.name} in namespace {key.namespace}."
            )
        page = tuple(found[position] for position in sorted(found, reverse=True)[:limit])
        has_more = filed.next is not None or len(found) > len(page)
        return Page(page, page[-1].position if has_more else None)
