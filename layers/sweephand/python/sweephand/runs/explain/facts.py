"""The values from which an explanation follows, the explanation itself, and the words that it uses."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, Self

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Instant, rfc3339
from sweephand.jobs.policy_check import PolicyBlock
from sweephand.model.change import SWEEPHAND, Change
from sweephand.model.job import Job, JobKey
from sweephand.model.line import Line
from sweephand.model.run import Run
from sweephand.model.timer import WheelState
from sweephand.model.wheel_event import WheelEvent
from sweephand.model.window import Opening
from sweephand.runs.explain.lives import Former, Lives, Subject
from sweephand.schedules import Series

_UNITS = ((DAY_MS, "d"), (HOUR_MS, "h"), (MINUTE_MS, "min"), (SECOND_MS, "s"))


def time(instant: Instant) -> str:
    """An instant in UTC, without milliseconds if it has none."""
    return rfc3339(instant).replace(".000Z", "Z")


def wall(wall_s: int) -> str:
    """A local time without an offset."""
    return time(wall_s * SECOND_MS).removesuffix("Z")


def span(ms: int) -> str:
    """A length of time in its two largest units, rounded down: `1 h 5 min`."""
    parts = []
    for unit_ms, name in _UNITS:
        count, ms = divmod(ms, unit_ms)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts[:2]) or f"{ms} ms"


def by(change: Change) -> str:
    """Who made a change: the id of a key, or Sweephand itself."""
    return "by Sweephand itself" if change.who == SWEEPHAND else f"with the key {change.who}"


def reason_of(change: Change) -> str:
    """The reason of a change, as the end of a sentence."""
    return f": {change.reason.rstrip('.')}." if change.reason else "."


def answer_of(run: Run) -> str:
    """What the consumer answered to the latest attempt, or why there was no answer: a sentence."""
    failure = run.last_failure
    reason = (failure.reason if failure is not None else None) or run.reason
    if reason:
        return reason if reason.endswith(".") else f"{reason}."
    return f"The consumer answered {run.response_code}." if run.response_code else "There was no answer."


def attempts(count: int) -> str:
    """A number of attempts."""
    return "1 attempt" if count == 1 else f"{count} attempts"


#: The verdicts in the order in which they are tried: the first true one is given.
Verdict = Literal[
    "not-created",
    "deleted",
    "expired",
    "paused",
    "on-demand",
    "before-due-time",
    "after-ttl",
    "repeats-used",
    "not-scheduled",
    "calendar",
    "clock-change",
    "jitter",
    "misfire",
    "overlap",
    "window",
    "delivered",
    "running",
    "retrying",
    "failed",
    "cancelled",
    "scheduled",
    "switched-off",
    "stopped",
    "waiting-window",
    "waiting-turn",
    "waiting-policy",
    "waiting-limit",
    "not-swept",
    "enqueued",
    "not-kept",
]


class Standstill(NamedTuple):
    """A span in which the stack delivered nothing. `until` is None while it lasts."""

    kind: Literal["stopped", "off"]
    since: Instant
    until: Instant | None = None


LimitLevel = Literal["stack", "namespace"]


class Limit(NamedTuple):
    """A limit of triggers a minute for which triggers wait now, and until when its slots are taken."""

    level: LimitLevel
    per_minute: int
    taken_until: Instant


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known about a job and an instant, each value as it was just read.

    `job` is None if there is none; it may have expired. `former` is the schedule that applied at the instant,
    if it is not that of the job now and was kept. `subject` is what the schedule of that time says of the
    instant. It is None without a job, or if the run is of an earlier schedule that was not kept. `run` is the
    record of the trigger in question, or that of the misfires among which it was skipped. The block of the
    policy is as in a View of the job. If the policy has `by`, `policy_key` is the key of a trigger that
    waits. `events` are those that tick found after the due time, oldest first. `limit` is one for which
    triggers wait now. `unswept_at` is the bucket of the first timer that was due by then and that no sweep
    has passed; None if there is none. `reasons` are those of the days of the calendar, by date.
    `opening` is that of a window which holds the trigger or its retry.
    """

    key: JobKey
    at: Instant
    now: Instant
    job: Job | None
    lives: Lives
    subject: Subject | None = None
    former: Former | None = None
    run: Run | None = None
    line: Line | None = None
    policy_block: PolicyBlock | None = None
    policy_key: str | None = None
    wheel: WheelState = field(default_factory=lambda: WheelState((), 0, None))
    events: tuple[WheelEvent, ...] = ()
    limit: Limit | None = None
    unswept_at: Instant | None = None
    reasons: Mapping[str, str] = field(default_factory=dict)
    opening: Opening | None = None

    @property
    def series(self) -> Series | None:
        """The series of that time, as far as it is known; None without a job."""
        if self.former is not None:
            return self.former.series
        return None if self.job is None else self.job.series

    @property
    def calendar(self) -> str | None:
        """The calendar of that time; None if there was none, or if an earlier definition named it."""
        return None if self.former is not None or self.job is None else self.job.definition.calendar

    @property
    def trigger_due_at(self) -> Instant | None:
        """The due time of the trigger in question; None if there is no such trigger."""
        if self.subject is not None and self.subject.due_at is not None:
            return self.subject.due_at
        if self.run is None:
            return None
        # A record of misfires stands for many triggers.
        return self.run.due_at if self.run.last_due_at is None else self.at

    @property
    def due_at(self) -> Instant:
        """The due time of the trigger in question, or the instant itself if there is none."""
        due_at = self.trigger_due_at
        return self.at if due_at is None else due_at

    @property
    def is_there(self) -> bool:
        """Whether the job that is stored was there at the due time."""
        job, at = self.job, self.due_at
        return job is not None and (at >= job.created_at or job.current.owns(at))

    @property
    def is_ruled(self) -> bool:
        """Whether the schedule that ruled at the due time is known, so that it says what was due."""
        job = self.job
        if job is None or not self.is_there:
            return False
        if self.former is not None:
            return True
        is_kept = self.lives.is_complete and self.lives.retimed_after(self.due_at, job.series) is None
        return job.current.owns(self.due_at) or is_kept


@dataclass(frozen=True, slots=True)
class Explanation:
    """A verdict, and what speaks for it.

    `summary` is for a person: one to three sentences. `due_at` is the due time of the trigger in question.
    `next_at` is when something happens next, and `next_step` what. `is_kept` says whether all that the
    verdict needs was kept.
    """

    verdict: Verdict
    summary: str
    due_at: Instant | None = None
    before: Instant | None = None
    after: Instant | None = None
    run: Run | None = None
    change: Change | None = None
    pause_end: Change | None = None
    standstill: Standstill | None = None
    subject: Subject | None = None
    policy: str | None = None
    waits_for: str | None = None
    limit: Limit | None = None
    next_at: Instant | None = None
    next_step: str | None = None
    is_kept: bool = True

    def about(self, facts: Facts) -> Self:
        """The explanation with the trigger, its nearest due times and its run."""
        found = replace(self, run=facts.run, due_at=facts.trigger_due_at)
        subject = facts.subject
        if subject is None:
            return found
        return replace(found, before=subject.before, after=subject.after, subject=subject)
