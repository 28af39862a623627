"""What a run is: the record of delivering one trigger, its states, its flag, and when it may be written."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal, NamedTuple

from sweephand.base.instants import Instant
from sweephand.model.definition import Payload
from sweephand.model.failed_attempt import FailedAttempt
from sweephand.model.job import JobKey
from sweephand.model.policy_names import PermitName
from sweephand.model.run_id import Demand, RunName, run_id, run_position
from sweephand.model.trace import Context, Origin, context_of
from sweephand.model.trigger import BatchPlace, Failure, Redrive, Trigger, TriggerMessage

#: The stored states. `claimed`: a delivery function has claimed the attempt. `running`: the consumer accepted
#: the trigger and will report. `retrying`: the attempt failed, and another follows. In every other state, the
#: run is over.
State = Literal["claimed", "running", "retrying", "succeeded", "failed", "skipped", "cancelled"]

#: How a state follows another. `record`: the holder of the claim writes the outcome of the attempt. `move`: a
#: writer changes a run that it has read, after a consumer's callback, a passed deadline or a cancel.
#: `attempt`: the message of a later attempt claims the run. That the message was sent proves that the attempt
#: before it failed, even if that is not recorded. `takeover`: the same attempt is claimed again after its
#: holder crashed. `redrive`: a new round of attempts begins after the run was given up.
TransitionKind = Literal["record", "move", "attempt", "takeover", "redrive"]

TRANSITIONS: Final[Mapping[State, Mapping[State, tuple[TransitionKind, ...]]]] = {
    "claimed": {
        # `record` and `move`: the attempt failed, and the message of what follows is about to be sent. `move`
        # also keeps the record of a crashed attempt for longer.
        "claimed": ("attempt", "takeover", "record", "move"),
        "running": ("record",),
        # A callback can arrive before the acceptance is recorded, hence `move`.
        "succeeded": ("record", "move"),
        "retrying": ("record", "move"),
        "failed": ("record", "move"),
        "skipped": ("record",),
        "cancelled": ("move",),  # its job was deleted before the attempt was made
    },
    "running": {
        "running": ("move",),  # a heartbeat, or that the attempt has failed
        "succeeded": ("move",),
        "retrying": ("move",),
        "failed": ("move",),
        "cancelled": ("move",),
    },
    "retrying": {
        "claimed": ("attempt",),
        "retrying": ("move",),  # its record is kept for longer, since its next attempt waits
        "cancelled": ("move",),
    },
    "succeeded": {},
    "failed": {
        "claimed": ("redrive",),
        "failed": ("move",),  # its record is kept for longer, since a redrive waits
    },
    # Their records are kept for longer, since the stack is switched off.
    "skipped": {"skipped": ("move",)},
    "cancelled": {"cancelled": ("move",)},
}

#: The states that may be written if no run is stored. A first attempt that needed no claim writes its
#: outcome.
INITIAL_STATES: Final[frozenset[State]] = frozenset({"claimed", "succeeded", "retrying", "failed", "skipped"})

#: The states after which no attempt follows by itself.
OVER_STATES: Final[frozenset[State]] = frozenset(
    state
    for state, row in TRANSITIONS.items()
    if all(ways == ("redrive",) for to, ways in row.items() if to != state)
)


@cache
def sources(to: State, way: TransitionKind) -> frozenset[State]:
    """The states that a run may leave for `to` in that way."""
    return frozenset(state for state, row in TRANSITIONS.items() if way in row.get(to, ()))


#: The reason of a run that was skipped because another run of its job was not over.
OVERLAP: Final = "overlap"

#: What begins the reason of a run that a window has skipped. The name of the window follows.
WINDOW: Final = "window: "


@dataclass(frozen=True, slots=True)
class Run:
    """One run as stored.

    `attempts` is the number of the latest attempt. While `state` is `claimed`, `owner` names the holder of
    the claim on that attempt, and `claimed_until` is the end of the claim. An attempt that needed no claim
    has no `claimed_until`. A redrive begins a round of attempts at the attempt `round_from`. `round_at` is
    when the first attempt of that round began. It is None in the first round, which began at `started_at`.
    `round_ends` are the attempts with which the earlier rounds ended, as in Redrive.
    The run of a trigger on demand has a `demand`, and the `payload` that was given with it, if any. `version`
    is the token of the latest change by a writer that did not hold the claim. `lateness_ms` is the time from
    the due time to the first attempt's request. `answer` is the first 512 bytes of the last response, as
    text. If misfires were skipped, one run stands for all `count` of them, from `due_at` to `last_due_at`.

    An attempt of an asynchronous job has a `token`, with which its consumer reports. While the run is
    `running`, the consumer must report every `heartbeat_ms`: the next time by `heartbeat_by`, and the last
    time by `run_until`. `next_check_at` is the instant of the latest deadline check that was sent, or None
    before the first. `result` is the JSON text with which the consumer completed the run.
    `last_failure` is the latest failed attempt; a later success keeps it. `batch` is the place of its trigger
    in a batch. `permit` is the permit that its latest attempt holds under a policy until it is over; None for
    a run that is not asynchronous. A run that was skipped because another run of the job was not over names
    that run in `skipped_for`. `origin` is the trace context from which those of its attempts are made.
    Windows have held retries of its round for `held_ms`. One holds the next attempt until `held_until`.
    `attempt_at` is when its latest attempt began, unless that is the first one. `failed_attempts` are the
    last ones that failed, oldest first.
    """

    key: JobKey
    uid: str
    due_at: Instant
    index: int
    state: State
    attempts: int
    rev: str
    sequence: int
    started_at: Instant | None = None
    ended_at: Instant | None = None
    lateness_ms: int | None = None
    next_attempt_at: Instant | None = None
    response_code: int | None = None
    answer: str | None = None
    reason: str | None = None
    owner: str | None = None
    claimed_until: Instant | None = None
    expires_at: Instant | None = None
    round_from: int = 1
    round_at: Instant | None = None
    round_ends: tuple[int, ...] | None = None
    version: str | None = None
    count: int = 1
    last_due_at: Instant | None = None
    token: str | None = None
    heartbeat_ms: int | None = None
    heartbeat_by: Instant | None = None
    run_until: Instant | None = None
    demand: Demand | None = None
    payload: Payload | None = None
    result: str | None = None
    last_failure: Failure | None = None
    next_check_at: Instant | None = None
    batch: BatchPlace | None = None
    permit: PermitName | None = None
    skipped_for: str | None = None
    origin: Origin | None = None
    held_ms: int = 0
    held_until: Instant | None = None
    attempt_at: Instant | None = None
    failed_attempts: tuple[FailedAttempt, ...] = ()

    @property
    def run_id(self) -> str:
        """The name of the run within its job."""
        return run_id(self.due_at, self.index, self.demand)

    @property
    def trigger_id(self) -> str:
        """The id of its trigger, by which a consumer deduplicates."""
        return f"{self.uid}-{self.run_id}"

    @property
    def context(self) -> Context:
        """The trace context that its latest attempt sent."""
        return context_of(self.origin, self.trigger_id, self.attempts)

    @property
    def attempt_began_at(self) -> Instant | None:
        """When its latest attempt began."""
        return self.started_at if self.attempts == 1 else self.attempt_at

    @property
    def is_over(self) -> bool:
        """Whether no further attempt follows by itself."""
        return self.state in OVER_STATES

    @property
    def through(self) -> Instant:
        """The last due time that the record stands for. A record of skipped misfires stands for many."""
        return self.due_at if self.last_due_at is None else self.last_due_at

    @property
    def is_ending(self) -> bool:
        """Whether the record says that the latest attempt failed, but not yet what follows.

        No callback changes such a run, because the first recorded callback decides.
        """
        return self.state in ("claimed", "running") and self.ended_at is not None

    @property
    def deadline_at(self) -> Instant:
        """When a consumer that has accepted the trigger must have reported."""
        assert self.heartbeat_by is not None, "it is running"
        assert self.run_until is not None, "it is running"
        return min(self.heartbeat_by, self.run_until)

    @property
    def is_redriven(self) -> bool:
        """Whether the run was given up once and then redriven."""
        return self.round_from > 1


def trigger_of(run: Run) -> Trigger:
    """The trigger of a run that has been attempted. `armed_at` is its due time: the commit grace is over."""
    return Trigger(
        run.key,
        run.uid,
        run.rev,
        run.due_at,
        run.sequence,
        armed_at=run.due_at,
        index=run.index,
        demand=run.demand,
        batch=run.batch,
    )


def latest_attempt_of(run: Run) -> TriggerMessage:
    """The message of a run's latest attempt, built from its record."""
    trigger = trigger_of(run)
    return TriggerMessage(
        trigger,
        not_before=trigger.at,
        attempt=run.attempts,
        first_attempt_at=run.round_at if run.is_redriven else run.started_at,
        redrive=Redrive(run.round_from, run.started_at, run.round_ends) if run.is_redriven else None,
        payload=run.payload,
        last_failure=run.last_failure,
        held_ms=run.held_ms,
        failed_attempts=run.failed_attempts,
    )


