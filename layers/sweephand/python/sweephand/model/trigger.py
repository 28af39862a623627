"""What a trigger is, and the messages that carry triggers to the delivery function."""

from typing import Literal, NamedTuple, Protocol, TypeAlias

from sweephand.base.instants import Instant
from sweephand.model.calendar import CalendarMessage
from sweephand.model.definition import Definition, Payload
from sweephand.model.failed_attempt import FailedAttempt
from sweephand.model.job import JobKey
from sweephand.model.orders import ResumeMessage
from sweephand.model.policy_names import LANE_DEFAULT, Lane, PermitName, PolicyKey, Priority
from sweephand.model.run_id import BatchEnd, Demand, batch_id, run_id
from sweephand.model.watch import Alert, WatchMessage, alert_id
from sweephand.schedules import Batch, Occurrence, Series


class BatchPlace(NamedTuple):
    """The place of a trigger in the batch of its occurrence.

    The batch has `size` triggers, spread over `window_ms`. This one is due `after_ms` after its occurrence.
    A trigger keeps the batch of its own revision, because the job may have another one by now. So all
    triggers of a batch agree on whether it `is_counted`: whether its progress is kept.
    """

    size: int
    window_ms: int
    after_ms: int
    is_counted: bool = True

    @classmethod
    def of(cls, batch: Batch, after_ms: int) -> "BatchPlace":
        """The place of the trigger that is due so long after its occurrence."""
        return cls(batch.size, batch.window_ms, after_ms, batch.is_counted)


class Trigger(NamedTuple):
    """One event of one occurrence.

    Its identity is uid, due time and index, never the revision. So every sender gives it the same id, however
    often it is sent. A trigger on demand has a `demand`, which makes its id unique. A trigger that a caller
    asked for now has no number in the series: its `sequence` is 0. `armed_at` is when its revision was armed
    or when it was asked for. The grace for a commit in flight counts from there.

    `due_at` is when its occurrence is due. A trigger of a batch is due later by its place in the `batch`. Its
    `index` tells it apart from the other triggers of that occurrence.
    """

    key: JobKey
    uid: str
    rev: str
    due_at: Instant
    sequence: int
    armed_at: Instant
    index: int = 0  # type: ignore[assignment] # no one looks for a field by its value
    demand: Demand | None = None
    batch: BatchPlace | None = None

    @property
    def at(self) -> Instant:
        """When the trigger itself is due. No attempt at it begins earlier."""
        return self.due_at if self.batch is None else self.due_at + self.batch.after_ms

    @property
    def id(self) -> str:
        """The trigger id, by which a consumer deduplicates."""
        return f"{self.uid}-{self.run_id}"

    @property
    def run_id(self) -> str:
        """The name of its run within its job."""
        return run_id(self.due_at, self.index, self.demand)


class Redrive(NamedTuple):
    """A round of attempts at a trigger that was given up; `attempt` is the number of its first attempt.

    `started_at` is when the trigger's very first attempt began; None if it never had one. `ends` are the
    numbers of the attempts with which the earlier rounds ended. It is None if they are not known,
    because they are not kept of more than REDRIVES_KEPT rounds.
    """

    attempt: int
    started_at: Instant | None
    ends: tuple[int, ...] | None = None


class Failure(NamedTuple):
    """Why an attempt failed, as a sentence, and the HTTP status if a response was the reason.

    If it `is_final`, no further attempt could help.
    """

    attempt: int
    reason: str
    response_code: int | None = None
    is_final: bool = False


#: How far a trigger has come through the valve: it waits for its namespace's limit, or for the stack's, or it
#: has been admitted.
PassageLevel = Literal["namespace", "stack", "passed"]


class Passage(NamedTuple):
    """How far a trigger has come through the valve, which limits triggers a minute (decision 045).

    A trigger that waits has a slot in the allowance of that limit. The slot counts as long as the allowance
    is in the epoch in which the slot was taken.
    """

    level: PassageLevel
    slot_at: Instant = 0
    per_minute: int = 0
    epoch: int = 0


