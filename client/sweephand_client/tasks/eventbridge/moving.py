"""Writes the jobs of schedules, and disables each schedule once its job is there and no fire can be lost.

A job that was accepted fires at every later due time. EventBridge Scheduler begins a fire up to a minute
after its due time, and later by up to the flexible window. So a schedule stays enabled until EventBridge has
begun each fire that was due before its job was accepted. A due time in between fires twice.
"""

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any, Final, Literal

from sweephand.jobs.eventbridge.written import FIELD
from sweephand_client.api.client import Client
from sweephand_client.http.errors import Problem, RefusedError, StackFailedError
from sweephand_client.tasks.apply import carry_out, plan
from sweephand_client.tasks.eventbridge.source import (
    AT_ONCE,
    DEFAULT_GROUP,
    ChangedError,
    Source,
    SourceError,
)
from sweephand_client.tasks.eventbridge.translation import Move
from sweephand_client.tasks.job_fields import FieldChange
from sweephand_client.tasks.jobs_file import JobsFile
from sweephand_client.tasks.placing import instant, rfc3339
from sweephand_client.tasks.steps import Step
from sweephand_client.tasks.writing import NOT_DONE, problem_for

#: What becomes of a job that exists and differs.
Existing = Literal["refuse", "keep", "replace"]

Did = Literal["created", "replaced", "kept", "refused"]

#: How late EventBridge Scheduler begins a fire (AWS, "Schedule types": 60 s), and how far clocks differ.
_LATE: Final = dt.timedelta(seconds=60 + 15)

#: The fields of a job that say when EventBridge Scheduler fires it.
_TIMES: Final = ("schedule", "timezone", "dst", "dueTime")

#: For how long the command waits until it may disable the last schedules.
_PATIENCE: Final = 2 * _LATE


@dataclass(frozen=True, slots=True)
class Moved:
    """What was done for a schedule. `problem`: why its job was not written.

    `enabled` says why the schedule is still enabled, and is empty if it is disabled. `was_refused`: because
    AWS refused to disable it.
    """

    move: Move
    did: Did
    problem: Problem | None = None
    enabled: str = ""
    was_refused: bool = False


