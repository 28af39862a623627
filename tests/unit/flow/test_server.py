"""What a function does with a message about a gate (flow/server.py)."""

import pytest
from tests.contract.builders import NOON, policy
from tests.fakes.faults import failing, meanwhile
from tests.unit.flow.scene import BATON, GATE, KEY, Flow, flow, spend_until, triggers

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS
from sweephand.base.timing import GUARD_MS
from sweephand.model.gate import Baton, GateChange, GateName, Swap
from sweephand.model.gate_message import GateMessage
from sweephand.model.policy import Rate

GUARD = BATON._replace(purpose="guard", guard="guard")
WAKE = BATON._replace(purpose="wake", guard="guard")
CHANGE = BATON._replace(purpose="change")


def guarded(count: int = 1, guard: str | None = "guard", limit: int = 4) -> Flow:
    """A gate with that guard, and a line of so many triggers."""
    scene = flow(limit)
    if guard is not None:
        scene.store.change(GATE, GateChange(guard=Swap(None, guard), queues=True))
    scene.put(*triggers(count))
    return scene


@pytest.mark.parametrize("message", [BATON._replace(hint=2), GUARD, WAKE, CHANGE])
def test_an_early_message_is_sent_again_as_it_is(message: GateMessage) -> None:
    scene = guarded()
    early = message._replace(not_before=NOON + 1_000_000)
    assert scene.handle(early) == "early"
    assert scene.queue.sent == [(early, 900_000)]
    assert not scene.delivered
    assert scene.gate().guard == "guard"


def test_a_message_that_is_early_by_less_than_a_second_is_waited_for() -> None:
    scene = guarded()
    assert scene.handle(BATON._replace(not_before=NOON + 999)) == "served"
    assert scene.clock.time >= NOON + 999


# ---- guards


def test_a_guard_of_which_another_one_has_taken_the_place_does_nothing() -> None:
    scene = guarded(guard="another")
    assert scene.handle(GUARD) == "other"
    assert (scene.queue.sent, scene.delivered, scene.gate().guard) == ([], [], "another")


def test_a_guard_of_a_line_with_entries_is_followed_by_the_next_one_and_serves() -> None:
    scene = guarded()
    found: list[str] = []
    scene.announce = lambda call: found.append(call.removeprefix("before "))
    assert scene.handle(GUARD) == "served"
    assert found.index("queue.send") < found.index("gates.change"), "it is sent before it is stored"
    assert len(scene.delivered) == 1
    assert scene.acknowledged == 1
    [(following, delay_ms)] = [each for each in scene.queue.sent if each[0] in scene.sent("guard")]
    assert isinstance(following, GateMessage)
    assert (scene.gate().guard, delay_ms) == (following.guard, GUARD_MS)


def test_a_guard_looks_after_entries_that_another_function_has_leased() -> None:
    scene = guarded()
    [entry] = scene.entries()
    scene.lines.replace(GATE, entry, entry._replace(owner="other", until=NOON + 180_000, token="leased"))
    assert scene.handle(GUARD) == "served"
    assert not scene.delivered
    assert scene.gate().guard == scene.sent("guard")[0].guard


def test_a_guard_of_an_empty_line_removes_itself() -> None:
    scene = guarded(0)
    assert scene.handle(GUARD) == "empty"
    assert (scene.gate().guard, scene.queue.sent) == (None, [])
    assert scene.handle(GUARD) == "empty", "a copy of it"


def test_a_guard_that_removes_itself_sees_what_came_before_it_was_gone() -> None:
    """Who wrote that entry has seen the guard, and relies on it."""
    scene = guarded(0)

    def come(call: str) -> None:
        if call == "before gates.change" and not scene.lines.everything():
            scene.put(*triggers(1))

    scene.announce = come
    assert scene.handle(GUARD) == "served"
    assert len(scene.delivered) == 1
    assert scene.acknowledged == 1
    assert scene.gate().guard == scene.sent("guard")[0].guard


def test_a_guard_that_another_one_replaces_meanwhile_leaves_the_gate_to_it() -> None:
    scene = guarded(0)
    another = GateChange(guard=Swap("guard", "another"))
    meanwhile(scene, "before gates.change", lambda: scene.store.change(GATE, another))
    assert scene.handle(GUARD) == "other"
    assert scene.gate().guard == "another"


@pytest.mark.parametrize("count", [0, 1])
def test_a_guard_that_its_gate_does_not_know_begins_another_only_where_something_waits(count: int) -> None:
    scene = guarded(count, guard=None)
    assert scene.handle(GUARD) == ("served" if count else "empty")
    assert len(scene.sent("guard")) == count
    assert (scene.gate().guard is None) == (count == 0)


def test_a_guard_is_not_acknowledged_before_the_next_one_is_stored() -> None:
    scene = guarded()
    failing(scene, "gates.change")
    with pytest.raises(StoreError):
        scene.handle(GUARD)
    assert scene.acknowledged == 0


def test_a_guard_that_comes_again_after_a_crash_adds_no_guard() -> None:
    """It was replaced and not acknowledged: its copy finds the other one."""
    scene = guarded()
    scene.handle(GUARD)
    assert scene.handle(GUARD) == "other"
    assert len(scene.sent("guard")) == 1


