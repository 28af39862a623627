"""What a run is: the record of delivering one trigger."""

from dataclasses import dataclass

from sweephand.base.instants import Instant
from sweephand.model.definition import Payload
from sweephand.model.job import JobKey
from sweephand.model.run_id import Demand, RunName
from sweephand.model.run_states import OVER
from sweephand.model.run_states import State as State  # noqa: PLC0414 - said again: it is a run's
from sweephand.model.trigger import (
    Failure,
    Redrive,
    Trigger,
    TriggerMessage,
)


@dataclass(frozen=True, slots=True)
class Run:
    """One run as stored.

    `attempts` is the number of the latest attempt; `owner` and `claimed_until` say who has claimed it and
    until when, while `state` is `claimed`; an attempt that needed no claim has no `claimed_until`. A redrive
    begins a round of attempts at `round_from`. `round_at` is when its first one began; None in the first
    round, which began at `started_at`. One that was asked for has a `demand`, and the `payload` that it was
    asked for with, if any. `version` is the token of the latest change by somebody who did not hold the
    claim. `lateness_ms` is from the due time to the first attempt's request. `answer` is the first 512 bytes
    of the last response, as text. Where misfires were skipped, one run stands for all `count` of them: from
    `due_at` to `last_due_at`.

    An attempt that may be reported on has a `token`, with which its consumer does. While it is `running`, a
    report has to come every `heartbeat_ms`, the next by `heartbeat_by`, and the last by `run_until`.
    `next_look_at` is the instant of the latest look at its deadline that was sent; None in a record of an
    older version. `result` is the JSON text that its consumer completed it with. `last_failure` is the latest
    attempt that failed; a later success keeps it.
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
    next_look_at: Instant | None = None

    @property
    def run_id(self) -> str:
        """The name of the run within its job."""
        return str(RunName(self.due_at, self.index, self.demand))

    @property
    def trigger_id(self) -> str:
        """The id its trigger is delivered under."""
        return f"{self.uid}-{self.run_id}"

    @property
    def is_over(self) -> bool:
        """Whether no attempt follows by itself."""
        return self.state in OVER

    @property
    def is_ending(self) -> bool:
        """Whether its latest attempt has failed by its record, though what follows is not recorded yet.

        No report changes it any more: the first one that was recorded rules.
        """
        return self.state in ("claimed", "running") and self.ended_at is not None

    @property
    def deadline_at(self) -> Instant:
        """When a consumer that has accepted the trigger has to have reported."""
        assert self.heartbeat_by is not None, "it is running"
        assert self.run_until is not None, "it is running"
        return min(self.heartbeat_by, self.run_until)

    @property
    def is_redriven(self) -> bool:
        """Whether it was given up once and tried anew."""
        return self.round_from > 1


def trigger_of(run: Run) -> Trigger:
    """The trigger of a run that was attempted before: its commit is so long ago that no grace counts."""
    return Trigger(
        run.key,
        run.uid,
        run.rev,
        run.due_at,
        run.sequence,
        armed_at=run.due_at,
        index=run.index,
        demand=run.demand,
    )


def attempted(run: Run) -> TriggerMessage:
    """The message of a run's latest attempt, made again of its record."""
    return TriggerMessage(
        trigger_of(run),
        not_before=run.due_at,
        attempt=run.attempts,
        first_attempt_at=run.round_at if run.is_redriven else run.started_at,
        redrive=Redrive(run.round_from, run.started_at) if run.is_redriven else None,
        payload=run.payload,
        last_failure=run.last_failure,
    )