class TriggerMessage(NamedTuple):
    """A trigger under way: which attempt comes next, and when it may begin.

    `first_attempt_at` is when the first attempt of its round began, or None before that. The retry policy
    counts its age from there. `faults` counts how often Sweephand itself failed to handle the message.
    `crashes` counts how often a function that handled it ended without an answer; the queue restarts its own
    count with each copy. A trigger that was given up and redriven has a `redrive`. Its attempts continue
    their numbers, and the policy counts from the redrive. `payload` replaces the job's data.
    A message that `is_owed` was judged to be owed when it was due, and has waited since. Its job may not keep
    the revision any more. If it `had_token`, an earlier attempt gave its consumer a run token, who may have
    reported its failure since. `last_failure` is the latest failed attempt, or None, and `failed_attempts`
    the last ones, oldest first. `passage` is None before a valve. Windows held its retries for `held_ms`.
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
    passage: Passage | None = None
    lane: Lane = LANE_DEFAULT
    held_ms: int = 0
    failed_attempts: tuple[FailedAttempt, ...] = ()

    @property
    def attempt_of_round(self) -> int:
        """The number of the attempt within its round, by which the retry policy counts."""
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
        """The message of a trigger that must wait, for any time; `is_owed`: it has been judged to be owed.

        A trigger that only waits cannot crash a function, so other messages of the same invocation caused
        its crashes. At most one crash stays in the count, because a crash may have left a claim.
        """
        return self._replace(is_owed=self.is_owed or is_owed, crashes=min(self.crashes, 1))

    def held(self, *, is_owed: bool = True) -> "TriggerMessage":
        """The message of a trigger that is held back, for any time.

        A trigger that waits in the valve gives up its slot, and takes another one later. A trigger that the
        valve has admitted stays admitted.
        """
        has_passed = self.passage is not None and self.passage.level == "passed"
        return self.waiting(is_owed=is_owed)._replace(passage=self.passage if has_passed else None)


class LineWait(NamedTuple):
    """A trigger that has to wait in a line of a policy, until its `not_before` at least.

    Its job's `definition` says under which key.
    """

    policy: PolicyKey
    priority: Priority
    message: TriggerMessage
    definition: Definition


class HasRevision(Protocol):
    """A value of one revision of one job: a timer, a range, or a revision that is being armed."""

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

    @property
    def series(self) -> Series:
        """The series of the revision, or the part of it that the value has."""
        ...


def message_of(
    source: HasRevision,
    occurrence: Occurrence,
    armed_at: Instant,
    demand: Demand | None = None,
    payload: Payload | None = None,
) -> TriggerMessage:
    """The message of a trigger of the source's series: its first attempt, when it is due."""
    batch, (due_at, sequence, index, after_ms) = source.series.batch, occurrence
    place = None if batch is None else BatchPlace.of(batch, after_ms)
    # A sweep makes thousands, and names of arguments would take as long as all else here.
    trigger = Trigger(source.key, source.uid, source.rev, due_at, sequence, armed_at, index, demand, place)
    return TriggerMessage(trigger, due_at + after_ms, payload=payload)


class RangeMessage(NamedTuple):
    """Many triggers of one revision in one message. The delivery function splits it into single triggers.

    It stands for the triggers of `series` from `first` up to and including `last`. Without `last`, it ends
    with the last occurrence up to and including `until`. Only a series with a batch needs `last`, because
    many of its triggers can be due at one instant. `faults` counts how often Sweephand failed to split it.
    With a `demand`, its triggers are on demand, with the `payload` that was given with it, if any. If they
    `are_skipped`, they are misfires that do not fire, and the delivery function records them as one run.
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
    last: Occurrence | None = None
    payload: Payload | None = None
    lane: Lane = LANE_DEFAULT


class DeadlineMessage(NamedTuple):
    """The order to check a run whose consumer accepted the trigger and may have been silent for too long.

    It concerns one acceptance: that of the attempt that `owner` claimed. `shard` is the job's shard, for the
    timer of the next check. `permit` is the permit that the attempt holds under a policy. Whoever finds that
    the attempt is over frees it. `lane` is that of its job, as for a trigger.
    """

    trigger: Trigger
    attempt: int
    owner: str
    shard: int
    not_before: Instant
    faults: int = 0
    permit: PermitName | None = None
    lane: Lane = LANE_DEFAULT


class FailureMessage(NamedTuple):
    """A consumer's callback that fails an attempt which it had accepted; `is_final`: a retry cannot help."""

    trigger: Trigger
    attempt: int
    reason: str
    is_final: bool
    not_before: Instant
    faults: int = 0
    permit: PermitName | None = None


