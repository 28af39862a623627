"""What functions do with gates: enqueue, call, take slots, give them back (flow/gates.py)."""

from unittest.mock import patch

import pytest
from tests.contract.builders import NOON, policy
from tests.fakes.faults import failing
from tests.unit.flow.scene import GATE, KEY, Flow, flow, spend_until, stored, triggers

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS
from sweephand.base.timing import GUARD_MS, HOLDER_MS, QUEUE_DELAY_MAX_MS
from sweephand.model.gate import Baton, Changed, Gate, GateChange, GateName, Holder
from sweephand.model.gate_message import GateMessage
from sweephand.model.job import JobKey
from sweephand.model.policy import PermitName, Policy, Rate


def calls(scene: Flow) -> list[str]:
    """The writes from now on."""
    found: list[str] = []

    def note(call: str) -> None:
        if call.startswith("before") and not call.endswith((".get", ".top")):
            found.append(call.removeprefix("before "))

    scene.announce = note
    return found


# ---- what waits


def test_an_entry_stands_before_the_gate_is_read_and_a_guard_is_sent_before_it_is_stored() -> None:
    scene = flow()
    found: list[str] = []
    scene.announce = found.append
    scene.gates().enqueue(KEY, "high", triggers(5), "source")
    assert [each.removeprefix("before ") for each in found if each.startswith("before")] == [
        "policies.get",
        "lines.put",
        "lines.put",
        "gates.get",
        "queue.send",
        "gates.change",
        "gates.change",
        "queue.send",
    ]
    [(guard, delay_ms), (baton, _)] = scene.queue.sent
    assert isinstance(guard, GateMessage)
    assert (guard.purpose, guard.guard, delay_ms) == ("guard", scene.gate().guard, GUARD_MS)
    assert baton == GateMessage("baton", *KEY, 0, NOON)
    assert (scene.gate().queues, scene.gate().baton is not None) == (True, True)
    assert {each.priority for each in scene.entries()} == {"high"}


@pytest.mark.parametrize(("limit", "sizes"), [(1, [3, 3, 3, 3, 3]), (8, [6, 6, 3]), (40, [15])])
def test_entries_of_a_small_limit_are_small(limit: int, sizes: list[int]) -> None:
    scene = flow(limit)
    scene.gates().enqueue(KEY, "normal", triggers(15), "source")
    assert [len(each.messages) for each in scene.entries()] == sizes


def test_a_call_that_is_repeated_writes_nothing_twice() -> None:
    scene = flow()
    for _ in range(2):
        scene.gates().enqueue(KEY, "normal", triggers(5), "source")
    assert len(scene.waiting()) == 5
    assert (len(scene.sent("guard")), len(scene.sent("baton"))) == (1, 1)


def test_nothing_is_called_where_every_slot_is_in_use_and_one_guard_looks_after_the_line() -> None:
    scene = flow(4)
    scene.hold(4)
    for number in range(3):
        scene.gates().enqueue(KEY, "normal", triggers(1, NOON + number), "source")
    assert (len(scene.sent("guard")), scene.sent("baton")) == (1, [])
    assert scene.gate().queues


def test_a_gate_that_has_a_guard_but_does_not_queue_is_marked() -> None:
    scene = flow(4)
    scene.store.change(GATE, GateChange(guard_if_absent="guard"))
    scene.hold(4)
    scene.gates().enqueue(KEY, "normal", triggers(1), "source")
    assert scene.gate() == Gate(4, scene.gate().holders, "guard", queues=True)
    assert scene.queue.sent == []


def test_slots_that_came_free_while_the_guard_was_sent_are_seen() -> None:
    scene = flow(4)
    scene.hold(4)

    def meanwhile(call: str) -> None:
        if call == "after queue.send" and scene.gate().used:
            scene.give_back()

    scene.announce = meanwhile
    scene.gates().enqueue(KEY, "normal", triggers(1), "source")
    assert len(scene.sent("baton")) == 1


