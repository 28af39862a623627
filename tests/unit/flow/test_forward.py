"""What waits at a gate without a share, and who may go on (flow/forward.py)."""

import pytest
from tests.contract.builders import NOON, job, trigger_message
from tests.unit.flow.scene import BATON, KEY, Flow, flow, triggers

from sweephand.base.errors import StoreError
from sweephand.model.definition import Definition
from sweephand.model.gate import Baton, GateChange, GateName
from sweephand.model.job import JobKey
from sweephand.model.trigger import Sendable, TriggerMessage

TARGET = {"type": "http", "url": "https://example.com/hook"}


def store_job(scene: Flow, name: str, policy: str | None, uid: str = "uid0000000000001") -> None:
    written = {"schedule": "@every 10s", "target": TARGET, **({} if policy is None else {"policy": policy})}
    assert scene.jobs.put(job(name, uid=uid, definition=Definition(written)), None)


def of(name: str, number: int = 0) -> TriggerMessage:
    return trigger_message(NOON + number, JobKey("default", name))


def sent(scene: Flow) -> list[Sendable]:
    return [message for _, message in scene.deliveries.waiting]


def missing_policy() -> Flow:
    """A policy that has no item, and a job of each kind with a trigger there."""
    scene = Flow()
    store_job(scene, "stays", "mailer")
    store_job(scene, "left", None)
    store_job(scene, "moved", "other")
    store_job(scene, "new", "mailer", uid="uid0000000000002")
    scene.put(*(of(name, number) for number, name in enumerate(("stays", "left", "moved", "new", "deleted"))))
    return scene


def test_all_goes_to_a_gate_with_a_share_which_is_looked_after_before_the_entry_is_deleted() -> None:
    scene = flow(4)
    scene.put(*triggers(50), gate=3, priority="high")
    found: list[str] = []
    scene.announce = lambda call: found.append(call.removeprefix("before "))
    assert scene.handle(BATON._replace(gate=3)) == "forwarded"
    assert (
        found.index("lines.put")
        < found.index("queue.send")
        < len(found) - 1 - found[::-1].index("lines.replace")
    )
    assert (len(scene.waiting(0)), scene.waiting(3)) == (50, [])
    assert {each.priority for each in scene.entries()} == {"high"}
    assert scene.gate(0).queues
    assert scene.gate(0).guard is not None
    assert len(scene.sent("baton")) == 1


def test_an_entry_that_cannot_be_written_at_the_other_gate_stays() -> None:
    scene = flow(4)
    scene.put(*triggers(2), gate=3)
    scene.fail_at("before lines.put")
    with pytest.raises(StoreError):
        scene.handle(BATON._replace(gate=3))
    assert len(scene.waiting(3)) == 2


def test_the_mark_of_the_baton_is_removed_at_the_gate_without_a_share() -> None:
    scene = flow(4)
    scene.store.change(GateName(KEY, 3), GateChange(baton=Baton(NOON, "this one")))
    scene.handle(BATON._replace(gate=3))
    assert scene.gate(3).baton is None


def test_what_another_function_has_leased_stays() -> None:
    scene = flow(4)
    scene.put(*triggers(2), gate=3)
    [entry] = scene.entries()
    scene.lines.replace(GateName(KEY, 3), entry, entry._replace(owner="it", until=NOON + 5, token="leased"))
    scene.handle(BATON._replace(gate=3))
    assert len(scene.waiting(3)) == 2
    scene.clock.time = NOON + 6
    scene.handle(BATON._replace(gate=3))
    assert [each.crashes for each in scene.waiting(0)] == [1, 1]


def test_only_triggers_leave_a_missing_policy_whose_jobs_do_not_name_it_any_more() -> None:
    scene = missing_policy()
    assert scene.handle() == "forwarded"
    assert sent(scene) == [of("left", 1), of("moved", 2), of("new", 3), of("deleted", 4)]
    [entry] = scene.entries()
    assert (entry.messages, entry.owner) == ((of("stays"),), None)


def test_triggers_are_sent_before_their_entry_is_written_without_them() -> None:
    scene = missing_policy()
    scene.fail_at("before deliveries.send")
    with pytest.raises(StoreError):
        scene.handle()
    assert len(scene.waiting()) == 5
    scene.announce = lambda _: None
    scene.clock.time += 200_000
    scene.handle()
    assert len(sent(scene)) == 4
    assert len(scene.waiting()) == 1


def test_an_entry_of_which_nothing_leaves_is_not_written() -> None:
    scene = Flow()
    store_job(scene, "stays", "mailer")
    scene.put(of("stays"))
    writes: list[str] = []
    scene.announce = lambda call: writes.append(call) if call == "before lines.replace" else None
    scene.handle()
    assert (writes, sent(scene)) == ([], [])


def test_a_long_line_is_read_to_its_end() -> None:
    scene = flow(4)
    for number in range(250):
        scene.put(trigger_message(NOON + number), gate=3)
    scene.handle(BATON._replace(gate=3))
    assert (len(scene.waiting(0)), scene.waiting(3)) == (250, [])


def test_a_line_that_takes_too_long_goes_on_with_another_baton() -> None:
    scene = flow(4)
    for number in range(250):
        scene.put(trigger_message(NOON + number), gate=3)

    def slow(call: str) -> None:
        if call == "before lines.put":
            scene.clock.time += 100

    scene.announce = slow
    scene.handle(BATON._replace(gate=3))
    assert 0 < len(scene.waiting(3)) < 250
    assert 3 in {each.gate for each in scene.sent("baton")}
    for _ in range(3):
        scene.handle(BATON._replace(gate=3))
    assert scene.waiting(3) == []
