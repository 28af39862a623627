"""Auditing all jobs: finds timers and messages that were lost without a trace, and writes them again."""

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple

from sweephand.base.instants import DAY_MS, Instant
from sweephand.base.timing import (
    ATTEMPT_DELAY_MAX_MS,
    AUDIT_ROUND_MS,
    BUCKET_MS,
    BULK_TIME_LIMIT_MS,
    CLOCK_SKEW_MAX_MS,
    DIRECT_WINDOW_MS,
    QUEUE_DELAY_MAX_MS,
)
from sweephand.flow.gates import Gates
from sweephand.model.job import Job, JobKey
from sweephand.model.orders import ResumeMessage
from sweephand.model.timer import (
    Cursor,
    OccurrenceTimer,
    ResumeTimer,
    UnreadTimer,
    WatchTimer,
    bucket_key,
    bucket_of,
    placed_timers,
)
from sweephand.model.trigger import message_of
from sweephand.ports.clock import Clock
from sweephand.ports.flow import NamespaceStore, PolicyStore
from sweephand.ports.jobs import JobStore, PayloadStore
from sweephand.ports.queue import Queue
from sweephand.ports.runs import RunStore
from sweephand.ports.wheel import LeaseStore, TimerStore
from sweephand.runs.audit_findings import (
    BEGINNING,
    Audited,
    JobProgress,
    LostRun,
    LostRuns,
    LostTimer,
    NotAudited,
)
from sweephand.runs.audit_lines import LineAudit, ListedPolicies
from sweephand.runs.job_walk import PAGE_MAX, namespaces_from, run_pages, write_in_time
from sweephand.runs.requeue import Requeue
from sweephand.wheel.rebuild import (
    KEPT_MS,
    NO_PAST,
    armed_from,
    due_timer,
    rebuilt_timers,
    swept_to,
    timed_from,
    timer_from,
)
from sweephand.wheel.span import PUT_OFF_MS
from sweephand.wheel.sweep import horizon

#: A timer that was put off lies at most this far ahead: beyond the horizon, or beyond what arming reaches.
_PUT_OFF_AHEAD_MS: Final = DIRECT_WINDOW_MS + PUT_OFF_MS + BUCKET_MS

#: So many items of one shard are read in search of timers that were put off, and as many items at once.
_ITEMS_MAX: Final = 50_000
_ITEMS_AT_ONCE: Final = 1_000

#: The runs of an audit's round are those that may have been lost since the round before, and a day more.
_RUNS_MS: Final = AUDIT_ROUND_MS + DAY_MS


#: The order to end a pause is no message if it is due later than this, by any clock.
_ORDER_AHEAD_MS: Final = QUEUE_DELAY_MAX_MS + CLOCK_SKEW_MAX_MS


class _Suspect(NamedTuple):
    """A job, and the timer that it should have and that was not found."""

    job: Job
    timer: OccurrenceTimer


