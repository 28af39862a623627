"""What names a trigger, and the messages in which triggers travel to the delivery function."""

from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias

from sweephand.base.instants import Instant
from sweephand.model.definition import Payload
from sweephand.model.job import JobKey
from sweephand.model.run_id import Demand, RunName
from sweephand.schedules import Occurrence, Series


@dataclass(frozen=True, slots=True)
class Trigger:
    """One event of one occurrence.

    Its identity is uid, due time and index, never the revision: whoever sends it, however often, gives
    it the same id. One that was asked for has a `demand`, by which it has an id of its own; asked for now,
    it has no number in the series: its `sequence` is 0. `armed_at` is when its revision was armed or it was
    asked for, from which the grace for a commit in flight is counted.
    """

    key: JobKey
    uid: str
    rev: str
    due_at: Instant
    sequence: int
    armed_at: Instant
    index: int = 0
    demand: Demand | None = None

    @property
    def id(self) -> str:
        """The trigger id: what a consumer deduplicates by."""
        return f"{self.uid}-{self.run_id}"

    @property
    def run_id(self) -> str:
        """The name of its run within its job."""
        return str(RunName(self.due_at, self.index, self.demand))


class Redrive(NamedTuple):
    """A round of attempts at a trigger that was given up: the number of the round's first attempt.

    `started_at` is when the trigger's very first attempt began; None if there never was one.
    """

    attempt: int
    started_at: Instant | None


class Failure(NamedTuple):
    """Why an attempt failed, in a sentence; the HTTP status if a response said so.

    If it `is_final`, no other attempt could have helped.
    """

    attempt: int
    reason: str
    response_code: int | None = None
    is_final: bool = False


class TriggerMessage(NamedTuple):
    """A trigger on its way: which attempt comes next, and when it may begin.

    `first_attempt_at` is when the first attempt of its round began, from which the retry policy counts its
    age; None before that. `faults` counts how often Sweephand itself failed to handle it, and `crashes` how
    often the function that tried ended without a word: the queue counts that anew with each copy. What was
    given up and is tried anew has a `redrive`: attempts are numbered on, and the policy counts them from
    there. `payload` is delivered instead of the job's data, if it was asked for with data of its own. One
    that `is_owed` was judged so when it was due and has had to wait since, perhaps for longer than its job
    remembers the revision that owes it. One that `had_token` had an earlier attempt whose consumer could
    report: a queue may have taken that attempt, and the consumer may have said since that it failed.
    `last_failure` is the latest attempt that failed; None before the first failure.
    """

    trigger: Trigger
    not_before: Instant
    attempt: int = 1
    first_attempt_at: Instant | None = None
    faults: int = 0
    redrive: Redrive | None = None
    payload: Payload | None = None
    crashes: int = 0
    is_owed: bool = False
    had_token: bool = False
    last_failure: Failure | None = None

    @property
    def attempt_of_round(self) -> int:
        """Which attempt it is by the retry policy's count."""
        return self.attempt if self.redrive is None else self.attempt - self.redrive.attempt + 1

    @property
    def begins_redrive(self) -> bool:
        """Whether it is the first attempt of a redrive, which alone may follow a run that was given up."""
        return self.redrive is not None and self.attempt == self.redrive.attempt

    @property
    def started_at(self) -> Instant | None:
        """When the trigger's very first attempt began; None before that."""
        earlier = self.redrive.started_at if self.redrive else None
        return self.first_attempt_at if earlier is None else earlier

    def waiting(self, *, is_owed: bool = True) -> "TriggerMessage":
        """The message of what has to wait, however long; `is_owed` says whether it was judged to be by now.

        Waiting crashes nobody: what crashes befall it were its neighbours'. That there was one is kept, since
        it may have left a claim.
        """
        return self._replace(is_owed=self.is_owed or is_owed, crashes=min(self.crashes, 1))


class OfRevision(Protocol):
    """What belongs to one revision of one job: a timer, a span, a revision that is being armed."""

    @property
    def key(self) -> JobKey:
        """The job's key."""
        ...

    @property
    def uid(self) -> str:
        """The job's uid."""
        ...

    @property
    def rev(self) -> str:
        """The revision's name."""
        ...


def message_of(
    source: OfRevision, occurrence: Occurrence, armed_at: Instant, demand: Demand | None = None
) -> TriggerMessage:
    """The message of an occurrence: its first attempt, when it is due."""
    trigger = Trigger(
        key=source.key,
        uid=source.uid,
        rev=source.rev,
        due_at=occurrence.due_at,
        sequence=occurrence.sequence,
        armed_at=armed_at,
        demand=demand,
    )
    return TriggerMessage(trigger, not_before=occurrence.due_at)


class RangeMessage(NamedTuple):
    """Many triggers of one revision in one message, split by the delivery function until they are single.

    It stands for the occurrences of `series` from `first` on, up to and including `until`. `faults` counts
    how often Sweephand failed to split it. With a `demand` its triggers were asked for. If they `are_skipped`
    they are misfires that do not fire, of which there is to be one record. One that `is_owed` was judged so
    by an earlier release, and so are the triggers that it is split into.
    """

    key: JobKey
    uid: str
    rev: str
    series: Series
    first: Occurrence
    until: Instant
    armed_at: Instant
    faults: int = 0
    demand: Demand | None = None
    are_skipped: bool = False
    is_owed: bool = False


class DeadlineMessage(NamedTuple):
    """That a run whose consumer has accepted the trigger is looked at: it may have been silent for too long.

    It is about one acceptance: that of the attempt claimed by `owner`. `shard` is the job's, for the next
    look.
    """

    trigger: Trigger
    attempt: int
    owner: str
    shard: int
    not_before: Instant
    faults: int = 0


class FailureMessage(NamedTuple):
    """What a consumer reports of an attempt that it had accepted: it failed, in vain if it `is_final`."""

    trigger: Trigger
    attempt: int
    reason: str
    is_final: bool
    not_before: Instant
    faults: int = 0


class NotifyMessage(NamedTuple):
    """That a run has ended, for whom the job wants to be told (`onComplete`).

    `attempts` is the number of the attempt after which it ended in `state`; `attempt` and `first_attempt_at`
    are of the telling. `result` is the JSON text that the consumer completed the run with.
    """

    trigger: Trigger
    state: str
    attempts: int
    started_at: Instant | None
    ended_at: Instant
    response_code: int | None
    reason: str | None
    not_before: Instant
    attempt: int = 1
    first_attempt_at: Instant | None = None
    faults: int = 0
    result: str | None = None


def end_id(trigger: Trigger, attempts: int) -> str:
    """What names the end of a trigger's run after so many attempts; a redrive can make it end again."""
    return f"{trigger.id}-end-{attempts}"


Message: TypeAlias = TriggerMessage | RangeMessage | DeadlineMessage | FailureMessage | NotifyMessage


class NewerMessage(NamedTuple):
    """A message that a newer version wrote, as it travelled: it is sent again as it is."""

    body: str


#: What can be sent.
Sendable: TypeAlias = Message | NewerMessage


class DeadLetter(NamedTuple):
    """A trigger whose retrying ended, with all that is needed to send it again.

    `body` is the message as it travelled (for a poison message whatever text it was), `reason` a
    sentence.
    """

    body: str
    reason: str
    trigger: Trigger | None = None
    attempts: int = 0
    response_code: int | None = None
    answer: str | None = None
