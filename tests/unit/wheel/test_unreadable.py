"""A timer or job that cannot be read does not block its shard, and is tried again every five minutes."""

from collections.abc import Mapping, Sequence

import pytest
from tests.fakes.shards import lease_of, sent, written
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import StoreError
from sweephand.base.instants import MINUTE_MS
from sweephand.model.job import JobBrief, JobKey
from sweephand.model.timer import OccurrenceTimer, UnreadTimer, position_key
from sweephand.wheel.span import PUT_OFF_MS


def test_a_damaged_timer_is_copied_ahead_and_keeps_no_other_waiting() -> None:
    world = World(shards=1)
    written(world, "before", NOON - 1)
    written(world, "after", NOON + 1)
    damaged = UnreadTimer(0, f"{position_key(NOON)}#ns/job#1-a#occurrence#", {}, "KeyError('series')")
    world.timers.put([damaged])
    with pytest.raises(ExceptionGroup) as caught:
        world.sweep()
    (error,) = caught.value.exceptions
    assert type(error) is StoreError
    assert "KeyError('series')" in str(error)
    assert sent(world) == ["before", "after"]
    copies = [each for each in world.timers.everything() if isinstance(each, UnreadTimer)]
    assert [each.due_at for each in copies] == [NOON, NOON + PUT_OFF_MS]
    assert lease_of(world).cursor.key > damaged.sort_key
    assert world.sweep().is_finished


def test_a_job_that_cannot_be_read_keeps_no_other_waiting_and_fires_when_it_can() -> None:
    world = World(shards=1)
    for number in range(7):
        written(world, f"job-{number}", NOON + number)
    briefs = world.jobs.briefs
    asked: list[int] = []

    def damaged(keys: Sequence[JobKey]) -> Mapping[JobKey, JobBrief]:
        asked.append(len(keys))
        if key_of("job-4") in keys:
            raise KeyError("series")
        return briefs(keys)

    world.jobs.briefs = damaged  # type: ignore[method-assign]
    with pytest.raises(ExceptionGroup):
        world.sweep()
    assert sorted(sent(world)) == [f"job-{number}" for number in range(7) if number != 4]
    # A read that may be stale, six more in search of the damaged job, and a strong one for the late timers.
    assert len(asked) <= 8
    world.jobs.briefs = briefs  # type: ignore[method-assign]
    world.clock.time += 3 * MINUTE_MS
    world.sweep()
    assert sent(world)[-1] == "job-4"
    occurrences = (each for each in world.timers.everything() if isinstance(each, OccurrenceTimer))
    assert [each.due_at for each in occurrences if each.put_off_to] == [NOON + 4 + PUT_OFF_MS]