class Auditor:
    """Examines every job. It changes only how long things are kept, so it may run beside everything else.

    It judges only what is certain (wheel/rebuild.py) and reads again before it writes. What it writes has the
    ids of what was lost. So if it errs, or two audits run at once, no id is new.
    """

    def __init__(
        self,
        *,
        jobs: JobStore,
        runs: RunStore,
        timers: TimerStore,
        leases: LeaseStore,
        namespaces: NamespaceStore,
        queue: Queue,
        payloads: PayloadStore,
        policies: PolicyStore,
        flow: Gates,
        clock: Clock,
    ) -> None:
        self._jobs = jobs
        self._runs = runs
        self._timers = timers
        self._leases = leases
        self._namespaces = namespaces
        self._policies = policies
        self._flow = flow
        self._payloads = payloads
        self._clock = clock
        self._requeue = Requeue(queue=queue, timers=lambda: timers, payloads=payloads, clock=clock)

    def audit(
        self, *, namespace: str | None = None, begun: JobProgress = BEGINNING, mends: bool = True
    ) -> Audited:
        """Examine the jobs after `begun`, until the time is up or enough is found.

        Without a `namespace`, the jobs of all listed namespaces, in the order of names. Unless it `mends`, it
        only reports what it finds. The caller goes on with `reached`. StoreError and UnavailableError: the
        caller repeats the call.
        """
        now = self._clock.now()
        until = now + BULK_TIME_LIMIT_MS

        def is_over() -> bool:
            return self._clock.now() >= until

        lines = LineAudit(
            policies=self._policies,
            flow=self._flow,
            jobs=self._jobs,
            runs=self._runs,
            payloads=self._payloads,
            now=now,
            is_over=is_over,
            mends=mends,
        )
        lost_runs = LostRuns(lines, now)
        part = _Part(self._timers, self._leases, lines, lost_runs, now, mends=mends)
        done = part.done
        for each in namespaces_from(self._namespaces, begun.namespace, namespace):
            progress = begun if each == begun.namespace else JobProgress(each)
            if is_over() or done.is_full:
                done.reached = progress
            else:
                self._audit(progress, part, is_over)
            if done.reached is not None:
                break
        done.kept = lines.kept
        return done

    def _audit(self, begun: JobProgress, part: "_Part", is_over: Callable[[], bool]) -> None:
        """Examine the jobs of a namespace; `reached` is set if the call ends before the namespace does."""
        namespace, done = begun.namespace, part.done
        if begun.before:
            job = self._jobs.get(JobKey(namespace, begun.name))
            if job is not None and self._end_runs(job, begun.before, part, is_over):
                return
        after: str | None = begun.name
        listed = ListedPolicies(self._policies, namespace, begun.name, begun.waiting)
        while after is not None:
            page = self._jobs.page(namespace, "", after, PAGE_MAX)
            living = [job for job in page.items if not job.is_gone(part.now)]
            judged = [job for job in living if not part.is_late(job.shard)]
            done.late += len(living) - len(judged)
            self._arm(judged, part)
            self._end_pauses(judged, part)
            if not all(
                self._audit_job(job, listed, part, is_over, is_judged=job in judged) for job in page.items
            ):
                return
            if not part.lines.keep(listed, page.next):
                done.reached = JobProgress(namespace, listed.passed, waiting=listed.place)
                return
            if page.next is not None and (is_over() or done.is_full):
                done.reached = JobProgress(namespace, page.next)
                return
            after = page.next

    def _audit_job(
        self,
        job: Job,
        listed: ListedPolicies,
        part: "_Part",
        is_over: Callable[[], bool],
        *,
        is_judged: bool,
    ) -> bool:
        """Examine one job, and the policies before it; False and `reached` is set if the time is up."""
        looks = part.lines.looks
        is_done = part.lines.keep(listed, job.key.name)
        if is_done:
            part.done.jobs += 1
            if is_judged and self._end_runs(job, "", part, is_over):
                return False
            part.lines.keep_of(job)
            listed.passed = job.key.name
            is_done = part.lines.looks == looks or not is_over()
        if not is_done:
            part.done.reached = JobProgress(job.key.namespace, listed.passed, waiting=listed.place)
        return is_done

    def _arm(self, jobs: Sequence[Job], part: "_Part") -> None:
        """Find the jobs of a page whose timers are lost, and arm them."""
        suspects = self._certain(self._suspects(jobs, part), part)
        if not suspects:
            return
        timers: list[OccurrenceTimer | WatchTimer] = []
        made_at = self._clock.now()
        for job, timer in suspects:
            since = self._lost_since(job, timer)
            first = None if since is None else timer_from(job, since)
            if since is None or first is None:
                continue
            part.done.timers.append(LostTimer(job.key, first.first.at))
            timers += rebuilt_timers(job, NO_PAST, since=since, now=made_at)
        if part.mends and timers:
            # A shard without a lease is never swept.
            self._leases.raise_shards(1 + max(each.job.shard for each in suspects))
            write_in_time(self._timers, timers, made_at, self._clock)
            part.done.written += len(timers)

    def _end_pauses(self, jobs: Sequence[Job], part: "_Part") -> None:
        """Find the jobs of a page whose pause ends by itself and whose order to resume is lost.

        One that is to come later than a queue can delay has a timer. One that was due an hour ago is lost.
        """
        timers = [
            ResumeTimer(each.shard, ResumeMessage(each.key, each.uid, each.pause_end.at, part.now))
            for each in jobs
            if each.pause_end is not None
        ]
        far = [each for each in timers if each.due_at > part.now + _ORDER_AHEAD_MS]
        missing = {each.key for each in self._timers.missing(far)} if far else set()
        for timer in timers:
            if timer.key not in missing and timer.due_at > part.now - ATTEMPT_DELAY_MAX_MS:
                continue
            part.done.timers.append(LostTimer(timer.key, timer.due_at))
            if part.mends:
                self._leases.raise_shards(1 + timer.shard)
                self._requeue.send_at(timer.message, timer.shard)
                part.done.written += 1

    def _suspects(self, jobs: Sequence[Job], part: "_Part") -> Sequence[_Suspect]:
        """The jobs without the timer that they should have, at the first look."""
        awaiting: list[_Suspect] = []
        for job in jobs:
            if job.paused_at is not None or job.series.is_on_demand:
                continue
            try:
                timer = due_timer(job, part.swept_to(job.shard), part.now)
            except Exception as error:  # noqa: BLE001 - one job's schedule must not keep the others from being examined
                part.done.failed.append(NotAudited(job.key, str(error)))
                continue
            if timer is not None:
                awaiting.append(_Suspect(job, timer))
        missing = {each.key for each in self._timers.missing([each.timer for each in awaiting])}
        return [each for each in awaiting if each.job.key in missing]

    def _certain(self, suspects: Sequence[_Suspect], part: "_Part") -> Sequence[_Suspect]:
        """Those suspects that are still what they were, whose timer is missing still and was not put off."""
        if not suspects:
            return ()
        stored = self._jobs.get_many([each.job.key for each in suspects])
        same = [each for each in suspects if _is_same(stored.get(each.job.key), each.job)]
        missing = {each.key for each in self._timers.missing([each.timer for each in same])}
        return [
            each
            for each in same
            if each.job.key in missing
            and not part.may_be_put_off(each.timer)
            and not self._may_have_fired(each, part)
        ]

    def _may_have_fired(self, suspect: _Suspect, part: "_Part") -> bool:
        """Whether the series has ended, and its last trigger may have been sent without that timer.

        After an outage, a sweeper sends the misfires of later buckets together with those of an earlier
        timer. And an audit before may have armed the job. So only the record of the run tells.
        """
        job, timer = suspect
        if timer.due_at >= part.swept_to(job.shard):
            return False
        trigger = message_of(timer, timer.first, job.cut).trigger
        return not job.definition.records_successes or self._runs.of(trigger) is not None

    def _lost_since(self, job: Job, timer: OccurrenceTimer) -> Instant | None:
        """The first instant from which on no timer promises the triggers of a job; None if one does by now.

        Timers that sweepers have passed are still there. So halving finds the first lost one. `timer` is
        one that is missing.
        """
        begun_at = max(timed_from(job), bucket_of(self._clock.now() - KEPT_MS))
        low, high = begun_at, bucket_of(timer.first.at)
        while low < high:
            middle = bucket_of((low + high) // 2)
            found = timer_from(job, middle)
            assert found is not None, "the missing timer is due later"
            if self._timers.missing([found]):
                high = middle
            else:
                low = bucket_of(found.first.at) + BUCKET_MS
        if low > high:
            # A sweeper has written the timer meanwhile.
            return None
        return armed_from(job) if low == timed_from(job) else low

    def _end_runs(self, job: Job, begun: str, part: "_Part", is_over: Callable[[], bool]) -> bool:
        """Send again what runs of a job wait for; True if the time was up before the last run."""
        for page in run_pages(self._runs, job, begun, part.now - _RUNS_MS):
            for run in page.runs:
                message = part.lost_runs.message(run, job)
                if message is None:
                    continue
                part.done.runs.append(LostRun(job.key, run.run_id, message.not_before))
                if part.mends:
                    self._requeue.send_at(message, job.shard)
                    part.done.written += 1
            if page.before is not None and is_over():
                part.done.reached = JobProgress(job.key.namespace, job.key.name, page.before)
                return True
        return False


class _Part:
    """What one call of an audit has read of the wheel, and what it has done."""

    def __init__(
        self,
        timers: TimerStore,
        leases: LeaseStore,
        lines: LineAudit,
        lost_runs: LostRuns,
        now: Instant,
        *,
        mends: bool,
    ) -> None:
        self._timers = timers
        self._leases = leases
        self._cursors: Mapping[int, Cursor] | None = None
        self._swept_to: dict[int, Instant] = {}
        self._put_off: dict[int, Collection[tuple[JobKey, str]] | None] = {}
        self.now = now
        self.mends = mends
        #: It keeps the lines of policies.
        self.lines = lines
        #: It judges runs.
        self.lost_runs = lost_runs
        self.done = Audited()

    def swept_to(self, shard: int) -> Instant:
        """How far a shard was swept when the call first asked. Sweepers only go on from there."""
        if shard not in self._swept_to:
            if self._cursors is None:
                self._cursors = {each.shard: each.cursor for each in self._leases.state().leases}
            cursor, before = self._cursors.get(shard, Cursor()), horizon(self.now)
            self._swept_to[shard] = swept_to(self._timers.page(shard, cursor, before, 1), cursor, before)
        return self._swept_to[shard]

    def is_late(self, shard: int) -> bool:
        """Whether sweepers are late with a shard. A late sweeper sends triggers ahead of its place."""
        return self.swept_to(shard) < bucket_of(self.now) + BUCKET_MS

    def may_be_put_off(self, timer: OccurrenceTimer) -> bool:
        """Whether a timer of the same revision may lie at another place, because it was put off.

        The near part of the shard is read once. If that is too much, or a part cannot be read, any timer may
        be there.
        """
        if timer.shard not in self._put_off:
            self._put_off[timer.shard] = self._revisions(timer.shard)
        found = self._put_off[timer.shard]
        return found is None or (timer.key, timer.rev) in found

    def _revisions(self, shard: int) -> Collection[tuple[JobKey, str]] | None:
        """The revisions that have a put-off timer in the near part of a shard; None if that is not known."""
        found: set[tuple[JobKey, str]] = set()
        cursor, read = Cursor(bucket_key(self.swept_to(shard))), 0
        before = self.now + _PUT_OFF_AHEAD_MS
        while items := self._timers.page(shard, cursor, before, _ITEMS_AT_ONCE):
            for _, timer, _ in placed_timers(items, cursor):
                if isinstance(timer, UnreadTimer):
                    return None
                if isinstance(timer, OccurrenceTimer) and timer.put_off_to is not None:
                    found.add((timer.key, timer.rev))
            read += len(items)
            if read >= _ITEMS_MAX:
                return None
            cursor = Cursor(items[-1].sort_key)
        return found


def _is_same(stored: Job | None, seen: Job) -> bool:
    """Whether a job is as it was seen, as far as its timers are concerned."""
    if stored is None:
        return False
    return (stored.uid, stored.rev, stored.paused_at) == (seen.uid, seen.rev, seen.paused_at)
