"""A bundle of triggers: each is delivered at its own time, and none is lost with the others."""

import threading
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from tests.fakes.deliveries import FAILED, waiting
from tests.fakes.faults import calls_of, crashing, failing, working
from tests.fakes.world import NOON, World, key_of

from sweephand.base.concurrency import DELIVERIES_AT_ONCE, Concurrently, Result
from sweephand.base.errors import StoreError
from sweephand.base.timing import ATTEMPT_CLAIM_MS
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.trigger import BundleMessage, TriggerMessage
from sweephand.model.wire import decode
from sweephand.runs.received import Handled, Received
from sweephand.runtime.machine import deliver_concurrently

DUE = NOON + 10_000


def bundle(world: World, *dues: str, **written: Any) -> Received:
    """A bundle of one trigger of each job that is due then, received as the first of them falls due."""
    for number, due in enumerate(dues):
        world.put(f"job-{number}", dueTime=due, **written)
    messages = sorted((message for _, message in waiting(world)), key=lambda each: each.not_before)
    world.queue.waiting.clear()
    world.queue.send([(BundleMessage(tuple(messages)), 0)])
    world.clock.time = messages[0].not_before
    (received,) = world.queue.take()
    return received


def delivered(world: World) -> list[tuple[str, int]]:
    """The jobs whose triggers were delivered, each with the ms after noon."""
    attempts = zip(world.consumers.attempts, world.consumers.times, strict=True)
    return [(attempt.trigger.key.name, at - NOON) for attempt, at in attempts]


def outcomes(handled: Sequence[Handled]) -> list[str]:
    return sorted(each.outcome.name for each in handled)


def test_each_trigger_is_delivered_at_its_own_due_time_and_counted_by_itself(world: World) -> None:
    received = bundle(world, "10s", "10.3s", "11.9s")
    world.clock.time = DUE - 900
    handled = world.deliver([received])
    assert delivered(world) == [("job-0", 10_000), ("job-1", 10_300), ("job-2", 11_900)]
    assert [(each.outcome.name, each.outcome.lateness_ms) for each in handled] == [("succeeded", 0)] * 3
    assert not world.queue.in_flight
    assert not world.queue.waiting


def test_the_triggers_are_begun_by_their_due_times_among_those_of_other_messages(world: World) -> None:
    first = bundle(world, "10s", "11s")
    world.put("single", dueTime="0.5s")
    world.clock.time = NOON + 10_500
    (single,) = world.queue.take()
    world.clock.time = NOON + 10_000
    world.deliver([first, single])
    assert [name for name, _ in delivered(world)] == ["job-0", "single", "job-1"]


def test_jobs_are_read_together_and_again_for_triggers_that_are_due_later(world: World) -> None:
    received = bundle(world, "10s", "10.1s", "10.2s", "11.8s", "11.9s")
    calls = calls_of(world, lambda: world.deliver([received]))
    assert calls.count("before jobs.get_many") == 2
    assert "before jobs.get" not in calls


def test_a_job_that_cannot_be_read_delays_no_other_trigger_of_the_bundle(world: World) -> None:
    received = bundle(world, "10s", "10.1s", "10.2s")
    get, get_many = world.jobs.get, world.jobs.get_many

    def refused(key: Any) -> Any:
        if key == key_of("job-1"):
            raise StoreError("throttled")
        return get(key)

    def refused_many(keys: Any, *, may_be_stale: bool = False) -> Any:
        if key_of("job-1") in keys:
            raise StoreError("unprocessed keys")
        return get_many(keys, may_be_stale=may_be_stale)

    world.jobs.get, world.jobs.get_many = refused, refused_many  # type: ignore[method-assign]
    assert outcomes(world.deliver([received])) == ["fault", "succeeded", "succeeded"]
    ((_, alone),) = waiting(world)
    assert (alone.trigger.key.name, alone.faults) == ("job-1", 1)
    assert not world.queue.in_flight


def test_a_trigger_that_has_to_wait_leaves_the_bundle_and_is_sent_alone(world: World) -> None:
    received = bundle(world, "10s", "10.1s", "10.2s", "10.3s")
    world.pause("job-1")
    world.jobs.delete(world.jobs._jobs[key_of("job-2")])
    world.consumers.answering = lambda attempt: (
        FAILED if attempt.trigger.key.name == "job-3" else Answer(succeeded=True, code=200)
    )
    assert outcomes(world.deliver([received])) == ["held", "retrying", "succeeded", "unknown"]
    alone = {message.trigger.key.name: message for _, message in waiting(world)}
    assert sorted(alone) == ["job-1", "job-2", "job-3"]
    assert alone["job-3"].attempt == 2
    assert not world.queue.in_flight


def test_a_bundle_that_comes_too_early_is_put_back_whole(world: World) -> None:
    received = bundle(world, "100s", "101s")
    world.clock.time = NOON + 5_000
    calls = calls_of(world, lambda: world.deliver([received]))
    assert [call for call in calls if call.startswith("before")] == ["before queue.send"]
    ((at, message),) = world.queue.waiting
    assert (at, message) == (NOON + 100_000, decode(received.body))
    world.run_until(NOON + 110_000, ticking=False)
    assert delivered(world) == [("job-0", 100_000), ("job-1", 101_000)]


