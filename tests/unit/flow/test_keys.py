"""The gates of a policy with `by`: each key has its own, and a list has those that wait."""

from collections.abc import Sequence

import pytest
from tests.contract.builders import NOON, job, policy, trigger_message
from tests.fakes.faults import meanwhile, slow
from tests.unit.flow.scene import BATON, GATE, KEY, LIMIT_MS, Flow, flow, spend_until, stored, triggers

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.base.timing import CLOCK_SKEW_MAX_MS, GUARD_MS
from sweephand.model.definition import Definition
from sweephand.model.gate import GateChange, GateName, Swap, WaitingGate, guard_id
from sweephand.model.gate_line import entries_of
from sweephand.model.gate_message import GateMessage
from sweephand.model.job import JobKey
from sweephand.model.policy import Rate
from sweephand.model.trigger import TriggerMessage

ACME = GATE._replace(key="label:tenant:acme")
ZULU = GATE._replace(key="label:tenant:zulu")
NONE = GATE._replace(key="label:tenant:")
CHANGE = BATON._replace(purpose="change", gate=0)
GUARD = guard_id(NOON, "first")


def keyed(limit: int | None = 1, by: str | None = "label:tenant", rate: Rate | None = None) -> Flow:
    return flow(limit, by=by, rate=rate)


def of(tenant: str, count: int = 1) -> list[TriggerMessage]:
    """Triggers of a job whose name is that of its tenant."""
    key = JobKey("default", tenant or "none")
    return [each._replace(trigger=each.trigger._replace(key=key)) for each in triggers(count)]


def jobs(*tenants: str) -> dict[JobKey, Definition]:
    written = job().definition.written
    return {
        JobKey("default", each or "none"): Definition({**written, "labels": {"tenant": each} if each else {}})
        for each in tenants
    }


def enqueue(scene: Flow, *messages: TriggerMessage) -> None:
    known = jobs("acme", "zulu", "")
    scene.gates().enqueue(KEY, "normal", messages, "source", known)


def replaced(scene: Flow, limit: int, by: str | None) -> None:
    """Write another policy, without a message."""
    version = scene.ids.token()
    assert scene.policies.put(policy(limit, version=version, by=by), stored(scene).version)


def listed(scene: Flow) -> Sequence[WaitingGate]:
    return scene.store.waiting(KEY, "", 1_000).items


def names(scene: Flow) -> list[GateName]:
    return sorted(name for name, _ in scene.lines.everything())


# ---- who waits


def test_triggers_of_one_call_go_into_the_lines_of_their_keys() -> None:
    scene = keyed()
    enqueue(scene, *of("acme", 3), *of("zulu", 2), *of(""))
    found = {name: entry.messages for name, entry in scene.lines.everything()}
    assert {name: len(messages) for name, messages in found.items()} == {ACME: 3, ZULU: 2, NONE: 1}
    assert {each.name for each in scene.sent("baton")} == {ACME, ZULU, NONE}


def test_each_key_has_the_whole_limit_by_itself() -> None:
    scene = keyed(2)
    enqueue(scene, *of("acme", 5), *of("zulu", 5))
    acme, zulu = (scene.gates().take(each, stored(scene)) for each in (ACME, ZULU))
    assert acme is not None
    assert zulu is not None
    assert [scene.store.get(each).used for each in (ACME, ZULU, GATE)] == [1, 1, 0]


def test_a_function_delivers_what_waits_under_the_key_of_its_baton_alone() -> None:
    scene = keyed()
    enqueue(scene, *of("acme", 2), *of("zulu", 2))
    assert scene.handle(BATON._replace(key=ACME.key)) == "served"
    assert {each.trigger.key.name for each in scene.delivered} == {"acme"}
    assert names(scene) == [ZULU]


