"""A trigger on its way: with a read of its job, whether it is alive by that read, and what a gate decides."""

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from sweephand.base.instants import INSTANT_MAX, Instant
from sweephand.base.timing import JOB_READ_AGE_MAX_MS
from sweephand.model.job import Job, JobKey, Revision, RevisionName
from sweephand.model.policy_names import PolicyKey
from sweephand.model.revisions import (
    Liveness,
    liveness_by_revision,
    liveness_of_retry,
    liveness_on_demand,
    may_be_filed,
    owes_nothing,
    revision_of,
    would_be_filed,
)
from sweephand.model.run import Run
from sweephand.model.run_id import is_exempt_from_pause
from sweephand.model.trigger import HasRevision, TriggerMessage
from sweephand.ports.clock import Clock
from sweephand.ports.jobs import JobStore
from sweephand.runs.received import OutcomeName

if TYPE_CHECKING:
    # Only workers of a policy's line have permits.
    from sweephand.flow.permit import Permit


class JobRead(NamedTuple):
    """A job and the instant at which it was read. `job` is None if the job did not exist."""

    job: Job | None
    at: Instant


#: A read that is too old to be used. A function that needs the job reads it again.
UNREAD: Final = JobRead(None, 0)


def liveness_of(message: TriggerMessage, read: JobRead) -> Liveness:
    """Whether the trigger of a message is alive by that read of its job."""
    trigger = message.trigger
    if message.redrive is not None or is_exempt_from_pause(trigger.demand):
        return liveness_on_demand(read.job, uid=trigger.uid)
    if message.attempt > 1 or trigger.demand is not None:
        return liveness_of_retry(read.job, uid=trigger.uid)
    liveness = liveness_by_revision(read.job, uid=trigger.uid, rev=trigger.rev, due_at=trigger.due_at)
    if liveness == "unknown" and message.is_owed:
        # The job has forgotten the revision, but the job still owes what that revision owed.
        return liveness_of_retry(read.job, uid=trigger.uid)
    return liveness


class Delivery(NamedTuple):
    """A trigger that is to be delivered, and what the function knows of it.

    `liveness` says whether the trigger is alive by that `read` of its job. It is judged once for each read,
    and every gate takes the answer from here. At `deadline` the function's time is up. The server of a
    gate gives the trigger a `permit`.
    """

    message: TriggerMessage
    read: JobRead
    liveness: Liveness
    deadline: Instant
    permit: "Permit | None"

    @classmethod
    def of(
        cls,
        message: TriggerMessage,
        read: JobRead,
        deadline: Instant = INSTANT_MAX,
        permit: "Permit | None" = None,
    ) -> "Delivery":
        """The delivery of that trigger, judged by that read of its job."""
        return cls(message, read, liveness_of(message, read), deadline, permit)

    def by(self, read: JobRead, message: TriggerMessage | None = None) -> "Delivery":
        """The same by another read of the job or another message, judged again unless both are the same."""
        if message is None:
            message = self.message
        if read is self.read and message is self.message:
            return self
        return Delivery.of(message, read, self.deadline, self.permit)

    @property
    def job(self) -> Job:
        """The job of a trigger that is alive or held."""
        assert self.read.job is not None, "its trigger is alive or held"
        return self.read.job

    @property
    def may_have_place(self) -> bool:
        """Whether the trigger may have a place in the overlap queue of its job, by its read.

        An earlier revision of the job may have limited overlap. When the job limits overlap again, such a
        trigger would get another turn, and its record may be gone then.
        """
        return self.job.definition.overlap.is_limited or self.message.trigger.rev != self.job.rev

    @property
    def goes_into_line(self) -> bool:
        """Whether it goes into the line of a policy, by its read."""
        has_policy = self.read.job is not None and self.read.job.definition.policy is not None
        return self.permit is None and has_policy and self.liveness == "alive"


