"""What waits at a gate without a share, and who may go on (flow/forward.py)."""

from unittest.mock import patch

import pytest
from tests.contract.builders import NOON, trigger_message
from tests.fakes.faults import failing, slow
from tests.unit.flow.scene import BATON, KEY, Flow, flow, store_job, triggers

from sweephand.base.errors import StoreError
from sweephand.model.gate import Baton, GateChange, GateName
from sweephand.model.gate_message import GateMessage
from sweephand.model.job import JobKey
from sweephand.model.trigger import Sendable, TriggerMessage


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
    failing(scene, "lines.put")
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


def test_triggers_that_leave_or_stay_count_the_crash_of_the_function_that_had_leased_them() -> None:
    scene = missing_policy()
    [entry] = scene.entries()
    scene.lines.replace(GateName(KEY, 0), entry, entry._replace(owner="it", until=NOON - 1, token="leased"))
    scene.handle()
    leaving = [each for each in sent(scene) if isinstance(each, TriggerMessage)]
    assert [each.crashes for each in (*leaving, *scene.waiting())] == [1, 1, 1, 1, 1]


def test_triggers_are_sent_before_their_entry_is_written_without_them() -> None:
    scene = missing_policy()
    failing(scene, "deliveries.send")
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
    slow(scene, 100, "before lines.put")
    scene.handle(BATON._replace(gate=3))
    assert 0 < len(scene.waiting(3)) < 250
    assert 3 in {each.gate for each in scene.sent("baton")}
    for _ in range(3):
        scene.handle(BATON._replace(gate=3))
    assert scene.waiting(3) == []


def paused_policy(limit: int = 40) -> Flow:
    scene = flow(limit, paused_at=NOON)
    store_job(scene, "stays", "mailer")
    store_job(scene, "left", None)
    return scene


@pytest.mark.parametrize("gate", [0, 1])
def test_only_triggers_leave_a_paused_policy_whose_jobs_do_not_name_it_any_more(gate: int) -> None:
    scene = paused_policy()
    scene.put(of("stays", 0), of("left", 1), gate=gate)
    scene.put(of("stays", 2), gate=gate)
    assert scene.handle(BATON._replace(gate=gate)) == "forwarded"
    assert sent(scene) == [of("left", 1)]
    assert scene.waiting(gate) == [of("stays", 0), of("stays", 2)]
    assert scene.queue.sent == []
    assert scene.gate(gate).baton is None


def test_a_gate_that_the_limit_of_a_paused_policy_does_not_have_hands_over_its_line() -> None:
    """A resume has only the gates of the limit looked after."""
    scene = paused_policy()
    scene.put(of("stays"), gate=2)
    scene.handle(BATON._replace(gate=2))
    assert scene.waiting(2) == []
    assert sorted(scene.waiting(0) + scene.waiting(1)) == [of("stays")]
    assert scene.sent("baton") == []


def test_the_jobs_of_many_entries_are_read_at_once() -> None:
    scene = paused_policy()
    for number in range(250):
        scene.put(of("stays", number))
    with patch.object(scene.jobs, "get_many", wraps=scene.jobs.get_many) as reads:
        scene.handle()
    assert [len(each.args[0]) for each in reads.call_args_list] == [1, 1, 1]


def test_a_long_line_of_a_paused_policy_is_read_once_to_its_end() -> None:
    """What stays would else be read again and again."""
    scene = paused_policy()
    for number in range(450):
        scene.put(of("left" if number % 200 == 199 else "stays", number))
    slow(scene, 11_000, "before lines.top")
    scene.handle()
    batons = 0
    while scene.queue.waiting and batons < 10:
        message = scene.queue.take()
        assert isinstance(message, GateMessage)
        batons += 1
        scene.handle(message)
    assert batons == 2
    assert sent(scene) == [of("left", 199), of("left", 399)]
    assert len(scene.waiting()) == 448