def test_a_message_with_crashes_calls_though_a_baton_seems_to_be_under_way() -> None:
    scene = flow()
    scene.store.change(GATE, GateChange(guard_if_absent="guard", queues=True, baton=Baton(NOON, "lost")))
    scene.gates().enqueue(KEY, "normal", triggers(1), "source")
    assert scene.queue.sent == []
    scene.gates().enqueue(KEY, "normal", triggers(1, crashes=1), "source")
    assert len(scene.sent("baton")) == 1


def test_triggers_of_a_missing_policy_wait_at_its_first_gate_with_a_guard() -> None:
    scene = Flow()
    scene.gates().enqueue(KEY, "normal", triggers(30), "source")
    assert [len(each.messages) for each in scene.entries(0)] == [20, 10]
    assert (len(scene.sent("guard")), scene.sent("baton")) == (1, [])


@pytest.mark.parametrize(
    ("made", "fraction", "gate"),
    [
        (policy(32), 0.99, 0),
        (policy(40), 0.79, 0),
        (policy(40), 0.81, 1),
        (policy(100), 0.5, 1),
        (policy(100), 0.97, 3),
        (policy(None, rate=Rate(600, 1_000)), 0.49, 0),
        (policy(None, rate=Rate(600, 1_000)), 0.51, 1),
    ],
)
def test_a_newcomer_chooses_a_gate_as_likely_as_its_share_is_large(
    made: Policy, fraction: float, gate: int
) -> None:
    scene = Flow()
    scene.policies.put(made, None)
    with patch.object(scene.ids, "fraction", lambda: fraction):
        scene.gates().enqueue(KEY, "normal", triggers(1), "source")
    assert [name.number for name, _ in scene.lines.everything()] == [gate]


def test_an_entry_that_cannot_be_written_is_an_error_and_nothing_else_happens() -> None:
    scene = flow()
    failing(scene, "lines.put")
    with pytest.raises(StoreError):
        scene.gates().enqueue(KEY, "normal", triggers(1), "source")
    assert (scene.queue.sent, scene.gate()) == ([], Gate())


# ---- calls


def test_one_baton_is_under_way_at_a_time_and_the_gate_knows_of_it_before_it_is_sent() -> None:
    scene = flow()
    found = calls(scene)
    gates = scene.gates()
    for _ in range(3):
        gates.call(GATE, stored(scene))
    assert found == ["gates.change", "queue.send", "gates.change", "gates.change"]
    gates.call(GATE, stored(scene), again=True, hint=2)
    assert [each.hint for each in scene.sent("baton")] == [None, 2]


def test_a_call_under_a_rate_comes_when_a_token_is_near() -> None:
    scene = flow(4, rate=Rate(1, 60_000))
    spend_until(scene.store, GATE, Rate(1, 60_000), NOON + 63_000)
    scene.gates().call(GATE, stored(scene))
    [(baton, delay_ms)] = scene.queue.sent
    assert isinstance(baton, GateMessage)
    assert (baton.not_before, delay_ms) == (NOON + 62_700, 62_700)
    assert scene.gate().baton == Baton(NOON + 62_700, "0000000000000001")


def test_a_message_for_a_distant_instant_is_sent_with_the_longest_delay_of_sqs() -> None:
    scene = flow()
    scene.gates().send("baton", GATE, NOON + 10_000_000)
    scene.gates().send("baton", GATE, NOON - 1)
    assert [delay_ms for _, delay_ms in scene.queue.sent] == [QUEUE_DELAY_MAX_MS, 0]


# ---- slots


def test_slots_are_taken_and_the_mark_of_the_baton_removed_in_one_write() -> None:
    scene = flow(40)
    scene.store.change(GATE, GateChange(baton=Baton(NOON, "baton")))
    found = calls(scene)
    slots = scene.gates().take(GATE, stored(scene))
    assert slots is not None
    assert found == ["gates.change"]
    assert scene.gate() == Gate(10, {slots.token: Holder(10, NOON + HOLDER_MS)})


@pytest.mark.parametrize(
    ("limit", "used", "taken"), [(4, 0, 1), (40, 25, 7), (40, 32, 0), (12, 9, 3), (12, 20, 0)]
)
def test_a_function_takes_no_more_than_its_part_and_what_is_free(limit: int, used: int, taken: int) -> None:
    scene = flow(limit)
    scene.hold(used)
    scene.store.change(GATE, GateChange(baton=Baton(NOON, "baton")))
    slots = scene.gates().take(GATE, stored(scene))
    assert (0 if slots is None else slots.size) == taken
    assert scene.gate().used == used + taken
    assert scene.gate().baton is None, "whoever gives back a slot may call"


