"""A worker that has left, or has lost its claim, leaves alone what the next worker delivers."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest
from tests.contract.builders import NOON, trigger_message
from tests.unit.runs.flow.test_line_worker import KEY, LIMIT_MS, WORK, Flow, flow, triggers

from sweephand.base.errors import StoreError
from sweephand.base.instants import HOUR_MS, SECOND_MS
from sweephand.base.timing import HOLDER_MS, LINE_CLAIM_MS
from sweephand.model.policy import Rate
from sweephand.model.policy_line import LinePlace, entry_of

Result = TypeVar("Result")

PLACE = LinePlace(KEY, "normal", 0)
HERE = WORK._replace(hint=(1, 0))


def line_of(*entries: int) -> Flow:
    """A policy of one worker with two permits, and entries of so many due triggers in one partition."""
    scene = flow(2, holder_size=2)
    for number, size in enumerate(entries):
        at = NOON + 100 * number
        scene.lines.put(
            PLACE, entry_of([trigger_message(at + each) for each in range(size)], at, f"m{number}")
        )
    scene.clock.time = NOON + 1_000
    return scene


def standing(scene: Flow) -> list[tuple[int, int]]:
    """The time of each entry, in ms after noon, and how many triggers it has."""
    entries = sorted((each for _, each in scene.lines.everything()), key=lambda each: each.at)
    return [(each.at - NOON, len(each.messages)) for each in entries]


def ids(scene: Flow) -> list[str]:
    return [each.trigger.id for each in scene.delivered]


def test_a_worker_whose_claim_another_one_took_leaves_the_entries_of_the_partition_where_they_are() -> None:
    scene = line_of(1, 1, 1, 1)

    def announce(call: str) -> None:
        if call == "before consumer.deliver":
            # The stores stand still. Meanwhile the claim ends, and another worker takes the partition over.
            scene.clock.time += LINE_CLAIM_MS + 1
            scene.announce = lambda _: None
            claim = scene.lines.top(PLACE, NOON, 1).claim
            assert scene.lines.claim(PLACE, claim, "other", scene.clock.time + LINE_CLAIM_MS)

    scene.announce = announce
    assert scene.work(HERE) == "walked"
    assert ids(scene) == [trigger_message(NOON).trigger.id]
    assert standing(scene) == [(100, 1), (200, 1), (300, 1)]


def test_a_worker_whose_claim_another_one_took_brings_back_nothing_of_a_pack() -> None:
    scene = line_of(4)

    def announce(call: str) -> None:
        if call == "before consumer.deliver":
            scene.clock.time += LINE_CLAIM_MS + 1
            scene.announce = lambda _: None
            top = scene.lines.top(PLACE, NOON + 1, 1)
            assert scene.lines.claim(PLACE, top.claim, "other", scene.clock.time + LINE_CLAIM_MS)
            assert scene.lines.delete(PLACE, top.entries[0])

    scene.announce = announce
    assert scene.work(HERE) == "walked"
    assert len(ids(scene)) == 1
    assert not standing(scene)


def test_a_trigger_that_could_not_begin_stays_with_the_worker_that_took_the_partition_over() -> None:
    scene = line_of(1, 1)

    def deliver(*_: object) -> bool:
        scene.clock.time += LINE_CLAIM_MS + 1
        claim = scene.lines.top(PLACE, NOON, 1).claim
        assert scene.lines.claim(PLACE, claim, "other", scene.clock.time + LINE_CLAIM_MS)
        threads[-1]()
        return False

    threads: list[Callable[[], object]] = []

    def in_turn(tasks: Sequence[Callable[[], Result]]) -> Sequence[Result]:
        # The last thread renews the claims while the first one delivers.
        threads.extend(tasks[1:])
        return [tasks[0]()]

    scene.deliver = deliver  # type: ignore[assignment,method-assign]
    worker = scene.worker(concurrently=in_turn)
    assert worker.work(HERE, 1, scene.clock.time + LIMIT_MS, lambda: None) == "walked"
    assert standing(scene) == [(0, 1), (100, 1)]


def left_with_an_open_request(scene: Flow, afterwards: Callable[[], None]) -> Callable[[], str]:
    """A worker that leaves in one thread while its only request is open. `afterwards` follows at once."""
    threads: list[Callable[[], object]] = []

    def in_turn(tasks: Sequence[Callable[[], Result]]) -> Sequence[Result]:
        threads.extend(tasks[1:])
        return [each() for each in tasks]

    def announce(call: str) -> None:
        if call == "before consumer.deliver":
            scene.announce = lambda _: None
            scene.clock.time = NOON + 85 * SECOND_MS
            threads[0]()
            afterwards()

    scene.announce = announce
    worker = scene.worker(concurrently=in_turn)
    return lambda: worker.work(HERE, 1, NOON + LIMIT_MS, lambda: None)


def others_deliver(scene: Flow, then: Callable[[], None] = lambda: None) -> None:
    now = scene.clock.time
    scene.run(2)
    scene.clock.time = now + 2 * SECOND_MS
    then()


def test_a_permit_that_cannot_be_freed_after_leaving_brings_back_nothing_that_others_have_delivered() -> None:
    scene = line_of(1, 1, 1, 1, 1)

    def fails() -> None:
        def announce(call: str) -> None:
            if call == "before permits.remove":
                raise StoreError("the test asks")

        scene.announce = announce

    work = left_with_an_open_request(scene, lambda: others_deliver(scene, fails))
    assert work() == "walked"
    scene.announce = lambda _: None
    scene.run(2 * HOLDER_MS // SECOND_MS)
    assert len(ids(scene)) == len(set(ids(scene))) == 5
    assert not standing(scene)


def test_an_error_after_leaving_brings_back_nothing_that_others_have_delivered() -> None:
    scene = line_of(1, 1, 1, 1, 1)

    def fails() -> None:
        def announce(call: str) -> None:
            if call == "after consumer.deliver":
                raise StoreError("the test asks")

        scene.announce = announce

    work = left_with_an_open_request(scene, lambda: others_deliver(scene, fails))
    with pytest.raises(StoreError):
        work()
    scene.announce = lambda _: None
    scene.run(1)
    assert sorted(ids(scene)) == sorted(set(ids(scene)))
    # Only the trigger with the error stands there, until the holder has ended in any case.
    assert [size for _, size in standing(scene)] == [1]


def test_triggers_wait_for_no_end_of_a_holder_because_a_leaving_worker_failed_once() -> None:
    scene = line_of(50, 50)
    hit: list[str] = []

    def announce(call: str) -> None:
        if call == "after consumer.deliver" and len(scene.delivered) == 5:
            scene.clock.time = NOON + 86 * SECOND_MS
        if call == "before lines.put" and len(scene.delivered) == 5 and not hit:
            hit.append(call)
            raise StoreError("the test asks")

    scene.announce = announce
    with pytest.raises(StoreError):
        scene.work(HERE)
    assert hit
    assert standing(scene) == [(5, 45), (100, 50)]
    assert scene.sent, "no message calls the next worker"


@pytest.mark.parametrize("error", [StoreError("the test asks"), KeyboardInterrupt()])
def test_a_wake_mark_whose_message_was_not_sent_stops_no_rate(error: BaseException) -> None:
    scene = flow(None, rate=Rate(1, HOUR_MS))
    scene.put(*triggers(2))
    [(_, message)] = scene.sent
    scene.sent.clear()
    marked: list[str] = []

    def announce(call: str) -> None:
        if call == "after permits.mark":
            marked.append(call)
        if marked and call == "before work.send":
            raise error

    scene.announce = announce
    with pytest.raises(type(error)):
        # Its first receiver has crashed, so it is acknowledged before the work.
        scene.work(message, 2)
    assert marked
    assert scene.acknowledged
    scene.announce = lambda _: None
    scene.run(2 * HOUR_MS // SECOND_MS)
    assert len(scene.delivered) == 2
