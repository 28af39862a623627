"""A policy whose consumer is out of order lets its triggers wait, and probes go on (flow/breaker.py)."""

import pytest
from tests.contract.builders import NOON, job
from tests.fakes.faults import meanwhile
from tests.fakes.policies import KEY as IN_WORLD
from tests.fakes.policies import add_policy
from tests.fakes.world import World
from tests.unit.flow.scene import BATON, KEY, Flow, flow, store_job, triggers

from sweephand.base.instants import SECOND_MS
from sweephand.base.timing import GUARD_MS, POLICY_CHANGE_MS
from sweephand.flow.direct_slots import DirectSlots, take_slots
from sweephand.flow.permit import Permit
from sweephand.model.gate_message import GateMessage
from sweephand.model.policy import Breaker, Policy
from sweephand.model.trigger import LineWait, TriggerMessage

PROBE_AFTER_MS = 60 * SECOND_MS
BREAKER = Breaker(3, PROBE_AFTER_MS)


def stored(scene: Flow) -> Policy:
    policy = scene.policies.get(KEY)
    assert policy is not None
    return policy


def broken(waiting: int = 5, limit: int = 4) -> Flow:
    """A policy whose breaker has opened, so that these triggers wait."""
    scene = flow(limit, breaker=BREAKER)
    store_job(scene, "backup", KEY.name)
    scene.policies.open_breaker(KEY, "probe", NOON, NOON - PROBE_AFTER_MS)
    scene.gates().enqueue(KEY, "normal", triggers(waiting), "source")
    return scene


def direct(scene: Flow) -> DirectSlots | None:
    """The slot of a trigger that need not wait."""
    [found] = take_slots(scene.gates(), KEY, [LineWait(KEY, "normal", triggers(1)[0], job().definition)])
    return found


def probe(guard: str = "probe") -> GateMessage:
    return GateMessage("probe", *KEY, 0, NOON, guard)


# ---- how it opens


def test_it_opens_after_enough_failures_in_a_row_over_a_second_and_the_rest_waits() -> None:
    scene = flow(1, breaker=BREAKER)
    scene.request_ms = 250
    scene.is_out = True
    scene.put(*triggers(9))
    scene.handle()
    opened = stored(scene)
    assert len(scene.delivered) == 5, "after a second"
    assert (opened.broken_at, opened.failed, opened.failing_since) == (NOON + 1_300, 0, None)
    assert opened.probe_at == NOON + 1_300 + PROBE_AFTER_MS
    assert [each.guard for each in scene.sent("probe")] == [opened.probe]
    assert (len(scene.waiting()), scene.gate().used) == (4, 0)


def test_a_success_in_between_begins_the_count_anew() -> None:
    scene = flow(1, breaker=BREAKER)
    scene.request_ms = 400
    answers = iter([True, True, False] * 5)

    def during(_: TriggerMessage, permit: Permit) -> bool:
        permit.met_outage = next(answers)
        return True

    scene.during = during
    scene.put(*triggers(15))
    scene.handle()
    scene.run(10)
    assert len(scene.delivered) == 15
    assert (stored(scene).probe, stored(scene).failed) == (None, 0)


def test_a_success_of_another_function_begins_the_count_anew() -> None:
    scene = flow(1, breaker=BREAKER)
    scene.policies.count_failure(KEY, NOON - 5_000)
    scene.put(*triggers(1))
    scene.handle()
    assert stored(scene).failed == 0


def test_a_policy_without_a_breaker_counts_nothing() -> None:
    scene = flow(1)
    scene.is_out = True
    scene.put(*triggers(20))
    scene.handle()
    assert (len(scene.delivered), stored(scene).failed, scene.sent("probe")) == (20, 0, [])


def test_many_failures_within_a_second_are_few_writes() -> None:
    scene = flow(1, breaker=BREAKER)
    scene.request_ms = 10
    scene.is_out = True
    counts: list[str] = []
    scene.announce = lambda call: counts.append(call) if call == "before policies.count_failure" else None
    scene.put(*triggers(60))
    scene.handle()
    assert len(scene.delivered) == 60
    assert len(counts) == 3


def test_a_breaker_opens_by_the_failures_of_triggers_that_found_slots_at_once() -> None:
    scene = flow(1, breaker=Breaker(2, PROBE_AFTER_MS))
    for at in (NOON, NOON + 5_000):
        scene.clock.time = at
        slots = direct(scene)
        assert slots is not None
        permit = slots.take()
        assert permit is not None
        permit.met_outage = True
        slots.close(permit)
    assert stored(scene).probe is not None
    assert direct(scene) is None


# ---- while it is open


def test_nothing_leaves_while_it_is_open() -> None:
    scene = broken()
    assert scene.handle() == "forwarded"
    scene.run(0)
    assert (scene.delivered, len(scene.waiting())) == ([], 5)
    assert not scene.sent("baton"), "nobody is called in vain"