@pytest.mark.parametrize(("guard", "is_replaced"), [("guard", True), (None, True), ("another", False)])
def test_a_wake_up_takes_the_place_of_the_guard_that_it_names(
    guard: str | None, *, is_replaced: bool
) -> None:
    scene = guarded(1, guard)
    assert scene.handle(WAKE) == "served"
    assert len(scene.delivered) == 1
    sent = scene.sent("guard")
    assert len(sent) == is_replaced
    assert scene.gate().guard == (sent[0].guard if is_replaced else guard)
    assert scene.acknowledged == 0, "a wake-up comes again until the gate was served"


# ---- changes


@pytest.mark.parametrize(("before", "now", "gates"), [(1, 100, 4), (4, 40, 4), (3, 65, 3), (0, 1, 1)])
def test_a_change_sends_a_baton_to_each_gate_of_both_limits(before: int, now: int, gates: int) -> None:
    scene = flow(now)
    scene.store.change(GATE, GateChange(baton=Baton(NOON, "under way")))
    assert scene.handle(CHANGE._replace(gate=before)) == "changed"
    assert scene.queue.sent == [(BATON._replace(gate=number), 0) for number in range(gates)]


def test_a_change_of_a_policy_that_is_missing_looks_after_its_former_gates() -> None:
    scene = Flow()
    assert scene.handle(CHANGE._replace(gate=2)) == "changed"
    assert [each.gate for each in scene.sent("baton")] == [0, 1]


# ---- batons


def test_a_baton_of_a_gate_without_a_share_forwards_what_waits_there() -> None:
    scene = flow(4)
    scene.put(*triggers(3), gate=1)
    assert scene.handle(BATON._replace(gate=1)) == "forwarded"
    assert (len(scene.waiting(0)), len(scene.waiting(1))) == (3, 0)
    scene.run(1)
    assert len(scene.delivered) == 3


def test_a_baton_of_a_full_gate_ends_without_a_message() -> None:
    scene = guarded()
    scene.hold(4)
    scene.store.change(GATE, GateChange(baton=Baton(NOON, "this one")))
    assert scene.handle() == "full"
    assert (scene.queue.sent, scene.delivered, scene.gate().baton) == ([], [], None)


def rated(next_ms: int) -> Flow:
    """A policy with a rate whose next token comes after so many ms, and a trigger that waits."""
    scene = flow(4, rate=Rate(1, 60_000))
    scene.put(*triggers(1))
    spend_until(scene.store, GATE, Rate(1, 60_000), NOON + next_ms)
    return scene


@pytest.mark.parametrize(
    ("baton_ms", "is_sent"), [(None, True), (30_000, False), (59_700, False), (59_701, True), (-5, True)]
)
def test_without_a_token_a_baton_comes_for_the_next_one_unless_one_is_under_way_for_that(
    baton_ms: int | None, *, is_sent: bool
) -> None:
    scene = rated(60_000)
    if baton_ms is not None:
        scene.store.change(GATE, GateChange(baton=Baton(NOON + baton_ms, "under way")))
    assert scene.handle() == "no-token"
    assert [each.not_before for each in scene.sent("baton")] == [NOON + 59_700] * is_sent
    assert not scene.delivered
    assert scene.gate().used == 0


def test_without_a_token_no_baton_is_sent_for_an_empty_line() -> None:
    scene = rated(60_000)
    scene.lines.clear()
    assert scene.handle() == "served"
    assert scene.queue.sent == []


def test_a_function_serves_when_a_token_is_near() -> None:
    scene = rated(300)
    assert scene.handle() == "served"
    assert len(scene.delivered) == 1
    assert scene.clock.time >= NOON + 300


def test_a_function_that_has_less_time_than_a_turn_leaves_earlier() -> None:
    scene = guarded(20)
    scene.request_ms = 1_000
    scene.handle(limit_ms=5_000)
    assert scene.clock.time <= NOON + 5_000
    assert len(scene.delivered) == 4, "none is begun that might not end in time"
    assert len(scene.waiting()) == 16
    assert all(each.owner is None for each in scene.entries())
    scene.run(60)
    assert len(scene.delivered) == 20


def test_messages_about_one_policy_leave_another_alone() -> None:
    scene = guarded()
    other = policy(4, key=KEY._replace(name="other"))
    scene.policies.put(other, None)
    scene.lines.put(GateName(other.key, 0), scene.entries()[0])
    assert scene.handle(BATON._replace(policy="other")) == "served"
    assert [name.policy for name, _ in scene.lines.everything()] == [KEY]


# ---- a store that is slow


@pytest.mark.parametrize("slow", ["before gates.get", "before gates.change", "after gates.change"])
def test_nothing_leaves_under_a_policy_that_was_paused_while_the_store_was_slow(slow: str) -> None:
    scene = flow(8)
    scene.put(*triggers(6))

    def paused() -> None:
        scene.pause()
        scene.clock.time += 8 * SECOND_MS

    meanwhile(scene, slow, paused)
    scene.handle()
    assert scene.delivered == []


def test_no_more_are_open_than_a_limit_that_was_lowered_while_the_store_was_slow() -> None:
    scene = flow(8)
    scene.put(*triggers(6))

    def lowered() -> None:
        scene.limit(1)
        scene.clock.time += 8 * SECOND_MS
        scene.hold(1, until=scene.clock.time + 180 * SECOND_MS)

    meanwhile(scene, "before gates.change", lowered)
    scene.handle()
    assert scene.delivered == []