def test_a_permit_names_the_key_so_that_the_end_of_a_run_finds_its_gate() -> None:
    scene = keyed()
    enqueue(scene, *of("acme", 1))
    found = []

    def during(_: TriggerMessage, permit: object) -> bool:
        found.append(permit.name)  # type: ignore[attr-defined]
        return permit.keep(NOON + 900_000)  # type: ignore[attr-defined, no-any-return]

    scene.during = during
    scene.handle(BATON._replace(key=ACME.key))
    assert scene.store.get(ACME).used == 1
    scene.clock.time = NOON + 200_000
    scene.gates().end_run(JobKey("default", "acme"), found[0])
    assert scene.store.get(ACME).used == 0


def test_each_key_has_a_rate_of_its_own() -> None:
    scene = keyed(5, rate=Rate(1, MINUTE_MS))
    spend_until(scene.store, ACME, Rate(1, MINUTE_MS), NOON + 50_000)
    spent = scene.store.get(ACME)
    enqueue(scene, *of("acme"), *of("zulu"))
    assert {each.name: each.not_before for each in scene.sent("baton")} == {ACME: NOON + 49_700, ZULU: NOON}
    assert scene.handle(BATON._replace(key=ZULU.key)) == "served"
    assert scene.store.get(ACME).last_us == spent.last_us
    assert scene.store.get(GATE).last_us == 0


# ---- the list of those that wait


def test_a_key_is_listed_once_its_guard_is_stored_and_nobody_else_is() -> None:
    scene = keyed()
    calls: list[str] = []
    scene.announce = lambda call: calls.append(call.removeprefix("before "))
    enqueue(scene, *of("acme"))
    assert [each for each in calls if each.startswith("gates.")][:3] == [
        "gates.get", "gates.change", "gates.enlist",
    ]  # fmt: skip
    assert listed(scene) == (WaitingGate(ACME, scene.store.get(ACME).guard or ""),)
    calls.clear()
    enqueue(scene, *of("acme", 2))
    assert "gates.enlist" not in calls


def test_a_policy_without_by_lists_nobody() -> None:
    scene = flow(1)
    scene.gates().enqueue(KEY, "normal", triggers(3), "source")
    scene.run(600)
    assert scene.delivered
    assert not listed(scene)


def test_a_function_whose_guard_was_not_stored_lists_nothing() -> None:
    scene = keyed()
    enqueue(scene, *of("acme"))
    before = listed(scene)
    scene.clock.time += 1_000
    scene.gates().begin_guard(ACME)
    assert listed(scene) == before


