"""Rebuilding the wheel from the Jobs table, after the Timers table was lost or set back by a restore."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from sweephand.base.instants import Instant
from sweephand.base.limits import BULK_EXAMINED_MAX
from sweephand.base.timing import BULK_TIME_LIMIT_MS, CLOCK_SKEW_MAX_MS
from sweephand.model.change import Change, ChangeKind, Former
from sweephand.model.job import Job, JobKey, RevisionName
from sweephand.model.orders import ResumeMessage
from sweephand.model.revisions import number_of
from sweephand.model.timer import OccurrenceTimer, WatchTimer
from sweephand.ports.clock import Clock
from sweephand.ports.flow import NamespaceStore
from sweephand.ports.jobs import ChangeStore, JobStore, PayloadStore
from sweephand.ports.queue import Queue
from sweephand.ports.runs import RunStore
from sweephand.ports.wheel import LeaseStore, TimerStore
from sweephand.runs.audit_findings import BEGINNING, JobProgress
from sweephand.runs.job_walk import PAGE_MAX, awaited, namespaces_from, run_pages, write_in_time
from sweephand.runs.requeue import Requeue
from sweephand.wheel.rebuild import NO_PAST, Past, may_owe, owed_since, rebuilt_timers

#: The writes that make a revision. A pause keeps the revision.
_MAKES_REVISION: Final[frozenset[ChangeKind]] = frozenset({"created", "replaced", "patched", "resumed"})

#: A call reports at most this many jobs that it could not rebuild, and ends there.
_FAILED_MAX: Final = 20


class NotRebuilt(NamedTuple):
    """A job that could not be rebuilt, and why."""

    key: JobKey
    reason: str


@dataclass(slots=True)
class Rebuilt:
    """The result of a call: how many jobs it examined, and how many timers and messages it wrote for them.

    `runs` counts runs that are to be tried again or that a consumer works on. `reached` is None if the call
    has examined everything.
    """

    jobs: int = 0
    timers: int = 0
    runs: int = 0
    failed: list[NotRebuilt] = field(default_factory=list)
    reached: JobProgress | None = None


class Rebuilder:
    """Arms every job again. It deletes nothing and changes no job, so it may run beside everything else.

    What it writes promises what other timers may promise too. Triggers, retries and checks have the same ids
    then, so a repetition does no harm.
    """

    def __init__(
        self,
        *,
        jobs: JobStore,
        changes: ChangeStore,
        runs: RunStore,
        timers: TimerStore,
        leases: LeaseStore,
        namespaces: NamespaceStore,
        queue: Queue,
        payloads: PayloadStore,
        clock: Clock,
    ) -> None:
        self._jobs = jobs
        self._changes = changes
        self._runs = runs
        self._timers = timers
        self._leases = leases
        self._namespaces = namespaces
        self._clock = clock
        self._requeue = Requeue(queue=queue, timers=lambda: timers, payloads=payloads, clock=clock)

    def rebuild(
        self, since: Instant, *, namespace: str | None = None, begun: JobProgress = BEGINNING
    ) -> Rebuilt:
        """Arm the jobs after `begun` for all that falls due at `since` or later, until the time is up.

        Without a `namespace`, the jobs of all listed namespaces, in the order of names. The caller goes on
        with `reached`. StoreError and UnavailableError: the caller repeats the call.
        """
        until = self._clock.now() + BULK_TIME_LIMIT_MS
        done = Rebuilt()
        for each in namespaces_from(self._namespaces, begun.namespace, namespace):
            progress = begun if each == begun.namespace else JobProgress(each)
            if self._clock.now() >= until:
                done.reached = progress
            else:
                self._rebuild(progress, since, done, lambda: self._clock.now() >= until)
            if done.reached is not None:
                break
        return done

    def _rebuild(
        self, begun: JobProgress, since: Instant, done: Rebuilt, is_over: Callable[[], bool]
    ) -> None:
        """Arm the jobs of a namespace; `done.reached` is set if the time is up before its end."""
        namespace = begun.namespace
        if begun.before:
            job = self._jobs.get(JobKey(namespace, begun.name))
            if job is not None and self._arm_runs(job, since, begun.before, done, is_over):
                return
        after: str | None = begun.name
        while after is not None:
            page = self._jobs.page(namespace, "", after, PAGE_MAX)
            self._arm(page.items, since, done)
            for job in page.items:
                done.jobs += 1
                if self._arm_runs(job, since, "", done, is_over):
                    return
                if is_over() or done.jobs >= BULK_EXAMINED_MAX or len(done.failed) >= _FAILED_MAX:
                    done.reached = JobProgress(namespace, job.key.name)
                    return
            after = page.next

    def _arm(self, jobs: Sequence[Job], since: Instant, done: Rebuilt) -> None:
        """Write the timers of some jobs."""
        if not jobs:
            return
        # The number of shards is lost with the leases. A shard without a lease is never swept.
        self._leases.raise_shards(1 + max(job.shard for job in jobs))
        pasts = {job.key: self._past_of(job, since) for job in jobs if may_owe(job, since)}
        now = self._clock.now()
        timers: list[OccurrenceTimer | WatchTimer] = []
        for job in jobs:
            try:
                timers += rebuilt_timers(job, pasts.get(job.key, NO_PAST), since=since, now=now)
            except Exception as error:  # noqa: BLE001 - one job's schedule must not keep the others from firing
                done.failed.append(NotRebuilt(job.key, str(error)))
        write_in_time(self._timers, timers, now, self._clock)
        done.timers += len(timers)
        for job in jobs:
            if job.pause_end is not None:
                self._requeue.send_at(ResumeMessage(job.key, job.uid, job.pause_end.at, now), job.shard)
                done.timers += 1

    def _past_of(self, job: Job, since: Instant) -> Past:
        """What the changes say of the revisions that may owe what falls due at `since` or later."""
        number, since = number_of(job.rev), owed_since(job, since)
        formers: dict[int, Former] = {}
        resumed_at: dict[int, Instant] = {}
        names: list[RevisionName] = []
        kept = {job.rev, *(each.rev for each in job.earlier)}
        for change in self._changes_of(job):
            if change.what not in _MAKES_REVISION:
                continue
            if change.former is not None:
                formers[number_of(change.former.rev)] = change.former
            if change.what == "resumed":
                resumed_at[number] = change.at
            if (rev := f"{number}-{change.version}") not in kept:
                names.append(RevisionName(job.key, job.uid, rev))
            if change.at < since - CLOCK_SKEW_MAX_MS or change.what == "created":
                # It made a revision that ruled at `since`, or the first one. The one before is not needed.
                break
            number -= 1
        filed = self._jobs.filed(names) if names else {}
        owing = [each for each in filed.values() if each.until is not None and each.until >= since]
        return Past(formers, resumed_at, tuple(sorted(owing, key=lambda each: number_of(each.rev))))

    def _changes_of(self, job: Job) -> Iterator[Change]:
        """The changes of a job, newest first. The job itself carries the latest one.

        Those of a deleted job of its name are left out. A clock that is ahead can date them too late.
        """
        if job.change is not None:
            yield job.change
        version = None if job.change is None else job.change.version
        before: str | None = ""
        while before is not None:
            page = self._changes.page(job.key, before, PAGE_MAX)
            # The next writer may have filed the latest change, and not committed yet.
            yield from (each for each in page.items if each.uid == job.uid and each.version != version)
            before = page.next

    def _arm_runs(
        self, job: Job, since: Instant, begun: str, done: Rebuilt, is_over: Callable[[], bool]
    ) -> bool:
        """Send what the wheel held for the runs of a job; True if the time was up before the last run."""
        for page in run_pages(self._runs, job, begun, since):
            for run in page.runs:
                message = awaited(run, job)
                if message is not None and message.not_before >= since:
                    self._requeue.send_at(message, job.shard)
                    done.runs += 1
            if page.before is not None and is_over():
                done.reached = JobProgress(job.key.namespace, job.key.name, page.before)
                return True
        return False
