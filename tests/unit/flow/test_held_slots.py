"""The slots that a function and its runs hold (flow/held_slots.py)."""

from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest
from tests.contract.builders import NOON
from tests.unit.flow.scene import GATE, flow

from sweephand.base.timing import CLOCK_SKEW_MAX_MS
from sweephand.flow.held_slots import (
    HeldSlots,
    end_request_of_run,
    end_run,
    give_back_of_run,
    held_by_run,
)
from sweephand.model.gate import Changed, Gate, GateChange, GateName, Holder, Swap

UNTIL = NOON + 180_000
RUN = held_by_run(NOON, NOON + 900_000)


def test_slots_are_given_back_one_by_one_and_with_the_last_the_holder_goes() -> None:
    scene = flow()
    slots = scene.slots(2)
    assert (slots.give_back(1).used, slots.size) == (1, 1)
    gate = slots.give_back(1, queues=True)
    assert (gate.used, dict(gate.holders), gate.queues) == (0, {}, True)


def test_a_write_that_another_thread_has_overtaken_is_made_again() -> None:
    scene = flow()
    slots, change = scene.slots(4), scene.store.change
    gives: list[GateChange] = []

    def overtaken(name: GateName, wanted: GateChange) -> Changed:
        gives.append(wanted)
        if len(gives) == 1:
            slots.give_back(1)
        return change(name, wanted)

    with patch.object(scene.store, "change", overtaken):
        assert slots.give_back(1).used == 2
    assert (slots.size, len(gives)) == (2, 3)


def test_two_threads_never_take_the_write_of_the_other_for_their_own() -> None:
    """Both would store the same slots. Only their numbers tell which of them was made."""
    scene = flow()
    slots, change = scene.slots(4), scene.store.change
    tries: list[Holder | str | None] = []

    def seen(name: GateName, wanted: GateChange) -> Changed:
        tries.append(wanted.holders["mine"].becomes)
        if len(tries) == 1:
            slots.give_back(1)
        return change(name, wanted)

    with patch.object(scene.store, "change", seen):
        slots.give_back(1)
    assert len(tries) == len({each.number for each in tries if isinstance(each, Holder)}) == 3


def test_a_repeat_that_comes_late_changes_nothing() -> None:
    scene = flow()
    slots = scene.slots(4)
    stale = GateChange({"mine": Swap(Holder(4, UNTIL), Holder(3, UNTIL, 2))})
    slots.give_back(1)
    slots.give_back(1)
    assert not scene.store.change(GATE, stale).is_made
    slots.grow(32, 4)
    assert not scene.store.change(GATE, stale).is_made
    assert scene.gate().used == 4


def test_the_slots_of_a_holder_whose_time_was_over_are_given_back_once() -> None:
    scene = flow()
    slots = scene.slots(4)
    scene.give_back("mine")
    scene.hold(3)
    assert slots.give_back(2).used == 3


def test_a_slot_is_handed_to_a_run_in_one_write() -> None:
    scene = flow()
    slots = scene.slots(2)
    assert slots.hand_to_run("run", RUN)
    assert scene.gate().holders["run"] == RUN
    assert (scene.gate().used, slots.size) == (2, 1)
    assert slots.hand_to_run("other run", held_by_run(NOON, NOON + 5))
    assert (scene.gate().used, slots.size, set(scene.gate().holders)) == (2, 0, {"run", "other run"})


def test_a_holder_that_was_removed_has_no_slot_for_a_run() -> None:
    scene = flow()
    slots = scene.slots(2)
    scene.give_back("mine")
    assert not slots.hand_to_run("run", RUN)
    assert scene.gate().used == 0


def test_a_run_gives_its_slot_back_once() -> None:
    scene = flow()
    scene.slots(2).hand_to_run("run", RUN)
    gate = give_back_of_run(scene.store, GATE, "run")
    assert gate is not None
    assert gate.used == 1
    assert give_back_of_run(scene.store, GATE, "run") is None


def test_a_run_that_is_over_before_its_request_keeps_its_slot_until_the_request_is_over() -> None:
    """A consumer may report the end before it answers. A second report changes nothing."""
    scene = flow()
    scene.slots(1).hand_to_run("run", RUN)
    for _ in range(2):
        assert end_run(scene.store, GATE, "run", NOON + 5) is None
        assert scene.gate().used == 1
    gate = end_request_of_run(scene.store, GATE, "run", RUN)
    assert gate is not None
    assert gate.used == 0


