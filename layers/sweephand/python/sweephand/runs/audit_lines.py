"""What an audit does for lines of policies: what waits in them is kept, and so are the jobs that it needs."""

from collections.abc import Callable, Iterator
from typing import Final

from sweephand.base.instants import DAY_MS, Instant
from sweephand.base.timing import (
    LINE_EXTENDED_AFTER_MS,
    LINE_RETENTION_MS,
    POLICY_RETENTION_MS,
    TIMER_RETENTION_MS,
)
from sweephand.model.job import Job
from sweephand.model.policy import PARTITIONS_MAX, Policy
from sweephand.model.policy_line import KeptEntries, LinePlace
from sweephand.model.policy_names import PRIORITIES, PolicyKey
from sweephand.model.work_message import WorkMessage
from sweephand.ports.flow import PolicyLines, PolicyStore, WorkQueue
from sweephand.ports.jobs import JobStore, PayloadStore
from sweephand.runs.job_walk import PAGE_MAX

#: An entry lies at most this far ahead: a pause moves a trigger by 15 minutes.
_AHEAD_MS: Final = LINE_RETENTION_MS

#: An audit keeps a job that would be removed within so long, as it keeps entries of lines.
_ENDING_MS: Final = TIMER_RETENTION_MS - LINE_EXTENDED_AFTER_MS

#: Triggers of a job that has ended may stand in a line if its first entry is older than this. They may also
#: stand there if that entry is older than the end of the job. A batch by hand goes on for days after that
#: end.
_BEHIND_MS: Final = DAY_MS

#: So many entries are looked at in one step, and written if they need it.
_ENTRIES_MAX: Final = 500


def keep_partition(lines: PolicyLines, place: LinePlace, now: Instant) -> Iterator[KeptEntries]:
    """Keep what has waited for days in a partition, in several steps, and yield what each step has kept.

    A caller that stops in between can begin again: what was kept is passed over.
    """
    before, until = now - LINE_EXTENDED_AFTER_MS, now + LINE_RETENTION_MS
    after: str | None = ""
    while after is not None:
        kept = lines.extend(place, after, before, until, _ENTRIES_MAX)
        after = kept.next
        yield kept


class LineAudit:
    """Keeps the lines of policies in one call of an audit, which began at `now`, until the time `is_over`.

    `looks` counts the lines that it has looked at, and `kept` the entries that would have expired. Unless the
    audit `mends`, it does nothing.
    """

    def __init__(
        self,
        *,
        policies: PolicyStore,
        lines: PolicyLines,
        work: WorkQueue,
        jobs: JobStore,
        payloads: PayloadStore,
        now: Instant,
        is_over: Callable[[], bool],
        mends: bool,
    ) -> None:
        self._policies = policies
        self._lines = lines
        self._work = work
        self._jobs = jobs
        self._payloads = payloads
        self._now = now
        self._is_over = is_over
        self._mends = mends
        #: How many partitions the lines of policies have. Those without a record have been kept.
        self._partitions: dict[PolicyKey, int] = {}
        #: The times of the first entries of lines, as far as they were asked for.
        self._first: dict[PolicyKey, Instant | None] = {}
        self._renewed: set[tuple[str, str]] = set()
        self.looks = 0
        self.kept = 0

    def keep(self, listed: "ListedPolicies", name: str | None) -> bool:
        """Keep what waits under the policies of a list up to that name, None for all.

        Returns False if the time is up before that; `listed.passed` is how far it has come. A policy of that
        very name is the last one, and whatever has that name comes next in any case. StoreError: the caller
        repeats it.
        """
        if self._mends:
            for policy in listed.up_to(name):
                if not self._keep(policy):
                    return False
                listed.passed = policy.key.name
                if self._is_over() and listed.passed != name:
                    return False
        return True

    def keep_of(self, job: Job) -> bool:
        """Keep the line of a job's policy if that has no record any more, once in a call.

        Triggers of a job that has ended may still wait there, and a worker delivers them by what the job
        says. So the job is kept too if it would be removed soon and the line is behind. Returns False if the
        time is up before that is done.
        """
        name = job.definition.policy
        if name is None or not self._mends:
            return True
        key = PolicyKey(job.key.namespace, name)
        if key not in self._partitions:
            policy = self._policies.get(key)
            self._partitions[key] = _partitions_of(policy)
            if policy is None and not self._keep_line(key):
                return False
            if policy is None:
                self._has_left_taken_out(key)
        if job.expires_at is None or job.removed_at is None or job.removed_at >= self._now + _ENDING_MS:
            return True
        first_at = self.first_at(key)
        if first_at is not None and first_at < max(job.expires_at, self._now - _BEHIND_MS):
            self._jobs.keep(job.key, self._now + TIMER_RETENTION_MS)
        return True

    def first_at(self, key: PolicyKey) -> Instant | None:
        """The time of the first entry of a line; None if nothing waits there. It is read once in a call."""
        if key not in self._first:
            self.looks += 1
            before = self._now + _AHEAD_MS
            found = [self._lines.count(place, before, 1).first_at for place in self._places(key)]
            self._first[key] = min((each for each in found if each is not None), default=None)
        return self._first[key]

    def _keep(self, policy: Policy) -> bool:
        """Keep a line, and the record of a policy that was deleted, for as long as its line is used.

        The record says how many partitions the line has. Returns False if the time is up before that is done.
        """
        self._partitions[policy.key] = policy.partitions
        if not self._keep_line(policy.key):
            return False
        if policy.deleted_at is not None and self._has_left_taken_out(policy.key):
            # If this is refused, the policy was created again.
            self._policies.keep(policy, self._now + POLICY_RETENTION_MS)
        return True

    def _keep_line(self, key: PolicyKey) -> bool:
        """Keep the entries of a line and their triggers' data; False if the time is up before the end."""
        self.looks += 1
        for place in self._places(key):
            for kept in keep_partition(self._lines, place, self._now):
                self.kept += kept.entries
                for named in set(kept.payloads) - self._renewed:
                    self._renewed.add(named)
                    self._payloads.renew(*named)
                if kept.next is not None and self._is_over():
                    return False
        return True

    def _has_left_taken_out(self, key: PolicyKey) -> bool:
        """Whether anything waits in the line of a missing policy.

        If so, a worker takes out what belongs to jobs that have left the policy.
        """
        is_used = self.first_at(key) is not None
        if is_used:
            self._work.send(WorkMessage(key.namespace, key.name, self._now, left_by=""), 0)
        return is_used

    def _places(self, key: PolicyKey) -> Iterator[LinePlace]:
        partitions = self._partitions.get(key)
        if partitions is None:
            partitions = _partitions_of(self._policies.get(key))
        for priority in PRIORITIES:
            for partition in range(partitions):
                yield LinePlace(key, priority, partition)


def _partitions_of(policy: Policy | None) -> int:
    """How many partitions the line of a policy may have. Without a record, nobody knows."""
    return PARTITIONS_MAX if policy is None else policy.partitions


class ListedPolicies:
    """The policies of a namespace behind a name, in the order of their names, deleted ones too.

    `passed` is the name of the last policy or job that an audit has done.
    """

    def __init__(self, policies: PolicyStore, namespace: str, after: str) -> None:
        self.passed = after
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
