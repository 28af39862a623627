"""What the flow function does with a message that it cannot handle (runs/flow_intake.py)."""

import json

import pytest
from tests.fakes.faults import failing, working
from tests.fakes.policies import GATE, KEY, call, let_wait, waiting, world_with
from tests.fakes.world import NOON, World

from sweephand.base.timing import NEWER_MS
from sweephand.model.gate import GateChange
from sweephand.model.gate_message import GateMessage
from sweephand.model.trigger import NewerMessage
from sweephand.runs.flow_intake import Worked
from sweephand.runs.received import Received

BATON = GateMessage("baton", *KEY, 0, NOON)


def handle(world: World, body: str) -> Worked:
    intake = world.flow_intake(world.deliveries())
    return intake.handle(Received("1", "receipt", 1, body), deadline=world.clock.time + 90_000)


def test_a_message_of_a_newer_version_is_sent_again_as_it_is_however_often_it_comes() -> None:
    world, newer = World(), json.dumps({"v": 99, "kind": "gate"})
    for _ in range(2):
        worked = handle(world, newer)
        assert (worked.outcome, worked.is_done, len(worked.errors)) == ("newer", True, 1)
    assert world.flow_queue.sent == [(NewerMessage(newer), NEWER_MS)] * 2


def test_poison_is_buried_with_the_reason(world: World) -> None:
    worked = handle(world, '{"v":1,"kind":"gate"}')
    assert (worked.outcome, worked.is_done, len(worked.errors)) == ("buried", True, 1)
    [buried] = world.queue.buried
    assert "kind" in str(buried) or "for" in str(buried)


@pytest.mark.parametrize(
    ("body", "port"),
    [('{"v":99}', "flow_queue.send"), ("{}", "queue.bury")],
)
def test_a_message_that_can_neither_be_sent_again_nor_buried_comes_again(body: str, port: str) -> None:
    world = World()
    failing(world, port)
    worked = handle(world, body)
    assert (worked.outcome, worked.is_done) == ("fault", False)


def test_a_message_whose_gate_cannot_be_read_comes_again_and_stops_no_other() -> None:
    world = world_with()
    failing(world, "policies.get")
    worked = world.work_off(BATON)
    assert (worked.outcome, worked.is_done, worked.namespace) == ("fault", False, "ns")
    working(world)
    assert world.work_off(BATON).outcome == "served"


def test_a_guard_is_acknowledged_by_its_receipt_as_soon_as_another_one_is_stored() -> None:
    world = world_with()
    world.put(dueTime="10s", policy="mailer")
    let_wait(world, NOON + 11_000)
    assert waiting(world)
    guard = world.gates.get(GATE).guard
    assert guard is not None
    world.work_off(BATON._replace(purpose="guard", guard=guard))
    assert world.flow_queue.acknowledged == ["flow"]
    assert world.consumers.times == [NOON + 11_000]


def test_what_became_of_the_triggers_of_a_turn_is_counted_and_kept_for_the_log() -> None:
    world = world_with(1)
    for number in range(3):
        world.put(f"job-{number}", dueTime="10s", policy="mailer")
    let_wait(world, NOON + 11_000)
    failing(world, "runs.record", times=1)
    world.gates.change(GATE, GateChange(removes_baton=True))
    call(world)
    worked = world.work_off(BATON)
    assert worked.open_max == 1
    assert sum(worked.triggers.values()) >= 1
    assert worked.namespace == "ns"
