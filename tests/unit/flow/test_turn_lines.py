"""A turn at lines with entries of others: crashes, other gates, newer versions (flow/turn.py)."""

from tests.contract.builders import NOON, trigger_message
from tests.unit.flow.scene import BATON, KEY, Flow, flow, lease, triggers

from sweephand.base.timing import HOLDER_MS, LINE_LOOK_MS
from sweephand.flow.permit import Permit
from sweephand.flow.turn import TURN_MS
from sweephand.model.policy import PolicyKey
from sweephand.model.trigger import TriggerMessage

OTHER = PolicyKey("default", "other")


def lasting(scene: Flow) -> None:
    """Let the first request be open until the others of the function have ended their work."""

    def during(message: TriggerMessage, _: Permit) -> bool:
        if message == scene.delivered[0]:
            scene.others_work()
        return True

    scene.during = during


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


# ---- entries of a newer version


def test_an_entry_of_a_newer_version_stops_no_other_and_keeps_its_guard() -> None:
    scene = flow(1)
    scene.gates().enqueue(KEY, "normal", triggers(3), "source")
    scene.gates().enqueue(KEY, "normal", triggers(3, NOON + 100), "newer")
    scene.gates().enqueue(KEY, "normal", triggers(3, NOON + 200), "source")
    newer = scene.entries()[1]
    scene.lines.newer.add(newer.name)
    scene.handle()
    assert {each.trigger.due_at // 100 * 100 - NOON for each in scene.delivered} == {0, 200}
    assert scene.gate().queues
    scene.run(3_600)
    assert scene.entries() == [newer]
    assert scene.gate().guard == scene.sent("guard")[-1].guard
    assert len(scene.sent("guard")) <= 20, "one after the other"
    scene.lines.newer.clear()
    scene.run(300)
    assert (scene.entries(), len(scene.delivered)) == ([], 9)
