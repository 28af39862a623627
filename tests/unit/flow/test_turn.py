"""The turn of a function at a gate (flow/turn.py)."""

import pytest
from tests.contract.builders import NOON, trigger_message
from tests.unit.flow.scene import BATON, GATE, KEY, Flow, flow, triggers

from sweephand.base.errors import StoreError
from sweephand.base.timing import HOLDER_MS, LINE_LOOK_MS
from sweephand.flow.permit import Permit
from sweephand.flow.turn import TURN_MS
from sweephand.model.gate import Baton, GateChange, GateName, Holder
from sweephand.model.gate_line import ENTRY_TRIGGERS_MAX
from sweephand.model.policy import PermitName, PolicyKey, Rate
from sweephand.model.trigger import LineWait, TriggerMessage

OTHER = PolicyKey("default", "other")


def lasting(scene: Flow) -> None:
    """Let the first request be open until the others of the function have ended their work."""

    def during(message: TriggerMessage, _: Permit) -> bool:
        if message == scene.delivered[0]:
            scene.others_work()
        return True

    scene.during = during


def lease(scene: Flow, until: int, gate: int = 0) -> None:
    """Let another function have leased every entry of a line."""
    for entry in scene.entries(gate):
        leased = entry._replace(owner="other", until=until, token=f"leased-{entry.name}")
        assert scene.lines.replace(GateName(KEY, gate), entry, leased)


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


# ---- the end of a turn


def test_a_function_leaves_after_ten_seconds_and_the_next_one_goes_on() -> None:
    scene = flow(1)
    scene.request_ms = 400
    scene.put(*triggers(60))
    scene.handle()
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

    def during(message: TriggerMessage, _: Permit) -> bool:
        if message == scene.delivered[0]:
            scene.others_work()
            left.extend((len(each.messages), each.owner is None) for each in scene.entries())
        return True

    scene.during = during
    scene.handle()
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


def test_nothing_begins_on_a_limit_that_was_read_more_than_a_second_ago() -> None:
    scene = flow(1)
    scene.put(*triggers(5))
    reads: list[int] = []
    scene.announce = lambda call: reads.append(scene.clock.time) if call == "before policies.get" else None
    ages: list[int] = []

    def during(*_: object) -> bool:
        ages.append(scene.clock.time - scene.request_ms - reads[-1])
        scene.clock.time += 1_500
        return True

    scene.during = during
    scene.handle()
    assert max(ages) < 1_000


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


# ---- crashes


def test_the_triggers_of_a_function_that_crashed_count_that_and_stand_alone() -> None:
    scene = flow(8)
    scene.put(*triggers(3))
    lease(scene, NOON + 100)
    scene.clock.time = NOON + 101
    sizes: list[int] = []

    def during(*_: object) -> bool:
        sizes.extend(len(each.messages) for each in scene.entries())
        return True

    scene.during = during
    scene.handle()
    assert [each.crashes for each in scene.delivered] == [1, 1, 1]
    assert set(sizes) == {1}
    assert scene.entries() == []


def test_what_another_function_has_leased_is_left_alone_until_its_time_is_over() -> None:
    scene = flow()
    scene.put(*triggers(2))
    lease(scene, NOON + HOLDER_MS)
    scene.handle()
    assert scene.delivered == []
    scene.clock.time = NOON + HOLDER_MS + 1
    scene.handle()
    assert len(scene.delivered) == 2


def test_a_trigger_with_which_two_functions_have_crashed_is_delivered_alone() -> None:
    scene = flow(40)
    suspect = trigger_message(NOON + 1, crashes=2)
    scene.put(suspect, source="suspect")
    for number in (0, 2, 3):
        scene.put(trigger_message(NOON + number))
    opened: list[TriggerMessage] = []
    beside: list[list[TriggerMessage]] = []

    def during(message: TriggerMessage, _: Permit) -> bool:
        opened.append(message)
        scene.others_work()
        beside.append(list(opened))
        opened.remove(message)
        return True

    scene.during = during
    scene.handle()
    scene.run(60)
    assert len(scene.delivered) == 4
    assert [each for each in beside if suspect in each] == [[suspect]]


def test_a_function_that_waits_to_deliver_a_trigger_alone_reads_its_line_now_and_then() -> None:
    scene = flow(40)
    scene.put(*triggers(1))
    scene.put(trigger_message(NOON + 1, crashes=2))
    lasting(scene)
    reads: list[str] = []
    scene.announce = lambda call: reads.append(call) if call == "before lines.top" else None
    scene.handle()
    assert len(reads) <= 2 * TURN_MS // LINE_LOOK_MS


# ---- other lines


def test_a_function_with_an_empty_line_takes_what_waits_at_another_gate() -> None:
    scene = flow(64)
    scene.put(*triggers(5), gate=1)
    scene.handle()
    assert len(scene.delivered) == 5
    assert scene.entries() == []
    assert (scene.gate(0).used, scene.gate(1).used) == (0, 0)


def test_a_function_looks_first_at_the_line_that_its_baton_names() -> None:
    scene = flow(320)
    scene.put(*triggers(5), gate=7)
    scene.handle()
    assert scene.delivered == []
    scene.handle(BATON._replace(hint=7))
    assert len(scene.delivered) == 5


