"""What a rehearsal keeps of each job and of each run, and what became of them."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Final

from sweephand.base.instants import Instant
from sweephand.model.definition import OverlapRule, RetryPolicy
from sweephand.model.job import Job
from sweephand.model.line import Line
from sweephand.model.trigger import TriggerMessage, message_of
from sweephand.schedules import Batch, Occurrence
from sweephand.schedules.triggers import triggers_from
from sweephand.targets.target_type import timeout_ms
from sweephand_engine.rehearsal.consumer import Consumer

if TYPE_CHECKING:
    from sweephand_engine.rehearsal.gate import Gate

#: How long a service of AWS takes that only accepts what it gets, such as a queue.
ACCEPTED_MS: Final = 20


@dataclass(slots=True)
class Counts:
    """What became of the triggers of a job.

    `overlapped` began while an earlier run was not over, and at most `open_max` were open at once. `waited`
    had to wait for an earlier run or for a policy, at most for `wait_max_ms`. `held` were due after `onError`
    had paused the job.
    """

    triggers: int = 0
    begun: int = 0
    attempts: int = 0
    succeeded: int = 0
    failed: int = 0
    retried: int = 0
    skipped: int = 0
    waited: int = 0
    wait_max_ms: int = 0
    overlapped: int = 0
    open_max: int = 0
    held: int = 0
    missed: int = 0
    failed_at: Instant | None = None
    failure: str | None = None


@dataclass(eq=False, slots=True)
class JobPlay:
    """A job in a rehearsal. Its `number` is its place among the jobs."""

    number: int
    job: Job
    consumer: Consumer
    chance: Random
    retry: RetryPolicy = field(init=False)
    rule: OverlapRule = field(init=False)
    timeout_ms: int = field(init=False)
    waits: bool = field(init=False)
    is_async: bool = field(init=False)
    alert_after_ms: int | None = field(init=False)
    counts: Counts = field(default_factory=Counts)
    line: Line = field(default_factory=Line)
    waiting: "dict[str, RunPlay]" = field(default_factory=dict)
    open: int = 0
    paused_at: Instant | None = None
    #: Of each batch that is under way, by its due time: how many runs are not over, and whether one failed.
    batches: dict[str, tuple[int, bool]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        definition, target = self.job.definition, self.job.definition.target
        self.retry, self.rule = definition.retry, definition.overlap
        self.is_async = definition.is_async
        self.timeout_ms = timeout_ms(target)
        self.alert_after_ms = definition.alert_after_ms
        self.paused_at = None if self.job.pause_end is not None else self.job.paused_at
        # Sweephand waits for the answer of a webhook, and for a function that it calls synchronously.
        self.waits = self.is_async or target.get("type") in ("http", "default") or is_called(target)

    @property
    def name(self) -> str:
        """The name of the job."""
        return self.job.key.name

    @property
    def batch(self) -> Batch | None:
        """The batch of each occurrence; None for a single trigger."""
        return self.job.series.batch

    def messages(self, since: Instant, until: Instant) -> Iterator[TriggerMessage]:
        """The messages of the triggers of its schedule from `since` on and before `until`, lazily."""
        for each in occurrences(self.job, since, until):
            yield message_of(self.job, each, since)


def occurrences(job: Job, since: Instant, until: Instant) -> Iterator[Occurrence]:
    """The triggers of a job's schedule from `since` on and before `until`, lazily, while it is not paused."""
    begin = job.fires_from(since)
    first = None if begin is None else job.series.next_after(begin - 1)
    for each in () if first is None else triggers_from(job.series, first):
        if each.at >= until:
            return
        yield each


def is_called(target: object) -> bool:
    """Whether a target is a Lambda function whose answer Sweephand waits for."""
    return isinstance(target, dict) and target.get("invocation") == "sync"


@dataclass(eq=False, slots=True)
class RunPlay:
    """A run in a rehearsal: its next message, and what it holds."""

    of: JobPlay
    message: TriggerMessage
    has_begun: bool = False
    gate: "Gate | None" = None
    is_probe: bool = False

    @property
    def id(self) -> str:
        """The id of the trigger."""
        return self.message.trigger.id