class JobReads:
    """Reads jobs again when the last read has grown too old."""

    def __init__(self, *, jobs: JobStore, clock: Clock) -> None:
        self._jobs = jobs
        self._clock = clock

    def fresh(self, key: JobKey, read: JobRead, at: Instant | None = None) -> JobRead:
        """The same read if it is at most a second old (or will be `at` that instant), otherwise a new one.

        A read of a later instant than now counts as old: the clock has stepped back since.
        """
        now = self._clock.now()
        used_at = now if at is None else max(now, at)
        is_fresh = read.at <= now and used_at - read.at <= JOB_READ_AGE_MAX_MS
        return read if is_fresh else self.reread(key)

    def renewed(self, delivery: Delivery, at: Instant | None = None) -> Delivery:
        """The same by a fresh() read of its job."""
        return delivery.by(self.fresh(delivery.message.trigger.key, delivery.read, at))

    def reread(self, key: JobKey) -> JobRead:
        """A new read, even if the last one is recent."""
        now = self._clock.now()
        return JobRead(self._jobs.get(key), now)

    def revision(self, of: HasRevision, job: Job | None, due_at: Instant) -> Revision | None:
        """The revision of a trigger or range, from its job or from where it was filed; None if none owes it.

        `due_at` is the due time of the first trigger. The job may have forgotten the revision; only then does
        this cost a read.
        """
        if not may_be_filed(job, of.uid, of.rev, due_at):
            return revision_of(job, of.uid, of.rev)
        name = RevisionName(of.key, of.uid, of.rev)
        return self._jobs.filed([name]).get(name)

    def mark_owed(self, delivery: Delivery) -> Delivery:
        """The same, marked by its revision as owed or not, if its job does not keep the revision.

        A trigger that waits was marked when it arrived. An update may have ended the revision before the due
        time of the trigger since then, if the delivery function's clock was ahead. So the mark of a revision
        that the job does not keep is made again. A job with a full item neither keeps nor files a revision in
        which nothing fell due.
        """
        message, job = delivery.message, delivery.read.job
        trigger = message.trigger
        is_judged_by_revision = message.attempt == 1 and message.redrive is None and trigger.demand is None
        if not is_judged_by_revision:
            return delivery
        if owes_nothing(job, trigger.uid, trigger.rev, trigger.due_at):
            return delivery.by(delivery.read, message._replace(is_owed=False))
        if not may_be_filed(job, trigger.uid, trigger.rev, trigger.due_at):
            return delivery
        name = RevisionName(trigger.key, trigger.uid, trigger.rev)
        filed = self._jobs.filed([name]).get(name)
        if filed is None and not would_be_filed(trigger.due_at, self._clock.now()):
            # The filed revision may have been removed at the end of its time to live.
            return delivery
        is_owed = filed is not None and filed.owns(trigger.due_at)
        return delivery.by(delivery.read, message._replace(is_owed=is_owed))


class Wait(NamedTuple):
    """The trigger waits until that instant: its message is sent again, or goes into the `line` of a policy.

    Meanwhile the trigger needs its job until `job_until`, and the record of its `run`. If it `keeps_place`,
    it also needs its place in the overlap queue of its job. If it `is_planned`, its attempt is due then, so
    that nothing looks at it before.
    """

    delivery: Delivery
    until: Instant
    why: OutcomeName
    line: PolicyKey | None = None
    job_until: Instant | None = None
    run: Run | None = None
    keeps_place: bool = False
    is_planned: bool = False


class Drop(NamedTuple):
    """The trigger needs no attempt: its run may be the one that has `ended`.

    If the trigger `leaves_place`, it gives up its place in the overlap queue of its job.
    """

    delivery: Delivery
    why: OutcomeName
    ended: Run | None = None
    leaves_place: bool = False


class Withdraw(NamedTuple):
    """The job does not owe the trigger any more: it is dropped together with what it holds."""

    delivery: Delivery


class Bury(NamedTuple):
    """The next attempt has come too late to be made: the trigger is given up."""

    delivery: Delivery


class Keep(NamedTuple):
    """Its line keeps the trigger: no request was sent, and nothing else keeps it."""


#: What a gate decides about a trigger that does not pass it.
Stop: TypeAlias = Wait | Drop | Withdraw | Bury | Keep
