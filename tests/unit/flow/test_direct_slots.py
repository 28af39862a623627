"""A delivery function takes slots for triggers that need not wait, and gives them back while others end."""

from typing import Any
from unittest.mock import patch

import pytest
from tests.contract.builders import NOON
from tests.fakes.definitions import definition
from tests.fakes.faults import failing
from tests.unit.flow.scene import GATE, KEY, Flow, flow, triggers

from sweephand.base.instants import SECOND_MS
from sweephand.flow.direct_slots import DirectSlots, take_slots
from sweephand.flow.gates import Gates
from sweephand.flow.permit import Permit
from sweephand.model.gate import Baton, Changed, GateChange, GateName
from sweephand.model.policy import Rate
from sweephand.model.trigger import LineWait


def asked(gates: Gates, wanted: int, **written: Any) -> DirectSlots | None:
    """The slots of so many triggers of jobs with that definition."""
    waits = [LineWait(KEY, "normal", each, definition(**written)) for each in triggers(wanted)]
    found = take_slots(gates, KEY, waits)
    assert len(found) == wanted
    used = [each for each in found if each is not None]
    assert len(used) == (used[0].size if used else 0)
    return used[0] if used else None


def taken(scene: Flow, wanted: int) -> tuple[DirectSlots, list[Permit]]:
    slots = asked(scene.gates(), wanted)
    assert slots is not None
    permits = [slots.take() for _ in range(slots.size)]
    assert slots.take() is None
    return slots, [each for each in permits if each is not None]


def used(scene: Flow) -> int:
    return scene.store.get(GATE).used


@pytest.mark.parametrize(
    ("limit", "held", "wanted", "got"),
    [(1, 0, 1, 1), (20, 0, 3, 3), (20, 0, 9, 5), (40, 0, 40, 10), (20, 18, 5, 2), (2, 1, 9, 1)],
)
def test_it_takes_what_is_wanted_free_and_allowed_to_one_function(
    limit: int, held: int, wanted: int, got: int
) -> None:
    scene = flow(limit)
    if held:
        scene.hold(held)
    _, permits = taken(scene, wanted)
    assert len(permits) == got
    assert used(scene) == held + got


def test_nothing_is_taken_of_a_full_gate_or_where_others_wait() -> None:
    scene = flow(2)
    scene.store.change(GATE, GateChange(queues=True))
    assert asked(scene.gates(), 1) is None
    scene.store.change(GATE, GateChange(queues=False))
    scene.hold(2)
    assert asked(scene.gates(), 1) is None
    assert used(scene) == 2


def test_a_full_gate_is_not_asked_again_within_a_second() -> None:
    scene = flow(1)
    gates = scene.gates()
    scene.hold(1)
    assert asked(gates, 1) is None
    calls: list[str] = []
    scene.announce = calls.append
    assert asked(gates, 1) is None
    assert "before gates.change" not in calls
    scene.clock.time += SECOND_MS
    assert asked(gates, 1) is None
    assert "before gates.change" in calls


def test_the_slots_of_a_function_that_crashed_are_taken_when_its_time_is_over() -> None:
    scene = flow(2)
    scene.hold(2, until=NOON - 1)
    taken(scene, 1)
    assert used(scene) == 1


def test_slots_go_back_when_half_are_idle_and_nobody_is_called_where_nobody_waits() -> None:
    scene = flow(40)
    slots, permits = taken(scene, 8)
    left = []
    for permit in permits:
        slots.close(permit)
        left.append(used(scene))
    assert left == [8, 8, 8, 4, 4, 2, 1, 0]
    assert not scene.queue.waiting


def test_whoever_gives_slots_back_calls_if_a_trigger_has_come_to_wait() -> None:
    scene = flow(1)
    slots, [permit] = taken(scene, 1)
    scene.gates().enqueue(KEY, "normal", triggers(1), "source")
    assert scene.store.get(GATE).baton is None
    slots.close(permit)
    assert isinstance(scene.store.get(GATE).baton, Baton)
    assert used(scene) == 0


def test_an_asynchronous_run_goes_on_with_its_slot() -> None:
    scene = flow(4)
    slots, [permit] = taken(scene, 1)
    assert permit.keep(NOON + 60 * SECOND_MS)
    slots.close(permit)
    assert used(scene) == 1
    assert [each.slots for each in scene.store.get(GATE).holders.values()] == [1]


def test_a_slot_whose_writes_fail_comes_back_by_itself() -> None:
    scene = flow(1)
    slots, [permit] = taken(scene, 1)
    failing(scene, "gates.change")
    slots.close(permit)
    assert used(scene) == 1
    scene.announce = lambda _: None
    scene.clock.time += 200 * SECOND_MS
    taken(scene, 1)
    assert used(scene) == 1


