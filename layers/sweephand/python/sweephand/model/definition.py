"""What a user writes of a job: kept and compared as written, and read by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final, Literal, NamedTuple

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Instant
from sweephand.base.limits import DATA_INLINE_BYTES_MAX, WAIT_LIMIT_DEFAULT
from sweephand.base.timing import TIMER_RETENTION_MS
from sweephand.model.policy_names import PRIORITY_DEFAULT, Lane, Priority, lane_of
from sweephand.schedules import Batch, ScheduleInput, parse_duration_ms

#: What happens to a trigger that is due while another run of its job is not over.
OverlapMode = Literal["allow", "skip", "wait", "waitLatest"]

#: Which misfires still fire. A misfire is an occurrence that is found too late.
CatchUpMode = Literal["latest", "all", "none"]

HISTORY_RETENTION_DEFAULT_MS: Final = 30 * DAY_MS
#: A queue keeps a message for 14 days, even while the whole stack is down.
HISTORY_RETENTION_MIN_MS: Final = 15 * DAY_MS
HEARTBEAT_TIMEOUT_DEFAULT_MS: Final = 5 * MINUTE_MS
MAX_RUN_TIME_DEFAULT_MS: Final = 24 * HOUR_MS
RETENTION_DEFAULT_MS: Final = 7 * DAY_MS
#: SQS delivers the message of a crashed function again after minutes. If another job had taken the name by
#: then, the trigger would be lost. So a name stays taken for longer than that.
RETENTION_MIN_MS: Final = HOUR_MS


#: The fields of a job that hold a target.
TARGET_FIELDS: Final = ("target", "onComplete", "onAlert")


class RetryPolicy(NamedTuple):
    """How often a trigger is tried, for how long, and at which intervals (semantics: Delivery)."""

    attempts_max: int = 10
    age_max_ms: int = 24 * HOUR_MS
    initial_delay_ms: int = 5 * SECOND_MS
    multiplier: float = 4.0
    delay_max_ms: int = 6 * HOUR_MS


class CatchUpPolicy(NamedTuple):
    """What happens to misfires: occurrences found more than `window_ms` late (semantics: Catch-up)."""

    mode: CatchUpMode = "latest"
    window_ms: int = HOUR_MS


class OverlapRule(NamedTuple):
    """What happens to triggers that are due while a run is not over; at most `wait_max` of them wait."""

    mode: OverlapMode = "allow"
    wait_max: int = WAIT_LIMIT_DEFAULT

    @property
    def is_limited(self) -> bool:
        """Whether runs of the job take turns."""
        return self.mode != "allow"


RETRY_DEFAULT: Final = RetryPolicy()
CATCH_UP_DEFAULT: Final = CatchUpPolicy()


class Payload(NamedTuple):
    """The `data` of a job: the JSON text, byte for byte as every attempt sends it.

    The job itself stores up to 2 KB of it. The payload store keeps longer data under the job's uid and `ref`,
    and `text` is None until it is read from there. A ref consists of the digest and a token of the write. So
    no later version refers to an object that an earlier version has discarded.

    The data of a trigger on demand expires by itself, if it lies in the payload store. It is there until
    `kept_until` at least.
    """

    digest: str
    size: int
    text: str | None
    ref: str | None = None
    kept_until: Instant | None = None

    @classmethod
    def of(cls, text: str) -> "Payload":
        """The payload of a JSON text."""
        encoded = text.encode()
        return cls(sha256(encoded).hexdigest(), len(encoded), text)

    @property
    def is_inline(self) -> bool:
        """Whether the job itself stores the data."""
        return self.size <= DATA_INLINE_BYTES_MAX


class StoredPayload(NamedTuple):
    """A payload in a listing of the store: its name, and when it was written by the store's clock."""

    uid: str
    ref: str
    written_at: Instant


