"""Watches how many requests under the policy are open, and how much a namespace stores, at every instant."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from tests.simulation.workload.quotas import NONE, Quotas
from tests.simulation.world.processes import Process, Scheduler

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.timing import CLOCK_SKEW_MAX_MS
from sweephand.model.attempt import Attempt
from sweephand.model.job import Job, JobKey
from sweephand.model.policy import Policy
from sweephand.model.run import Run

#: What was begun under an earlier limit goes on for this long: a function's time limit, and the age that a
#: read of the policy may have. An asynchronous run goes on for as long as its job lets it, beside what the
#: other holders begin under a lower limit.
_GOES_ON_MS: Final = 91 * SECOND_MS

#: A job that has named the policy for this long is under it. A function may use a read of the job that is a
#: second old, and its request takes as long to leave.
_OBEYED_AFTER_MS: Final = 3 * SECOND_MS


#: No request begins later than this after its policy was paused, if no fault and no slow store holds up its
#: function.
_STOPPED_AFTER_MS: Final = 2 * SECOND_MS


@dataclass(slots=True)
class PermitWatch:
    """The requests that are open, and the runs that go on. `complaints` says where they were too many."""

    scheduler: Scheduler
    name: str | None = None
    complaints: list[str] = field(default_factory=list)
    workers: set[Process] = field(default_factory=set)
    #: Each attempt that has left, by the id of its trigger and its number.
    left: set[tuple[str, int]] = field(default_factory=set)
    #: The ids of the open requests.
    _open: dict[Process, list[str]] = field(default_factory=dict)
    #: The key under which each request has left; None if its job or the policy had just changed.
    _keys: dict[str, str | None] = field(default_factory=dict)
    _by: tuple[str | None, Instant] = (None, 0)
    _jobs: dict[JobKey, tuple[Job, Instant]] = field(default_factory=dict)
    #: When each run began, and when it is over at the latest.
    _going_on: dict[str, tuple[Instant, Instant]] = field(default_factory=dict)
    _limits: list[tuple[Instant, int]] = field(default_factory=list)
    _named: dict[JobKey, tuple[str | None, Instant]] = field(default_factory=dict)
    figures: Counter[str] = field(default_factory=Counter)

    def limited(self, policy: Policy) -> None:
        """A limit is stored. That of a paused policy is 0."""
        self.figures["pauses of a policy"] += policy.paused_at is not None
        if policy.by != self._by[0]:
            self.figures["another by"] += self._by[1] > 0
            self._by = policy.by, self.scheduler.now
        self._limits.append((self.scheduler.now, policy.slots if policy.paused_at is None else 0))

    def leaves(self, attempt: Attempt) -> None:
        """A request leaves."""
        if attempt.ended_after is not None:
            return
        self.left.add((attempt.trigger.id, attempt.number))
        process = self.scheduler.strand.process
        name, since = self._named.get(attempt.trigger.key, (None, 0))
        is_obeyed = name is not None and self.scheduler.now - since > _OBEYED_AFTER_MS
        if process not in self.workers and not is_obeyed:
            return
        self._open.setdefault(process, []).append(attempt.trigger.id)
        key = self._key_of(attempt.trigger.key)
        self._keys[attempt.trigger.id] = None if key and process.is_held_up else key
        self.figures["under a policy"] += 1
        self.figures["at once"] += process not in self.workers
        at, limit = self._limits[-1]
        is_late = self.scheduler.now - at > _STOPPED_AFTER_MS
        if limit == 0 and is_late and not (process.is_held_up or process.slowed_ms):
            self.complaints.append(
                f"{attempt.trigger.id} left {self.scheduler.now - at} ms after its policy was paused"
            )
        self._judge()

    def ends(self, attempt: Attempt) -> None:
        """A request is answered."""
        of_process = self._open.get(self.scheduler.strand.process, [])
        if attempt.trigger.id in of_process:
            of_process.remove(attempt.trigger.id)

    def run_changed(self, run: Run) -> None:
        """A run is stored."""
        if run.state == "running" and run.permit is not None:
            assert run.run_until is not None, "it is running"
            begun_at, _ = self._going_on.get(run.trigger_id, (self.scheduler.now, 0))
            self._going_on[run.trigger_id] = begun_at, run.run_until + CLOCK_SKEW_MAX_MS
            self._judge()
        else:
            self._going_on.pop(run.trigger_id, None)

    def job_changed(self, job: Job) -> None:
        """A job is stored."""
        name = job.definition.policy
        if self._named.get(job.key, (None, 0))[0] != name:
            self._named[job.key] = name, self.scheduler.now
        before, _ = self._jobs.get(job.key, (None, 0))
        if before is None or before.definition.written != job.definition.written:
            self._jobs[job.key] = job, self.scheduler.now

    def _key_of(self, key: JobKey) -> str | None:
        """The key of a job's triggers, as its user reads the rules; None if something has just changed."""
        by, since = self._by
        if by is None and not since:
            return ""
        job, changed_at = self._jobs[key]
        if self.scheduler.now - max(since, changed_at) <= _OBEYED_AFTER_MS:
            return None
        written = job.definition.written
        if by is None:
            return "all"
        if by == "job":
            return f"job {key.name}"
        if by == "host":
            return f"host {written['target']['url'].split('/')[2]}" if "url" in written["target"] else "host"
        return f"tier {written.get('labels', {}).get('tier', '')}"

    def _judge(self) -> None:
        now = self.scheduler.now
        # After its `maxRunTime` a run counts as failed, also while the message that records this is late.
        running = {each: begun_at for each, (begun_at, until) in self._going_on.items() if now <= until}
        since = min([now, *running.values()]) - _GOES_ON_MS
        before = [limit for at, limit in self._limits if at <= since]
        allowed = max([limit for at, limit in self._limits if at > since] + before[-1:], default=0)
        # The requests of a function end with it.
        for process in [each for each in self._open if each.is_dead or each.is_over]:
            del self._open[process]
        opened = [each for of_process in self._open.values() for each in of_process]
        going_on = [each for each in running if each not in opened]
        of_requests, of_runs = ([self._keys.get(each, "") for each in some] for some in (opened, going_on))
        for key in {*of_requests, *of_runs} - {None}:
            requests, runs = of_requests.count(key), of_runs.count(key)
            if requests + runs > allowed:
                self.complaints.append(
                    f"at {now}, {requests} requests are open and {runs} runs go on under a limit of {allowed}"
                    f"{f' for {key}' if key else ''}"
                )