def test_older_entries_of_another_line_go_before_own_ones() -> None:
    scene = flow(64)
    scene.request_ms = 300
    scene.put(*triggers(40, NOON), gate=0)
    scene.put(*triggers(5, NOON - 60_000), gate=1)
    scene.handle()
    stolen = [place for place, each in enumerate(scene.delivered) if each.trigger.due_at < NOON]
    assert len(stolen) == 5
    assert max(stolen) < 30


def test_more_than_a_function_can_take_is_called_for_at_a_gate_with_free_slots() -> None:
    scene = flow(64)
    scene.put(*triggers(400))
    scene.hold(22)
    scene.handle()
    first = scene.sent("baton")[0]
    assert (first.gate, first.hint) == (1, 0)


def test_more_than_a_function_can_take_is_called_for_at_its_own_gate_first() -> None:
    scene = flow(32)
    scene.put(*triggers(400))
    scene.handle()
    assert (scene.sent("baton")[0].gate, scene.sent("baton")[0].hint) == (0, None)


def test_what_was_taken_from_another_line_goes_back_there_with_a_mark_when_the_time_is_up() -> None:
    scene = flow(64)
    scene.request_ms = 900
    scene.put(*triggers(20), gate=1)
    scene.handle()
    assert 0 < len(scene.waiting(1)) < 20
    assert all(each.owner is None for each in scene.entries(1))
    assert scene.gate(1).queues
    assert {each.gate for each in scene.sent("baton")} == {0, 1}


# ---- what a delivery returns


def test_a_trigger_that_has_to_wait_elsewhere_stands_there_before_its_entry_goes() -> None:
    scene = flow()
    scene.put(*triggers(2))
    waits = trigger_message(NOON + 60_000, attempt=2)

    def during(message: TriggerMessage, _: Permit) -> bool | LineWait:
        return LineWait(OTHER, "high", waits) if message.trigger.due_at == NOON else True

    scene.during = during
    found: list[str] = []
    scene.announce = lambda call: found.append(call.removeprefix("before "))
    scene.handle()
    assert found.index("lines.put") < found.index("consumer.flush")
    [(name, entry)] = scene.lines.everything()
    assert (name.policy, entry.priority, entry.messages) == (OTHER, "high", (waits,))


def test_an_asynchronous_run_keeps_its_slot_after_the_function_has_left() -> None:
    scene = flow(1)
    scene.put(*triggers(1))
    scene.during = lambda _, permit: permit.keep(NOON + 900_000)
    scene.handle()
    [(token, holder)] = scene.gate().holders.items()
    assert holder == Holder(1, NOON + 900_000)
    assert scene.gate().used == 1
    scene.gates().end_run(trigger_message().trigger.key, PermitName("mailer", 0, token))
    assert scene.gate().used == 0


def test_any_answer_but_an_accepting_one_gives_the_slot_back_and_calls_for_what_waits() -> None:
    scene = flow(1)
    scene.put(*triggers(2))

    def during(_: TriggerMessage, permit: Permit) -> bool:
        assert permit.keep(NOON + 900_000)
        permit.free()
        return True

    scene.during = during
    scene.run(0)
    scene.handle()
    scene.run(10)
    assert len(scene.delivered) == 2
    assert (scene.gate().used, scene.entries()) == (0, [])


# ---- rates


def test_a_rate_is_kept_and_a_function_without_tokens_leaves_a_baton_for_the_next_one() -> None:
    scene = flow(8, rate=Rate(10, 1_000))
    scene.request_ms = 1
    scene.put(*triggers(30))
    times: list[int] = []

    def during(*_: object) -> bool:
        times.append(scene.clock.time)
        return True

    scene.during = during
    scene.handle()
    scene.run(60)
    assert len(times) == 30
    assert min(after - before for before, after in zip(times, times[10:], strict=False)) >= 1_000
    assert times[-1] - times[0] <= 3_600


def test_a_slow_rate_costs_a_message_for_each_token_and_no_more() -> None:
    scene = flow(8, rate=Rate(1, 60_000))
    scene.put(*triggers(5))
    scene.handle()
    scene.run(600)
    assert len(scene.delivered) == 5
    assert len(scene.sent("baton")) <= 12


# ---- stores that fail


def test_a_trigger_that_cannot_be_settled_stays_in_its_line() -> None:
    scene = flow()
    scene.put(*triggers(3))

    def during(*_: object) -> bool:
        raise StoreError("the run cannot be recorded")

    scene.during = during
    with pytest.raises(StoreError, match="recorded"):
        scene.handle()
    assert len(scene.waiting()) == 3
    assert scene.gate().used == 0
    scene.during = lambda *_: True
    scene.clock.time += HOLDER_MS + 1
    scene.handle()
    assert {each.trigger.due_at for each in scene.delivered} == {NOON, NOON + 1, NOON + 2}


def test_what_has_not_begun_waits_for_nobody_when_a_store_has_failed() -> None:
    scene = flow(8)
    scene.put(*triggers(30))

    def during(*_: object) -> bool:
        raise StoreError("the run cannot be recorded")

    scene.during = during
    with pytest.raises(StoreError):
        scene.handle()
    assert sum(len(each.messages) for each in scene.entries() if each.owner is None) >= 28
    assert scene.gate().queues
    assert len(scene.sent("baton")) == 1
