"""Claims: an attempt is claimed before it is made, and a claim whose attempt is not made is let go of."""

from dataclasses import replace

from sweephand.access.run_token import run_token
from sweephand.base.instants import Instant
from sweephand.base.timing import ATTEMPT_CLAIM_MS
from sweephand.model.run import Run, State
from sweephand.model.trigger import TriggerMessage
from sweephand.ports import Clock, Ids, RunStore


class Claims:
    """Writes and releases claims; several threads may share one."""

    def __init__(self, *, runs: RunStore, clock: Clock, ids: Ids) -> None:
        self._runs = runs
        self._clock = clock
        self._ids = ids

    def run_of(self, message: TriggerMessage, expires_at: Instant, *, is_claimed: bool = True) -> Run:
        """The run of an attempt about to be made, as it is claimed, or as it is if it needs no claim."""
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
            demand=trigger.demand,
            payload=message.payload,
            last_failure=message.last_failure,
        )

    def claim(self, run: Run, *, is_reported: bool) -> tuple[Run, Run | None]:
        """The run as it was claimed, and what refuses the claim, if something does.

        If its consumer is to report on it, it gets a token.
        """
        if is_reported:
            run = replace(run, token=run_token(self._ids.secret()))
        now = self._clock.now()
        refused_by = self._runs.claim(run, now)
        if refused_by is not None and refused_by.token != run.token and _is_abandoned(refused_by, run, now):
            # The consumer may have the token of this attempt from whoever claimed it before.
            run = replace(run, token=refused_by.token)
            refused_by = self._runs.claim(run, now)
        return run, refused_by

    def held_until(self, message: TriggerMessage) -> Instant | None:
        """Until when somebody has claimed this very attempt; None if nobody has."""
        run = self._runs.of(message.trigger)
        is_claimed = run is not None and (run.state, run.attempts) == ("claimed", message.attempt)
        return run.claimed_until if run is not None and is_claimed else None

    def release(self, run: Run, message: TriggerMessage, *, is_job_there: bool) -> None:
        """Undo the claim of an attempt that was not made: no request left.

        If its job was deleted, the run is cancelled. Else no record of a first attempt stays, and a later
        attempt is to be made as before the claim. If a function may have crashed over this attempt, the claim
        stays until it ends: that function may have sent the request. A claim that somebody else has changed
        stays as it is.
        """
        if _may_be_claimed_before(message):
            return
        if not is_job_there:
            self._runs.move(self._cancelled(run, message.attempt - 1), run)
        elif message.attempt == 1:
            self._runs.release(run)
        elif message.begins_anew:
            self._runs.move(self._back(run, message, "failed"), run)
        else:
            self._runs.move(self._back(run, message, "retrying"), run)

    def end_with_job(self, message: TriggerMessage) -> Instant | None:
        """Record as cancelled what is not over of a job that was deleted; when to look again, None if done.

        A run that was to be tried again ends at once, and a claim when its holder is gone.
        """
        if message.attempt == 1 and not _may_be_claimed_before(message):
            return None
        run, now = self._runs.of(message.trigger), self._clock.now()
        if run is None:
            return None
        if (run.state, run.attempts) == ("claimed", message.attempt):
            if run.claimed_until is not None and run.claimed_until > now:
                return run.claimed_until
        elif (run.state, run.attempts) != ("retrying", message.attempt - 1):
            return None
        # Refused, somebody else has ended it.
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

    def _back(self, run: Run, message: TriggerMessage, state: State) -> Run:
        """The run as it was before the claim, as far as the message of the attempt tells."""
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


def _may_be_claimed_before(message: TriggerMessage) -> bool:
    """Whether somebody may have begun this attempt who did not live, or could not learn, to tell of it."""
    return message.crashes > 0 or message.faults > 0


def _is_abandoned(stored: Run, run: Run, now: Instant) -> bool:
    is_same = (stored.state, stored.attempts) == ("claimed", run.attempts)
    return is_same and stored.claimed_until is not None and stored.claimed_until <= now