@dataclass(slots=True)
class QuotaWatch:
    """The jobs that are stored. `complaints` says where they were too many, or their data too large."""

    now: Callable[[], Instant]
    quotas: Quotas = NONE
    complaints: list[str] = field(default_factory=list)
    most: int = 0
    _stored: dict[JobKey, Job] = field(default_factory=dict)
    _deleted: set[str] = field(default_factory=set)
    _freed_twice: int = 0

    def job_changed(self, before: Job | None, after: Job | None) -> None:
        """A job's item was written or removed."""
        jobs_max, payload_bytes_max = self.quotas.jobs_max, self.quotas.payload_bytes_max
        if jobs_max is None:
            return
        if after is None:
            if before is not None:
                self._stored.pop(before.key, None)
                self._deleted.add(before.uid)
            return
        if before is None and after.uid in self._deleted:
            # The SDK has repeated a creation whose answer was lost, after a deletion had freed the place.
            self._deleted.remove(after.uid)
            self._freed_twice += 1
        self._stored[after.key] = after
        now = self.now()
        count = sum(not each.is_gone(now) for each in self._stored.values())
        self.most = max(self.most, count)
        allowed = jobs_max + self._freed_twice
        if (before is None or before.uid != after.uid) and count > allowed:
            self.complaints.append(f"{after.key.name}: {count} jobs are stored, and {allowed} are allowed")
        payload = after.definition.payload
        if payload_bytes_max is not None and payload is not None and payload.size > payload_bytes_max:
            what = f"{payload.size} bytes of data are stored, of {payload_bytes_max} allowed"
            self.complaints.append(f"{after.key.name}: {what}")

    def deleted_again(self) -> None:
        """A deletion met a job that was deleted already, and gives the job's place back once more.

        Docs say so (decision 045). The next count corrects that, which this watch does not see.
        """
        self._freed_twice += 1