def test_a_run_that_is_over_after_its_request_gives_its_slot_back_at_once() -> None:
    scene = flow()
    scene.slots(1).hand_to_run("run", RUN)
    assert end_request_of_run(scene.store, GATE, "run", RUN) is None
    assert scene.gate().used == 1
    gate = end_run(scene.store, GATE, "run", NOON + 5)
    assert gate is not None
    assert gate.used == 0


def test_the_slot_of_a_run_comes_back_when_its_function_crashed_with_the_request() -> None:
    scene = flow()
    scene.slots(1).hand_to_run("run", RUN)
    end_run(scene.store, GATE, "run", NOON + 5)
    assert scene.gate().free(1, RUN.number) == 0
    assert scene.gate().free(1, RUN.number + 1) == 1


def test_a_run_whose_function_must_have_ended_gives_its_slot_back() -> None:
    scene = flow()
    scene.slots(1).hand_to_run("run", RUN)
    gate = end_run(scene.store, GATE, "run", RUN.number)
    assert gate is not None
    assert gate.used == 0


@pytest.mark.parametrize(("others", "size"), [(0, 10), (5, 5), (8, 2), (20, 2)])
def test_a_function_takes_more_slots_as_far_as_they_are_free(others: int, size: int) -> None:
    scene = flow(10)
    slots = scene.slots(2)
    if others:
        scene.hold(others)
    slots.grow(10, 10)
    assert slots.size == size
    assert scene.gate().used == others + size


def test_the_slots_of_an_expired_holder_are_taken_and_it_is_removed_as_it_was_read() -> None:
    scene = flow(10)
    scene.hold(8, until=NOON + 5)
    slots = scene.slots(2)
    slots.grow(10, 10)
    assert slots.size == 2
    scene.clock.time = NOON + 6
    slots.grow(10, 10)
    assert slots.size == 10
    assert set(scene.gate().holders) == {"mine"}


def test_no_slot_is_taken_when_an_expired_holder_has_written_since_it_was_read() -> None:
    """Its clock was behind, and it has given back some of its slots."""
    scene = flow(10)
    scene.hold(8, until=NOON - 5)
    read, change = scene.slots(2), scene.store.change
    stale = scene.gate()
    less = Swap(Holder(8, NOON - 5), Holder(5, NOON - 5, 2))
    assert change(GATE, GateChange({"other": less})).is_made
    store: Any = SimpleNamespace(get=lambda _: stale, change=change)
    slots = HeldSlots(GATE, read.token, stale, store=store, clock=scene.clock)
    slots.grow(10, 10)
    assert (slots.size, scene.gate().used) == (2, 7)


def test_slots_last_for_longer_than_clocks_may_differ() -> None:
    scene = flow()
    slots = HeldSlots(GATE, "mine", Gate(1, {"mine": Holder(1, UNTIL)}), store=scene.store, clock=scene.clock)
    scene.clock.time = UNTIL - CLOCK_SKEW_MAX_MS - 1
    assert slots.last
    scene.clock.time += 1
    assert not slots.last


def test_a_lost_answer_counts_as_made_when_the_write_is_repeated() -> None:
    scene = flow()
    held = Holder(4, UNTIL)
    scene.hold(4, "mine")
    change = GateChange({"mine": Swap(held, held._replace(slots=3, number=2))})
    assert scene.store.change(GATE, change).is_made
    assert scene.store.change(GATE, change).is_made
    assert scene.gate().used == 3


def test_a_write_whose_answer_is_lost_is_not_made_again_after_another_thread_has_overtaken_it() -> None:
    scene = flow()
    slots, change = scene.slots(3), scene.store.change

    def lost(name: GateName, wanted: GateChange) -> Changed:
        with patch.object(scene.store, "change", change):
            assert change(name, wanted).is_made
            slots.give_back(1)
            return change(name, wanted)

    with patch.object(scene.store, "change", lost):
        slots.give_back(1)
    assert (slots.size, scene.gate().used) == (1, 1)
