"""Taking the triggers of jobs that have left a missing policy out of its line, without permits."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from sweephand.base.errors import NewerError
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.timing import LEFT_AGAIN_MS, LINE_CLAIM_MS, NEWER_MS, QUEUE_DELAY_MAX_MS, UNKNOWN_GRACE_MS
from sweephand.model.job import Job, JobKey
from sweephand.model.policy import PARTITIONS_MAX, PRIORITIES, Policy, PolicyKey, Priority
from sweephand.model.policy_line import LineClaim, LineEntry, LinePlace
from sweephand.model.trigger import TriggerMessage
from sweephand.model.work_message import WorkMessage
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.flow import PolicyLines, PolicyStore
from sweephand.ports.jobs import JobStore
from sweephand.ports.queue import Queue
from sweephand.ports.runs import RunStore
from sweephand.runs.flow.left_turn import LeftTurn
from sweephand.runs.received import LineWait
from sweephand.wheel.sending import LineUp

#: Entries that are read at once, each with up to a hundred triggers.
_ENTRIES_AT_ONCE: Final = 10

#: A walk begins no page and no entry with less time left than this. Another work message then goes on from
#: there. The requests of an entry, and those at the end of the walk, may take seconds each.
_RESERVE_MS: Final = 30 * SECOND_MS


class LeftTriggers:
    """Walks the line of a missing policy for the triggers of jobs that do not name it any more.

    It claims a partition only where it finds one. So it takes nothing from a worker that still walks there,
    or from another walk. Triggers go into the line of the policy that their job names now, or to the delivery
    queue. Nothing is sent to a consumer here, so no permit is needed. One walk of a policy goes on at a time.
    """

    def __init__(
        self,
        *,
        policies: PolicyStore,
        lines: PolicyLines,
        line_up: LineUp,
        jobs: JobStore,
        runs: RunStore,
        queue: Queue,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._policies = policies
        self._lines = lines
        self._line_up = line_up
        self._jobs = jobs
        self._runs = runs
        self._queue = queue
        self._clock = clock
        self._ids = ids

    def take_out(self, message: WorkMessage, receives: int, deadline: Instant) -> int | None:
        """Take out the triggers that the message is about, and return how many there were.

        None if the policy is not missing: then its workers meet these triggers in their turn. What stays is
        written as an entry of its own before the old one is deleted. So a crash leaves duplicates with the
        same ids, and no gap. The caller acknowledges the message after that. If the time is not enough, or
        another worker walks a partition, a copy of the message is sent. If another walk of the policy goes
        on, that one is asked for one more walk for any job. A message that was received before is handled as
        one for any job, because others may have asked its first walk. NewerError and StoreError: the message
        must come again.
        """
        key = PolicyKey(message.namespace, message.policy)
        policy = self._policies.get(key)
        if _is_present(policy):
            return None
        any_job = message._replace(left_by="", hint=None, after="")
        message = message if receives == 1 else any_job
        turn = LeftTurn(key, self._ids.token(), lines=self._lines, clock=self._clock)
        # If walks that go on behind a partition asked for others from the beginning, a long line would have
        # no end.
        begun = turn.begin(may_ask=message.hint is None, is_repeated=receives > 1)
        if begun == "later":
            self._line_up.send_again(message, self._clock.now() + LEFT_AGAIN_MS)
        if begun != "walk":
            return 0
        walk = _Walk(message, deadline - _RESERVE_MS, self._ids.token(), turn)
        try:
            self._walk_line(walk, key, policy, message)
        except NewerError:
            if receives > 1:
                # What comes again in place of this message may be about one job.
                self._line_up.send_again(any_job, self._clock.now() + NEWER_MS)
            raise
        finally:
            if turn.end():
                self._line_up.send_again(any_job, self._clock.now())
        return walk.taken

    def _walk_line(self, walk: "_Walk", key: PolicyKey, policy: Policy | None, message: WorkMessage) -> None:
        for place, after in _places(key, policy, message):
            if not self._walk_partition(walk, place, after):
                hint = (PRIORITIES.index(place.priority), place.partition)
                rest = message._replace(hint=hint, after=walk.reached)
                self._line_up.send_again(rest, self._clock.now())
                break
        if walk.again_at is not None:
            self._line_up.send_again(message._replace(hint=None, after=""), walk.again_at)
        if walk.has_claimed and _is_present(self._policies.get(key)):
            # The policy was created again, and its workers passed over what was claimed here.
            self._line_up.wake(key, self._clock.now())

    def _walk_partition(self, walk: "_Walk", place: LinePlace, after: str) -> bool:
        """Walk one partition from there on; False if the time is up before its end."""
        walk.reached = after
        while self._clock.now() < walk.ends_at:
            walk.turn.keep()
            entries = self._lines.page(place, walk.reached, _ENTRIES_AT_ONCE)
            if not entries:
                return True
            self._read_jobs(walk, entries)
            concerned = [each for each in entries if self._is_concerned(walk, place, each)]
            if any(not self._may_be_open(walk, each) for each in concerned):
                claim = self._claim(walk, place)
                if claim is None:
                    return True
                # It was read before the claim, so another worker may have settled some of it.
                return self._walk_claimed(walk, place, claim)
            walk.reached = entries[-1].sort_key
        return False

    def _walk_claimed(self, walk: "_Walk", place: LinePlace, claim: LineClaim) -> bool:
        """Walk the rest of a partition that is claimed; False if the time is up before its end."""
        held: LineClaim | None = claim
        try:
            while entries := self._lines.page(place, walk.reached, _ENTRIES_AT_ONCE):
                self._read_jobs(walk, entries)
                for entry in entries:
                    if self._clock.now() >= walk.ends_at:
                        return False
                    walk.turn.keep()
                    held = self._renewed(place, held)
                    if held is None:
                        walk.come_again(self._clock.now() + LEFT_AGAIN_MS)
                        return True
                    begun = entry._replace(may_be_begun=entry.may_be_begun or claim.may_have_begun(entry))
                    if self._is_concerned(walk, place, begun) and not self._may_be_open(walk, begun):
                        self._take_out_of(walk, place, begun)
                    walk.reached = entry.sort_key
            return True
        finally:
            if held is not None:
                self._lines.renew(place, held._replace(owner=None), 0)

    def _claim(self, walk: "_Walk", place: LinePlace) -> LineClaim | None:
        """Claim a partition; None if another worker walks it. Then the walk comes again."""
        now = self._clock.now()
        seen = self._lines.top(place, 0, 1).claim
        if seen is None or not seen.is_held(now):
            claim = self._lines.claim(place, seen, walk.owner, now + LINE_CLAIM_MS)
            if claim is not None:
                walk.has_claimed = True
                return claim
        walk.come_again(now + LEFT_AGAIN_MS)
        return None

    def _renewed(self, place: LinePlace, claim: LineClaim | None) -> LineClaim | None:
        """The claim, renewed if half of it is over; None if another worker has taken it over."""
        now = self._clock.now()
        if claim is None or claim.until - now >= LINE_CLAIM_MS // 2:
            return claim
        until = now + LINE_CLAIM_MS
        return claim._replace(until=until) if self._lines.renew(place, claim, until) else None

    def _read_jobs(self, walk: "_Walk", entries: Iterable[LineEntry]) -> None:
        """Read the jobs of triggers that this walk has not read yet, in entries that it looks for."""
        keys = {
            message.trigger.key
            for entry in entries
            if walk.looks_for(entry)
            for message in entry.messages
            if message.trigger.key not in walk.jobs
        }
        found: Mapping[JobKey, Job] = self._jobs.get_many(sorted(keys)) if keys else {}
        for key in keys:
            walk.jobs[key] = _Named.by(found.get(key))

    def _is_concerned(self, walk: "_Walk", place: LinePlace, entry: LineEntry) -> bool:
        """Whether the job of one of its triggers has left the policy."""
        return walk.looks_for(entry) and any(
            not walk.stays(message, place.policy) for message in entry.messages
        )

    def _may_be_open(self, walk: "_Walk", entry: LineEntry) -> bool:
        """Whether a worker that has left may still have requests of these triggers open: until their time."""
        if not entry.may_be_begun or entry.at <= self._clock.now():
            return False
        walk.come_again(entry.at)
        return True

    def _take_out_of(self, walk: "_Walk", place: LinePlace, entry: LineEntry) -> None:
        """Send on the triggers whose jobs have left. The others of the entry stay in one of their own."""
        stay = [each for each in entry.messages if walk.stays(each, place.policy)]
        left = [each for each in entry.messages if not walk.stays(each, place.policy)]
        sent: list[TriggerMessage] = []
        lined: list[LineWait] = []
        for message in left:
            job = walk.jobs[message.trigger.key]
            onward = self._onward(message, entry)
            if job.uid != message.trigger.uid:
                if self._may_be_needed(onward):
                    sent.append(onward)
            elif job.policy is None:
                sent.append(onward)
            else:
                lined.append(LineWait(PolicyKey(place.policy.namespace, job.policy), job.priority, onward))
        self._line_up.put_all(lined, entry.token)
        if sent:
            now = self._clock.now()
            self._queue.send(
                [(each, min(max(each.not_before - now, 0), QUEUE_DELAY_MAX_MS)) for each in sent]
            )
        if stay:
            self._lines.put(place, entry.part(stay))
        self._lines.delete(place, entry)
        walk.taken += len(left)

    def _onward(self, message: TriggerMessage, entry: LineEntry) -> TriggerMessage:
        """A trigger as it goes on. If a crashed worker had begun it, it counts one crash (Claims.leaving)."""
        if not entry.may_be_begun or message.crashes or message.faults:
            return message
        return message if self._runs.of(message.trigger) is None else message._replace(crashes=1)

    def _may_be_needed(self, message: TriggerMessage) -> bool:
        """Whether a trigger without a job may have a run, or its job may still be committed."""
        has_begun = message.attempt > 1 or message.crashes > 0 or message.faults > 0
        return has_begun or self._clock.now() - message.trigger.armed_at < UNKNOWN_GRACE_MS


class _Named(NamedTuple):
    """What counts of a job here. One that is not there has no uid."""

    uid: str | None
    policy: str | None
    priority: Priority

    @classmethod
    def by(cls, job: Job | None) -> "_Named":
        if job is None:
            return cls(None, None, PRIORITIES[0])
        return cls(job.uid, job.definition.policy, job.definition.priority)


class _Walk:
    """One walk: what it has read of jobs, how far it has come, and when it has to come again."""

    def __init__(self, message: WorkMessage, ends_at: Instant, owner: str, turn: LeftTurn) -> None:
        self.turn = turn
        self.ends_at = ends_at
        self.owner = owner
        self.jobs: dict[JobKey, _Named] = {}
        self.reached = ""
        self.again_at: Instant | None = None
        self.has_claimed = False
        self.taken = 0
        self._only = JobKey(message.namespace, message.left_by) if message.left_by else None

    def looks_for(self, entry: LineEntry) -> bool:
        """Whether the walk is about that entry: about any, or about those with a trigger of one job."""
        return self._only is None or any(each.trigger.key == self._only for each in entry.messages)

    def stays(self, message: TriggerMessage, policy: PolicyKey) -> bool:
        """Whether the job of a trigger names that policy, as it was read."""
        job = self.jobs[message.trigger.key]
        return job.uid == message.trigger.uid and job.policy == policy.name

    def come_again(self, at: Instant) -> None:
        """Have the walk repeated at that instant, or at an earlier one that was asked for before."""
        self.again_at = at if self.again_at is None else min(self.again_at, at)


def _is_present(policy: Policy | None) -> bool:
    return policy is not None and policy.deleted_at is None


def _places(key: PolicyKey, policy: Policy | None, message: WorkMessage) -> Sequence[tuple[LinePlace, str]]:
    """The partitions to walk, high priority first, each with the sort key behind which the walk begins."""
    # The record of a policy that was deleted long ago is gone.
    partitions = PARTITIONS_MAX if policy is None else policy.partitions
    rank, first = message.hint or (0, 0)
    places = [
        LinePlace(key, priority, partition)
        for priority in PRIORITIES[rank:]
        for partition in range(first if priority == PRIORITIES[rank] else 0, partitions)
    ]
    return [(place, "" if number else message.after) for number, place in enumerate(places)]