def test_a_trigger_that_is_due_long_after_the_first_of_its_bundle_is_put_back_alone(world: World) -> None:
    received = bundle(world, "10s", "60s")
    assert outcomes(world.deliver([received])) == ["early", "succeeded"]
    assert [at for at, _ in waiting(world)] == [60_000]


def test_a_bundle_is_acknowledged_only_when_each_of_its_triggers_is_settled_or_sent_again() -> None:
    world = World()
    received = bundle(world, "10s", "10.1s", "10.2s")
    world.consumers.answering = lambda attempt: (
        FAILED if attempt.trigger.key.name == "job-1" else Answer(succeeded=True, code=200)
    )
    failing(world, "queue.send")
    handled = world.deliver([received])
    assert [each.is_done for each in handled].count(False) == 1
    assert world.queue.in_flight
    working(world)
    world.queue.reappear()
    world.deliver(world.queue.take(receives=2))
    world.run_until(NOON + 60_000, ticking=False)
    assert {name for name, _ in delivered(world)} == {"job-0", "job-1", "job-2"}
    assert not world.queue.in_flight


def test_a_bundle_that_comes_again_is_split_with_its_crashes_before_anything_else(world: World) -> None:
    received = bundle(world, "10s", "12s")
    world.put("other", dueTime="0s")
    (other,) = world.queue.take()
    in_flight: list[set[str]] = []

    def answer(_: Attempt) -> Answer:
        in_flight.append(set(world.queue.in_flight))
        return Answer(succeeded=True, code=200)

    world.consumers.answering = answer
    handled = world.deliver([other, received._replace(receives=3)])
    assert outcomes(handled) == ["split", "succeeded"]
    assert [(at, message.crashes) for at, message in waiting(world)] == [(10_000, 2), (12_000, 2)]
    assert in_flight == [{other.receipt}], "the bundle left the queue before its neighbour was begun"


def test_a_bundle_whose_singles_cannot_be_sent_comes_again(world: World) -> None:
    received = bundle(world, "10s", "12s")
    failing(world, "queue.send")
    (handled,) = world.deliver([received._replace(receives=2)])
    assert (handled.outcome.name, handled.is_done) == ("split", False)
    assert isinstance(handled.error, StoreError)
    assert not delivered(world)
    assert world.queue.in_flight


def test_all_triggers_of_a_full_bundle_are_begun_though_their_consumers_are_slow(world: World) -> None:
    count = 25
    assert count <= DELIVERIES_AT_ONCE
    received = bundle(world, *["10s"] * count)
    everybody = threading.Barrier(count, timeout=60)

    def answer(_: Attempt) -> Answer:
        everybody.wait()
        return Answer(succeeded=True, code=200)

    world.consumers.answering = answer
    handled = handled_by(world, [received], deliver_concurrently)
    assert outcomes(handled) == ["succeeded"] * count


def handled_by(
    world: World,
    batch: Sequence[Received],
    concurrently: Concurrently,
) -> list[Handled]:
    return world.intake(concurrently).handle(batch, deadline=world.clock.time + 90_000)


def test_a_bundle_uses_no_more_threads_than_there_are(world: World) -> None:
    received = bundle(world, *["10s"] * (DELIVERIES_AT_ONCE + 5))
    asked: list[int] = []

    def counted(tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
        asked.append(len(tasks))
        return [task() for task in tasks]

    assert len(handled_by(world, [received], counted)) == DELIVERIES_AT_ONCE + 5
    assert asked == [DELIVERIES_AT_ONCE]


def test_a_trigger_for_which_no_time_is_left_is_sent_again_alone(world: World) -> None:
    received = bundle(
        world,
        "10s",
        "10s",
        "10s",
        target={
            "type": "http",
            "url": "https://consumer.example/hook",
            "timeout": "60s",
        },
    )

    def slow(_: Attempt) -> Answer:
        world.clock.time += 59_000
        return Answer(succeeded=True, code=200)

    world.consumers.answering = slow
    handled = world.deliver([received])
    assert outcomes(handled) == ["postponed", "postponed", "succeeded"]
    assert len(waiting(world)) == 2
    assert not world.queue.in_flight


def test_a_claim_of_a_crashed_bundle_is_ended_though_its_job_claims_no_more(world: World) -> None:
    received = bundle(world, "10s", "10.1s", history="full")
    world.announce = crashing
    with suppress(KeyboardInterrupt):
        world.deliver([received])
    working(world)
    world.patch("job-0", history="failures")
    world.clock.time += ATTEMPT_CLAIM_MS
    world.deliver([received._replace(receives=2)])
    world.run_until(world.clock.time + 10_000, ticking=False)
    run = world.runs.get(key_of("job-0"), f"{DUE}-0")
    assert run is not None
    assert run.state == "succeeded"


def test_a_trigger_has_the_same_id_alone_and_in_a_bundle(world: World) -> None:
    received = bundle(world, "10s", "10.1s")
    opened = decode(received.body)
    assert isinstance(opened, BundleMessage)
    single: TriggerMessage = opened.triggers[0]
    world.deliver([received])
    world.queue.send([(single, 0)])
    world.deliver(world.queue.take())
    assert world.consumers.ids.count(single.trigger.id) == 2
    assert len(set(world.consumers.ids)) == 2