def test_a_key_is_not_listed_any_more_once_its_line_was_found_empty() -> None:
    scene = keyed()
    enqueue(scene, *of("acme", 2))
    scene.run(100)
    assert len(scene.delivered) == 2
    assert len(listed(scene)) == 1
    scene.run(GUARD_MS // SECOND_MS)
    assert listed(scene) == ()
    assert scene.store.get(ACME).guard is None


def guarded(guard: str | None = GUARD, entries: int = 1, is_listed: str | None = GUARD) -> Flow:
    scene = keyed()
    if guard is not None:
        scene.store.change(ACME, GateChange(guard=Swap(None, guard), queues=True))
    if is_listed is not None:
        scene.store.enlist(WaitingGate(ACME, is_listed))
    for entry in entries_of(of("acme", entries), "normal", "source"):
        scene.lines.put(ACME, entry)
    scene.clock.time = NOON + GUARD_MS
    scene.queue.sent.clear()
    return scene


MESSAGE = BATON._replace(purpose="guard", guard=GUARD, key=ACME.key)
WAKE = MESSAGE._replace(purpose="wake")
NEXT = guard_id(NOON, "next")
LATER = guard_id(NOON + 5, "later")


def test_a_guard_lists_its_key_before_anything_else_and_hands_its_place_on() -> None:
    scene = guarded(is_listed=None)
    scene.handle(MESSAGE)
    [place] = listed(scene)
    assert place == WaitingGate(ACME, GUARD)
    following = scene.store.get(ACME).guard
    assert following is not None
    assert WaitingGate(ACME, following).place == place.place


def test_a_guard_leaves_the_place_of_the_guard_that_follows_it() -> None:
    scene = guarded(guard=NEXT, is_listed=NEXT)
    assert scene.handle(MESSAGE) == "other"
    assert listed(scene) == (WaitingGate(ACME, NEXT),)


def test_a_guard_removes_its_own_place_when_a_later_one_looks_after_the_gate() -> None:
    scene = guarded(guard=LATER)
    scene.store.enlist(WaitingGate(ACME, LATER))
    assert scene.handle(MESSAGE) == "other"
    assert listed(scene) == (WaitingGate(ACME, LATER),)


def test_a_place_that_another_guard_has_written_is_not_removed() -> None:
    scene = guarded(entries=0, is_listed=NEXT)
    scene.store.change(ACME, GateChange(guard=Swap(GUARD, None)))
    scene.handle(MESSAGE)
    assert listed(scene) == (WaitingGate(ACME, NEXT),)


def test_a_guard_that_finds_none_and_entries_begins_one_with_a_place_of_its_own() -> None:
    scene = guarded(guard=None)
    scene.handle(MESSAGE)
    [place] = listed(scene)
    assert (place.guard, place.since) == (scene.store.get(ACME).guard, NOON + GUARD_MS)


@pytest.mark.parametrize("guard", [None, GUARD])
def test_a_wake_up_takes_the_place_of_the_guard_that_it_names(guard: str | None) -> None:
    scene = guarded(guard=guard, entries=0)
    scene.handle(WAKE)
    [place] = listed(scene)
    assert place.guard == scene.store.get(ACME).guard == scene.sent("guard")[0].guard
    assert place.since == NOON


def test_a_wake_up_that_comes_second_leaves_the_place_of_the_guard_that_follows() -> None:
    scene = guarded()
    following = GateChange(guard=Swap(GUARD, NEXT))
    meanwhile(scene, "before gates.change", lambda: scene.store.change(ACME, following))
    scene.handle(WAKE)
    assert scene.store.get(ACME).guard == NEXT
    assert listed(scene) == (WaitingGate(ACME, GUARD),)


def test_a_wake_up_for_a_place_that_was_left_over_removes_it() -> None:
    scene = guarded(guard=LATER)
    scene.handle(WAKE)
    assert listed(scene) == ()
    assert scene.store.get(ACME).guard == LATER


# ---- changes


def test_a_change_wakes_each_key_that_waits_and_calls_the_others_of_its_gates() -> None:
    scene = keyed(1)
    enqueue(scene, *of("acme"), *of("zulu"))
    replaced(scene, 40, "label:tenant")
    scene.queue.sent.clear()
    assert scene.handle(CHANGE) == "changed"
    waking = {each.name: each.guard for each in scene.sent("wake")}
    assert waking == {each.name: each.guard for each in listed(scene)}
    assert waking.keys() == {ACME, ZULU}
    assert {each.name for each in scene.sent("baton")} == {
        GATE,
        *(each._replace(number=1) for each in (ACME, ZULU)),
    }


def test_a_change_of_many_keys_goes_on_in_another_message() -> None:
    scene = keyed()
    waiting = [WaitingGate(GATE._replace(key=f"job:{each}"), guard_id(NOON, "g")) for each in range(250)]
    for each in waiting:
        scene.store.enlist(each)
    rounds, message = 0, CHANGE
    while True:
        rounds += 1
        scene.handle(message, limit_ms=SECOND_MS)
        following = scene.sent("change")
        if len(following) < rounds:
            break
        message = following[-1]
    assert rounds == 3
    assert sorted(each.name for each in scene.sent("wake")) == sorted(each.name for each in waiting)
    assert [each.name for each in scene.sent("baton")] == [GATE], "of the first message alone"


@pytest.mark.parametrize(("limit", "send_ms"), [(1, 140), (320, 140), (320, 800)])
def test_a_change_comes_to_its_end_however_slow_the_queue_is(limit: int, send_ms: int) -> None:
    """A function that its time limit ends would begin where it has begun."""
    scene = keyed(limit)
    for each in range(1_000):
        scene.store.enlist(WaitingGate(GATE._replace(key=f"job:{each}"), guard_id(NOON, "g")))
    slow(scene, send_ms, "after queue.send")
    message: GateMessage | None = CHANGE
    while message is not None:
        scene.queue.sent.clear()
        began_at = scene.clock.time
        scene.handle(message)
        assert scene.clock.time - began_at < LIMIT_MS
        message = next(iter(scene.sent("change")), None)


def test_a_change_leaves_keys_alone_that_were_listed_long_after_it() -> None:
    scene = keyed()
    scene.clock.time = NOON + 10 * MINUTE_MS
    late = guard_id(NOON + CLOCK_SKEW_MAX_MS + 1, "g")
    scene.store.enlist(WaitingGate(ACME, late))
    scene.handle(CHANGE)
    assert not scene.sent("wake")


def test_under_another_by_what_waits_goes_to_the_delivery_function() -> None:
    scene = keyed()
    messages = of("acme", 2)
    enqueue(scene, *messages)
    replaced(scene, 1, "job")
    assert stored(scene).share_at(ACME) == 0
    assert scene.handle(BATON._replace(key=ACME.key)) == "forwarded"
    assert [each for _, each in scene.deliveries.waiting] == messages
    assert not scene.lines.everything()


def test_what_waits_without_a_key_goes_to_the_delivery_function_when_the_policy_gets_by() -> None:
    scene = flow(1)
    scene.put(*triggers(2))
    replaced(scene, 1, "job")
    assert scene.handle(BATON) == "forwarded"
    assert [each for _, each in scene.deliveries.waiting] == triggers(2)


def test_what_came_while_a_policy_was_missing_goes_on_when_it_is_created_with_by() -> None:
    scene = Flow()
    scene.gates().enqueue(KEY, "normal", triggers(2), "source")
    scene.policies.put(policy(1, by="job"), None)
    scene.queue.waiting.clear()
    assert scene.handle(CHANGE) == "changed"
    scene.run(10)
    assert [each for _, each in scene.deliveries.waiting] == triggers(2)


def test_a_function_leaves_the_gate_of_a_former_by_within_a_second() -> None:
    scene = keyed()
    enqueue(scene, *of("acme", 30))

    def during(*_: object) -> bool:
        if stored(scene).by != "job":
            replaced(scene, 1, "job")
        return True

    scene.during = during
    scene.handle(BATON._replace(key=ACME.key))
    assert len(scene.delivered) <= 11
    assert scene.store.get(ACME).used == 0


def test_whoever_puts_an_entry_at_a_gate_of_a_former_by_calls_there() -> None:
    scene = keyed()
    scene.gates().put(GATE._replace(key="job:acme"), stored(scene), "normal", of("acme"), "source")
    assert [each.key for each in scene.sent("baton")] == ["job:acme"]


def test_an_entry_of_a_gate_without_a_share_goes_to_another_gate_of_its_key() -> None:
    scene = keyed(1)
    lower = ACME._replace(number=3)
    scene.gates().put(lower, None, "normal", of("acme", 2), "source")
    assert scene.handle(BATON._replace(key=ACME.key, gate=3)) == "forwarded"
    assert {name: len(entry.messages) for name, entry in scene.lines.everything()} == {ACME: 2}


def test_an_early_message_keeps_its_key_and_its_place() -> None:
    scene = keyed()
    early = CHANGE._replace(not_before=NOON + 5_000, after="place", key=ACME.key)
    assert scene.handle(early) == "early"
    assert [each for each, _ in scene.queue.sent] == [early]


def test_a_trigger_without_its_definition_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(KeyError):
        keyed().gates().enqueue(KEY, "normal", [trigger_message()], "source")
