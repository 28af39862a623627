"""What a run is: the record of delivering one trigger."""

from dataclasses import dataclass

from sweephand.instants import Instant
from sweephand.jobs.job import JobKey
from sweephand.runs.transitions import OVER
from sweephand.runs.transitions import State as State  # noqa: PLC0414 - said again: it is a run's


@dataclass(frozen=True, slots=True)
class Run:
    """One run as stored.

    `attempts` is the number of the latest attempt; `owner` and `claimed_until` say who has claimed it
    and until when, while `state` is `claimed`. A redrive begins a round of attempts at `round_from`.
    `version` is the token of the latest change by somebody who did not hold the claim. `lateness_ms` is from
    the due time to the first attempt's request. `answer` is the first 512 bytes of the last response, as
    text. Where misfires were skipped, one run stands for all `count` of them: from `due_at` to `last_due_at`.
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
    version: str | None = None
    count: int = 1
    last_due_at: Instant | None = None

    @property
    def run_id(self) -> str:
        """The name of the run within its job: `{due as epoch ms}-{index}`."""
        return f"{self.due_at}-{self.index}"

    @property
    def trigger_id(self) -> str:
        """The id its trigger is delivered under."""
        return f"{self.uid}-{self.due_at}-{self.index}"

    @property
    def is_over(self) -> bool:
        """Whether no attempt follows by itself."""
        return self.state in OVER

    @property
    def is_redriven(self) -> bool:
        """Whether it was given up once and tried anew."""
        return self.round_from > 1
