"""The audits of a seed: timers are lost without a trace, and an operator audits the jobs at once."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final

from tests.fakes.world import key_of
from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.traces.rare_events import TimerLost
from tests.simulation.workload.drills import Audits
from tests.simulation.world.functions import Functions
from tests.simulation.world.processes import Scheduler

from sweephand.base.errors import BadRequestError
from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant
from sweephand.model.job import Job, JobKey
from sweephand.model.timer import (
    DeadlineTimer,
    OccurrenceTimer,
    RetryTimer,
    StoredTimer,
    TimerPack,
    bucket_of,
)
from sweephand.runs.audit_findings import BEGINNING, JobProgress
from sweephand.web.http.operation import Services

#: The operator repeats a call after so long.
_AGAIN_MS: Final = 5 * SECOND_MS

#: A job that a client is going to write within this keeps its timer. The write would arm the job, and the
#: audit looks after the present revision only.
_UNWRITTEN_MS: Final = 10 * MINUTE_MS

#: What is due within this went to the queue when a job was armed, by whatever clock; a whole bucket is spare.
_ARMED_MS: Final = 390 * SECOND_MS + MINUTE_MS

#: Once a timer is due, only the record of a success tells an audit that its last trigger was sent. So the
#: timer of a job without such records is due later than ticks and sweepers may fail one after the other.
_UNRECORDED_MS: Final = 10 * MINUTE_MS

#: So long, the operator audits again until a lost timer is found. If it is not, the oracle finds it. After a
#: while, no fault happens any more at the calls of the audit: once the timer would be due, no audit can be
#: certain of its loss.
_PATIENCE_MS: Final = 10 * MINUTE_MS
_FAULTS_MS: Final = 2 * MINUTE_MS


class Auditing:
    """Audits the jobs at the times of a plan, call by call. Before each audit, a timer may be lost."""

    def __init__(
        self,
        *,
        audits: Audits,
        scheduler: Scheduler,
        chronicle: Chronicle,
        functions: Functions,
        written_at: Mapping[str, Sequence[Instant]],
    ) -> None:
        """`written_at` says when clients write the jobs of each name."""
        self._audits = audits
        self._scheduler = scheduler
        self._chronicle = chronicle
        self._functions = functions
        self._written_at = written_at
        self._calls = 0
        self._lost: set[JobKey] = set()
        self._lost_at: Instant = 0

    def plan(self) -> None:
        """At the world's beginning: plan all audits."""
        for at_ms in self._audits.at_ms:
            self._scheduler.call_at(self._scheduler.now + at_ms, self._begin)

    def _begin(self) -> None:
        self._lose()
        self._ask(BEGINNING)

    def _ask(self, begun: JobProgress) -> None:
        self._calls += 1
        reached: list[JobProgress | None] = []

        def ask(api: Services) -> None:
            done = api.auditor.audit(namespace=key_of().namespace, begun=begun)
            self._chronicle.figures["audited jobs"] += done.jobs
            self._chronicle.figures["timers found lost"] += len(done.timers)
            self._chronicle.figures["runs found lost"] += len(done.runs)
            self._lost -= {each.key for each in done.timers}
            if self._scheduler.now > self._lost_at + _PATIENCE_MS:
                self._lost.clear()
            reached.append(done.reached)

        def answered(error: Exception | str | None) -> None:
            assert not isinstance(error, BadRequestError), "the operator asks for nothing impossible"
            following = begun if error is not None or self._lost else reached[-1]
            if following is not None:
                self._scheduler.call_at(self._scheduler.now + _AGAIN_MS, partial(self._ask, following))

        goes_well = bool(self._lost) and self._scheduler.now > self._lost_at + _FAULTS_MS
        self._functions.operate(self._calls, ask, answered, goes_well=goes_well)

    def _lose(self) -> None:
        """Lose the timers of one job, if there is one of which an audit can be certain."""
        chronicle, now = self._chronicle, self._scheduler.now
        if self._lost or chronicle.calm_at is not None:
            return
        wheel, readable = chronicle.wheel, chronicle.readable
        assert wheel is not None, "a seed with audits has its stores in memory"
        assert readable is not None, "it has them to be read, too"
        timers, leases = wheel
        # A lost retry is found an hour later, which is longer than these seeds last.
        kept = {each.key for each in timers._timers.values() if isinstance(each, RetryTimer | DeadlineTimer)}
        for (shard, key), stored in sorted(timers._timers.items()):
            lease = leases._leases.get(shard)
            if lease is None or lease.owner is not None or key <= lease.cursor.key:
                # A sweeper has passed it, or is at work and may write it again.
                continue
            for timer in _timers_of(stored):
                job = readable.jobs.get(timer.key)
                if job is None or timer.key in kept or not self._may_be_lost(timer, job, now):
                    continue
                since = bucket_of(timer.due_at)
                told = len(chronicle.events)
                timers.lose(timer.key, since)
                # No function has written again what is left of a pack.
                del chronicle.events[told:]
                chronicle.add(TimerLost(now, timer.key.name, since))
                self._lost.add(timer.key)
                self._lost_at = now
                chronicle.figures["timers lost"] += 1
                return

    def _may_be_lost(self, timer: OccurrenceTimer, job: Job, now: Instant) -> bool:
        is_present = (job.uid, job.rev) == (timer.uid, timer.rev) and timer.put_off_to is None
        is_chain = job.paused_at is None and timer.followed_at is None and job.series == timer.series
        spare_ms = 0 if job.definition.records_successes else _UNRECORDED_MS
        is_certain = bucket_of(timer.due_at) > max(now + spare_ms, job.cut + _ARMED_MS)
        writes = self._written_at.get(job.key.name, ())
        return (
            is_present
            and is_chain
            and is_certain
            and not any(now - MINUTE_MS <= at <= now + _UNWRITTEN_MS for at in writes)
        )


def _timers_of(stored: StoredTimer) -> Sequence[OccurrenceTimer]:
    if isinstance(stored, TimerPack):
        return stored.timers
    return [stored] if isinstance(stored, OccurrenceTimer) else []
