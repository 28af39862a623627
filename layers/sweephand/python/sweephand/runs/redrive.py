"""Redriving: a failed run gets a new round of attempts."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from sweephand.base.errors import ConflictError, NotFoundError
from sweephand.base.instants import Instant
from sweephand.base.limits import BULK_EXAMINED_MAX, REDRIVES_KEPT
from sweephand.base.timing import BULK_TIME_LIMIT_MS
from sweephand.model.job import Job, JobKey
from sweephand.model.policy_names import Lane
from sweephand.model.run import Run, trigger_of
from sweephand.model.trigger import Redrive, TriggerMessage
from sweephand.ports.clock import Clock
from sweephand.ports.jobs import JobStore, PayloadStore
from sweephand.ports.queue import Queue
from sweephand.ports.runs import RunStore
from sweephand.runs.requeue import KeptData

#: How many jobs or runs one read asks for.
_PAGE_MAX: Final = 100


class Progress(NamedTuple):
    """How far a bulk redrive has come: the job `name`, and the position `before` within its runs.

    Positions are those of RunStore.page. `before` is empty if all runs of the job were examined.
    """

    name: str = ""
    before: str = ""


@dataclass(frozen=True, slots=True)
class RedriveResult:
    """How many runs were redriven, and how far the call came; `reached` is None if it examined everything."""

    count: int
    reached: Progress | None


@dataclass(frozen=True, slots=True)
class _Step:
    """Runs of a job to redrive, its lane, how much was examined to find them, and how far that was."""

    runs: Sequence[Run]
    lane: Lane
    examined: int
    reached: Progress


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

    def redrive_many(
        self, namespace: str, *, prefix: str, labels: Mapping[str, str], since: Progress
    ) -> RedriveResult:
        """Redrive the failed runs of the jobs with that prefix and those labels, ordered by the jobs' names.

        One call examines up to 1,000 jobs and runs, and fewer if the time is up. StoreError: any of them may
        have been redriven. Repeating the call is safe.
        """
        until = self._clock.now() + BULK_TIME_LIMIT_MS
        found: list[tuple[Run, Lane]] = []
        examined, reached = 0, None
        for step in self._steps(namespace, prefix, labels, since):
            found += [(run, step.lane) for run in step.runs]
            examined += step.examined
            if examined + _PAGE_MAX >= BULK_EXAMINED_MAX or self._clock.now() >= until:
                reached = step.reached
                break
        self._send(found)
        return RedriveResult(len(found), reached)

    def _steps(
        self, namespace: str, prefix: str, labels: Mapping[str, str], since: Progress
    ) -> Iterator[_Step]:
        for job in self._jobs_from(namespace, prefix, since):
            name = job.key.name
            if any(job.definition.labels.get(label) != value for label, value in labels.items()):
                yield _Step((), job.definition.lane, 1, Progress(name))
                continue
            before: str | None = since.before if name == since.name else ""
            while before is not None:
                page = self._runs.page(job.key, None, before, _PAGE_MAX, with_batches=job.has_batches)
                failed = [run for run in page.items if run.state == "failed" and run.uid == job.uid]
                examined = 1 + len(page.items)
                yield _Step(failed, job.definition.lane, examined, Progress(name, page.next or ""))
                before = page.next

    def _jobs_from(self, namespace: str, prefix: str, since: Progress) -> Iterator[Job]:
        if since.before:
            partly_examined = self._jobs.get(JobKey(namespace, since.name))
            if partly_examined is not None:
                yield partly_examined
        after: str | None = since.name
        while after is not None:
            page = self._jobs.page(namespace, prefix, after, _PAGE_MAX)
            yield from page.items
            after = page.next

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
