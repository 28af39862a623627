"""After a rollback, a message that a newer version wrote waits for that version."""

import json

import pytest
from tests.fakes.deliveries import due, run_of, waiting
from tests.fakes.faults import failing
from tests.fakes.world import NOON, World

from sweephand.base.errors import NewerError
from sweephand.base.instants import DAY_MS, SECOND_MS
from sweephand.base.timing import NEWER_MS
from sweephand.model import wire
from sweephand.model.trigger import NewerMessage, TriggerMessage
from sweephand.model.wire import encode
from sweephand.runs.received import Received


def as_newer(message: TriggerMessage) -> str:
    """The message as the next version would write it."""
    return json.dumps(json.loads(encode(message)) | {"v": wire.VERSION + 1})


def test_a_message_of_a_newer_version_is_put_back_as_it_is_and_its_neighbours_are_delivered() -> None:
    world = World()
    message = due(world)
    world.put("other", dueTime="0s")
    (other,) = world.queue.take()
    newer = Received("newer", "newer", 1, as_newer(message))
    handled = {each.received.id: each for each in world.deliver([newer, other])}
    assert handled["newer"].outcome.name == "newer"
    assert (handled["newer"].is_done, handled["newer"].error) == (True, None)
    assert handled[other.id].outcome.name == "succeeded"
    assert world.queue.waiting == [(world.clock.time + NEWER_MS, NewerMessage(as_newer(message)))]
    assert not world.queue.buried


def test_a_message_of_a_newer_version_is_never_buried_and_delivered_when_it_can_be_read(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    message = due(world)
    newer = NewerMessage(as_newer(message))
    world.queue.send([(newer, 0)])
    for receives in (1, 2, 3, 49, 7):
        world.clock.time += NEWER_MS
        world.deliver(world.queue.take(receives=receives))
        assert [each for _, each in world.queue.waiting] == [newer]
    world.clock.time += 20 * DAY_MS
    world.deliver(world.queue.take())
    assert not world.queue.buried
    monkeypatch.setattr(wire, "VERSION", wire.VERSION + 1)
    world.run_until(world.clock.time + NEWER_MS + SECOND_MS, ticking=False)
    assert run_of(world).state == "succeeded"
    assert not world.queue.waiting


def test_a_message_of_a_newer_version_that_cannot_be_sent_again_stays_in_the_queue(world: World) -> None:
    message = due(world)
    failing(world, "queue.send")
    (handled,) = world.deliver([Received("a", "a", 1, as_newer(message))])
    assert (handled.outcome.name, handled.is_done) == ("newer", False)


def test_a_trigger_whose_job_s_line_a_newer_version_wrote_waits_and_no_fault_is_counted(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    message = due(world, overlap="wait")

    def unreadable(_: object) -> None:
        raise NewerError("A message of version 2: this code reads 1.")

    monkeypatch.setattr(world.lines, "get", unreadable)
    (handled,) = world.deliver([Received("a", "a", 1, encode(message))])
    assert (handled.outcome.name, handled.error) == ("newer", None)
    assert waiting(world) == [(world.clock.time + NEWER_MS - NOON, message)]
