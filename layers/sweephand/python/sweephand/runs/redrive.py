"""Redriving: a failed run gets a new round of attempts."""

from collections.abc import Sequence

from sweephand.base.errors import ConflictError, NotFoundError
from sweephand.base.instants import Instant
from sweephand.base.limits import REDRIVES_KEPT
from sweephand.model.job import JobKey
from sweephand.model.policy_names import Lane
from sweephand.model.run import Run, trigger_of
from sweephand.model.trigger import Redrive, TriggerMessage
from sweephand.ports.clock import Clock
from sweephand.ports.jobs import JobStore, PayloadStore
from sweephand.ports.queue import Queue
from sweephand.ports.runs import RunStore
from sweephand.runs.requeue import KeptData


class Redriver:
    """Sends the first attempt of a new round. A run stays `failed` until that attempt is claimed.

    Two redrives of one failure make one round: both send the same attempt, and only one message can claim it.
    """

    def __init__(
        self, *, jobs: JobStore, runs: RunStore, queue: Queue, payloads: PayloadStore, clock: Clock
    ) -> None:
        self._data = KeptData(payloads=payloads, clock=clock)
        self._jobs = jobs
        self._runs = runs
        self._queue = queue
        self._clock = clock

    def redrive(self, key: JobKey, run_id: str) -> Run:
        """Redrive a run, and return it as stored: it is still `failed`.

        Raises NotFoundError if there is no such run, and ConflictError if the run has not failed or its job
        was deleted.
        """
        run = self._runs.get(key, run_id)
        if run is None:
            raise NotFoundError(f"The job {key.name} has no record of a run {run_id}.")
        if run.state != "failed":
            raise ConflictError(f"The run is {run.state}. Only a run that has failed can be redriven.")
        job = self._jobs.get(key)
        if job is None or job.uid != run.uid:
            raise ConflictError("The job of this run is deleted, so the run cannot be redriven.")
        self._send([(run, job.definition.lane)])
        return run

    def redrive_all(self, runs: Sequence[Run], *, is_dry: bool = False) -> int:
        """Redrive those of the failed runs whose jobs exist, and return how many. `is_dry`: count them only.

        StoreError: any of them may have been redriven. Repeating the call is safe.
        """
        jobs = self._jobs.get_many(list(dict.fromkeys(run.key for run in runs)))
        found = [(run, jobs[run.key]) for run in runs if run.key in jobs and jobs[run.key].uid == run.uid]
        if not is_dry:
            self._send([(run, job.definition.lane) for run, job in found])
        return len(found)

    def _send(self, runs: Sequence[tuple[Run, Lane]]) -> None:
        now = self._clock.now()
        messages = [_first_attempt_of_round(run, now, lane) for run, lane in runs]
        if messages:
            self._queue.send([(self._data.of_trigger(message, now), 0) for message in messages])


def _first_attempt_of_round(run: Run, now: Instant, lane: Lane) -> TriggerMessage:
    """The message of the first attempt of a new round."""
    attempt, trigger = run.attempts + 1, trigger_of(run)
    return TriggerMessage(
        trigger,
        # The clock of the function that made the attempts may have been ahead. No attempt is made before its
        # due time.
        max(now, trigger.at),
        attempt,
        redrive=Redrive(attempt, run.started_at, _ends_of(run)),
        payload=run.payload,
        last_failure=run.last_failure,
        lane=lane,
        failed_attempts=run.failed_attempts,
    )


def _ends_of(run: Run) -> tuple[int, ...] | None:
    """The attempts with which the rounds of a failed run ended, its latest included; None if not known."""
    earlier = run.round_ends if run.is_redriven else ()
    if earlier and earlier[-1] == run.attempts:
        # The first attempt of a redrive was claimed and then not made.
        return earlier
    if earlier is None or len(earlier) == REDRIVES_KEPT:
        return None
    return (*earlier, run.attempts)