class Mover:
    """Moves schedules one after the other. If a run is interrupted, the next run continues it."""

    def __init__(
        self,
        client: Client,
        source: Source,
        *,
        now: Callable[[], dt.datetime],
        sleep: Callable[[float], None],
        existing: Existing = "refuse",
    ) -> None:
        self._client = client
        self._source = source
        self._now = now
        self._sleep = sleep
        self._existing = existing
        #: Since when the job of a schedule is there, by its namespace and name.
        self._accepted_at: dict[tuple[str, str], dt.datetime] = {}

    def run(self, moves: Iterable[Move]) -> Iterator[Moved]:
        """Write the job of each schedule and disable the schedule. Tells of each when it is over.

        Raises UnreachableError if the stack or AWS does not answer, and InputError without credentials of
        AWS. Then the run has ended, and may have disabled a schedule that it has not told of.
        """
        accepted: list[Moved] = []
        for done in self._write(each for each in moves if each.job is not None):
            if done.problem is None and done.move.schedule.is_enabled:
                accepted.append(done)
            else:
                yield done
        yield from self._disable_all(accepted)

    def _write(self, moves: Iterable[Move]) -> Iterator[Moved]:
        by_namespace: dict[str, dict[str, Move]] = defaultdict(dict)
        for each in moves:
            by_namespace[each.namespace][each.schedule.name] = each
        for namespace, own in by_namespace.items():
            untold = own.copy()
            try:
                for done in self._write_namespace(namespace, own):
                    del untold[done.move.schedule.name]
                    yield done
            except NOT_DONE as error:
                # The jobs of other namespaces fire by now, so their schedules have to be disabled.
                yield from (_refused(each, problem_for(error)) for each in untold.values())

    def _write_namespace(self, namespace: str, own: Mapping[str, Move]) -> Iterator[Moved]:
        jobs = (
            replace(each.job, paused=False if each.job.paused is None else each.job.paused)
            for each in own.values()
            if each.job is not None
        )
        steps = []
        planned = plan(self._client, namespace, JobsFile(tuple(jobs), namespace))
        for step in map(self._without_what_changes_nothing, planned):
            done = self._without_writing(own[step.name], step)
            if done is None:
                # A job may have been resumed here since its schedule was disabled.
                is_resumed = step.kind == "change" and step.pausing == "pause"
                steps.append(replace(step, pausing=None) if is_resumed else step)
            else:
                self._accepted_at[namespace, step.name] = instant(step.updated_at or "")
                yield done
        if steps and namespace != DEFAULT_GROUP:
            with suppress(RefusedError):  # then the jobs are refused too, or it is no name of a group
                self._client.namespaces.make_schedule_group(namespace, _tags(own.values()))
        # EventBridge fires what falls due in a pause, so a job that resumes does not.
        for written in carry_out(self._client, namespace, steps, catchup="none"):
            step = written.step
            self._accepted_at[namespace, step.name] = self._now()
            did: Did = "created" if step.kind == "create" else "replaced"
            move = own[step.name]
            yield Moved(move, did) if written.problem is None else _refused(move, written.problem)

    def _without_what_changes_nothing(self, step: Step) -> Step:
        """The step without what changes no trigger.

        That is a StartDate that has passed since the job was written, and what the job was written as.
        """
        if step.kind != "change":
            return step
        fields = tuple(
            each for each in step.fields if each.name != FIELD and not self._is_past_start(step, each)
        )
        return replace(step, kind="change" if fields else "same", fields=fields)

    def _is_past_start(self, step: Step, change: FieldChange) -> bool:
        assert step.declared is not None, "no job is deleted"
        is_cron = str(step.declared.definition.get("schedule")).startswith("cron(")
        if not is_cron or change.name != "dueTime" or change.after is not None:
            return False
        try:
            return instant(change.before) <= self._now()
        except ValueError:
            # It is a duration, so no move has written it.
            return False

    def _without_writing(self, move: Move, step: Step) -> Moved | None:
        """What is done for a schedule whose job is not written, None if it is to be written."""
        differs = step.kind == "change" or step.pausing == "resume"
        if step.kind == "create" or (differs and self._existing == "replace"):
            return None
        if not differs or self._existing == "keep":
            return Moved(move, "kept")
        names = [each.name for each in step.fields] + (["paused"] if step.pausing == "resume" else [])
        said = (
            f"The job exists and differs in {', '.join(names)}. Say --existing keep to let it take the place "
            "of the schedule, or --existing replace to write over it."
        )
        return _refused(move, Problem(HTTPStatus.CONFLICT, "", said))

    def _disable_all(self, accepted: list[Moved]) -> Iterator[Moved]:
        with ThreadPoolExecutor(AT_ONCE) as threads:
            owed = [*zip(accepted, threads.map(self._owed_until, accepted), strict=True)]
            yield from threads.map(self._disable, [done for done, until in owed if until is None])
            waiting = [(done, until) for done, until in owed if until is not None]
            limit = self._now() + _PATIENCE
            soon = [(done, until) for done, until in waiting if until <= limit]
            if soon:
                last = max(until for _, until in soon)
                self._sleep(max(0.0, (last - self._now()).total_seconds()))
            yield from threads.map(self._disable, [done for done, _ in soon])
        for done, until in waiting:
            if until > limit:
                again = until.astimezone(dt.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
                text = (
                    f"EventBridge may still fire it for its flexible window. Run the command after {again}."
                )
                yield replace(done, enabled=text)

    def _owed_until(self, done: Moved) -> dt.datetime | None:
        """Until when EventBridge may fire for a due time before the job was there; None if there is none."""
        move = done.move
        assert move.job is not None, "only a schedule with a job is disabled"
        accepted_at = self._accepted_at[move.namespace, move.schedule.name]
        late = _LATE + dt.timedelta(minutes=move.schedule.window_minutes)
        since = self._now() - late
        if accepted_at <= since:
            return None
        asked: Any = {name: move.job.definition.get(name) for name in _TIMES}
        asked |= {"after": rfc3339(since), "limit": 1}
        try:
            found = self._client.preview(asked)["occurrences"]
        except (RefusedError, StackFailedError):
            return accepted_at + late
        if not found or instant(found[0]["utc"]) > accepted_at:
            return None
        return accepted_at + late

    def _disable(self, done: Moved) -> Moved:
        try:
            self._source.disable(done.move.schedule)
        except ChangedError as error:
            return replace(done, enabled=str(error))
        except SourceError as error:
            return replace(done, enabled=str(error), was_refused=True)
        return done


def _tags(moves: Iterable[Move]) -> dict[str, str]:
    """The tags of the group that becomes the namespace; none if it gets another one's schedules."""
    return next((dict(each.schedule.tags) for each in moves if each.namespace == each.schedule.group), {})


def _refused(move: Move, problem: Problem) -> Moved:
    enabled = "Its job was not written." if move.schedule.is_enabled else ""
    return Moved(move, "refused", problem, enabled)
