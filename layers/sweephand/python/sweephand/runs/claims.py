"""Claiming an attempt before it is made, and releasing the claim of an attempt that is not made."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sweephand.access.authentication import run_token
from sweephand.base.instants import Instant
from sweephand.base.timing import ATTEMPT_CLAIM_MS
from sweephand.model.run import Run, State
from sweephand.model.trace import Origin
from sweephand.model.trigger import TriggerMessage
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.runs import RunStore

if TYPE_CHECKING:
    # Only triggers of jobs with a policy have permits.
    from sweephand.flow.permit import Permit


class Claims:
    """Writes and releases claims. Several threads may share one object."""

    def __init__(self, *, runs: RunStore, clock: Clock, ids: Ids) -> None:
        self._runs = runs
        self._clock = clock
        self._ids = ids
        #: The owners of claims that were taken over from crashed invocations, with a token that was sent.
        self._taken_over: set[str] = set()

    def run_of(
        self, message: TriggerMessage, expires_at: Instant, origin: Origin | None, *, is_claimed: bool = True
    ) -> Run:
        """The run of an attempt that is about to be made. It has no `claimed_until` if it needs no claim.

        `origin` is that of the job. A trigger on demand has one of its own.
        """
        trigger = message.trigger
        return Run(
            key=trigger.key,
            uid=trigger.uid,
            due_at=trigger.due_at,
            index=trigger.index,
            state="claimed",
            attempts=message.attempt,
            rev=trigger.rev,
            sequence=trigger.sequence,
            started_at=message.started_at,
            owner=self._ids.token(),
            claimed_until=self._clock.now() + ATTEMPT_CLAIM_MS if is_claimed else None,
            expires_at=expires_at,
            round_from=message.redrive.attempt if message.redrive else 1,
            round_ends=message.redrive.ends if message.redrive else None,
            demand=trigger.demand,
            payload=message.payload,
            last_failure=message.last_failure,
            batch=trigger.batch,
            held_ms=message.held_ms,
            failed_attempts=message.failed_attempts,
            origin=origin if trigger.demand is None else trigger.demand.origin,
        )

    def claim(self, run: Run, *, is_async: bool, permit: "Permit | None") -> tuple[Run, Run | None]:
        """Claim an attempt.

        Returns the run as it was claimed, and the stored run that refuses the claim, if any. If the job is
        async, the run gets a token for the consumer's callbacks. A run with a token may go on after its
        request, so it has the name of its permit, if there is one.
        """
        if is_async:
            run = _with_token(run, run_token(self._ids.secret()), permit)
        now = self._clock.now()
        refused_by = self._runs.claim(run, now)
        if refused_by is not None and refused_by.token != run.token and _is_abandoned(refused_by, run, now):
            # A crashed invocation had claimed this attempt, and may have sent its token to the consumer.
            run = _with_token(run, refused_by.token, permit)
            refused_by = self._runs.claim(run, now)
            if run.owner is not None:
                self._taken_over.add(run.owner)
        return run, refused_by

    def claim_ends_at(self, message: TriggerMessage) -> Instant | None:
        """When the claim of this attempt ends; None if the attempt is not claimed."""
        run = self._runs.of(message.trigger)
        is_claimed = run is not None and (run.state, run.attempts) == ("claimed", message.attempt)
        return run.claimed_until if run is not None and is_claimed else None

    def run_in_batch(self, message: TriggerMessage) -> Run | None:
        """The stored run of a trigger of a batch; None for any other trigger."""
        return self._runs.of(message.trigger) if message.trigger.batch is not None else None

    def release(self, run: Run, message: TriggerMessage, *, is_cancelled: bool) -> None:
        """Undo the claim of an attempt that was not made: no request was sent.

        If it `is_cancelled`, the job was deleted and the message will not come again. Otherwise the record
        goes back to what it was before the claim: a first attempt leaves no record, and a later attempt is to
        be made again. If a function may have crashed during this attempt, the claim stays until it ends. That
        function may have sent the request, and the consumer may have its token. A claim that another
        invocation has changed stays as it is.
        """
        if may_have_been_started(message) or run.owner in self._taken_over:
            return
        if is_cancelled:
            self._runs.move(self._cancelled(run, message.attempt - 1), run)
        elif message.attempt == 1:
            self._runs.release(run)
        elif message.begins_redrive:
            self._runs.move(self._before_claim(run, message, "failed"), run)
        else:
            self._runs.move(self._before_claim(run, message, "retrying"), run)

    def cancel_with_job(self, message: TriggerMessage) -> Instant | None:
        """Cancel the unfinished run of a deleted job.

        Returns when to look again; None if nothing is left to do. A run that was to be retried ends at once.
        A claimed run ends when its claim has ended.
        """
        if message.attempt == 1 and not may_have_been_started(message):
            return None
        run, now = self._runs.of(message.trigger), self._clock.now()
        if run is None:
            return None
        if (run.state, run.attempts) == ("claimed", message.attempt):
            if run.claimed_until is not None and run.claimed_until > now:
                return run.claimed_until
        elif (run.state, run.attempts) != ("retrying", message.attempt - 1):
            return None
        # If the write is refused, another invocation has ended the run.
        self._runs.move(self._cancelled(run, run.attempts), run)
        return None

    def _cancelled(self, run: Run, attempts: int) -> Run:
        return replace(
            run,
            state="cancelled",
            attempts=attempts,
            ended_at=self._clock.now(),
            next_attempt_at=None,
            reason="Its job was deleted.",
            version=self._ids.token(),
        )

    def _before_claim(self, run: Run, message: TriggerMessage, state: State) -> Run:
        """The run as it was before the claim, as far as the message of the attempt shows."""
        failure = message.last_failure
        return replace(
            run,
            state=state,
            attempts=message.attempt - 1,
            next_attempt_at=message.not_before if state == "retrying" else None,
            ended_at=None if state == "retrying" else self._clock.now(),
            response_code=failure.response_code if failure is not None else None,
            reason=failure.reason if failure is not None else None,
            version=self._ids.token(),
        )


def may_have_been_started(message: TriggerMessage) -> bool:
    """Whether an invocation may have started this attempt and then crashed, or failed to learn its result."""
    return message.crashes > 0 or message.faults > 0


def _with_token(run: Run, token: str | None, permit: "Permit | None") -> Run:
    """The run with that token, and with the name of its permit if it has a token."""
    name = None if token is None or permit is None else permit.name
    return replace(run, token=token, permit=name)


def _is_abandoned(stored: Run, run: Run, now: Instant) -> bool:
    is_same = (stored.state, stored.attempts) == ("claimed", run.attempts)
    return is_same and stored.claimed_until is not None and stored.claimed_until <= now


def started(run: Run, message: TriggerMessage, now: Instant, **outcome: Any) -> Run:
    """The run with the start of its first attempt, and of this one, which is `now`.

    It also sets the fields in `outcome`. One call sets them all, because copying a run with many fields takes
    time. A backfilled or chained trigger is late by nature, so its run has no lateness: its due time was
    already past when it was sent.
    """
    trigger, started_at = message.trigger, message.started_at or now
    is_late_by_nature = trigger.demand is not None and trigger.demand.kind in ("backfill", "chained")
    return replace(
        run,
        started_at=started_at,
        lateness_ms=None if is_late_by_nature else started_at - trigger.at,
        round_at=(message.first_attempt_at or now) if run.is_redriven else None,
        attempt_at=None if run.attempts == 1 else now,
        **outcome,
    )