@dataclass(frozen=True, slots=True)
class Definition:
    """A valid job as its user wrote it.

    `written` is the JSON object of the request without `data`, with exactly the fields that were given. Times
    and durations stay as written, and two definitions are equal if their texts are. So a client that repeats
    "in 10 s" changes nothing. The caller that builds a definition has validated it. The properties rely on
    that and raise no errors of their own. `closed` are the closed days of its calendar, as the writer of the
    job has read them (schedules/day_rule.py). They are stored in the series alone.
    """

    written: Mapping[str, Any]
    payload: Payload | None = None
    closed: str | None = None

    @property
    def schedule(self) -> ScheduleInput | None:
        """The schedule: a text, fields by name, or a list of instants. None if the job has no schedule."""
        return self.written.get("schedule")

    @property
    def due_time(self) -> str | None:
        """`dueTime`, absolute or relative; None if it was left out."""
        return self.written.get("dueTime")

    @property
    def ttl(self) -> str | None:
        """`ttl`, absolute or relative; None if it was left out."""
        return self.written.get("ttl")

    @property
    def repeats(self) -> int | None:
        """The total number of occurrences; None for no limit."""
        return self.written.get("repeats")

    @property
    def calendar(self) -> str | None:
        """The name of the calendar of its namespace on whose days the job fires; None for every day."""
        written: Mapping[str, Any] | None = self.written.get("calendar")
        return None if written is None else written["name"]

    @property
    def batch(self) -> Batch | None:
        """`batch`: how many triggers each occurrence has, over which window; None for a single one."""
        written: Mapping[str, Any] | None = self.written.get("batch")
        if written is None:
            return None
        window = written.get("window")
        window_ms = 0 if window is None else parse_duration_ms(window)
        # A job that records no successes pays for no progress either, unless somebody is told of the end.
        is_counted = self.records_successes or self.on_complete is not None
        return Batch(written["count"], window_ms, is_counted)

    @property
    def target(self) -> Mapping[str, Any]:
        """The target: its `type`, and the fields of that type."""
        target: Mapping[str, Any] = self.written["target"]
        return target

    @property
    def dead_letter_queue(self) -> str | None:
        """The URL of the queue for this job's dead letters; None for the stack's own queue."""
        return self.written.get("deadLetterQueue")

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels; empty if there are none."""
        labels: Mapping[str, str] = self.written.get("labels", {})
        return labels

    @property
    def history(self) -> str:
        """Which runs are recorded: `outcome`, `full` or `failures`."""
        history: str = self.written.get("history", "outcome")
        return history

    @property
    def records_successes(self) -> bool:
        """Whether a run leaves a record if its first attempt succeeds."""
        return self.history != "failures"

    @property
    def records_first_attempts(self) -> bool:
        """Whether a first attempt is recorded before it is made, as later attempts always are."""
        return self.history == "full"

    @property
    def on_complete(self) -> Mapping[str, Any] | None:
        """The target that is notified of the end of each run, in the form of `target`; None for no target."""
        return self.written.get("onComplete")

    @property
    def alert_after_ms(self) -> int | None:
        """The time in ms after its due time in which a trigger must succeed; None for no watch."""
        return parse_duration_ms(self.written["alertAfter"]) if "alertAfter" in self.written else None

    @property
    def on_alert(self) -> Mapping[str, Any] | None:
        """The target that gets the alerts of the job's watch, in the form of `target`; None for no watch."""
        return self.written.get("onAlert")

    @property
    def is_async(self) -> bool:
        """Whether a consumer may accept a trigger and send callbacks later (`completion`)."""
        completion: str = self.written.get("completion", "sync")
        return completion == "async"

    @property
    def heartbeat_timeout_ms(self) -> int:
        """The longest time in ms between two callbacks of a consumer that has accepted a trigger."""
        return self._duration_ms("heartbeatTimeout", HEARTBEAT_TIMEOUT_DEFAULT_MS)

    @property
    def max_run_time_ms(self) -> int:
        """The longest time in ms that a consumer may take after it has accepted a trigger."""
        return self._duration_ms("maxRunTime", MAX_RUN_TIME_DEFAULT_MS)

    @property
    def pauses_on_error(self) -> bool:
        """Whether the job is paused when one of its triggers is given up (`onError`)."""
        on_error: str = self.written.get("onError", "continue")
        return on_error == "pause"

    @property
    def history_retention_ms(self) -> int:
        """The time in ms for which a run's record is kept: at least 15 days, even if less was written.

        Copies of the run's message can arrive for that long, and must find that the run is over. After a
        crash, a copy of a retry may wait until `retry.maxAge`, and in the queue after that.
        """
        written_ms = self._duration_ms("historyRetention", HISTORY_RETENTION_DEFAULT_MS)
        return max(written_ms, HISTORY_RETENTION_MIN_MS, self.retry.age_max_ms + TIMER_RETENTION_MS)

    @property
    def run_time_max_ms(self) -> int:
        """The longest time in ms from a trigger's first attempt until its run is over."""
        return self.retry.age_max_ms + (self.max_run_time_ms if self.is_async else 0)

    @property
    def retention_ms(self) -> int:
        """How long a completed job is kept, in milliseconds: an hour at least, whatever the user wrote."""
        return max(self._duration_ms("retention", RETENTION_DEFAULT_MS), RETENTION_MIN_MS)

    @property
    def put_off_ms(self) -> int:
        """How many ms more than needed each postponement of the expiry adds, so that it is seldom written."""
        return max(self.retention_ms, DAY_MS)

    @property
    def retry(self) -> RetryPolicy:
        """The retry policy, with its defaults filled in."""
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
        """The rule for triggers that are due while a run is not over, with its defaults filled in."""
        default = OverlapRule()
        return OverlapRule(
            mode=self.written.get("overlap", default.mode),
            wait_max=self.written.get("waitLimit", default.wait_max),
        )

    @property
    def catchup(self) -> CatchUpPolicy:
        """The rule for misfires, with its defaults filled in."""
        written: Mapping[str, Any] = self.written.get("catchup", {})
        default = CATCH_UP_DEFAULT
        return CatchUpPolicy(
            mode=written.get("mode", default.mode),
            window_ms=parse_duration_ms(written["window"]) if "window" in written else default.window_ms,
        )

    @property
    def policy(self) -> str | None:
        """The name of the flow policy of its namespace that limits the job's deliveries; None for none."""
        return self.written.get("policy")

    @property
    def priority(self) -> Priority:
        """Which triggers go first where triggers of several jobs wait."""
        priority: Priority = self.written.get("priority", PRIORITY_DEFAULT)
        return priority

    @property
    def lane(self) -> Lane:
        """The lane in which the job's triggers travel."""
        return lane_of(self.policy, self.priority)

    @property
    def deletes_after_completion(self) -> bool:
        """Whether the job is deleted once its last run is over (`deleteAfterCompletion`)."""
        written: bool = self.written.get("deleteAfterCompletion", False)
        return written

    def has_same_timing(self, other: "Definition") -> bool:
        """Whether a new definition continues the series: schedule, dueTime and time zone are unchanged.

        Another `dst` or `jitter` also continues it, because neither moves the start of an `@every` period.
        """
        names = ("schedule", "dueTime", "timezone")
        return all(self.written.get(name) == other.written.get(name) for name in names)

    def equals(self, other: "Definition") -> bool:
        """Whether the same was written. Payloads are compared by digest, so their text need not be read."""
        mine, others = (each.payload and each.payload.digest for each in (self, other))
        return mine == others and dict(self.written) == dict(other.written)

    def _duration_ms(self, name: str, otherwise: int) -> int:
        return parse_duration_ms(self.written[name]) if name in self.written else otherwise