def is_over(message: TriggerMessage, run: Run | None) -> bool:
    """Whether a trigger's run is over. `run` is the stored run of the trigger."""
    if run is None or not run.is_over:
        return False
    # A redrive follows a run that is `failed`. Until the redrive is claimed, the run looks as if it were
    # over.
    return run.state != "failed" or run.attempts >= message.attempt or not message.begins_redrive


#: Instants have at most 15 digits. The position of a flag begins with what is left up to the highest number
#: of 15 digits. So the newest due times come first.
_HIGHEST: Final = 999_999_999_999_999

#: Sorts after everything that can follow a due time in a position.
_AFTER_ALL: Final = "\x7f"


def last_flag_at(due_at: Instant) -> str:
    """A position behind every flag of that due time, and before those of earlier ones."""
    return f"{_HIGHEST - due_at:015d}{_AFTER_ALL}"


class Flag(NamedTuple):
    """One flag: the job and the name of a run, and until when the flag is kept (None: for ever).

    A flag is written before the state that it announces, and is never removed. So it says nothing about the
    state of its run: whoever reads it reads the run too (decision 110).
    """

    key: JobKey
    uid: str
    run: RunName
    expires_at: Instant | None = None

    @property
    def position(self) -> str:
        """The position of the flag among those of its namespace, newest due time first, sortable as text.

        A job's uid is part of it, so runs of two jobs never share one.
        """
        _, _, place = run_position(self.run, self.uid).partition("#")
        return f"{_HIGHEST - self.run.due_at:015d}#{place}"