class NotifyMessage(NamedTuple):
    """The order to notify the job's `onComplete` target of the end of a run, or of a whole batch.

    `attempts` is the number of the attempt after which the run ended in `state`. `attempt` and
    `first_attempt_at` count the attempts at the notification itself. `result` is the JSON text with which the
    consumer completed the run. With a `batch_end`, the message is about the batch whose first trigger is
    `trigger`. With an `alert`, it is for `onAlert`. Then `trigger` is the last missed trigger, and `state`,
    `attempts` and what follows are those of its run; without a record, `state` is UNRECORDED.
    `traceparent` is the trace context of the run's last attempt, if it had one.
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
    batch_end: BatchEnd | None = None
    alert: Alert | None = None
    traceparent: str | None = None

    @property
    def end_id(self) -> str:
        """The id of the end, by which whoever is notified twice recognizes that."""
        if self.alert is not None:
            return alert_id(self.trigger.uid, self.alert)
        if self.batch_end is not None:
            return batch_end_id(self.trigger)
        return end_id(self.trigger, self.attempts)


def end_id(trigger: Trigger, attempts: int) -> str:
    """The id of the end of a trigger's run after that attempt; a redriven run can end again."""
    return f"{trigger.id}-end-{attempts}"


def batch_end_id(trigger: Trigger) -> str:
    """The id of the end of the batch of a trigger. A batch ends once, whatever is redriven after that."""
    return f"{trigger.uid}-{batch_id(trigger.due_at, trigger.demand)}-batch-end"


#: Messages about a job that name no single trigger.
OfJob: TypeAlias = RangeMessage | WatchMessage | ResumeMessage
OfTrigger: TypeAlias = TriggerMessage | DeadlineMessage | FailureMessage | NotifyMessage
WithoutTrigger: TypeAlias = OfJob | CalendarMessage

OtherMessage: TypeAlias = DeadlineMessage | FailureMessage | NotifyMessage | WithoutTrigger
Message: TypeAlias = OfTrigger | WithoutTrigger


class BundleMessage(NamedTuple):
    """First attempts of one namespace and lane that fall due within a short time, in due order.

    Each is a message of its own in every other respect: it is judged, delivered and counted by itself. A
    trigger that has to wait leaves the bundle and is sent alone.
    """

    triggers: tuple[TriggerMessage, ...]

    @property
    def not_before(self) -> Instant:
        """The due time of the first trigger."""
        return self.triggers[0].not_before


#: Every message that this version can read.
Readable: TypeAlias = Message | BundleMessage


def lane_of_message(message: Readable) -> Lane:
    """The lane of a message. Those that tell of a run's failure or end travel in the normal lane."""
    first = message.triggers[0] if isinstance(message, BundleMessage) else message
    return first.lane if isinstance(first, TriggerMessage | RangeMessage | DeadlineMessage) else LANE_DEFAULT


def namespace_of(message: Readable) -> str:
    """The namespace of the job, or of all jobs, of a message; or that of its calendar."""
    first = message.triggers[0] if isinstance(message, BundleMessage) else message
    return first.namespace if isinstance(first, CalendarMessage) else key_of_message(first).namespace


def key_of_message(message: OfTrigger | OfJob) -> JobKey:
    """The key of the job of a message."""
    return message.key if isinstance(message, OfJob) else message.trigger.key


class NewerMessage(NamedTuple):
    """A message that a newer version wrote. It is sent again unchanged."""

    body: str


#: Every message that the queue can send.
Sendable: TypeAlias = Readable | NewerMessage


class DeadLetter(NamedTuple):
    """A trigger whose retries ended, with all that is needed to send it again.

    `body` is the text of the message, which for a poison message is any text. `reason` is a sentence.
    """

    body: str
    reason: str
    trigger: Trigger | None = None
    attempts: int = 0
    response_code: int | None = None
    answer: str | None = None
