"""What a user writes of a job: kept as written, compared as written, read by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple

from sweephand.base.instants import (
    DAY_MS,
    HOUR_MS,
    MINUTE_MS,
    SECOND_MS,
    Instant,
)
from sweephand.base.limits import DATA_INLINE_BYTES_MAX, WAIT_LIMIT_DEFAULT
from sweephand.schedules import ScheduleInput, parse_duration_ms

#: What becomes of a trigger that comes due while a run of the same job is not over.
OverlapMode = Literal["allow", "skip", "wait", "waitLatest"]

#: Which of the occurrences that were found too late still fire.
CatchUpMode = Literal["latest", "all", "none"]

HISTORY_RETENTION_DEFAULT_MS: Final = 30 * DAY_MS
#: A queue keeps a message for 14 days, through an outage of the stack too.
HISTORY_RETENTION_MIN_MS: Final = 15 * DAY_MS
HEARTBEAT_TIMEOUT_DEFAULT_MS: Final = 5 * MINUTE_MS
MAX_RUN_TIME_DEFAULT_MS: Final = 24 * HOUR_MS
RETENTION_DEFAULT_MS: Final = 7 * DAY_MS


class RetryPolicy(NamedTuple):
    """How often, how long and how far apart a trigger is tried (semantics: Delivery)."""

    attempts_max: int = 10
    age_max_ms: int = 24 * HOUR_MS
    initial_delay_ms: int = 5 * SECOND_MS
    multiplier: float = 4.0
    delay_max_ms: int = 6 * HOUR_MS


class CatchUpPolicy(NamedTuple):
    """What becomes of misfires: occurrences found more than `window_ms` late (semantics: Catch-up)."""

    mode: CatchUpMode = "latest"
    window_ms: int = HOUR_MS


class OverlapRule(NamedTuple):
    """What becomes of triggers that come due while a run is not over; at most `wait_max` wait."""

    mode: OverlapMode = "allow"
    wait_max: int = WAIT_LIMIT_DEFAULT

    @property
    def is_limited(self) -> bool:
        """Whether runs of the job take turns."""
        return self.mode != "allow"


RETRY_DEFAULT: Final = RetryPolicy()
CATCH_UP_DEFAULT: Final = CatchUpPolicy()


class Payload(NamedTuple):
    """The `data` of a job: JSON text, byte for byte what every attempt sends.

    Up to 2 KB of it is kept in the job; more is kept in the payload store under the job's uid and
    `ref`, and `text` is None until it has been read from there. A ref is the digest and a token of the
    write: an object that one version has let go of is never taken up by another.
    """

    digest: str
    size: int
    text: str | None
    ref: str | None = None

    @classmethod
    def of(cls, text: str) -> "Payload":
        """The payload of a JSON text."""
        encoded = text.encode()
        return cls(sha256(encoded).hexdigest(), len(encoded), text)

    @property
    def is_inline(self) -> bool:
        """Whether it travels inside the job."""
        return self.size <= DATA_INLINE_BYTES_MAX


class StoredPayload(NamedTuple):
    """A payload as a listing has it: what names it, and when it was written, by the store's clock."""

    uid: str
    ref: str
    written_at: Instant


