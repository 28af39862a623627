"""What an audit does for lines of policies: it keeps what waiting triggers need, and wakes their gates."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from sweephand.base.instants import DAY_MS, Instant
from sweephand.base.timing import TIMER_RETENTION_MS
from sweephand.flow.gate_key import gate_key
from sweephand.flow.gates import Gates
from sweephand.model.gate import GateName
from sweephand.model.gate_line import Entry
from sweephand.model.job import Job
from sweephand.model.policy import Policy, PolicyKey
from sweephand.model.trigger import Trigger
from sweephand.ports.flow import PolicyStore
from sweephand.ports.jobs import JobStore, PayloadStore
from sweephand.ports.runs import RunStore
from sweephand.runs.job_walk import PAGE_MAX

#: An audit keeps a job or a record that would be removed within so long.
_ENDING_MS: Final = TIMER_RETENTION_MS - 2 * DAY_MS

#: Triggers of a job that has ended may stand in a line if its first entry is older than this. They may also
#: stand there if that entry is older than the end of the job. A batch by hand goes on for days after that
#: end.
_BEHIND_MS: Final = DAY_MS

#: The data of an entry is renewed once it has waited for so long. A round of the audit takes a week.
_WAITED_MS: Final = 2 * DAY_MS

#: Keys that wait are read from their list so many at once.
_KEYS_READ: Final = 100

#: So many entries are looked at in one step.
_ENTRIES_MAX: Final = 500


class LineAudit:
    """Looks after the lines of policies in one call of an audit, which began at `now`, until it `is_over`.

    `looks` counts the lines that it has looked at, and `kept` the entries whose data it has renewed. Unless
    the audit `mends`, it does nothing.
    """

    def __init__(
        self,
        *,
        policies: PolicyStore,
        flow: Gates,
        jobs: JobStore,
        runs: RunStore,
        payloads: PayloadStore,
        now: Instant,
        is_over: Callable[[], bool],
        mends: bool,
    ) -> None:
        self._policies = policies
        self._flow = flow
        self._lines = flow.lines
        self._jobs = jobs
        self._runs = runs
        self._payloads = payloads
        self._now = now
        self._is_over = is_over
        self._mends = mends
        #: Policies, and the times of the first entries of lines, as far as they were asked for.
        self._read: dict[PolicyKey, Policy | None] = {}
        self._first: dict[GateName, Instant | None] = {}
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
                if not (self._keep_keys(policy, listed) if policy.by else self._keep(policy)):
                    return False
                listed.passed, listed.place = policy.key.name, ""
                if self._is_over() and listed.passed != name:
                    return False
        return True

    def keep_of(self, job: Job) -> None:
        """Keep a job that would be removed soon while its triggers may wait.

        A function delivers them by what the job says.
        """
        name = job.definition.policy
        if name is None or not self._mends or job.expires_at is None or job.removed_at is None:
            return
        if job.removed_at >= self._now + _ENDING_MS:
            return
        first_at = self.first_at(job)
        if first_at is not None and first_at < max(job.expires_at, self._now - _BEHIND_MS):
            self._jobs.keep(job.key, self._now + TIMER_RETENTION_MS)

    def policy(self, key: PolicyKey) -> Policy | None:
        """The policy of that key; None if there is none. It is read once in a call."""
        if key not in self._read:
            self._read[key] = self._policies.get(key)
        return self._read[key]

    def first_at(self, job: Job) -> Instant | None:
        """Since when the first entry waits under a job's policy, and its key there. None if nothing does.

        Of each, it is read once in a call.
        """
        definition = job.definition
        assert definition.policy is not None, "its caller looks for the policy"
        key = PolicyKey(job.key.namespace, definition.policy)
        policy = self.policy(key)
        of = None if policy is None else gate_key(policy.by, definition, job.key.name)
        first = GateName(key, 0, of)
        if first not in self._first:
            self.looks += 1
            names = [first._replace(number=each) for each in range(0 if policy is None else policy.gates)]
            counts = [self._lines.count(each, _ENTRIES_MAX) for each in names]
            found = [each.first_at for each in counts if each.first_at is not None]
            self._first[first] = min(found, default=None)
        return self._first[first]

    def _keep(self, policy: Policy) -> bool:
        """Renew the data and the records of triggers that wait under a policy, which may be paused.

        Their gates are woken: SQS removes a message after 14 days in which nobody received it. A policy under
        which millions wait takes more than one call. It begins at another gate each week.
        """
        self.looks += 1
        names = list(_gates(policy))
        first = int(self._flow.ids.fraction() * len(names))
        for name in names[first:] + names[:first]:
            if not self._keep_gate(name):
                break
        return True

    def _keep_keys(self, policy: Policy, listed: "ListedPolicies") -> bool:
        """The same for each key that waits. False if the next call has to go on with the list."""
        self.looks += 1
        following: str | None = listed.place
        while following is not None:
            page = self._flow.store.waiting(policy.key, following, _KEYS_READ)
            for each in page.items:
                self._keep_gate(each.name, each.guard)
                listed.place = each.place
                if self._is_over():
                    return False
            following = page.next
        return True

    def _keep_gate(self, name: GateName, guard: str | None = None) -> bool:
        """Renew what the triggers in a line need, and wake its gate. False if the time is up before that.

        A gate of a key is woken whatever it has: its place in the list of those that wait may be left over.
        """
        after: str | None = None
        while True:
            top = self._lines.top(name, _ENTRIES_MAX, after)
            if after is None and (guard is not None or not top.is_empty):
                self._flow.wake(name, guard)
            for entry in top.entries:
                if entry.at < self._now - _WAITED_MS:
                    self._renew(entry)
                    if guard is not None:
                        self._keep_jobs(entry)
                if self._is_over():
                    return False
            if not (top.has_more and top.entries):
                return True
            after = top.entries[-1].sort_key

    def _renew(self, entry: Entry) -> None:
        for named in set(entry.payloads) - self._renewed:
            self._renewed.add(named)
            self._payloads.renew(*named)
        self.kept += bool(entry.payloads)
        for message in entry.messages:
            if message.started_at is not None:
                self._keep_record(message.trigger)

    def _keep_jobs(self, entry: Entry) -> None:
        """Keep the jobs of triggers that wait under a key, which may not be that of their jobs any more."""
        for key in {each.trigger.key for each in entry.messages}:
            self._jobs.keep(key, self._now + TIMER_RETENTION_MS)

    def _keep_record(self, trigger: Trigger) -> None:
        """Keep the record of a run that waits for its next attempt, if it would be removed soon.

        Without the record, nobody could cancel the run, and its trigger would not know of an earlier cancel.
        """
        run = self._runs.of(trigger)
        if run is not None and run.expires_at is not None and run.expires_at < self._now + _ENDING_MS:
            kept = replace(run, expires_at=self._now + TIMER_RETENTION_MS, version=self._flow.ids.token())
            self._runs.move(kept, run)


def _gates(policy: Policy) -> Iterator[GateName]:
    """The gates of a policy. What waits at others goes to these within seconds after a change."""
    return (GateName(policy.key, number) for number in range(policy.gates))


class ListedPolicies:
    """The policies of a namespace behind a name, in the order of their names, deleted ones too.

    `passed` is the name of the last policy or job that an audit has done. `place` is how far it has come in
    the list of keys that wait under the next policy.
    """

    def __init__(self, policies: PolicyStore, namespace: str, after: str, place: str = "") -> None:
        self.passed = after
        self.place = place
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
