"""What happened in a simulated world, in true time: all that the oracle is told of it.

Instants named `at` are true ones; every other one is by the clock of whoever wrote it down.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from sweephand.base.instants import Instant

Verb: TypeAlias = Literal[
    "create",
    "replace",
    "patch",
    "pause",
    "resume",
    "delete",
    "trigger",
    "backfill",
    "heartbeat",
    "complete",
    "fail",
    "cancel",
    "redrive",
    "redrive many",
    "pause many",
    "resume many",
    "delete many",
    "expire",
    "keep",
]

#: How a consumer answers: it `accepted` what it will report on later, and what is `lost` nobody was told.
Outcome: TypeAlias = Literal["succeeded", "failed", "lost", "accepted"]


@dataclass(frozen=True, slots=True)
class Written:
    """A write that changed a job's item. `definition` is all that was in force from then on.

    By `expire` a job goes by itself, by `keep` it is kept for longer; it stays what it was.

    `asked_at` is the request's moment by the clock of the function that served it, which was `ahead_ms`
    ahead; `cut`, `since` and `paused_at` are as stored. `catchup` is what a resume asked for instead of its
    job's own mode; `jitter_ms` by how much `jitter` moves the series, which no document foretells. Past
    `expires_at`, as stored, whoever asks for the job is told that there is none.
    """

    at: Instant
    verb: Verb
    name: str
    uid: str
    rev: str
    asked_at: Instant
    ahead_ms: int
    cut: Instant
    since: Instant
    paused_at: Instant | None
    definition: Mapping[str, Any]
    catchup: str | None = None
    jitter_ms: int = 0
    expires_at: Instant | None = None


@dataclass(frozen=True, slots=True)
class Deleted:
    """A job's item is gone: by which request (None: by none), `create` if another of its name is there."""

    at: Instant
    name: str
    uid: str
    verb: Verb | None = "delete"


@dataclass(frozen=True, slots=True)
class Removed:
    """DynamoDB has removed an item whose time to live is over: a job, its line, a run or a timer of it."""

    at: Instant
    item: Literal["job", "line", "run", "timer"]
    name: str
    uid: str
    run_id: str = ""


@dataclass(frozen=True, slots=True)
class Answered:
    """What a client was told. `uid` is of the job it wrote; `error` is set if it was refused or failed.

    `refused_after` is set if the request had written or removed a job, the last time at that instant, and the
    client was told that the job is not there, or not as it asked. `changed` are the uids of the jobs that the
    request wrote or removed, each as often as it did.
    """

    at: Instant
    verb: Verb
    name: str
    uid: str | None
    rev: str | None
    error: str | None = None
    refused_after: Instant | None = None
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chosen:
    """Which jobs a bulk call is about: whose names begin so and come after that one, with those labels."""

    prefix: str
    labels: Mapping[str, str]
    after: str

    def has(self, write: Written) -> bool:
        """Whether a job is chosen, as it stood after that write."""
        labels = write.definition.get("labels", {})
        is_named = write.name.startswith(self.prefix) and write.name > self.after
        return is_named and all(labels.get(name) == value for name, value in self.labels.items())


@dataclass(frozen=True, slots=True)
class ManyAnswered:
    """What a client was told of a page of a bulk call: how many jobs, and the name up to which (None: all).

    `changed` are the uids of the jobs whose items the call wrote or removed.
    """

    at: Instant
    verb: Verb
    asked_at: Instant
    chosen: Chosen
    count: int
    reached: str | None
    changed: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Requested:
    """A request left for its consumer; `clock_at` is what the delivery function took for now.

    With `token` the consumer may report on the attempt.
    """

    at: Instant
    clock_at: Instant
    name: str
    uid: str
    rev: str
    trigger_id: str
    due_at: Instant
    index: int
    sequence: int
    attempt: int
    data: str
    is_on_demand: bool = False
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Concluded:
    """What the consumer answered to that attempt."""

    at: Instant
    uid: str
    trigger_id: str
    attempt: int
    outcome: Outcome
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class Dropped:
    """The FIFO queue to which an attempt was sent took it for one that it has had, and delivers nothing."""

    at: Instant
    name: str
    uid: str
    trigger_id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Told:
    """A notice that a run has ended left for its consumer (`onComplete`), under an id of its own."""

    at: Instant
    name: str
    uid: str
    trigger_id: str
    notice_id: str
    state: str
    attempts: int


