"""The record of an instant is found however many runs of other triggers lie between."""

from dataclasses import replace

import pytest
from tests.fakes.world import NOON, World, key_of
from tests.unit.runs.explain.ways import explained

from sweephand.base.instants import HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.model.run import Run
from sweephand.model.run_id import Demand
from sweephand.model.trigger import BatchPlace

MISFIRES = "One record stands for 60 such triggers"


def world_of_deleted_job() -> World:
    world = World()
    world.put(schedule="@yearly")
    world.delete()
    return world


def run_at(due_at: int) -> Run:
    return Run(
        key_of(), "gone", due_at, 0, "succeeded", 1, "1-r", 1, started_at=due_at, ended_at=due_at, owner="1-r"
    )


@pytest.mark.parametrize("count", [99, 100, 101, 1_000])
def test_a_batch_later_in_the_minute_hides_no_run(count: int) -> None:
    world = world_of_deleted_job()
    world.runs.record(run_at(NOON))
    in_batch = replace(run_at(NOON + 20 * SECOND_MS), batch=BatchPlace(count, 0, 0))
    for index in range(count):
        world.runs.record(replace(in_batch, index=index))
    world.clock.time = NOON + HOUR_MS
    assert explained(world, NOON).verdict == "delivered"


@pytest.mark.parametrize("count", [99, 101, 1_000])
@pytest.mark.parametrize("step_ms", [0, 1])
def test_runs_on_demand_hide_no_record_of_misfires(count: int, step_ms: int) -> None:
    world = world_of_deleted_job()
    skipped = replace(run_at(NOON), state="skipped", reason="misfire", attempts=0, started_at=None)
    world.runs.record(replace(skipped, count=60, last_due_at=NOON + HOUR_MS - MINUTE_MS))
    for number in range(count):
        asked = Demand("manual", f"{number:032d}")
        world.runs.record(replace(run_at(NOON + MINUTE_MS + number * step_ms), demand=asked))
    world.clock.time = NOON + 2 * HOUR_MS
    found = explained(world, NOON + 30 * MINUTE_MS)
    assert found.verdict == "misfire"
    assert MISFIRES in found.summary
