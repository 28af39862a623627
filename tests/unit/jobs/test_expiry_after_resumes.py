"""A resumed job is kept until a batch that its pause has interrupted is over."""

from typing import Any

import pytest
from tests.fakes.world import NOON, World

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS

LONG: dict[str, Any] = {"count": 6, "window": "6d"}
BRIEF: dict[str, Any] = {"retention": "1h", "retry": {"maxAge": "1m"}}


def interrupted(*updates: dict[str, Any]) -> World:
    """A job whose batch over six days has begun an hour before its updates, its pause and its resume."""
    world = World()
    world.put(dueTime="0s", batch=LONG, **BRIEF)
    world.clock.time += HOUR_MS
    for update in updates:
        world.patch(**update)
        world.clock.time += MINUTE_MS
    world.pause()
    world.clock.time += HOUR_MS
    world.resume()
    return world


@pytest.mark.parametrize(
    "updates",
    [
        [],
        [{"batch": {"count": 6, "window": "1m"}}],
        [{"description": "new"}, {"batch": {"count": 6, "window": "1m"}}, {"labels": {"a": "b"}}],
        [{"batch": None}, {"batch": {"count": 1}}],
    ],
)
def test_a_resumed_job_is_kept_until_a_batch_with_a_longer_window_than_its_own_is_over(
    updates: list[dict[str, Any]],
) -> None:
    expires_at = interrupted(*updates).stored().expires_at
    assert expires_at is not None
    assert expires_at >= NOON + 6 * DAY_MS + HOUR_MS


def test_a_resumed_job_is_kept_long_enough_if_it_was_updated_in_the_pause(world: World) -> None:
    world.put(dueTime="0s", batch=LONG, **BRIEF)
    world.clock.time += HOUR_MS
    world.pause()
    world.patch(batch={"count": 6, "window": "1m"})
    world.resume()
    expires_at = world.stored().expires_at
    assert expires_at is not None
    assert expires_at >= NOON + 6 * DAY_MS + 2 * HOUR_MS


@pytest.mark.parametrize("updates", [[], [{"history": "full"}]])
def test_a_job_without_a_batch_is_kept_no_longer_after_an_update_and_a_resume(
    world: World,
    updates: list[dict[str, Any]],
) -> None:
    world.put(dueTime="0s", **BRIEF)
    world.clock.time += MINUTE_MS
    for update in updates:
        world.patch(**update)
    world.pause()
    resumed = world.resume()
    assert resumed.expires_at == world.clock.time + MINUTE_MS + HOUR_MS


def test_a_job_with_more_changes_than_are_read_is_kept_for_the_longest_window(world: World) -> None:
    world.put(dueTime="0s", batch=LONG, **BRIEF)
    world.patch(batch={"count": 6, "window": "1m"})
    for number in range(100):
        world.patch(labels={"number": str(number)})
    world.pause()
    resumed = world.resume()
    assert resumed.expires_at == world.clock.time + 7 * DAY_MS + MINUTE_MS + HOUR_MS
