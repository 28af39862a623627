"""The gates that a trigger passes before its attempt: due, alive, window, valve, policy, overlap, claim.

A gate returns the delivery as it goes on, or why it stops. It may take a slot, a place in the overlap queue
or a claim, since to take one is to be let through. Everything else that has to be written or sent is done by
the Deliverer.
"""

from collections.abc import Callable, Mapping
from typing import Final

from sweephand.base.instants import DAY_MS, SECOND_MS, Instant
from sweephand.base.timing import (
    CLOCK_SKEW_MAX_MS,
    COMMIT_WAIT_MS,
    DEADLINE_GRACE_MS,
    EARLY_WAIT_MAX_MS,
    GATE_LEAD_MS,
    OVERTAKEN_TIME_LIMIT_MS,
    POSTPONED_MS,
    QUEUE_DELAY_MAX_MS,
    TIMER_RETENTION_MS,
    UNKNOWN_GRACE_MS,
    WINDOW_ROUND_MS,
)
from sweephand.model.policy_names import PolicyKey
from sweephand.model.run import WINDOW, Run, is_over
from sweephand.model.trigger import TriggerMessage
from sweephand.model.window import Opening, Windows, before_next, open_for, passes, skips
from sweephand.ports.clock import Clock
from sweephand.ports.runs import RunStore
from sweephand.runs.attempt import Attempts
from sweephand.runs.claims import Claims, started
from sweephand.runs.delivery import Bury, Delivery, Drop, JobReads, Keep, Stop, Wait, Withdraw
from sweephand.runs.overlap import AdmissionOutcome
from sweephand.runs.overlap_queue import OverlapQueue
from sweephand.runs.received import OutcomeName
from sweephand.runs.requeue import Retention, commit_awaited_until
from sweephand.runs.retry import aged_from, is_too_late
from sweephand.runs.valve import Limited, Valve

#: The outcome of a trigger that the overlap queue does not admit and that does not wait either.
NOT_ADMITTED: Final[Mapping[AdmissionOutcome, OutcomeName]] = {
    "skip": "skipped",
    "over": "repeated",
    "gone": "dropped",
}


