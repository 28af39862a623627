"""Jobs with an overlap rule: their triggers, and a consumer that fails if two runs are under way at once."""

from collections.abc import Callable, Iterator
from typing import Any

from tests.fakes.deliveries import handle
from tests.fakes.world import NOON, World, key_of

from sweephand.base.instants import Instant
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.job import Job
from sweephand.model.line import StoredLine
from sweephand.model.run import Run
from sweephand.model.trigger import Trigger, TriggerMessage

SUCCESS = Answer(succeeded=True, code=200)
FAILED = Answer(succeeded=False, code=503, text="busy")

#: The rules by which the runs of a job take turns.
MODES = ("skip", "wait", "waitLatest")

#: A minute, in ms.
MINUTE = 60_000


def runs_of(world: World) -> dict[int, Run]:
    """The runs of the job by the second after noon at which they were due."""
    runs = world.runs.page(key_of(), None, "", 1_000).items
    return {(run.due_at - NOON) // 1_000: run for run in reversed(runs)}


def states(world: World) -> dict[int, str]:
    """The states of the runs by the same seconds. A skipped run has its reason beside it."""
    return {
        due: run.state if run.state != "skipped" else f"skipped: {run.reason}"
        for due, run in runs_of(world).items()
    }


def delivered(world: World) -> list[int]:
    """The due times of the attempts, in the order of the attempts and in seconds after noon."""
    return [(each.trigger.due_at - NOON) // 1_000 for each in world.consumers.attempts]


def slot_of(world: World) -> StoredLine:
    stored_line = world.lines.get(key_of())
    assert stored_line is not None
    return stored_line


def triggers(world: World, mode: str, *dues_s: int, **written: Any) -> list[TriggerMessage]:
    """Put a job whose triggers are due at those seconds after noon.

    Returns their messages; the queue is empty.
    """
    world.put(schedule="@every 1s", dueTime="0s", ttl="60s", overlap=mode, **written)
    world.queue.waiting.clear()
    job = world.stored()
    return [message_of(job, due_s) for due_s in dues_s]


def message_of(job: Job, due_s: int) -> TriggerMessage:
    due_at = NOON + due_s * 1_000
    trigger = Trigger(job.key, job.uid, job.rev, due_at, due_s + 1, job.updated_at)
    return TriggerMessage(trigger, not_before=due_at)


def alone(world: World, given: Iterator[Answer] | None = None) -> Callable[[Attempt], Answer]:
    """A consumer that fails the test if it is called while another run of the job is not over."""

    def answer(attempt: Attempt) -> Answer:
        if attempt.ended_after is not None:
            return SUCCESS
        for run in world.runs.page(attempt.trigger.key, None, "", 1_000).items:
            is_other = run.uid == attempt.trigger.uid and run.trigger_id != attempt.trigger.id
            assert not is_other or run.is_over or is_abandoned(run, world.clock.time), (
                f"{attempt.trigger.id} runs beside {run.run_id}, which is {run.state}"
            )
        return next(given, SUCCESS) if given is not None else SUCCESS

    return answer


def is_abandoned(run: Run, now: Instant) -> bool:
    """Whether a run has shown no activity for an hour, so that no trigger waits for it any more."""
    last_seen_at = max(run.claimed_until or 0, run.next_attempt_at or 0)
    return run.state in {"claimed", "retrying"} and last_seen_at + 60 * MINUTE <= now


#: The retry policy of a slow run: the second attempt comes 40 s after the first, so the run is not over
#: before.
SLOW: dict[str, Any] = {"retry": {"initialDelay": "40s", "multiplier": 1}}


def scene(mode: str, *dues_s: int, **written: Any) -> World:
    """A world in which the first trigger has failed and waits for its retry.

    The delivery function has received each of the other triggers once, in order.
    """
    world = World()
    messages = triggers(world, mode, *dues_s, **SLOW, **written)
    world.consumers.answering = alone(world, iter([FAILED]))
    for message in messages:
        world.clock.time = max(world.clock.time, message.not_before)
        handle(world, message)
    return world
