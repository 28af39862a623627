"""The turn of a function at a gate: order, end, and limits that change (flow/turn.py)."""

import pytest
from tests.contract.builders import NOON, trigger_message
from tests.unit.flow.scene import BATON, GATE, flow, lease, store_job, triggers

from sweephand.base.timing import HOLDER_MS
from sweephand.flow.permit import Permit
from sweephand.flow.turn import TURN_MS
from sweephand.model.gate import Baton, GateChange
from sweephand.model.gate_line import ENTRY_TRIGGERS_MAX
from sweephand.model.policy import PolicyKey
from sweephand.model.trigger import TriggerMessage

OTHER = PolicyKey("default", "other")


# ---- what is delivered, and in which order


def test_everything_is_delivered_and_nothing_is_left_behind() -> None:
    scene = flow(1)
    scene.put(*triggers(50))
    scene.store.change(GATE, GateChange(queues=True, baton=Baton(NOON, "this one")))
    assert scene.handle() == "served"
    assert [each.trigger.due_at for each in scene.delivered] == list(range(NOON, NOON + 50))
    assert scene.entries() == []
    gate = scene.gate()
    assert (gate.used, dict(gate.holders), gate.queues, gate.baton) == (0, {}, False, None)
    assert scene.queue.sent == []


def test_triggers_are_delivered_by_priority_and_then_by_time() -> None:
    scene = flow(1)
    scene.put(*triggers(2, NOON - 9_000), priority="low")
    scene.put(*triggers(2, NOON - 5_000))
    scene.put(*triggers(2, NOON), priority="high")
    scene.put(*triggers(1, NOON - 9_000), source="other")
    scene.handle()
    assert [each.trigger.due_at - NOON for each in scene.delivered] == [
        0,
        1,
        -9_000,
        -5_000,
        -4_999,
        -9_000,
        -8_999,
    ]


def test_a_trigger_that_comes_with_a_higher_priority_goes_before_what_has_not_begun() -> None:
    scene = flow(1)
    scene.put(*triggers(1))
    scene.put(*triggers(30, NOON + 1))
    high = trigger_message(NOON + 9)

    def during(message: TriggerMessage, _: Permit) -> bool:
        if message.trigger.due_at == NOON:
            scene.put(high, priority="high")
        return True

    scene.during = during
    scene.handle()
    assert scene.delivered.index(high) <= ENTRY_TRIGGERS_MAX + 2


def test_no_more_requests_are_open_than_the_function_has_slots() -> None:
    scene = flow(10)
    scene.request_ms = 1
    scene.put(*triggers(20))

    def during(*_: object) -> bool:
        scene.others_work()
        return True

    scene.during = during
    scene.handle()
    assert scene.open_max == 3
    assert scene.gate().used == 0


def test_the_second_of_two_functions_finds_what_the_first_has_leased_and_leaves() -> None:
    scene = flow(8)
    scene.put(*triggers(3))

    def during(message: TriggerMessage, _: Permit) -> bool:
        if message == scene.delivered[0]:
            assert scene.handle() == "served"
        return True

    scene.during = during
    scene.handle()
    assert len(scene.delivered) == 3
    assert scene.gate().used == 0


# ---- entries that others lease


def test_an_entry_that_another_function_leases_first_is_left_to_it() -> None:
    scene = flow()
    scene.put(*triggers(1))
    scene.announce = lambda call: lease(scene, NOON + HOLDER_MS) if call == "before lines.replace" else None
    scene.handle()
    assert scene.delivered == []


def test_a_function_whose_lease_is_over_does_not_delete_what_another_one_has_leased() -> None:
    scene = flow()
    scene.put(*triggers(1))

    def during(*_: object) -> bool:
        scene.clock.time += HOLDER_MS + 1
        lease(scene, scene.clock.time + HOLDER_MS)
        return True

    scene.during = during
    scene.handle()
    assert [each.owner for each in scene.entries()] == ["other"]


# ---- the end of a turn


def test_a_function_leaves_after_ten_seconds_and_the_next_one_goes_on() -> None:
    scene = flow(1)
    scene.request_ms = 400
    scene.put(*triggers(60))
    used: list[int] = []
    scene.announce = lambda call: used.append(scene.gate().used) if call == "before queue.send" else None
    scene.handle()
    assert used == [0], "the function that is called finds a free slot"
    assert NOON + TURN_MS <= scene.clock.time <= NOON + TURN_MS + 1_500
    began = len(scene.delivered)
    assert 20 <= began <= 27
    assert len(scene.waiting()) == 60 - began
    assert all(each.owner is None for each in scene.entries()), "nothing waits for the end of a lease"
    assert (scene.gate().used, scene.gate().queues) == (0, True)
    assert len(scene.sent("baton")) == 1
    scene.run(60)
    assert len(scene.delivered) == len(set(scene.delivered)) == 60
    assert scene.entries() == []


def test_what_has_begun_of_an_entry_stays_leased_when_the_time_is_up_and_the_rest_is_free() -> None:
    scene = flow(8)
    scene.request_ms = 5_001
    scene.put(*triggers(10))
    left: list[tuple[int, bool]] = []
    kept: list[int] = []

    def during(message: TriggerMessage, _: Permit) -> bool:
        if message == scene.delivered[0]:
            scene.others_work()
            left.extend((len(each.messages), each.owner is None) for each in scene.entries())
        return True

    scene.during = during
    scene.announce = lambda call: kept.append(len(scene.waiting())) if call == "after lines.replace" else None
    scene.handle()
    assert min(kept) == 8, "the rest is written before its entry is shrunk"
    assert sorted(left) == [(1, False), (8, True)]
    assert [len(each.messages) for each in scene.entries()] == [8]
    assert scene.gate().used == 0
    scene.run(60)
    assert len(scene.delivered) == len(set(scene.delivered)) == 10