class Gates:
    """Decides whether triggers may be delivered now. Several threads may share one object.

    StoreError of a gate: nothing is decided, and the message must come again.
    """

    def __init__(
        self,
        *,
        runs: RunStore,
        job_reads: JobReads,
        attempts: Attempts,
        claims: Claims,
        overlap_queue: OverlapQueue,
        retention: Retention,
        valve: Valve | None,
        windows: Callable[[str], Windows] | None,
        clock: Clock,
    ) -> None:
        """`windows` returns those of a namespace; None in a stack whose namespaces have none."""
        self._runs = runs
        self._job_reads = job_reads
        self._attempts = attempts
        self._claims = claims
        self._overlap_queue = overlap_queue
        self._retention = retention
        self._valve = valve
        self._windows = windows
        self._clock = clock
        #: The gates before overlap and claim, in their order. A stack without limits has no valve.
        self.first = (
            self.due,
            self.alive,
            *([] if windows is None else [self.window]),
            *([] if valve is None else [self.valve]),
            self.policy,
        )

    def due(self, delivery: Delivery) -> Delivery | Stop:
        """Wait for a trigger that is due in less than a second. Its job is read at most a second before.

        A trigger that goes to a gate goes a bit before it is due, because a function has to take it up there.
        """
        message = delivery.message
        if message.not_before - self._clock.now() >= EARLY_WAIT_MAX_MS:
            return Wait(delivery, message.not_before, "early")
        until = message.not_before - (GATE_LEAD_MS if delivery.goes_into_line else 0)
        while self._clock.now() < until:
            self._clock.wait_until(until)
        return self._job_reads.renewed(delivery)

    def alive(self, delivery: Delivery) -> Delivery | Stop:
        """Stop a trigger that its job does not owe, or not yet, or whose job is paused."""
        delivery = self._job_reads.mark_owed(delivery)
        trigger = delivery.message.trigger
        if delivery.liveness == "unknown" and self._clock.now() - trigger.armed_at < SECOND_MS:
            self._clock.wait_until(self._clock.now() + COMMIT_WAIT_MS)
            delivery = delivery.by(self._job_reads.reread(trigger.key))
        return delivery if delivery.liveness == "alive" else self.not_alive(delivery)

    def window(self, delivery: Delivery) -> Delivery | Stop:
        """Let a trigger wait until the windows of its namespace are closed, or skip it for one of them.

        The trigger may go to a gate a bit before it is due, so the time of its attempt counts.
        """
        assert self._windows is not None, "a stack without windows has no such gate"
        message, job = delivery.message, delivery.job
        windows = () if passes(message) else self._windows(job.key.namespace).windows
        if not windows:
            return delivery
        skipping = skips(windows, job, message.trigger.at) if message.attempt == 1 else None
        opening = open_for(windows, job, max(self._clock.now(), message.not_before))
        if skipping is None and opening is None:
            return delivery
        # A copy must not wait for longer than the record of its run is kept.
        run = self._runs.of(message.trigger)
        if is_over(message, run):
            return Drop(delivery, "repeated", run, leaves_place=delivery.may_have_place)
        reason = "" if skipping is None else WINDOW + skipping.window.name
        if skipping is not None and run is None and self._overlap_queue.skip(message.trigger, job, reason):
            run = self._claims.run_in_batch(message)
            return Drop(delivery, "skipped", run, leaves_place=delivery.may_have_place)
        if opening is None:
            return delivery
        return self._held_by(before_next(windows, job, opening), delivery, run)

    def _held_by(self, opening: Opening, delivery: Delivery, run: Run | None) -> Wait:
        """Let a trigger wait for the end of a window, in rounds of a day at most.

        Each round keeps what the trigger needs. And a window that was removed meanwhile holds no trigger for
        longer than that.
        """
        message, job, now = delivery.message, delivery.job, self._clock.now()
        until = min(opening.releases_at(message), now + WINDOW_ROUND_MS)
        held_ms = 0 if message.first_attempt_at is None else message.held_ms + until - now
        message = message.held()._replace(not_before=until, held_ms=held_ms)
        return Wait(
            delivery._replace(message=message),
            until,
            "in_window",
            job_until=until + job.definition.run_time_max_ms,
            run=run,
            keeps_place=job.definition.overlap.is_limited,
            is_planned=True,
        )

    def valve(self, delivery: Delivery) -> Delivery | Stop:
        """Let a trigger wait for its slot, if its namespace or the stack has a limit.

        A copy of a trigger may wait for longer than the record of its run was to be kept. So after two weeks
        each round reads the run.
        """
        assert self._valve is not None, "a stack without limits has no such gate"
        admitted = self._valve.admit(delivery.message)
        if not isinstance(admitted, Limited):
            return delivery._replace(message=admitted)
        delivery = delivery._replace(message=admitted.message)
        message = delivery.message
        if self._clock.now() - message.trigger.armed_at >= TIMER_RETENTION_MS:
            stored = self._runs.of(message.trigger)
            if is_over(message, stored):
                return Drop(delivery, "repeated", stored)
        job_until = admitted.slot_at + delivery.job.definition.run_time_max_ms
        return Wait(delivery, message.not_before, admitted.outcome, job_until=job_until)

    def policy(self, delivery: Delivery) -> Delivery | Stop:
        """Send a trigger without a permit of its job's policy into the line of that policy.

        If the job has none, the queue gets the trigger. The server of another line meets it if the job has
        named that other policy before, or counted under another key.
        """
        definition, permit = delivery.job.definition, delivery.permit
        policy, name = definition.policy, delivery.job.key.name
        if policy is None if permit is None else permit.is_for(definition, name):
            return delivery
        now = self._clock.now()
        if policy is None:
            return Wait(delivery, now, "postponed")
        return Wait(delivery, now, "in_line", line=PolicyKey(delivery.job.key.namespace, policy))

    def overlap(self, delivery: Delivery) -> Delivery | Stop:
        """Let a trigger wait for its turn, or skip it, if its job limits overlap."""
        message, job = delivery.message, delivery.job
        if not job.definition.overlap.is_limited:
            if message.trigger.rev != job.rev:
                # An earlier revision may have limited overlap, and the trigger may have got a place.
                self._overlap_queue.remove(message.trigger)
            return delivery
        admission = self._overlap_queue.arrive(message, job, lambda: self._job_reads.reread(job.key).job)
        if admission.outcome == "go":
            return delivery
        if admission.outcome != "wait":
            return Drop(delivery, NOT_ADMITTED[admission.outcome], self._claims.run_in_batch(message))
        return Wait(
            delivery._replace(message=message.waiting()),
            admission.recheck_at,
            "waiting",
            job_until=admission.recheck_at + job.definition.run_time_max_ms,
            run=self._runs.of(message.trigger) if message.attempt > 1 else None,
        )

    def claim(self, delivery: Delivery) -> Run | Stop:
        """The run of an attempt that may be made now, claimed if it needs a claim."""
        message, job, definition = delivery.message, delivery.job, delivery.job.definition
        if is_too_late(definition.retry, aged_from(message), self._clock.now()):
            return Bury(delivery)
        if not self._attempts.is_time_for(job, delivery.deadline):
            return self.postponed(delivery) if delivery.permit is None else Keep()
        is_claimed = self._needs_claim(delivery)
        now = self._clock.now()
        self._retention.note_late_run(job, message.trigger.due_at, message.first_attempt_at or now)
        expires_at = now + definition.history_retention_ms
        run = self._claims.run_of(message, expires_at, job.origin, is_claimed=is_claimed)
        if not is_claimed:
            return run
        run = started(run, message, self._clock.now())
        run, refused_by = self._claims.claim(run, is_async=definition.is_async, permit=delivery.permit)
        return run if refused_by is None else self.refused(delivery, refused_by)

    def _needs_claim(self, delivery: Delivery) -> bool:
        """Whether an attempt is claimed before it is made.

        A crashed function, or another copy of the trigger, may have claimed the attempt under an older
        definition. A trigger that waited may have a copy, and so may one that two sweepers sent. A first
        attempt that was put back after a fault may have left the record of a run: the job may have asked for
        claims when that attempt began, and the consumer may have called back since. A function that had read
        the job just before an update or a pause may have delivered what was due just after that. No update
        sends again what a caller asked for. A job that was never updated has no `resumed_at`.
        """
        message, job, definition = delivery.message, delivery.job, delivery.job.definition
        is_wanted = definition.is_async or definition.overlap.is_limited or definition.records_first_attempts
        due_at, resumed_at = message.trigger.due_at, 0 if message.trigger.demand else job.resumed_at or 0
        is_near_write = resumed_at > 0 and (due_at < resumed_at or 0 < due_at - job.cut <= CLOCK_SKEW_MAX_MS)
        may_have_begun = message.attempt > 1 or message.crashes > 0 or message.is_owed or is_near_write
        if is_wanted or may_have_begun or message.trigger.rev != job.rev:
            return True
        return message.faults > 0 and self._runs.of(message.trigger) is not None

    def refused(self, delivery: Delivery, stored: Run) -> Stop:
        """What a trigger does whose claim the stored run refuses."""
        message, now = delivery.message, self._clock.now()
        if stored.state == "running" and stored.attempts < message.attempt:
            # Usually another invocation is about to record the attempt before as failed. If a callback came
            # first, that attempt may go on for long, and this one may never be needed.
            is_recent = now - message.not_before < OVERTAKEN_TIME_LIMIT_MS
            until = now + SECOND_MS if is_recent else stored.deadline_at + DEADLINE_GRACE_MS
            return Wait(delivery, max(until, now + SECOND_MS), "overtaken")
        is_held = stored.state == "claimed" and stored.attempts == message.attempt
        if not is_held or stored.claimed_until is None:
            return Drop(delivery, "repeated", stored)
        # At least one second: SQS rounds a shorter delay down to zero and would deliver it at once.
        until = max(stored.claimed_until, now + SECOND_MS)
        return Wait(delivery, until, "claimed", job_until=until + delivery.job.definition.run_time_max_ms)

    def not_alive(self, delivery: Delivery) -> Stop:
        """What a trigger does that is not alive by the read of its job."""
        delivery = self._job_reads.mark_owed(delivery)
        message, liveness = delivery.message, delivery.liveness
        if liveness == "alive":
            # The job was read again meanwhile, and no longer remembers the revision that owes the trigger.
            return self.postponed(delivery)
        if liveness == "unknown" and self.may_be_committed(message):
            until = commit_awaited_until(message.trigger.armed_at, self._clock.now())
            return Wait(delivery, until, "unknown")
        if liveness == "held" and delivery.job.paused_at is not None:
            return self._held(delivery, delivery.job.paused_at)
        return Withdraw(delivery)

    def may_be_committed(self, message: TriggerMessage) -> bool:
        """Whether the job of a first attempt may still be committed, or come back by a repeated creation."""
        return message.attempt == 1 and self._clock.now() - message.trigger.armed_at < UNKNOWN_GRACE_MS

    def postponed(self, delivery: Delivery) -> Wait:
        """What a trigger does whose attempt could not begin. It is not at fault, so nothing is counted."""
        return Wait(delivery, self._clock.now() + POSTPONED_MS, "postponed")

    def _held(self, delivery: Delivery, paused_at: Instant) -> Stop:
        """Let a trigger of a paused job wait, or end it if nothing of it can follow the resume.

        A held trigger is put back in rounds, each after as long as the pause has lasted, and 900 s at most.
        Each round reads the run. A function that crashed or failed may have ended it. And a pause can last
        longer than the record of a run is kept: without the record, a later message could not tell that the
        run is over.
        """
        message, definition, now = delivery.message, delivery.job.definition, self._clock.now()
        if is_too_late(definition.retry, aged_from(message), now):
            # After the resume it would be given up in any case, and `onError` could pause the job again.
            return Bury(delivery)
        run = self._runs.of(message.trigger)
        if is_over(message, run):
            return Drop(delivery, "repeated", run, leaves_place=delivery.may_have_place)
        # The resume decides about triggers that fall due during the pause.
        delivery = delivery._replace(message=message.held(is_owed=message.trigger.due_at <= paused_at))
        lasted_ms = max(now - paused_at, SECOND_MS)
        keeps_place = definition.overlap.is_limited and lasted_ms >= DAY_MS
        until = now + min(lasted_ms, QUEUE_DELAY_MAX_MS)
        return Wait(delivery, until, "held", run=run, keeps_place=keeps_place)
