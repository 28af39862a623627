"""A gate without a share: what may go on leaves its line."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from sweephand.base.concurrency import Concurrently
from sweephand.base.instants import Instant
from sweephand.base.timing import HOLDER_MS
from sweephand.flow.gates import Gates
from sweephand.model.gate import GateChange, GateName
from sweephand.model.gate_line import Entry
from sweephand.model.job import Job, JobKey
from sweephand.model.policy import Policy
from sweephand.model.trigger import TriggerMessage
from sweephand.ports.jobs import JobStore
from sweephand.ports.queue import Queue

#: Entries that are read at once.
_ENTRIES_READ: Final = 100


class Forward:
    """Moves entries to a gate that has a share, or triggers of jobs that have left to the delivery queue."""

    def __init__(self, gates: Gates, *, jobs: JobStore, queue: Queue, together: Concurrently) -> None:
        self._gates = gates
        self._jobs = jobs
        self._queue = queue
        self._together = together

    def forward(
        self, name: GateName, policy: Policy | None, ends_at: Instant, after: str | None = None
    ) -> None:
        """Let go on what may, of all entries that nobody has leased. StoreError: the message must come again.

        Everything leaves a gate that the limit does not have, for one that it has. If the policy is paused or
        missing, only triggers leave whose jobs do not name it any more. The delivery function decides what
        becomes of these. It also gets all triggers of a gate of another `by`. With `after`, only entries
        behind that place are looked at.
        """
        gates = self._gates
        gates.store.change(name, GateChange(removes_baton=True))
        let_go = None
        if policy is not None and not policy.has(name):
            let_go = self._send_all
        elif policy is not None and name.number >= policy.gates:
            let_go = self._move
        while True:
            now = gates.clock.now()
            top = gates.lines.top(name, _ENTRIES_READ, after)
            entries = top.takeable(now)
            if let_go is None:
                self._send_leavers(name, entries, now)
            else:
                self._together([partial(let_go, name, entry, now) for entry in entries])
            if not (top.has_more and top.entries):
                return
            after = top.entries[-1].sort_key
            if now >= ends_at:
                gates.send("baton", name, now, after=after)
                return

    def _move(self, name: GateName, entry: Entry, now: Instant) -> None:
        """Write the triggers of an entry into the line of another gate, and then delete it here."""
        if (leased := self._leased(name, entry, now)) is not None:
            gates = self._gates
            policy = gates.policies.get(name.policy)
            to = gates.name_for(name.policy, policy, name.key)
            gates.put(to, policy, entry.priority, leased.messages, leased.token, joins=False)
            gates.lines.replace(name, leased, None)

    def _send_all(self, name: GateName, entry: Entry, now: Instant) -> None:
        """Let every trigger of an entry go on as it came: the delivery function finds its key."""
        if (leased := self._leased(name, entry, now)) is not None:
            self._queue.send([(each, 0) for each in leased.messages])
            self._gates.lines.replace(name, leased, None)

    def _send_leavers(self, name: GateName, entries: Sequence[Entry], now: Instant) -> None:
        keys = {each.trigger.key for entry in entries for each in entry.messages}
        jobs = self._jobs.get_many(sorted(keys)) if keys else {}
        self._together([partial(self._send_leavers_of, name, entry, jobs, now) for entry in entries])

    def _send_leavers_of(
        self, name: GateName, entry: Entry, jobs: Mapping[JobKey, Job], now: Instant
    ) -> None:
        def stays(message: TriggerMessage) -> bool:
            job = jobs.get(message.trigger.key)
            if job is None or job.uid != message.trigger.uid:
                return False
            return job.definition.policy == name.policy.name

        if all(map(stays, entry.messages)) or (leased := self._leased(name, entry, now)) is None:
            return
        self._queue.send([(each, 0) for each in leased.messages if not stays(each)])
        stay = tuple(filter(stays, leased.messages))
        rest = leased._replace(messages=stay, token=self._gates.ids.token(), owner=None, until=0)
        self._gates.lines.replace(name, leased, rest if stay else None)

    def _leased(self, name: GateName, entry: Entry, now: Instant) -> Entry | None:
        """The entry, leased, so that nobody else takes it; None if another function was first.

        If a function has crashed that had leased it, its triggers count that.
        """
        crashes = int(entry.is_abandoned(now))
        token = self._gates.ids.token()
        leased = entry._replace(
            messages=tuple(each._replace(crashes=each.crashes + crashes) for each in entry.messages),
            token=token, owner=token, until=now + HOLDER_MS,
        )  # fmt: skip
        return leased if self._gates.lines.replace(name, entry, leased) else None