@dataclass(frozen=True, slots=True)
class Definition:
    """A valid job as its user wrote it.

    `written` is the JSON object of the request without `data`, every field that was given and no
    other. Times and durations stay as written: two definitions are equal if the same was written, so
    a client that asks again for "in 10 s" changes nothing. Whoever builds one has validated it: the
    properties assume it and raise no errors of their own.
    """

    written: Mapping[str, Any]
    payload: Payload | None = None

    @property
    def schedule(self) -> ScheduleInput | None:
        """The schedule: text, fields by name, or a list of instants; None for a one-off, and on demand."""
        return self.written.get("schedule")

    @property
    def timezone(self) -> str | None:
        """The IANA name of the time zone; None where it was left out."""
        return self.written.get("timezone")

    @property
    def due_time(self) -> str | None:
        """`dueTime`, absolute or relative."""
        return self.written.get("dueTime")

    @property
    def ttl(self) -> str | None:
        """`ttl`, absolute or relative."""
        return self.written.get("ttl")

    @property
    def repeats(self) -> int | None:
        """The number of occurrences in all; None for no bound."""
        return self.written.get("repeats")

    @property
    def dst(self) -> Mapping[str, Any] | None:
        """`dst`: the rule for clock changes; None for the default."""
        return self.written.get("dst")

    @property
    def jitter(self) -> str | None:
        """`jitter`: the window within which the series moves later; None for no move."""
        return self.written.get("jitter")

    @property
    def target(self) -> Mapping[str, Any]:
        """The target: `type`, and what that type takes."""
        target: Mapping[str, Any] = self.written["target"]
        return target

    @property
    def dead_letter_queue(self) -> str | None:
        """The URL of the queue that takes this job's dead letters; None for the stack's own."""
        return self.written.get("deadLetterQueue")

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels, empty where there are none."""
        labels: Mapping[str, str] = self.written.get("labels", {})
        return labels

    @property
    def history(self) -> str:
        """What is recorded: `outcome`, `full` or `failures`."""
        history: str = self.written.get("history", "outcome")
        return history

    @property
    def records_successes(self) -> bool:
        """Whether a run that succeeds at its first attempt leaves a record."""
        return self.history != "failures"

    @property
    def records_beginnings(self) -> bool:
        """Whether a first attempt is recorded before it is made, as later ones are."""
        return self.history == "full"

    @property
    def on_complete(self) -> Mapping[str, Any] | None:
        """The target that is told of the end of each run, as `target` is written; None for nobody."""
        return self.written.get("onComplete")

    @property
    def is_async(self) -> bool:
        """Whether a consumer may accept a trigger and report on it later (`completion`)."""
        completion: str = self.written.get("completion", "sync")
        return completion == "async"

    @property
    def heartbeat_timeout_ms(self) -> int:
        """For how long a consumer that has accepted a trigger may be silent."""
        return self._duration_ms("heartbeatTimeout", HEARTBEAT_TIMEOUT_DEFAULT_MS)

    @property
    def max_run_time_ms(self) -> int:
        """How long a consumer that has accepted a trigger may take."""
        return self._duration_ms("maxRunTime", MAX_RUN_TIME_DEFAULT_MS)

    @property
    def pauses_on_error(self) -> bool:
        """Whether the job is paused when a trigger of it is given up (`onError`)."""
        on_error: str = self.written.get("onError", "continue")
        return on_error == "pause"

    @property
    def history_retention_ms(self) -> int:
        """How long a run's record is kept after the run: for 15 days at least, whatever was written.

        Copies of its message can come for as long, and have to find that it is over.
        """
        written_ms = self._duration_ms("historyRetention", HISTORY_RETENTION_DEFAULT_MS)
        return max(written_ms, HISTORY_RETENTION_MIN_MS)

    @property
    def owing_ms(self) -> int:
        """How long a trigger may take from its first attempt until its run is over."""
        return self.retry.age_max_ms + (self.max_run_time_ms if self.is_async else 0)

    @property
    def retention_ms(self) -> int:
        """How long a completed job is kept."""
        return self._duration_ms("retention", RETENTION_DEFAULT_MS)

    @property
    def put_off_ms(self) -> int:
        """How much longer than needed a job is kept once its end is put off, so that it is seldom written."""
        return max(self.retention_ms, DAY_MS)

    @property
    def retry(self) -> RetryPolicy:
        """The retry policy, defaults filled in."""
        written: Mapping[str, Any] = self.written.get("retry", {})
        default = RETRY_DEFAULT

        def duration_ms(name: str, otherwise: int) -> int:
            return parse_duration_ms(written[name]) if name in written else otherwise

        return RetryPolicy(
            attempts_max=written.get("maxAttempts", default.attempts_max),
            age_max_ms=duration_ms("maxAge", default.age_max_ms),
            initial_delay_ms=duration_ms("initialDelay", default.initial_delay_ms),
            multiplier=written.get("multiplier", default.multiplier),
            delay_max_ms=duration_ms("maxDelay", default.delay_max_ms),
        )

    @property
    def overlap(self) -> OverlapRule:
        """The rule for triggers that come due while a run is not over, defaults filled in."""
        default = OverlapRule()
        return OverlapRule(
            mode=self.written.get("overlap", default.mode),
            wait_max=self.written.get("waitLimit", default.wait_max),
        )

    @property
    def catchup(self) -> CatchUpPolicy:
        """The rule for misfires, defaults filled in."""
        written: Mapping[str, Any] = self.written.get("catchup", {})
        default = CATCH_UP_DEFAULT
        return CatchUpPolicy(
            mode=written.get("mode", default.mode),
            window_ms=parse_duration_ms(written["window"]) if "window" in written else default.window_ms,
        )

    @property
    def deletes_after_completion(self) -> bool:
        """Whether the job goes once its last run is over (`deleteAfterCompletion`)."""
        written: bool = self.written.get("deleteAfterCompletion", False)
        return written

    def has_same_timing(self, other: "Definition") -> bool:
        """Whether the series may go on: schedule, dueTime and time zone are what they were.

        It goes on with another `dst` or `jitter` too: neither moves what the period of `@every` counts from.
        """
        names = ("schedule", "dueTime", "timezone")
        return all(self.written.get(name) == other.written.get(name) for name in names)

    def equals(self, other: "Definition") -> bool:
        """Whether the same was written; payloads are compared by their digest, read or not."""
        mine, others = (each.payload and each.payload.digest for each in (self, other))
        return mine == others and dict(self.written) == dict(other.written)

    def _duration_ms(self, name: str, otherwise: int) -> int:
        return parse_duration_ms(self.written[name]) if name in self.written else otherwise