def flag_of(run: Run) -> Flag:
    """The flag of a run."""
    return Flag(run.key, run.uid, RunName(run.due_at, run.index, run.demand), run.expires_at)


class Guard(NamedTuple):
    """One condition under which a write is allowed.

    The stored run is in one of `states`. Each of its fields named in `same` has that value (None: the field
    is absent). If given, its attempt is less than `attempts_below`, and its claim is over at `claim_over_at`.
    """

    states: frozenset[State]
    same: Mapping[str, str | int | None]
    attempts_below: int | None = None
    claim_over_at: Instant | None = None

    def admits(self, stored: Run) -> bool:
        """Whether the stored run fulfils the whole condition."""
        is_over = self.claim_over_at is None or (
            stored.claimed_until is not None and stored.claimed_until <= self.claim_over_at
        )
        return (
            stored.state in self.states
            and all(getattr(stored, name) == value for name, value in self.same.items())
            and (self.attempts_below is None or stored.attempts < self.attempts_below)
            and is_over
        )


class WriteCondition(NamedTuple):
    """When a write is allowed: if a guard admits the stored run, or if none is stored and `may_begin`."""

    may_begin: bool
    guards: tuple[Guard, ...]

    def grants(self, stored: Run | None) -> bool:
        """Whether the write is allowed over the stored run (None: no run is stored)."""
        return self.may_begin if stored is None else any(guard.admits(stored) for guard in self.guards)


def claim_condition(run: Run, now: Instant) -> WriteCondition:
    """The condition of a claim of an attempt at `now` (ports.RunStore.claim)."""
    assert run.state == "claimed", "only a claim is claimed"
    assert run.owner, "a claim has a holder"
    later_attempt = Guard(sources("claimed", "attempt"), {}, attempts_below=run.attempts)
    # An attempt keeps its token when another holder takes it over, because its consumer may have the token.
    same_attempt: dict[str, str | int | None] = {"attempts": run.attempts, "token": run.token}
    takeover = Guard(sources("claimed", "takeover"), same_attempt, claim_over_at=now)
    guards = [later_attempt, takeover]
    if run.is_redriven and run.attempts == run.round_from:
        guards.append(Guard(sources("claimed", "redrive"), {"attempts": run.attempts - 1}))
    return WriteCondition(may_begin=True, guards=tuple(guards))


def record_condition(run: Run) -> WriteCondition:
    """The condition of the record of an attempt (ports.RunStore.record)."""
    assert run.owner, "a record has an author"
    states = sources(run.state, "record")
    same: dict[str, str | int | None] = {"attempts": run.attempts}
    # This attempt needed no claim, so the job has changed since a holder claimed it. That holder has crashed.
    if run.claimed_until is None:
        return WriteCondition(run.state in INITIAL_STATES, (Guard(states, same),))
    same["owner"] = run.owner
    # A claim has no version until its holder or its consumer records that the attempt failed.
    guards = [Guard(states, {**same, "version": None})]
    if run.version is not None:
        guards.append(Guard(states, {**same, "version": run.version}))
    return WriteCondition(run.state in INITIAL_STATES, tuple(guards))


def release_condition(run: Run) -> WriteCondition:
    """The condition of the release of a claim (ports.RunStore.release)."""
    assert run.state == "claimed", "only a claim is released"
    same: dict[str, str | int | None] = {"attempts": run.attempts, "owner": run.owner, "version": run.version}
    return WriteCondition(may_begin=True, guards=(Guard(frozenset({run.state}), same),))


def move_condition(run: Run, seen: Run) -> WriteCondition:
    """The condition of a move from the run `seen` that was read (ports.RunStore.move)."""
    assert "move" in TRANSITIONS[seen.state].get(run.state, ()), f"no move from {seen.state} to {run.state}"
    assert run.version, "a move has a token"
    unchanged: dict[str, str | int | None] = {
        "attempts": seen.attempts,
        "owner": seen.owner,
        "version": seen.version,
    }
    return WriteCondition(may_begin=False, guards=(Guard(frozenset({seen.state}), unchanged),))


def is_same_write(stored: Run, written: Run) -> bool:
    """Whether the stored run is this very write, so that an earlier try of it was applied."""
    return (stored.state, stored.attempts, stored.owner, stored.version) == (
        written.state,
        written.attempts,
        written.owner,
        written.version,
    )
