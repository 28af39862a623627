"""Jobs with `deleteAfterCompletion` whose runs take turns."""

import pytest
from tests.fakes.faults import working
from tests.fakes.world import NOON, World, key_of

MINUTE = 60_000


def crash_before_claim(call: str) -> None:
    """An announcement handler that ends the process before the claim of an attempt."""
    if call == "before runs.claim":
        raise KeyboardInterrupt


def test_a_job_whose_last_occurrence_is_skipped_stays_until_the_run_that_holds_the_line_is_over() -> None:
    world = World()
    world.put(dueTime="1m", deleteAfterCompletion=True, overlap="skip", history="failures")
    (timed,) = world.queue.waiting
    world.queue.waiting.clear()
    world.trigger()
    world.announce = crash_before_claim
    with pytest.raises(KeyboardInterrupt):
        world.deliver(world.queue.take())
    working(world)
    world.clock.time = NOON + MINUTE
    world.queue.waiting = [timed]
    world.run_until(NOON + MINUTE + 1_000, ticking=False)
    assert [each.reason for each in world.runs.page(key_of(), None, "", 10).items] == ["overlap"]
    assert world.has_job()
    world.queue.reappear()
    world.run_until(NOON + 10 * MINUTE, ticking=False)
    assert len(world.consumers.attempts) == 1
    assert not world.has_job()