def test_slots_that_come_free_while_the_mark_is_removed_are_taken() -> None:
    scene = flow(4)
    scene.hold(4)
    scene.store.change(GATE, GateChange(baton=Baton(NOON, "this one")))

    def meanwhile(call: str) -> None:
        if call == "before gates.change" and scene.gate().used:
            scene.give_back()

    scene.announce = meanwhile
    assert scene.gates().take(GATE, stored(scene)) is not None


def test_a_slot_that_another_function_takes_first_is_not_taken_as_well() -> None:
    scene = flow(4)

    def meanwhile(call: str) -> None:
        if call == "before gates.change" and not scene.gate().used:
            scene.hold(4)

    scene.announce = meanwhile
    assert scene.gates().take(GATE, stored(scene)) is None
    assert scene.gate().used == 4


def test_a_function_that_others_overtake_again_and_again_sends_its_baton_again() -> None:
    scene = flow(4)
    scene.store.change(GATE, GateChange(baton=Baton(NOON, "baton")))
    with patch.object(
        type(scene.store), "change", lambda store, name, _: Changed(store.get(name), is_made=False)
    ):
        assert scene.gates().take(GATE, stored(scene)) is None
    assert len(scene.sent("baton")) == 1
    assert scene.gate().baton is not None, "the mark of the baton that comes again"


def test_the_slots_of_a_function_that_crashed_are_taken_when_its_time_is_over() -> None:
    scene = flow(4)
    scene.hold(4, until=NOON + 100)
    assert scene.gates().take(GATE, stored(scene)) is None
    scene.clock.time = NOON + 101
    assert scene.gates().take(GATE, stored(scene)) is not None
    assert scene.gate().used == 1


@pytest.mark.parametrize("queues", [False, True])
def test_the_end_of_an_asynchronous_run_calls_where_something_waits(*, queues: bool) -> None:
    scene = flow(4)
    scene.hold(4, "run")
    scene.store.change(GATE, GateChange(queues=queues))
    for _ in range(2):
        scene.gates().end_run(JobKey("default", "job"), PermitName("mailer", 0, "run"))
    assert scene.gate().used == 0
    assert len(scene.sent("baton")) == queues


def test_the_end_of_a_run_calls_at_a_gate_of_a_missing_policy_too() -> None:
    scene = Flow()
    scene.hold(1, "run", gate=2)
    scene.store.change(GateName(KEY, 2), GateChange(queues=True))
    scene.gates().end_run(JobKey("default", "job"), PermitName("mailer", 2, "run"))
    assert [each.gate for each in scene.sent("baton")] == [2]


def test_the_end_of_a_run_calls_nobody_while_the_policy_is_paused() -> None:
    scene = flow(4, paused_at=NOON)
    scene.hold(1, "run")
    scene.store.change(GATE, GateChange(queues=True))
    scene.gates().end_run(JobKey("default", "job"), PermitName("mailer", 0, "run"))
    assert (scene.gate().used, scene.sent("baton")) == (0, [])


def test_triggers_of_a_paused_policy_wait_at_a_gate_of_its_limit_with_a_guard() -> None:
    scene = flow(64, paused_at=NOON)
    with patch.object(scene.ids, "fraction", lambda: 0.99):
        scene.gates().enqueue(KEY, "normal", triggers(1), "source")
    assert {name.number for name, _ in scene.lines.everything()} == {1}
    assert (len(scene.sent("guard")), scene.sent("baton")) == (1, [])


def test_an_entry_behind_a_baton_that_is_under_way_costs_no_write_of_the_gate() -> None:
    scene = flow(4)
    scene.gates().enqueue(KEY, "normal", triggers(1), "source")
    calls: list[str] = []
    scene.announce = calls.append
    scene.gates().enqueue(KEY, "normal", triggers(1, NOON + SECOND_MS), "source")
    assert "before lines.put" in calls
    assert "before gates.change" not in calls
    assert len(scene.sent("baton")) == 1
