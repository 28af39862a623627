"""Reads what an explanation needs, and gives the first true verdict: a pure function of what was read."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sweephand.base.instants import MINUTE_MS, Instant
from sweephand.base.timing import CHANGE_RETENTION_MS
from sweephand.flow.gate_key import gate_key
from sweephand.jobs.change_history import ChangeHistory
from sweephand.jobs.policy_check import PolicyCheck
from sweephand.model.calendar import CalendarKey
from sweephand.model.change import Change
from sweephand.model.counters import US_PER_MS, minute_us_of
from sweephand.model.job import Job, JobKey
from sweephand.model.run import Run
from sweephand.model.timer import WheelState, instant_at
from sweephand.model.window import Window, holds, open_for
from sweephand.ports.calendars import CalendarStore
from sweephand.ports.flow import AllowanceStore
from sweephand.ports.jobs import JobStore
from sweephand.ports.runs import LineStore, RunStore
from sweephand.ports.wheel import LeaseStore, TimerStore, WheelHistory
from sweephand.runs.explain.facts import Explanation, Facts, Limit, LimitLevel, Verdict
from sweephand.runs.explain.lives import (
    Former,
    Lives,
    Subject,
    former_at,
    latest_of_earlier,
    latest_of_present,
    subject_of,
    width_of,
)
from sweephand.runs.explain.of_job import (
    absent,
    calendar_day,
    clock_change,
    expired,
    forgotten,
    held_by_pause,
    not_scheduled,
    out_of_bounds,
    overtaken,
    paused,
    retimed,
)
from sweephand.runs.explain.of_run import (
    coming,
    held_by_limit,
    held_by_stack,
    held_by_sweep,
    held_by_turn,
    held_by_window,
    recorded,
    without_record,
)
from sweephand.wheel.catchup import runs_before

#: In this order (docs/runs.md): the job, its pauses, its schedule, the run, and what holds the trigger back.
_CHECKS: Final[Sequence[Callable[[Facts], Explanation | None]]] = (
    expired,
    absent,
    paused,
    forgotten,
    held_by_pause,
    retimed,
    overtaken,
    out_of_bounds,
    calendar_day,
    clock_change,
    not_scheduled,
    recorded,
    coming,
    held_by_stack,
    held_by_window,
    held_by_turn,
    held_by_sweep,
    held_by_limit,
)


#: If something has moved a trigger that goes as it should, that is why nothing fired at the instant itself.
_MOVED: Final[Mapping[str, Verdict]] = {
    "calendar": "calendar",
    "clock": "clock-change",
    "jitter": "jitter",
}
_AS_IT_SHOULD: Final[frozenset[Verdict]] = frozenset({"delivered", "running", "scheduled", "enqueued"})


def explain(facts: Facts) -> Explanation:
    """The first check that is true, with the trigger, its nearest due times and its run."""
    found = next((each for check in _CHECKS if (each := check(facts)) is not None), None)
    if found is None:
        found = without_record(facts)
    moved_by = None if facts.subject is None else facts.subject.moved_by
    if moved_by is not None and found.verdict in _AS_IT_SHOULD:
        found = replace(found, verdict=_MOVED[moved_by])
    return found.about(facts)


#: Changes that are read, in pages of the second number. A job with more of them has its history cut off.
_CHANGES_MAX: Final = 1_000
_PAGE_MAX: Final = 200

_EVENTS_MAX: Final = 100

#: The allowances that may hold a trigger back. No namespace has an empty name.
_STACK: Final = ""


@dataclass(frozen=True, slots=True)
class ExplainStores:
    """What an explanation reads."""

    jobs: JobStore
    changes: ChangeHistory
    runs: RunStore
    lines: LineStore
    timers: TimerStore
    leases: LeaseStore
    history: WheelHistory
    allowances: AllowanceStore
    policies: PolicyCheck
    calendars: CalendarStore
    #: The windows of a namespace.
    windows: Callable[[str], Sequence[Window]]


class Explainer:
    """Explains. It writes nothing."""

    def __init__(self, stores: ExplainStores) -> None:
        self._stores = stores

    def explain(self, key: JobKey, at: Instant | None, now: Instant) -> tuple[Explanation, Facts]:
        """Why the job of that key fired at an instant, or did not, as far as it is known at `now`.

        The facts are those from which it follows. Without `at`, it is about the latest due time up to now.
        The values are read one after the other, and the job may be written in between. Raises NotFoundError
        if there is neither such a job nor any change of one.
        """
        facts = self._facts(key, at, now)
        return explain(facts), facts

    def _facts(self, key: JobKey, asked_at: Instant | None, now: Instant) -> Facts:
        stores = self._stores
        job = stores.jobs.get(key)
        at = self._latest(job, now) if asked_at is None else asked_at
        lives = self._lives(key, job, at, now)
        subject, former = _subject(job, lives, at)
        run = self._run(key, job, subject, at)
        if run is None and former is None and job is not None and _may_be_earlier(job, subject, lives, at):
            # An earlier definition may have had its trigger at the instant itself.
            run = self._run(key, job, None, at)
            subject = subject if run is None else None
        is_due = subject is None or subject.due_at is not None
        if run is not None and run.due_at < at and not is_due:
            # The record stands for a span of misfires. The schedule may have none at the instant itself.
            run = None if Facts(key, at, now, job, lives, subject, former).is_ruled else run
        wheel = stores.leases.state()
        facts = Facts(key, at, now, job, lives, subject, former, run, wheel=wheel)
        if job is None:
            return facts
        if subject is not None and subject.day is not None:
            facts = replace(facts, reasons=self._reasons(job))
        due_at = at if subject is None or subject.due_at is None else subject.due_at
        is_waiting = run is None and subject is not None and subject.due_at is not None and due_at <= now
        line = stores.lines.get(key) if is_waiting and job.definition.overlap.is_limited else None
        policies = stores.policies.once()
        by = policies.by(key.namespace, job.definition) if is_waiting else None
        may_be_held = is_waiting or (run is not None and run.state == "retrying")
        windows = stores.windows(key.namespace) if may_be_held else ()
        return replace(
            facts,
            line=None if line is None or line.uid != job.uid else line.line,
            policy_block=policies.block(key.namespace, job.definition) if run is None else None,
            policy_key=gate_key(by, job.definition, key.name),
            events=tuple(stores.history.after(due_at, _EVENTS_MAX)),
            limit=self._limit(key.namespace, now) if is_waiting else None,
            unswept_at=self._unswept_at(job, due_at, wheel) if is_waiting else None,
            opening=holds(windows, job, due_at, now) if is_waiting else open_for(windows, job, now),
        )

    def _reasons(self, job: Job) -> Mapping[str, str]:
        """The reasons of the days of the job's calendar, by date."""
        name = job.definition.calendar
        content = (
            None if name is None else self._stores.calendars.content(CalendarKey(job.key.namespace, name))
        )
        return {} if content is None else content.reasons

    def _latest(self, job: Job | None, now: Instant) -> Instant:
        """The latest due time of a job up to now; now itself if none is known."""
        if job is None:
            return now
        found = latest_of_present(job, now)
        if found is None and job.earlier:
            lives = self._lives(job.key, job, min(each.since for each in job.earlier), now)
            found = latest_of_earlier(job, lives)
        return now if found is None else found

    def _lives(self, key: JobKey, job: Job | None, at: Instant, now: Instant) -> Lives:
        found: list[Change] = []
        before: str | None = ""
        while before is not None and len(found) < _CHANGES_MAX and (not found or found[-1].at >= at):
            page = self._stores.changes.page(key, before, _PAGE_MAX)
            found += page.items
            before = page.next
        reaches_back = before is None or found[-1].at < at
        is_complete = reaches_back and at > now - CHANGE_RETENTION_MS
        if job is not None and at >= job.created_at:
            # By clocks that differ, those of a deleted job of its name can lie among them.
            found = [each for each in found if each.uid in ("", job.uid)]
        return Lives.of(found, is_complete=is_complete, is_there=job is not None)

    def _run(self, key: JobKey, job: Job | None, subject: Subject | None, at: Instant) -> Run | None:
        """The record of the trigger, or that of the misfires among which it was skipped."""
        since, until = at, at + width_of(at) - 1
        if subject is not None and subject.due_at is not None:
            since = until = subject.due_at
        is_alive = job is not None and since >= job.created_at
        found: Run | None = None
        for run in runs_before(self._stores.runs, key, until + 1):
            if run.demand is not None or (is_alive and job is not None and run.uid != job.uid):
                continue
            is_span = run.last_due_at is not None and run.due_at <= since <= run.last_due_at
            if run.due_at < since and not (is_span and found is None):
                break
            # The first one of the time that the instant stands for.
            found = run
        # The record of a batch is that of its first trigger.
        return found

    def _limit(self, namespace: str, now: Instant) -> Limit | None:
        """The limit of which all slots of this minute are taken, so that triggers wait."""
        minute_end_us = minute_us_of(now) + MINUTE_MS * US_PER_MS
        buckets: tuple[tuple[LimitLevel, str], ...] = (("namespace", namespace), ("stack", _STACK))
        for level, bucket in buckets:
            found = self._stores.allowances.get(bucket)
            if found is not None and found.next_us > minute_end_us:
                return Limit(level, found.per_minute, found.next_us // US_PER_MS)
        return None

    def _unswept_at(self, job: Job, due_at: Instant, wheel: WheelState) -> Instant | None:
        """The bucket of the first timer of the job's shard that was due by then and is not passed."""
        lease = next((each for each in wheel.leases if each.shard == job.shard), None)
        if lease is None:
            return None
        left = self._stores.timers.page(job.shard, lease.cursor, due_at + 1, 1)
        return instant_at(left[0].sort_key) if left else None


def _may_be_earlier(job: Job, subject: Subject | None, lives: Lives, at: Instant) -> bool:
    """Whether an earlier definition, which may have had other times, may have ruled at the instant."""
    if subject is None or subject.due_at is None or job.current.owns(subject.due_at):
        return False
    return lives.retimed_after(at, job.series) is not None


def _subject(job: Job | None, lives: Lives, at: Instant) -> tuple[Subject | None, Former | None]:
    """What the schedule of that time says of the instant, and that schedule if a later one has replaced it.

    If it was not kept, that of the job now says it, and the explanation does not rest on it.
    """
    if job is None:
        return None, None
    subject = subject_of(job.series, at)
    due_at = at if subject.due_at is None else subject.due_at
    if at < job.created_at or job.current.owns(due_at):
        return subject, None
    found = former_at(job, lives, at)
    return (subject, None) if found is None else (found[1], found[0])
