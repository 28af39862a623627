"""When the jobs of a world with one policy are paused. Only some seeds have that.

The random numbers of this module are its own, so that the other seeds stay what they are.
"""

from collections.abc import Mapping
from functools import partial
from random import Random
from typing import Final

from tests.simulation.world.processes import Scheduler

from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant
from sweephand.base.timing import QUEUE_DELAY_MAX_MS
from sweephand.model.trigger import TriggerMessage

#: The jobs of a world. A trigger belongs to one of them by its number.
JOBS: Final = 3

#: The share of seeds with pauses, how many they have at most, and how long a pause lasts at most.
_PAUSED: Final = 0.4
_PAUSES_MAX: Final = 6
_PAUSE_MS_MAX: Final = 3 * MINUTE_MS


def job_of(message: TriggerMessage) -> int:
    """The number of the job to which a trigger belongs."""
    index = message.trigger.index
    assert index is not None, "the world numbers its triggers"
    return index % JOBS


def held(message: TriggerMessage, paused_at: Instant, now: Instant) -> TriggerMessage:
    """A trigger of a job that has been paused since then, as it stands in the line again."""
    lasted_ms = max(now - paused_at, SECOND_MS)
    return message._replace(not_before=now + min(lasted_ms, QUEUE_DELAY_MAX_MS))


class Pauses:
    """Which jobs are paused, and since when."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._paused: dict[int, Instant] = {}

    @property
    def paused(self) -> Mapping[int, Instant]:
        """The jobs that are paused now, and since when, as a read of them shows it."""
        return dict(self._paused)

    def plan(self, seed: int, until: Instant) -> None:
        """Plan the pauses of a seed, from now on. Every job goes on at `until`."""
        random = Random(f"{seed}/pauses")  # noqa: S311 - a seed, not a secret
        if random.random() >= _PAUSED:
            return
        begins_at = self._scheduler.now
        for _ in range(random.randint(1, _PAUSES_MAX)):
            job, at = random.randrange(JOBS), random.randrange(begins_at, until)
            self._scheduler.call_at(at, partial(self.pause, job))
            resumes_at = min(at + random.randrange(SECOND_MS, _PAUSE_MS_MAX), until)
            self._scheduler.call_at(resumes_at, partial(self.resume, job))

    def pause(self, job: int) -> None:
        """An operator pauses a job now, which may be paused already."""
        self._paused.setdefault(job, self._scheduler.now)

    def resume(self, job: int) -> None:
        """An operator resumes a job now, which need not be paused."""
        self._paused.pop(job, None)
