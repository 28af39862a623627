"""The events of a simulated world, in true time. The oracle judges these alone.

Instants named `at` are true ones. Every other instant is by the clock of the machine that wrote it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias

from tests.simulation.traces.rare_events import (
    Alerted,
    BatchEvent,
    BulkWriteAnswered,
    CalendarStored,
    ChainBound,
    LimitSet,
    Loss,
    WindowSet,
)

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
    "calendar",
    "follow",
]

#: How a consumer answers. It will report later on an attempt that it `accepted`. An answer that is `lost`
#: reaches nobody.
Outcome: TypeAlias = Literal["succeeded", "failed", "lost", "accepted"]


@dataclass(frozen=True, slots=True)
class Written:
    """A write that changed a job's item. `definition` is the whole definition from then on.

    By `expire` a job goes by itself. By `keep` it is kept for longer, and stays what it was. By `follow` it
    takes the days of its changed calendar. `closed` names the days that it has: those of the CalendarStored
    with that text. `asked_at` is
    the instant of the request by the clock of the function that served it, which was `ahead_ms` ahead. `cut`,
    `since` and `paused_at` are as stored. `catchup` is the mode that a resume asked for instead of the job's
    own. A pause that ends by itself asked for it, too, and for its end `until`. What no client asked for, a
    job does `by_itself`. `jitter_ms` is by how much `jitter` moves the series, which no document says. When
    the stored `expires_at` is past, a client that asks for the job gets 404.
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
    until: Instant | None = None
    by_itself: bool = False
    closed: str | None = None


@dataclass(frozen=True, slots=True)
class Deleted:
    """A job's item was removed, by that request or by none. `create`: another of its name is there."""

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
    """The answer to a client.

    `uid` is that of the job that it wrote. `error` is set if it was refused or failed. `refused_after` is the
    last instant at which the request had written or removed a job. It is set only if the client was told that
    the job is not there, or not as it asked. `changed` are the uids of the jobs that the request wrote or
    removed, each as often as it did.
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
    """The filter of a bulk call: jobs whose names begin so and come after that one, with those labels."""

    prefix: str
    labels: Mapping[str, str]
    after: str

    def has(self, write: Written) -> bool:
        """Whether the filter chooses a job, as it was after that write."""
        labels = write.definition.get("labels", {})
        is_named = write.name.startswith(self.prefix) and write.name > self.after
        return is_named and all(labels.get(name) == value for name, value in self.labels.items())


@dataclass(frozen=True, slots=True)
class ManyAnswered:
    """The answer to a page of a bulk call: the number of jobs, and the name up to which (None at the end).

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
    """A request left for its consumer. `clock_at` is the delivery function's present instant.

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
    """The consumer's answer to that attempt."""

    at: Instant
    uid: str
    trigger_id: str
    attempt: int
    outcome: Outcome
    is_final: bool = False


@dataclass(frozen=True, slots=True)
class Dropped:
    """The FIFO queue of an attempt had its deduplication id before, and does not deliver it."""

    at: Instant
    name: str
    uid: str
    trigger_id: str
    attempt: int


@dataclass(frozen=True, slots=True)
class Told:
    """A notification of a run's end left for its consumer (`onComplete`), under an id of its own."""

    at: Instant
    name: str
    uid: str
    trigger_id: str
    notice_id: str
    state: str
    attempts: int


@dataclass(frozen=True, slots=True)
class RunAsked:
    """An action on a run: a report with the token of `attempt`, or a call by a person.

    Without an attempt it is about the one that goes on. A bulk redrive names no runs.
    """

    at: Instant
    verb: Verb
    name: str
    uid: str = ""
    run_id: str = ""
    attempt: int | None = None

    @property
    def is_by_name(self) -> bool:
        """Whether the request gave the run's name alone. Runs of two jobs of one name can share it."""
        return self.verb in ("cancel", "redrive") or self.attempt is None


