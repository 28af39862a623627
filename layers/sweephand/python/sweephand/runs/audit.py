"""Auditing all jobs: finds timers and messages that were lost without a trace, and writes them again."""

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final, NamedTuple

from sweephand.base.concurrency import parts
from sweephand.base.instants import DAY_MS, Instant
from sweephand.base.limits import BULK_EXAMINED_MAX
from sweephand.base.timing import (
    ATTEMPT_DELAY_MAX_MS,
    AUDIT_ROUND_MS,
    BUCKET_MS,
    BULK_TIME_LIMIT_MS,
    CLOCK_SKEW_MAX_MS,
    QUEUE_DELAY_MAX_MS,
)
from sweephand.flow.gates import Gates
from sweephand.model.job import Job, JobKey
from sweephand.model.orders import ResumeMessage
from sweephand.model.page import Page
from sweephand.model.run import Run
from sweephand.model.timer import (
    OccurrenceTimer,
    ResumeTimer,
    bucket_of,
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
from sweephand.runs.audit_part import AuditPart
from sweephand.runs.job_walk import PAGE_MAX, namespaces_from, newest_runs, run_pages, write_in_time
from sweephand.runs.requeue import Requeue
from sweephand.wheel.catchup import last_run
from sweephand.wheel.rebuild import (
    KEPT_MS,
    NO_PAST,
    armed_from,
    due_timer,
    rebuilt_timers,
    timed_from,
    timer_from,
)

#: So many jobs are read at once, and looked for on the wheel.
_JOBS_READ: Final = BULK_EXAMINED_MAX

#: The runs of an audit's round are those that may have been lost since the round before, and a day more.
_RUNS_MS: Final = AUDIT_ROUND_MS + DAY_MS


#: So many timers of a job are looked for at once.
_LOOKS_AT_ONCE: Final = 100

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
        part = AuditPart(self._timers, self._leases, lines, lost_runs, now, mends=mends)
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

    def _audit(self, begun: JobProgress, part: AuditPart, is_over: Callable[[], bool]) -> None:
        """Examine the jobs of a namespace; `reached` is set if the call ends before the namespace does."""
        namespace, done = begun.namespace, part.done
        if begun.before:
            job = self._jobs.get(JobKey(namespace, begun.name))
            if job is not None and self._end_runs(job, begun.before, part, is_over):
                return
        after: str | None = begun.name
        listed = ListedPolicies(self._policies, namespace, begun.name, begun.waiting)
        while after is not None:
            page = self._jobs.page(namespace, "", after, _JOBS_READ)
            suspects = self._suspects([job for job in page.items if part.is_judged(job)], part)
            for jobs in parts(page.items, PAGE_MAX):
                if not self._audit_jobs(jobs, suspects, listed, part, is_over):
                    return
                if jobs[-1] is not page.items[-1] and (is_over() or done.is_full):
                    done.reached = JobProgress(namespace, jobs[-1].key.name)
                    return
            if not part.lines.keep(listed, page.next):
                done.reached = JobProgress(namespace, listed.passed, waiting=listed.place)
                return
            if page.next is not None and (is_over() or done.is_full):
                done.reached = JobProgress(namespace, page.next)
                return
            after = page.next

    def _audit_jobs(
        self,
        jobs: Sequence[Job],
        suspects: Sequence[_Suspect | NotAudited],
        listed: ListedPolicies,
        part: AuditPart,
        is_over: Callable[[], bool],
    ) -> bool:
        """Examine some jobs of a page, and of its suspects; False if the time is up before the last job."""
        judged = {job.key: job for job in jobs if part.is_judged(job)}
        part.done.late += sum(not job.is_gone(part.now) for job in jobs) - len(judged)
        part.done.failed += [each for each in suspects if isinstance(each, NotAudited) and each.key in judged]
        self._arm([each for each in suspects if isinstance(each, _Suspect) and each.job.key in judged], part)
        self._end_pauses(list(judged.values()), part)
        newest = newest_runs(self._runs, list(judged.values()))
        return all(
            self._audit_job(
                job, listed, part, is_over, is_judged=job.key in judged, newest=newest.get(job.key)
            )
            for job in jobs
        )

    def _audit_job(
        self,
        job: Job,
        listed: ListedPolicies,
        part: AuditPart,
        is_over: Callable[[], bool],
        *,
        is_judged: bool,
        newest: Page[Run] | None,
    ) -> bool:
        """Examine one job, and the policies before it; False and `reached` is set if the time is up."""
        looks = part.lines.looks
        is_done = part.lines.keep(listed, job.key.name)
        if is_done:
            part.done.jobs += 1
            if is_judged and self._end_runs(job, "", part, is_over, newest):
                return False
            part.lines.keep_of(job)
            listed.passed = job.key.name
            is_done = part.lines.looks == looks or not is_over()
        if not is_done:
            part.done.reached = JobProgress(job.key.namespace, listed.passed, waiting=listed.place)
        return is_done

    def _arm(self, suspects: Sequence[_Suspect], part: AuditPart) -> None:
        """Find the suspects whose timers are lost, and arm each one before the search for the next.

        A search takes some thirty requests. The function's time may be up before it has searched for all.
        """
        suspects = self._certain(suspects, part)
        if part.mends and suspects:
            # A shard without a lease is never swept.
            self._leases.raise_shards(1 + max(each.job.shard for each in suspects))
        for job, timer in suspects:
            since = self._lost_since(job, timer, part)
            first = None if since is None else timer_from(job, since)
            if since is None or first is None:
                continue
            part.done.timers.append(LostTimer(job.key, first.first.at))
            if part.mends:
                made_at = self._clock.now()
                timers = rebuilt_timers(job, NO_PAST, since=since, now=made_at)
                write_in_time(self._timers, timers, made_at, self._clock)
                part.done.written += len(timers)

    def _end_pauses(self, jobs: Sequence[Job], part: AuditPart) -> None:
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

    def _suspects(self, jobs: Sequence[Job], part: AuditPart) -> Sequence[_Suspect | NotAudited]:
        """The jobs that lack their timer at the first look, and those whose schedule cannot be read."""
        awaiting: list[_Suspect] = []
        failed: list[NotAudited] = []
        for job in jobs:
            if job.paused_at is not None or job.series.is_on_demand:
                continue
            try:
                timer = due_timer(job, part.swept_to(job.shard), part.now)
            except Exception as error:  # noqa: BLE001 - one job's schedule must not keep the others from being examined
                failed.append(NotAudited(job.key, str(error)))
                continue
            if timer is not None:
                awaiting.append(_Suspect(job, timer))
        missing = {each.key for each in self._timers.missing([each.timer for each in awaiting])}
        return [*failed, *(each for each in awaiting if each.job.key in missing)]

    def _certain(self, suspects: Sequence[_Suspect], part: AuditPart) -> Sequence[_Suspect]:
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

    def _may_have_fired(self, suspect: _Suspect, part: AuditPart) -> bool:
        """Whether the series has ended, and its last trigger may have been sent without that timer.

        After an outage, a sweeper sends the misfires of later buckets together with those of an earlier
        timer. And an audit before may have armed the job. So only the record of the run tells, or that of
        misfires which do not fire.
        """
        job, timer = suspect
        if timer.due_at >= part.swept_to(job.shard):
            return False
        trigger = message_of(timer, timer.first, job.cut).trigger
        if not job.definition.records_successes or self._runs.of(trigger) is not None:
            return True
        last = last_run(self._runs, job.key, job.uid, trigger.due_at)
        return last is not None and last.last_due_at is not None and last.through >= trigger.due_at

    def _lost_since(self, job: Job, timer: OccurrenceTimer, part: AuditPart) -> Instant | None:
        """The first instant from which on no timer promises the triggers of a job; None if one does by now.

        The caller has missed `timer`. A timer stays in the table after a sweeper has passed it. So halving
        finds where the timers end, or where an earlier gap begins. An outage leaves a gap, and so does a
        rebuild. What comes before a later run, or before a later timer, is not lost. So the answer lies
        after the last run that has a record. If successes leave no records, it also lies after the last
        timer that is there.
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
        if not job.definition.records_successes:
            low = self._behind_gaps(job, low, bucket_of(timer.first.at), part)
        since = armed_from(job) if low == timed_from(job) else low
        last = last_run(self._runs, job.key, job.uid, timer.first.at)
        return since if last is None else max(since, last.through + 1)

    def _behind_gaps(self, job: Job, low: Instant, high: Instant, part: AuditPart) -> Instant:
        """The bucket after the last timer that is there between two buckets; `low` if none is there.

        A call looks for a limited number of timers (`part.looks`). After that, the answer is `low`, and
        triggers may be sent again.
        """
        at = low
        while at < high and part.looks > 0:
            timers = list(islice(_timers_between(job, at, high), _LOOKS_AT_ONCE))
            if not timers:
                break
            part.looks -= len(timers)
            at = bucket_of(timers[-1].first.at) + BUCKET_MS
            missing = {each.first.at for each in self._timers.missing(timers)}
            there = [each.first.at for each in timers if each.first.at not in missing]
            if there:
                low = bucket_of(there[-1]) + BUCKET_MS
        return low

    def _end_runs(
        self,
        job: Job,
        begun: str,
        part: AuditPart,
        is_over: Callable[[], bool],
        newest: Page[Run] | None = None,
    ) -> bool:
        """Send again what runs of a job wait for; True if the time was up before the last run."""
        for page in run_pages(self._runs, job, begun, part.now - _RUNS_MS, newest):
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


def _timers_between(job: Job, at: Instant, before: Instant) -> Iterator[OccurrenceTimer]:
    """The timers of a job that begin in the buckets from `at` on and before another one."""
    timer = timer_from(job, at)
    while timer is not None and timer.first.at < before:
        yield timer
        timer = timer_from(job, bucket_of(timer.first.at) + BUCKET_MS)


def _is_same(stored: Job | None, seen: Job) -> bool:
    """Whether a job is as it was seen, as far as its timers are concerned."""
    if stored is None:
        return False
    return (stored.uid, stored.rev, stored.paused_at) == (seen.uid, seen.rev, seen.paused_at)