@dataclass(frozen=True, slots=True)
class RunAsked:
    """Something was asked for of a run: a report with the token of `attempt`, or what a person wants of it.

    Without an attempt it is of the one that goes on. Whoever asks for runs in bulk names none of them.
    """

    at: Instant
    verb: Verb
    name: str
    uid: str = ""
    run_id: str = ""
    attempt: int | None = None

    @property
    def is_by_name(self) -> bool:
        """Whether nothing but the run's name was given, which runs of two jobs of one name can share."""
        return self.verb in ("cancel", "redrive") or self.attempt is None


@dataclass(frozen=True, slots=True)
class RunAnswered:
    """What came of it: the run as it then was, or why not (`error`, the class of the refusal)."""

    at: Instant
    asked: RunAsked
    state: str | None = None
    attempts: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Buried:
    """A dead letter was accepted; without `trigger_id` it was no trigger of ours.

    What was given up is the trigger itself, or `of` something else about it: its deadline, say. A span of
    triggers that travelled as one is that of `uid`, from its first due time through its last.
    """

    at: Instant
    trigger_id: str | None
    reason: str
    of: str = "trigger"
    uid: str = ""
    span: tuple[Instant, Instant] | None = None


@dataclass(frozen=True, slots=True)
class RunStored:
    """A run's item changed. `before` is None if there was none.

    It `is_ending` if its attempt has failed and what follows is not recorded yet. Its state is `released` if
    its claim was removed: then nothing is stored.
    """

    at: Instant
    name: str
    uid: str
    run_id: str
    before: str | None
    state: str
    attempts: int
    owner: str | None
    reason: str | None = None
    is_ending: bool = False


@dataclass(frozen=True, slots=True)
class InLine:
    """A trigger in a job's line: `attempt` is the one that waits, or that took the line.

    `is_asked_for` if somebody asked for it, by hand or again; else its schedule did.
    """

    trigger_id: str
    due_at: Instant
    rev: str
    attempt: int
    is_asked_for: bool


@dataclass(frozen=True, slots=True)
class LineStored:
    """The line of a job whose runs take turns changed: who holds it, None if nobody does, and who waits."""

    at: Instant
    name: str
    uid: str
    holder: InLine | None
    waiting: tuple[InLine, ...] = ()


@dataclass(frozen=True, slots=True)
class TimerStored:
    """A timer was written, or written over itself.

    `put_off_by_ms` is greater than 0 in the copy of a timer that could not be expanded: the copy is looked at
    that much later than its first trigger is due. `armed_at` is when its revision was armed, by the clock of
    whoever did.
    """

    at: Instant
    shard: int
    name: str
    uid: str
    rev: str
    kind: str
    due_at: Instant
    sort_key: str
    put_off_by_ms: int = 0
    armed_at: Instant | None = None

    @property
    def first_due_at(self) -> Instant:
        """When the first trigger of an occurrence timer is due."""
        return self.due_at - self.put_off_by_ms

    @property
    def trigger_id(self) -> str:
        """The id of the trigger that a retry or a deadline is of."""
        return self.sort_key.rpartition("#")[2].partition(",")[0]


@dataclass(frozen=True, slots=True)
class CursorStored:
    """A shard's cursor moved, or was written again where it was."""

    at: Instant
    shard: int
    fence: int
    key: str
    within_at: Instant | None


@dataclass(frozen=True, slots=True)
class Mishap:
    """Something went wrong, as the seed had it. The oracle asks when, and of what kind."""

    at: Instant
    kind: str
    where: str


Event: TypeAlias = (
    Written
    | Deleted
    | Removed
    | Answered
    | ManyAnswered
    | Requested
    | Concluded
    | Dropped
    | Told
    | RunAsked
    | RunAnswered
    | Buried
    | RunStored
    | LineStored
    | TimerStored
    | CursorStored
    | Mishap
)