def test_a_probe_that_fails_uses_no_attempt_and_the_next_one_is_under_way() -> None:
    scene = broken()
    scene.is_out = True
    before = {each.trigger.id: each.attempt for each in scene.waiting()}
    assert scene.handle(probe()) == "served"
    assert len(scene.delivered) == 1
    assert {each.trigger.id: each.attempt for each in scene.waiting()} == before
    [sent] = scene.sent("probe")
    assert (sent.guard, sent.not_before) == (stored(scene).probe, NOON + PROBE_AFTER_MS)
    assert (scene.gate().used, scene.acknowledged) == (0, 1)


def test_a_probe_finds_what_waits_at_any_gate() -> None:
    scene = broken(waiting=0, limit=100)
    scene.put(*triggers(1), gate=3)
    scene.is_out = True
    scene.handle(probe())
    assert len(scene.delivered) == 1


@pytest.mark.parametrize("limit", [1, 100])
def test_the_first_success_lets_all_go_on(limit: int) -> None:
    scene = broken(waiting=30, limit=limit)
    scene.handle(probe())
    closed = stored(scene)
    assert (closed.probe, closed.probe_at, closed.broken_at) == (None, None, None)
    scene.run(10)
    assert (len(scene.delivered), scene.waiting()) == (30, [])


def test_a_probe_has_one_slot() -> None:
    scene = broken(waiting=30, limit=30)
    scene.is_out = True
    used: list[int] = []

    def connecting() -> None:
        used.append(scene.gate().used)
        scene.others_work()

    scene.connecting = connecting
    scene.handle(probe())
    assert (used, scene.open_max) == ([1], 1)


def test_a_probe_without_a_free_slot_waits_for_the_next_one() -> None:
    scene = broken(limit=1)
    scene.hold(1, until=NOON + 900_000)
    assert scene.handle(probe()) == "full"
    assert len(scene.sent("probe")) == 1
    assert scene.delivered == []


@pytest.mark.parametrize(("waiting", "outcome"), [(0, "empty"), (5, "rests")])
def test_probes_go_on_while_nothing_waits_and_while_the_policy_is_paused(waiting: int, outcome: str) -> None:
    scene = broken(waiting)
    if waiting:
        scene.pause()
    assert scene.handle(probe()) == outcome
    assert len(scene.sent("probe")) == 1
    assert scene.delivered == []


def test_a_probe_that_comes_twice_leaves_once() -> None:
    scene = broken()
    scene.is_out = True
    scene.handle(probe())
    assert scene.handle(probe()) == "other"
    assert (len(scene.delivered), len(scene.sent("probe"))) == (1, 1)


# ---- what was lost


def test_a_probe_that_was_lost_is_replaced_when_a_guard_comes() -> None:
    scene = broken()
    scene.clock.time = NOON + GUARD_MS
    scene.handle(BATON)
    assert not scene.sent("probe")
    scene.clock.time += 1
    scene.handle(BATON)
    assert [each.guard for each in scene.sent("probe")] == ["probe"]


def test_a_probe_that_finds_the_breaker_closed_has_each_gate_looked_after() -> None:
    scene = broken(limit=100)
    scene.policies.close_breaker(KEY)
    assert scene.handle(probe()) == "changed"
    [change] = scene.sent("change")
    assert (change.gate, change.not_before) == (4, NOON + POLICY_CHANGE_MS)


def test_a_slow_connection_of_a_probe_is_used() -> None:
    scene = broken(waiting=1)

    def connecting() -> None:
        scene.clock.time += 30_000
        scene.others_work()

    scene.connecting = connecting
    scene.handle(probe())
    assert len(scene.delivered) == 1
    assert stored(scene).probe is None


# ---- what comes between its reads and its writes


def test_a_slow_success_begins_the_count_anew_although_a_failure_came_after_its_read() -> None:
    scene = flow(4, breaker=Breaker(2, PROBE_AFTER_MS))
    slow = direct(scene)
    assert slow is not None
    permit = slow.take()
    assert permit is not None
    scene.policies.count_failure(KEY, NOON + 10_000)
    scene.clock.time = NOON + 30_000
    permit.met_outage = False
    slow.close(permit)
    assert stored(scene).failed == 0


def test_a_success_after_the_end_of_its_turn_begins_the_count_anew() -> None:
    scene = flow(1, breaker=Breaker(2, PROBE_AFTER_MS))

    def during(*_: object) -> bool:
        scene.policies.count_failure(KEY, NOON + 20_000)
        scene.clock.time = NOON + 30_000
        return True

    scene.during = during
    scene.put(*triggers(1))
    scene.handle()
    assert stored(scene).failed == 0


@pytest.mark.parametrize("probe", [None, "second"])
def test_a_write_of_a_policy_brings_no_probe_back_that_has_ended_meanwhile(probe: str | None) -> None:
    world = World()
    add_policy(world, breaker=BREAKER)
    world.policies.open_breaker(IN_WORLD, "first", NOON, NOON - PROBE_AFTER_MS)

    def ended() -> None:
        world.policies.next_probe(IN_WORLD, "second", NOON + PROBE_AFTER_MS, replacing="first")
        if probe is None:
            world.policies.close_breaker(IN_WORLD)

    meanwhile(world, "before policies.put", ended)
    world.api().policy_writer.pause(IN_WORLD, reason=None, who="me", requested_at=NOON)
    found = world.policies.get(IN_WORLD)
    assert found is not None
    assert (found.paused_at, found.probe) == (NOON, probe)
