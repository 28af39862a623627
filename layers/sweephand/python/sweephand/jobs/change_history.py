"""Reading the changes of a job or policy: the filed ones, and the latest one, which it carries itself."""

from sweephand.base.errors import NotFoundError
from sweephand.flow_ports import PolicyStore
from sweephand.model.change import Change
from sweephand.model.job import JobKey
from sweephand.model.policy_names import PolicyKey
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
        page = _with_latest(
            self._changes.page(key, before, limit), job.change if job else None, before, limit
        )
        if job is None and not page.items and not before:
            raise NotFoundError(
                f"There is no job and no change of a job {key.name} in namespace {key.namespace}."
            )
        return page


class PolicyChangeHistory:
    """Reads the changes of policies, deleted policies included."""

    def __init__(self, *, policies: PolicyStore, changes: ChangeStore) -> None:
        self._policies = policies
        self._changes = changes

    def page(self, key: PolicyKey, before: str, limit: int) -> Page[Change]:
        """As ChangeHistory.page(), of the policies of a key."""
        policy = self._policies.get(key)
        page = _with_latest(
            self._changes.page(key, before, limit), policy.change if policy else None, before, limit
        )
        if policy is None and not page.items and not before:
            raise NotFoundError(
                f"There is no policy and no change of a policy {key.name} in namespace {key.namespace}."
            )
        return page


def _with_latest(filed: Page[Change], latest: Change | None, before: str, limit: int) -> Page[Change]:
    found = {each.position: each for each in filed.items}
    if latest is not None and (not before or latest.position < before):
        # It may be filed already: a writer files it before its commit, and may then lose or crash.
        found[latest.position] = latest
    page = tuple(found[position] for position in sorted(found, reverse=True)[:limit])
    has_more = filed.next is not None or len(found) > len(page)
    return Page(page, page[-1].position if has_more else None)
