"""A trigger on its way through the gates, and what a gate may decide about it."""

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from sweephand.base.instants import INSTANT_MAX, Instant
from sweephand.model.job import Job
from sweephand.model.liveness import Liveness
from sweephand.model.policy_names import PolicyKey
from sweephand.model.run import Run
from sweephand.model.trigger import (
    DeadlineMessage,
    FailureMessage,
    NotifyMessage,
    RangeMessage,
    TriggerMessage,
)
from sweephand.model.watch import WatchMessage
from sweephand.runs.job_reads import JobRead, liveness_of
from sweephand.runs.received import OutcomeName

if TYPE_CHECKING:
    # Only workers of a policy's line have permits.
    from sweephand.runs.flow.permit import Permit


#: A message that carries no single trigger to be delivered.
OtherMessage: TypeAlias = RangeMessage | DeadlineMessage | FailureMessage | NotifyMessage | WatchMessage


class Delivery(NamedTuple):
    """A trigger that is to be delivered, and what the function knows of it.

    `liveness` says whether the trigger is alive by that `read` of its job. It is judged once for each read,
    and every gate takes the answer from here. At `deadline` the function's time is up. A worker of a policy's
    line gives the trigger a `permit`.
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
    def goes_into_line(self) -> bool:
        """Whether it goes into the line of a policy, by its read."""
        has_policy = self.read.job is not None and self.read.job.definition.policy is not None
        return self.permit is None and has_policy and self.liveness == "alive"


class Wait(NamedTuple):
    """The trigger waits until that instant: its message is sent again, or goes into the `line` of a policy.

    Meanwhile the trigger needs its job until `job_until`, the record of its `run`, and its place in the
    overlap queue of its job, if it `keeps_place`.
    """

    delivery: Delivery
    until: Instant
    why: OutcomeName
    line: PolicyKey | None = None
    job_until: Instant | None = None
    run: Run | None = None
    keeps_place: bool = False


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
