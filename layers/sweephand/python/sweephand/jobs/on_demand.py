"""Triggers on demand: one that is due now, or those of a past range; the job may be paused."""

from collections.abc import Callable
from dataclasses import dataclass

from sweephand.base.errors import ConflictError, InvalidError, Violation
from sweephand.base.instants import Instant
from sweephand.base.limits import BACKFILL_TRIGGERS_MAX
from sweephand.jobs.payload_audit import stored_for
from sweephand.jobs.preconditions import existing_job
from sweephand.jobs.quotas import Quotas
from sweephand.jobs.series import unbounded
from sweephand.model.definition import Definition, Payload
from sweephand.model.job import JobKey
from sweephand.model.run_id import Demand, RunName
from sweephand.model.trace import Origin
from sweephand.model.trigger import BatchPlace, Message, RangeMessage, Trigger, TriggerMessage
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.jobs import JobStore, PayloadStore
from sweephand.ports.queue import Queue
from sweephand.schedules.triggers import last_trigger_of
from sweephand.wheel.arm import batch_on_demand
from sweephand.wheel.catchup import OccurrenceRange


@dataclass(frozen=True, slots=True)
class Backfilled:
    """The result of a backfill: the number of triggers, and the run names of the first and the last."""

    count: int
    first: RunName | None = None
    last: RunName | None = None


class OnDemand:
    """Makes triggers on demand. Each has its own id, and needs nothing but that its job is there."""

    def __init__(
        self,
        *,
        jobs: JobStore,
        queue: Queue,
        payloads: PayloadStore,
        clock: Clock,
        ids: Ids,
        quotas: Quotas,
    ) -> None:
        self._quotas = quotas
        self._jobs = jobs
        self._queue = queue
        self._payloads = payloads
        self._clock = clock
        self._ids = ids

    def trigger(
        self,
        key: JobKey,
        *,
        payload: Payload | None,
        requested_at: Instant,
        check_data: Callable[[Definition], None],
        traceparent: str | None = None,
    ) -> Trigger:
        """Make a trigger that is due now, with its own data or, if `payload` is None, the job's.

        For a job with a batch, a whole batch begins now, and the result is its first trigger. The trigger is
        in the queue when this returns. Data over 2 KB is kept for as long as the trigger waits, and for
        two weeks at least after its last attempt. `traceparent` is the trace context of the request: a single
        trigger continues its trace, and a batch links to it. `check_data` raises InvalidError if the job's
        target cannot take data, and so does data over the namespace's limit. Raises NotFoundError. Raises
        StoreError, after which the trigger may be in the queue.
        """
        job = existing_job(self._jobs.get(key), key, requested_at)
        if payload is not None:
            check_data(job.definition)
            self._quotas.check_payload(key.namespace, payload)
        origin = None if traceparent is None else Origin(traceparent, job.series.batch is None)
        demand = Demand("manual", self._ids.token(), origin=origin)
        if payload is not None:
            payload = stored_for(job, payload, demand, self._payloads, self._clock.now())
        now, batch = self._clock.now(), job.series.batch
        place = None if batch is None else BatchPlace.of(batch, after_ms=0)
        trigger = Trigger(key, job.uid, job.rev, now, sequence=0, armed_at=now, demand=demand, batch=place)
        message: Message
        if batch is None:
            message = TriggerMessage(trigger, not_before=now, payload=payload, lane=job.definition.lane)
        else:
            message = batch_on_demand(job, batch, demand, payload, due_at=now, now=now)
        self._queue.send([(message, 0)])
        return trigger

    def backfill(
        self, key: JobKey, *, since: Instant, until: Instant, requested_at: Instant, traceparent: str | None
    ) -> Backfilled:
        """Make the triggers that the job's schedule has from `since` on and before `until`.

        They travel as one message, which the delivery function splits. Their due times are the past ones. One
        batch may be made however large it is. They link to `traceparent`, the trace context of the request.
        `repeats` does not limit them. They may also lie before the job's creation, unless the schedule counts
        from it. Raises NotFoundError, InvalidError, and ConflictError for a job that fires only on demand.
        Raises StoreError, after which the triggers may be in the queue.
        """
        job = existing_job(self._jobs.get(key), key, requested_at)
        self._check(since, until)
        if job.series.is_on_demand:
            detail = (
                f"The job {key.name} fires only on demand. Without a schedule it has nothing to backfill."
            )
            raise ConflictError(detail)
        series = unbounded(job, since)
        first = series.next_after(since - 1)
        if first is None or first.due_at >= until:
            return Backfilled(0)
        times = OccurrenceRange(first, series.last_through(until - 1, first))
        size = 1 if series.batch is None else series.batch.size
        count = times.count * size
        if count > BACKFILL_TRIGGERS_MAX and times.count > 1:
            detail = (
                f"{count} triggers lie between them; give a range of at most {BACKFILL_TRIGGERS_MAX} "
                "(backfillTriggersMax)."
            )
            raise InvalidError([Violation("/from", detail)])
        origin = None if traceparent is None else Origin(traceparent)
        demand = Demand("backfill", self._ids.token(), origin=origin)
        now = self._clock.now()
        message = RangeMessage(
            key,
            job.uid,
            job.rev,
            series if series.batch is None else series._replace(ttl_at=times.last.due_at),
            first,
            times.last.due_at,
            armed_at=now,
            demand=demand,
            last=None if series.batch is None else last_trigger_of(series, times.last),
            lane=job.definition.lane,
        )
        self._queue.send([(message, 0)])
        first_name = RunName(first.due_at, 0, demand)
        return Backfilled(count, first_name, RunName(times.last.due_at, size - 1, demand))

    def _check(self, since: Instant, until: Instant) -> None:
        found = []
        if since < 0:
            found.append(Violation("/from", "Give 1970-01-01T00:00:00Z or a later instant."))
        if since >= until:
            found.append(Violation("/from", "It must be before `to`."))
        if until > self._clock.now():
            found.append(
                Violation(
                    "/to",
                    "Give an instant that is not in the future. The schedule itself fires later triggers.",
                )
            )
        if found:
            raise InvalidError(found)
