"""Jobs whose `overlap` changes to `allow` while triggers wait, and back."""

from tests.fakes.deliveries import answers, handle
from tests.fakes.lines import FAILED, MINUTE, delivered, message_of, states, triggers
from tests.fakes.world import NOON, World, key_of


def freed(*dues_s: int) -> World:
    """The first run is not over, others wait for it, and then all may run at once; that was two hours ago."""
    world = World()
    first, *others = triggers(world, "wait", 0, *dues_s, retry={"initialDelay": "40s"}, history="failures")
    answers(world, FAILED)
    for message in (first, *others):
        world.clock.time = message.not_before
        handle(world, message)
    world.patch(overlap="allow", ttl="1d")
    world.run_until(NOON + 120 * MINUTE, ticking=False)
    return world


def test_a_trigger_that_waited_is_delivered_and_leaves_the_line() -> None:
    world = freed(1, 2)
    assert {0, 1, 2} <= set(delivered(world))
    stored_line = world.lines.get(key_of())
    assert stored_line is None or not stored_line.line.waiting


def test_a_trigger_that_was_delivered_meanwhile_is_not_sent_when_runs_take_turns_again() -> None:
    world = freed(1, 2)
    before = delivered(world)
    world.patch(overlap="wait")
    world.queue.waiting.clear()
    world.clock.time = NOON + 7_300_000
    handle(world, message_of(world.stored(), 7_300))
    world.run_until(NOON + 140 * MINUTE, ticking=False)
    assert delivered(world)[len(before) :] == [7_300]
    assert states(world)[7_300] == "succeeded"


def test_a_run_that_ended_while_all_may_run_at_once_leaves_the_line() -> None:
    world = freed()
    assert delivered(world).count(0) == 2
    assert world.lines.get(key_of()) is None


def test_a_run_that_a_pause_outlasted_meanwhile_leaves_the_line() -> None:
    world = World()
    (message,) = triggers(world, "wait", 0, retry={"initialDelay": "40s", "maxAge": "10m"})
    answers(world, FAILED)
    handle(world, message)
    world.pause()
    world.patch(overlap="allow", ttl="1d")
    world.run_until(NOON + 120 * MINUTE, ticking=False)
    assert (delivered(world), states(world)) == ([0], {0: "failed"})
    assert world.lines.get(key_of()) is None
