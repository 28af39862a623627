"""The end of a batch is told once, also if the rest of it waits until the first records are gone."""

import json
from contextlib import ExitStack

import pytest
from tests.fakes.policies import call, jobs_in_line, nobody_serves, world_with
from tests.fakes.time_off import expire
from tests.fakes.world import NOON, World, key_of, quiet

from sweephand.flow.turn import TURN_MS
from sweephand.runs import batch_progress
from sweephand.runs.batch_progress import counts_of

MINUTE = 60_000
DAY = 24 * 60 * MINUTE
DUE = NOON + 10 * MINUTE
COUNT = 6


def half_done() -> World:
    """A world in which half of a batch was delivered before something stopped the rest."""
    world = world_with(1)
    world.put(
        schedule=["2026-11-21T12:10:00Z", "2028-11-21T12:10:00Z"],
        batch={"count": COUNT},
        policy="mailer",
        onComplete={"type": "http", "url": "https://example.com/done"},
    )

    with ExitStack() as stack:

        def end_turn(call: str) -> None:
            if call == "after consumers.deliver" and len(world.consumers.ids) == COUNT // 2:
                world.announce = quiet
                stack.enter_context(nobody_serves(world))
                world.clock.time += TURN_MS

        world.announce = end_turn
        world.run_until(NOON + 20 * MINUTE)
    assert COUNT // 2 <= len(set(world.consumers.ids)) < COUNT
    assert jobs_in_line(world)
    return world


def pass_days(world: World, days: int) -> None:
    """Let days pass with an audit in every fifth. Stores remove what has ended, and nobody serves."""
    for _ in range(0, days, 5):
        world.clock.time += 5 * DAY
        expire(world)
        world.flow_queue.waiting.clear()
        world.audit_jobs()


def come_back(world: World) -> None:
    call(world)
    world.run_until(world.clock.time + 10 * MINUTE)


def ends(world: World) -> list[tuple[int, int]]:
    """The notifications of the end: how many runs had succeeded, of how many."""
    told = [json.loads(each.body) for each in world.consumers.attempts if each.ended_after is not None]
    return [(each["succeeded"], each["total"]) for each in told]


@pytest.mark.parametrize("days", [10, 50, 300])
def test_the_end_is_told_once_however_long_nobody_served_in_the_middle_of_the_batch(days: int) -> None:
    world = half_done()
    pass_days(world, days)
    come_back(world)
    assert ends(world) == [(COUNT, COUNT)]


def test_pages_that_were_full_long_before_the_end_count_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batch_progress, "PAGE_SIZE", 2)
    world = half_done()
    pass_days(world, 50)
    head = world.batches.find(key_of(), DUE, None)
    assert head is not None
    assert counts_of(world.batches, head).over >= COUNT // 2
    come_back(world)
    assert ends(world) == [(COUNT, COUNT)]


def test_progress_is_removed_a_year_after_the_records_of_the_runs() -> None:
    world = half_done()
    pass_days(world, 365 + 35)
    assert world.batches.find(key_of(), DUE, None) is None
