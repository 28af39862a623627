"""What an audit does for lines of policies: what waits in them is kept, and so are the jobs that it needs."""

from collections.abc import Callable, Iterator
from typing import Final

from sweephand.base.instants import Instant
from sweephand.base.timing import (
    KEEP_ENDING_MS,
    LINE_RETENTION_MS,
    POLICY_RETENTION_MS,
    TIMER_RETENTION_MS,
)
from sweephand.flow_ports import PolicyLines, PolicyStore, WorkQueue
from sweephand.keep_ports import KeptJobs
from sweephand.model.job import Job
from sweephand.model.policy import PARTITIONS_MAX, Policy
from sweephand.model.policy_line import LinePlace
from sweephand.model.policy_names import PRIORITIES, PolicyKey
from sweephand.model.work_message import WorkMessage
from sweephand.runs.job_walk import PAGE_MAX
from sweephand.runs.kept_lines import keep_partition

#: An entry lies at most this far ahead: a pause moves a trigger by 15 minutes.
_AHEAD_MS: Final = LINE_RETENTION_MS


class LineAudit:
    """Keeps the lines of policies in one call of an audit, which began at `now`.

    `looks` counts the lines that it has looked at, and `kept` the entries that would have expired. Unless the
    audit `mends`, it does nothing.
    """

    def __init__(
        self,
        *,
        policies: PolicyStore,
        lines: PolicyLines,
        work: WorkQueue,
        kept_jobs: KeptJobs,
        now: Instant,
        mends: bool,
    ) -> None:
        self._policies = policies
        self._lines = lines
        self._work = work
        self._kept_jobs = kept_jobs
        self._now = now
        self._mends = mends
        #: How many partitions the lines of policies have. Those without a record have been kept.
        self._partitions: dict[PolicyKey, int] = {}
        #: The times of the first entries of lines, as far as they were asked for.
        self._first: dict[PolicyKey, Instant | None] = {}
        self.looks = 0
        self.kept = 0

    def keep(self, listed: "ListedPolicies", name: str | None, is_over: Callable[[], bool]) -> str | None:
        """Keep what waits under the policies of a list up to that name, None for all; None if that is done.

        If the time is up before, it is the name of the policy that was reached. A policy of that very name is
        the last one, and whatever has that name comes next in any case. StoreError: the caller repeats it.
        """
        if self._mends:
            for policy in listed.up_to(name):
                self._keep(policy)
                if is_over() and policy.key.name != name:
                    return policy.key.name
        return None

    def keep_of(self, job: Job) -> None:
        """Keep the line of a job's policy if that has no record any more, once in a call.

        Triggers of a job that has ended may still wait there, and a worker delivers them by what the job
        says. So the job is kept too if it would be removed soon, and the line has come no further than to the
        job's time.
        """
        name = job.definition.policy
        if name is None or not self._mends:
            return
        key = PolicyKey(job.key.namespace, name)
        if key not in self._partitions:
            policy = self._policies.get(key)
            self._partitions[key] = PARTITIONS_MAX if policy is None else policy.partitions
            if policy is None:
                self._keep_line(key, is_missing=True)
        if job.expires_at is None or job.removed_at is None or job.removed_at >= self._now + KEEP_ENDING_MS:
            return
        first_at = self._first_at(key)
        if first_at is not None and first_at < job.expires_at:
            self._kept_jobs.keep(job.key, self._now + TIMER_RETENTION_MS)

    def _keep(self, policy: Policy) -> None:
        """Keep a line, and the record of a policy that was deleted, for as long as its line is used.

        The record says how many partitions the line has.
        """
        self._partitions[policy.key] = policy.partitions
        is_used = self._keep_line(policy.key, is_missing=policy.deleted_at is not None)
        if is_used and policy.deleted_at is not None:
            # If this is refused, the policy was created again.
            self._policies.keep(policy, self._now + POLICY_RETENTION_MS)

    def _keep_line(self, key: PolicyKey, *, is_missing: bool) -> bool:
        """Keep the entries of a line; return whether anything waits in the line of a missing policy.

        If so, a worker takes out what belongs to jobs that have left the policy.
        """
        self.looks += 1
        for place in self._places(key):
            self.kept += sum(keep_partition(self._lines, place, self._now))
        is_used = is_missing and self._first_at(key) is not None
        if is_used:
            self._work.send(WorkMessage(key.namespace, key.name, self._now, left_by=""), 0)
        return is_used

    def _first_at(self, key: PolicyKey) -> Instant | None:
        """The time of the first entry of a line; None if nothing waits there. It is read once in a call."""
        if key not in self._first:
            self.looks += 1
            before = self._now + _AHEAD_MS
            found = [self._lines.count(place, before, 1).first_at for place in self._places(key)]
            self._first[key] = min((each for each in found if each is not None), default=None)
        return self._first[key]

    def _places(self, key: PolicyKey) -> Iterator[LinePlace]:
        for priority in PRIORITIES:
            for partition in range(self._partitions[key]):
                yield LinePlace(key, priority, partition)


class ListedPolicies:
    """The policies of a namespace behind a name, in the order of their names, deleted ones too."""

    def __init__(self, policies: PolicyStore, namespace: str, after: str) -> None:
        self._rest = _listed(policies, namespace, after)
        self._next = next(self._rest, None)

    def up_to(self, name: str | None) -> Iterator[Policy]:
        """Those that were not returned before, up to that name; all of them if it is None."""
        while self._next is not None and (name is None or self._next.key.name <= name):
            found, self._next = self._next, next(self._rest, None)
            yield found


def _listed(policies: PolicyStore, namespace: str, after: str) -> Iterator[Policy]:
    following: str | None = after
    while following is not None:
        page = policies.page(namespace, following, PAGE_MAX, with_deleted=True)
        yield from page.items
        following = page.next