def test_a_function_whose_slots_runs_have_hands_its_gate_over() -> None:
    scene = flow(1)
    scene.put(*triggers(2))

    def during(_: TriggerMessage, permit: Permit) -> bool:
        return permit.keep(NOON + 900_000)

    scene.during = during
    scene.handle()
    assert (len(scene.delivered), scene.clock.time < NOON + 1_000) == (1, True)
    assert scene.gate().queues, "the end of the run calls"
    assert all(each.owner is None for each in scene.entries())


def test_a_request_that_is_open_when_the_time_is_up_keeps_its_slot_until_it_is_over() -> None:
    scene = flow(8)
    scene.put(*triggers(3))
    used: list[int] = []

    def during(message: TriggerMessage, _: Permit) -> bool:
        if message == scene.delivered[0]:
            scene.others_work()
            scene.clock.time += TURN_MS
            used.append(scene.gate().used)
        return True

    scene.during = during
    scene.handle()
    assert used == [1]
    assert scene.gate().used == 0


def test_a_slot_that_comes_back_after_the_turn_is_called_for() -> None:
    scene = flow(1)
    scene.put(*triggers(2))

    def during(*_: object) -> bool:
        scene.others_work()
        assert scene.sent("baton") == []
        return True

    scene.during = during
    scene.handle()
    assert (len(scene.delivered), len(scene.sent("baton"))) == (1, 1)


def test_idle_slots_are_given_back_while_a_request_is_open() -> None:
    scene = flow(40)
    scene.put(*triggers(1))
    used: list[int] = []

    def during(*_: object) -> bool:
        used.append(scene.gate().used)
        scene.others_work()
        used.append(scene.gate().used)
        return True

    scene.during = during
    scene.handle()
    assert used == [10, 1]


def test_a_trigger_that_comes_as_the_function_leaves_is_called_for() -> None:
    """Whoever wrote it saw no free slot. So whoever gives the slot back has to see it."""
    scene = flow(1)
    scene.put(*triggers(1))

    def meanwhile(call: str) -> None:
        if call == "before gates.change" and scene.delivered and not scene.entries():
            scene.put(trigger_message(NOON + 5))

    scene.announce = meanwhile
    scene.handle()
    scene.announce = lambda _: None
    assert scene.gate().queues
    assert len(scene.sent("baton")) == 1
    scene.run(1)
    assert len(scene.delivered) == 2


def test_the_mark_stands_while_another_function_has_leased_something() -> None:
    scene = flow()
    scene.put(*triggers(1))
    lease(scene, NOON + 180_000)
    scene.store.change(GATE, GateChange(queues=True))
    scene.handle()
    assert scene.gate().queues
    assert (scene.delivered, scene.gate().used) == ([], 0)


# ---- limits that change


@pytest.mark.parametrize("limit", [2, 32])
def test_a_function_whose_share_was_lowered_below_what_is_in_use_leaves_within_a_second(limit: int) -> None:
    scene = flow(40)
    scene.hold(22)
    scene.put(*triggers(300))

    def during(*_: object) -> bool:
        if len(scene.delivered) == 1:
            scene.limit(limit)
        return True

    scene.during = during
    scene.handle()
    assert scene.gate().used == 22
    if limit == 32:
        assert len(scene.delivered) > 50
    else:
        assert scene.clock.time <= NOON + 1_200
        assert not [each for each in scene.sent("baton") if each.gate == 0], "no slot is free for it"


@pytest.mark.parametrize("later_ms", [1_500, -1_500])
def test_nothing_begins_on_a_limit_that_was_read_more_than_a_second_ago(later_ms: int) -> None:
    scene = flow(1)
    scene.put(*triggers(5))
    reads: list[int] = []
    scene.announce = lambda call: reads.append(scene.clock.time) if call == "before policies.get" else None
    ages: list[int] = []

    def during(*_: object) -> bool:
        ages.append(scene.clock.time - scene.request_ms - reads[-1])
        scene.clock.time += later_ms
        return True

    scene.during = during
    scene.handle()
    assert all(0 <= age < 1_000 for age in ages)


def test_a_function_whose_gate_has_no_share_any_more_leaves_and_what_waits_goes_to_another_gate() -> None:
    scene = flow(40)
    scene.put(*triggers(300), gate=1)

    def during(*_: object) -> bool:
        if len(scene.delivered) == 1:
            scene.limit(10)
        return True

    scene.during = during
    scene.handle(BATON._replace(gate=1))
    assert len(scene.delivered) < 300
    scene.run(60)
    assert len(scene.delivered) == len(set(scene.delivered)) == 300


def test_a_function_begins_nothing_from_a_second_after_a_pause_on_and_leaves() -> None:
    scene = flow(40)
    store_job(scene, "backup", "mailer")
    scene.put(*triggers(300))
    begun_at: list[int] = []

    def during(*_: object) -> bool:
        begun_at.append(scene.clock.time - scene.request_ms)
        if len(scene.delivered) == 1:
            scene.pause(scene.clock.time)
        return True

    scene.during = during
    assert scene.handle() == "served"
    assert max(begun_at) < begun_at[0] + scene.request_ms + 1_000
    assert scene.gate().used == 0
    waiting = len(scene.waiting())
    assert len(scene.delivered) + waiting == 300
    scene.run(600)
    assert len(scene.waiting()) == waiting, "what waits stays"
    scene.pause(None)
    scene.handle(BATON._replace(purpose="change", gate=2, not_before=scene.clock.time))
    scene.run(60)
    assert len(scene.delivered) == len(set(scene.delivered)) == 300