@dataclass(frozen=True, slots=True)
class RunAnswered:
    """The answer to such an action: the run as it then was, or the class of the refusal (`error`)."""

    at: Instant
    asked: RunAsked
    state: str | None = None
    attempts: int | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class Buried:
    """A dead letter was accepted. Without `trigger_id` it was no trigger of Sweephand.

    A letter is about the trigger itself, or `of` something else about it, such as its deadline. A range of
    triggers that travelled as one belongs to `uid`, from its first due time through its last.
    """

    at: Instant
    trigger_id: str | None
    reason: str
    of: str = "trigger"
    uid: str = ""
    due_range: tuple[Instant, Instant] | None = None


@dataclass(frozen=True, slots=True)
class RunStored:
    """A run's item changed. `before` is None if there was none.

    The run `is_ending` if its attempt has failed and what follows is not recorded yet. Its state is
    `released` if its claim was removed: then nothing is stored. `is_counted` is None unless it is a run of a
    batch, and then says whether the batch's progress is kept. `ended_at` and `skipped_for` are as stored.
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
    is_counted: bool | None = None
    ended_at: Instant | None = None
    skipped_for: str | None = None


@dataclass(frozen=True, slots=True)
class InLine:
    """A trigger in a job's line. `attempt` is the one that waits, or that took the line.

    `is_asked_for` says that somebody asked for it, by hand or by a redrive. Otherwise its schedule made it.
    """

    trigger_id: str
    due_at: Instant
    rev: str
    attempt: int
    is_asked_for: bool


@dataclass(frozen=True, slots=True)
class LineStored:
    """The line of a job whose runs take turns changed: its holder, or None, and the triggers that wait."""

    at: Instant
    name: str
    uid: str
    holder: InLine | None
    waiting: tuple[InLine, ...] = ()


#: Sorts after the sort key of every timer.
_AFTER_EVERY_ENTRY: Final = "\uffff"


@dataclass(frozen=True, slots=True)
class TimerStored:
    """A timer was written, or written over itself.

    `put_off_by_ms` is how much later than its first trigger a copy is due. `judged_at` is its judgement.
    `armed_at` is when its revision was armed, by that function's clock. In a pack, `entry` tells it apart.
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
    entry: str = ""
    judged_at: Instant | None = None

    @property
    def place(self) -> tuple[str, str]:
        """Where it lies in its shard, in the order in which timers are swept."""
        return self.sort_key, self.entry

    @property
    def first_due_at(self) -> Instant:
        """When the first trigger of an occurrence timer is due."""
        return self.due_at - self.put_off_by_ms

    @property
    def trigger_id(self) -> str:
        """The id of the trigger to which a retry or a deadline belongs."""
        return self.sort_key.rpartition("#")[2].partition(",")[0]


@dataclass(frozen=True, slots=True)
class CursorStored:
    """A shard's cursor moved, or was written again at the same place.

    `tick_began_at` is when the tick began that wrote it, or that invoked the sweeper that wrote it.
    """

    at: Instant
    shard: int
    fence: int
    key: str
    within_at: Instant | None
    entry: str = ""
    tick_began_at: Instant | None = None

    @property
    def place(self) -> tuple[str, str]:
        """The last timer that it has reached, in the order in which timers are swept."""
        is_item_done = self.within_at is None and not self.entry
        return self.key, _AFTER_EVERY_ENTRY if is_item_done else self.entry

    def has_passed(self, place: tuple[str, str]) -> bool:
        """Whether the timer at that place is done."""
        return place < self.place or (place == self.place and self.within_at is None)


@dataclass(frozen=True, slots=True)
class Mishap:
    """A fault of the seed. The oracle uses its instant and its kind."""

    at: Instant
    kind: str
    where: str


Event: TypeAlias = (
    Written
    | Deleted
    | Removed
    | Answered
    | ManyAnswered
    | BulkWriteAnswered
    | Requested
    | Concluded
    | Dropped
    | Told
    | Alerted
    | RunAsked
    | RunAnswered
    | Buried
    | RunStored
    | LineStored
    | TimerStored
    | CursorStored
    | Loss
    | LimitSet
    | ChainBound
    | WindowSet
    | Mishap
    | BatchEvent
    | CalendarStored
)