def test_under_a_rate_each_request_waits_for_its_token() -> None:
    scene = flow(None, rate=Rate(4, SECOND_MS))
    slots = asked(scene.gates(), 9)
    assert slots is not None
    assert (slots.size, used(scene)) == (4, 4)
    assert asked(scene.gates(), 1) is None, "the next token is more than a second away"
    assert used(scene) == 4
    permits = [slots.take() for _ in range(slots.size)]
    opened = [each.token.opens_at for each in permits if each is not None and each.token is not None]
    assert opened == [NOON, NOON + 263, NOON + 525, NOON + 788]
    for permit in filter(None, permits):
        slots.close(permit)
    assert used(scene) == 0


def test_one_write_takes_slots_and_their_tokens_and_another_one_gives_the_slots_back() -> None:
    scene = flow(None, rate=Rate(4, SECOND_MS))
    calls: list[str] = []
    scene.announce = calls.append
    slots, [permit] = taken(scene, 1)
    slots.close(permit)
    assert [each for each in calls if each.startswith("before gates")] == ["before gates.change"] * 2


def test_a_write_of_slots_and_tokens_whose_answer_is_lost_leaves_slots_and_takes_other_tokens() -> None:
    scene = flow(None, rate=Rate(4, SECOND_MS))
    change, calls = scene.store.change, []

    def repeated(name: GateName, change_: GateChange) -> Changed:
        """The SDK makes the first request again."""
        calls.append(change(name, change_))
        return change(name, change_) if len(calls) == 1 else calls[-1]

    with patch.object(scene.store, "change", repeated):
        _, [permit] = taken(scene, 1)
    assert used(scene) == 1
    assert permit.token is not None
    assert permit.token.opens_at == NOON + 263


def test_under_a_rate_a_gate_with_a_bucket_is_asked_first_and_another_one_when_that_is_full() -> None:
    scene = flow(64, rate=Rate(4, SECOND_MS))
    second = GATE._replace(number=1)
    taken(scene, 1)
    assert (used(scene), scene.store.get(second).used) == (1, 0)
    last_us = scene.gate().last_us
    scene.hold(31)
    taken(scene, 2)
    assert (used(scene), scene.store.get(second).used) == (32, 2)
    assert scene.gate().last_us > last_us, "the tokens are those of the first gate"


def test_a_policy_that_was_never_written_gives_no_slot() -> None:
    assert asked(Flow().gates(), 1) is None


@pytest.mark.parametrize("later_ms", [SECOND_MS, -SECOND_MS])
def test_a_trigger_that_begins_after_the_policy_has_changed_waits_in_the_line(later_ms: int) -> None:
    scene = flow(40)
    slots = asked(scene.gates(), 3)
    assert slots is not None
    assert slots.take() is not None
    scene.clock.time += SECOND_MS
    assert slots.take() is not None, "the policy was read again, and is the same"
    scene.limit(39)
    scene.clock.time += later_ms
    assert slots.take() is None


@pytest.mark.parametrize("later_ms", [SECOND_MS, -SECOND_MS])
def test_a_request_whose_connection_outlasts_a_pause_does_not_leave(later_ms: int) -> None:
    scene = flow(8)
    _, [permit, other] = taken(scene, 2)
    permit.wait()
    assert permit.may_leave()
    scene.pause()
    scene.clock.time += later_ms
    other.wait()
    assert not other.may_leave()


def test_each_key_has_slots_of_its_own() -> None:
    scene = flow(1, by="label:tenant")
    waits = [
        LineWait(KEY, "normal", each, definition(labels={"tenant": tenant}))
        for each, tenant in zip(triggers(4), ("one", "two", "one", "two"), strict=True)
    ]
    found = take_slots(scene.gates(), KEY, waits)
    assert [each is not None for each in found] == [True, True, False, False]
    assert len({id(each) for each in found if each is not None}) == 2
    assert asked(scene.gates(), 1, labels={"tenant": "one"}) is None
    assert asked(scene.gates(), 1, labels={"tenant": "three"}) is not None


def test_a_request_does_not_leave_by_an_old_read_if_the_clock_steps_back() -> None:
    scene = flow(None, rate=Rate(10, 1_000))
    _, [permit] = taken(scene, 1)
    scene.clock.time -= 30_000
    permit.wait()
    assert (scene.clock.time, permit.may_leave()) == (NOON - 30_000, False)
