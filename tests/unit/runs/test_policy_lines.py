"""Triggers go into a gate's line in few entries, and the deliveries of a turn keep what they refer to."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import count
from threading import Barrier
from typing import Any, cast
from unittest.mock import patch

from tests.fakes.faults import calls_of, failing, killed_at, meanwhile
from tests.fakes.policies import OTHER, add_policy, nobody_serves, waiting, world_with
from tests.fakes.world import NOON, World

from sweephand.base.concurrency import Result
from sweephand.base.errors import StoreError
from sweephand.model.job import JobKey
from sweephand.model.trigger import BundleMessage, Trigger, TriggerMessage
from sweephand.runs.due_queue import Pending
from sweephand.runs.flow_intake import LineDelivery
from sweephand.runs.received import Handled, Outcome, OutcomeName, Received

MINUTE = 60_000


def test_the_triggers_of_one_call_that_meet_a_policy_are_one_entry_a_guard_and_a_baton() -> None:
    world = world_with(20)
    for number in range(10):
        world.put(f"job-{number}", dueTime="20s", policy="mailer")
    calls = Counter[str]()
    world.announce = lambda call: calls.update([call])
    with nobody_serves(world):
        world.run_until(NOON + 20_000)
        assert [len(entry.messages) for _, entry in world.gate_lines.everything()] == [10]
    assert calls["before gate_lines.put"] == 1
    assert calls["before flow_queue.send"] == 2
    assert not world.queue.waiting


def test_triggers_with_and_without_a_policy_share_a_call() -> None:
    world = world_with()
    add_policy(world, 1, OTHER)
    for number in range(4):
        world.put(f"job-{number}", dueTime="20s", policy="mailer")
        world.put(f"other-{number}", dueTime="20s", policy="other", priority="high")
        world.put(f"plain-{number}", dueTime="20s")
    world.run_until(NOON + 2 * MINUTE)
    assert len(world.consumers.ids) == len(set(world.consumers.ids)) == 12
    assert min(world.consumers.times) == NOON + 20_000
    assert not waiting(world)
    assert not world.queue.waiting


def bundle_of(world: World, count: int) -> list[Received]:
    """A bundle of triggers that are due now, as the delivery function receives it."""
    for number in range(count):
        world.put(f"job-{number}", dueTime="20s", policy="mailer")
    singles = [message for _, message in world.queue.waiting if isinstance(message, TriggerMessage)]
    world.queue.waiting.clear()
    world.queue.send([(BundleMessage(tuple(singles)), 20_000)])
    world.clock.time = NOON + 20_000
    batch = world.queue.take()
    assert [each.receives for each in batch] == [1]
    return batch


def test_a_bundle_becomes_one_entry_and_comes_again_if_it_can_neither_be_written_nor_sent() -> None:
    world = world_with()
    batch = bundle_of(world, 6)

    def broken(call: str) -> None:
        if call in ("before gate_lines.put", "before queue.send"):
            raise StoreError("the test asks")

    world.announce = broken
    handled = world.deliver(batch)
    assert len(handled) == 6
    assert not any(each.is_done for each in handled)
    assert not waiting(world)
    world.announce = lambda _: None
    assert all(each.is_done for each in world.deliver(batch))
    assert [len(entry.messages) for _, entry in world.gate_lines.everything()] == [6]


def test_threads_that_begin_at_one_moment_put_the_triggers_of_a_bundle_into_one_entry() -> None:
    world = world_with()
    batch = bundle_of(world, 6)

    all_there, calls, work = Barrier(6, timeout=60), count(), Pending.work

    def together(pending: Pending, deadline: int) -> Any:
        # Each of the six threads has a trigger in hand.
        if next(calls) < 6:
            all_there.wait()
        return work(pending, deadline)

    def in_threads(tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
        with ThreadPoolExecutor(len(tasks)) as pool:
            return list(pool.map(lambda task: task(), tasks))

    writes = Counter[str]()
    world.announce = lambda call: writes.update([call])
    with patch.object(Pending, "work", together):
        handled = world.intake(in_threads).handle(batch, deadline=world.clock.time + 90_000)
    assert len(handled) == 6
    assert [len(entry.messages) for _, entry in world.gate_lines.everything()] == [6]
    assert (writes["before gate_lines.put"], writes["before gate_lines.replace"]) == (1, 0)


def test_the_triggers_of_an_entry_that_cannot_be_written_are_sent_again_one_by_one() -> None:
    world = world_with()
    batch = bundle_of(world, 6)
    failing(world, "gate_lines.put", times=1)
    handled = world.deliver(batch)
    assert {each.outcome.name for each in handled} == {"fault"}
    assert all(each.is_done for each in handled)
    world.run_until(NOON + 5 * MINUTE)
    assert len(world.consumers.ids) == len(set(world.consumers.ids)) == 6
    assert not waiting(world)
    assert not world.queue.waiting


def test_a_crash_at_any_call_that_puts_a_bundle_into_a_line_loses_none_of_its_triggers() -> None:
    world = world_with()
    batch = bundle_of(world, 3)
    calls = calls_of(world, lambda: world.deliver(batch))
    for number in range(len(calls)):
        world = world_with()
        batch = bundle_of(world, 3)
        killed_at(world, number, partial(world.deliver, batch))
        again = [each._replace(receives=2) for each in batch]
        assert all(each.is_done for each in world.deliver(again))
        world.run_until(NOON + 5 * MINUTE)
        assert len(set(world.consumers.ids)) == 3, calls[number]
        assert not waiting(world)
        # What was not acknowledged comes again. If its entry is there, all of it comes twice.
        assert len(world.consumers.ids) in (3, 6)


def test_a_trigger_that_leaves_its_policy_while_it_is_early_is_not_delivered_early() -> None:
    world = world_with()
    world.put(dueTime="20400ms", policy="mailer")

    def leave() -> None:
        world.patch(without=["policy"])
        world.clock.time += 100

    meanwhile(world, "after jobs.get_many", leave)
    world.run_until(NOON + 2 * MINUTE)
    assert len(world.consumers.times) == 1
    assert world.consumers.times[0] >= NOON + 20_400


class Nested:
    """An intake. While it handles a trigger, others begin: those that are left."""

    def __init__(self, outcomes: list[OutcomeName]) -> None:
        self.left = outcomes
        self.delivery: LineDelivery | None = None

    def handle_permitted(self, message: TriggerMessage, *_: object) -> Handled:
        outcome = self.left.pop()
        if self.left:
            assert self.delivery is not None
            delivered(self.delivery)
        return Handled(Received("", "", 1, ""), Outcome(outcome), trigger=message.trigger)


def delivered(delivery: LineDelivery) -> None:
    message = TriggerMessage(Trigger(JobKey("ns", "job"), "uid", "rev", NOON, 1, NOON), NOON)
    delivery(message, cast("Any", None), NOON)


def made(*outcomes: OutcomeName) -> LineDelivery:
    intake = Nested(list(outcomes))
    unused: Any = None
    intake.delivery = LineDelivery(intake=cast("Any", intake), progress=unused, job_reads=unused)
    return intake.delivery


def test_the_permits_in_use_are_the_triggers_that_are_handled_at_once() -> None:
    delivery = made("succeeded", "succeeded", "succeeded")
    assert delivery.open_max == 0
    delivered(delivery)
    assert delivery.open_max == 3
    one_by_one = made("succeeded")
    delivered(one_by_one)
    assert one_by_one.open_max == 1


def test_triggers_that_somebody_may_ask_about_are_kept_for_the_log() -> None:
    delivery = made("retrying", "succeeded", "failed")
    delivered(delivery)
    assert {each.outcome.name for each in delivery.noteworthy} == {"retrying", "failed"}
    assert delivery.outcomes == {"retrying": 1, "succeeded": 1, "failed": 1}
