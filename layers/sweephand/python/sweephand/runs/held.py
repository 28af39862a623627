"""Triggers that the pause of their job holds back: until when, and what is looked after meanwhile."""

from typing import TYPE_CHECKING

from sweephand.base.instants import DAY_MS, SECOND_MS, Instant
from sweephand.base.timing import QUEUE_DELAY_MAX_MS
from sweephand.model.job import Job
from sweephand.model.run import Run, is_over
from sweephand.model.trigger import TriggerMessage
from sweephand.ports import RunStore
from sweephand.runs.claims import may_have_been_started
from sweephand.runs.requeue import Retention

if TYPE_CHECKING:
    from collections.abc import Callable

    # Many jobs do not limit overlap.
    from sweephand.runs.flow.overlap_queue import OverlapQueue


class HeldTriggers:
    """Looks after triggers that are held. Several threads may share one object.

    A held trigger is put back in rounds. If its run is over, its turn after the resume shows that: the
    attempt is claimed then, and the record refuses the claim. So a round in the line of a policy does only
    what cannot wait for the resume. Hundreds of thousands of triggers of one job may stand there.
    """

    def __init__(
        self, *, runs: RunStore, overlap_queue: "Callable[[], OverlapQueue]", retention: Retention
    ) -> None:
        self._runs = runs
        self._overlap_queue = overlap_queue
        self._retention = retention

    def ended(self, message: TriggerMessage, job: Job, now: Instant, *, is_in_line: bool) -> Run | None:
        """The run of a held trigger, if this round reads the run and it is over.

        The run of a trigger in the line of a policy is read in two cases:

        - A function that crashed or failed may have ended the run, and left the trigger's batch as it was.
        - A pause can last longer than the record of a run is kept. Without the record, a later message could
          not tell that the run is over. So one round in each day keeps the record and the line of a trigger
          whose run is not over.

        A message in the queue does not say when this round should have begun, and each round costs several
        requests there in any case. So every round reads the run.
        """
        assert job.paused_at is not None, "its triggers are held"
        is_read = may_have_been_started(message) or is_daily(message.not_before, now, job.paused_at)
        if is_in_line and not is_read:
            return None
        run = self._runs.of(message.trigger)
        overlap_is_limited = job.definition.overlap.is_limited
        if is_over(message, run):
            if overlap_is_limited:
                self._overlap_queue().remove_ended(message.trigger)
            return run
        self._retention.keep_run(run)
        if overlap_is_limited and now - job.paused_at >= DAY_MS:
            self._overlap_queue().extend(message.trigger)
        return None

    def until(self, job: Job, now: Instant) -> Instant:
        """When a trigger of the job that is held now comes again."""
        assert job.paused_at is not None, "its triggers are held"
        return held_until(now, job.paused_at)


def is_daily(since: Instant, now: Instant, paused_at: Instant) -> bool:
    """Whether the round that should have begun at `since` is one that comes once in each day of a pause.

    A whole number of days after the beginning of the pause then lies between the two instants, or on one.
    """
    days = (now - paused_at) // DAY_MS
    return days > 0 and since <= paused_at + days * DAY_MS


def held_until(now: Instant, paused_at: Instant) -> Instant:
    """When a trigger that is held at that instant comes again: after as long as the pause has lasted.

    It is 900 s at most. It is also no later than the next whole number of days after the beginning of the
    pause. So one round in each day is_daily(), however late the rounds begin.
    """
    lasted_ms = max(now - paused_at, SECOND_MS)
    next_day_at = paused_at + (lasted_ms // DAY_MS + 1) * DAY_MS
    return min(now + min(lasted_ms, QUEUE_DELAY_MAX_MS), next_day_at)
