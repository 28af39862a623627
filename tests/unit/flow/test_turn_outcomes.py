"""What becomes of a turn by what deliveries, rates and stores do (flow/turn.py)."""

import pytest
from tests.contract.builders import NOON, job, trigger_message
from tests.fakes.faults import failing, slow
from tests.unit.flow.scene import flow, triggers

from sweephand.base.errors import StoreError
from sweephand.base.timing import HOLDER_MS
from sweephand.flow.permit import Permit
from sweephand.flow.turn import TURN_MS
from sweephand.model.policy import PermitName, PolicyKey, Rate
from sweephand.model.trigger import LineWait, TriggerMessage

OTHER = PolicyKey("default", "other")


# ---- what a delivery returns


def test_a_trigger_that_has_to_wait_elsewhere_stands_there_before_its_entry_goes() -> None:
    scene = flow()
    scene.put(*triggers(2))
    waits = trigger_message(NOON + 60_000, attempt=2)

    def during(message: TriggerMessage, _: Permit) -> bool | LineWait:
        return LineWait(OTHER, "high", waits, job().definition) if message.trigger.due_at == NOON else True

    scene.during = during
    found: list[str] = []
    scene.announce = lambda call: found.append(call.removeprefix("before "))
    scene.handle()
    assert found.index("lines.put") < found.index("consumer.flush")
    [(name, entry)] = scene.lines.everything()
    assert (name.policy, entry.priority, entry.messages) == (OTHER, "high", (waits,))


def test_a_trigger_that_waits_elsewhere_stands_there_before_its_entry_loses_what_has_not_begun() -> None:
    scene = flow()
    scene.put(*triggers(4))
    waits = trigger_message(NOON + 60_000, attempt=2)
    elsewhere: list[bool] = []

    def look(call: str) -> None:
        if call == "after lines.replace":
            elsewhere.append(any(name.policy == OTHER for name, _ in scene.lines.everything()))

    def during(message: TriggerMessage, _: Permit) -> bool | LineWait:
        if message.trigger.due_at == NOON:
            return LineWait(OTHER, "high", waits, job().definition)
        scene.clock.time += TURN_MS
        scene.announce = look
        scene.others_work()
        return True

    scene.during = during
    scene.handle()
    assert len(elsewhere) >= 2, "the entry shrinks while a request is open, and goes after it"
    assert all(elsewhere)


def test_a_request_whose_connection_outlasts_a_pause_does_not_leave_and_its_trigger_waits() -> None:
    scene = flow()
    scene.put(*triggers(1))

    def connecting() -> None:
        scene.pause()
        scene.clock.time += 30_000
        scene.others_work()

    scene.connecting = connecting
    scene.handle()
    assert (scene.delivered, len(scene.waiting()), scene.gate().used) == ([], 1, 0)


def test_a_request_leaves_whose_connection_takes_long_under_a_policy_that_goes_on() -> None:
    scene = flow()
    scene.put(*triggers(1))

    def connecting() -> None:
        scene.limit(3)
        scene.clock.time += 30_000
        scene.others_work()

    scene.connecting = connecting
    scene.handle()
    assert (len(scene.delivered), scene.waiting(), scene.gate().used) == (1, [], 0)


def test_an_asynchronous_run_keeps_its_slot_after_the_function_has_left() -> None:
    scene = flow(1)
    scene.put(*triggers(1))
    scene.during = lambda _, permit: permit.keep(NOON + 900_000)
    scene.handle()
    [(token, holder)] = scene.gate().holders.items()
    assert (holder.slots, holder.until) == (1, NOON + 900_000)
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


def test_the_first_token_after_a_quiet_time_is_for_when_the_request_is_ready() -> None:
    scene = flow(8, rate=Rate(10, 1_000))
    scene.put(*triggers(1))
    # Meanwhile the run is claimed, and the connection is made.
    slow(scene, 150, "before consumer.deliver")
    scene.handle()
    assert len(scene.delivered) == 1
    assert scene.gate().last_us == (NOON + 100) * 1_000, "one token was taken, and none is lost"


def test_a_function_reads_the_policy_again_before_it_takes_tokens_a_second_later() -> None:
    scene = flow(8, rate=Rate(10, 1_000))
    scene.put(*triggers(12))
    calls: list[str] = []

    def delayed(*_: object) -> bool:
        scene.clock.time += 2_000
        calls.append("two seconds later")
        return True

    scene.during, scene.announce = delayed, calls.append
    scene.handle()
    later = calls[calls.index("two seconds later") :]
    assert later.index("before policies.get") < later.index("before gates.change")


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


def test_a_message_whose_turn_has_failed_does_not_come_again_beside_its_baton() -> None:
    """Each turn would add a message, as long as the store fails, and each message more turns."""
    scene = flow(8)
    scene.put(*triggers(30))

    def during(*_: object) -> bool:
        raise StoreError("the run cannot be recorded")

    scene.during = during
    with pytest.raises(StoreError):
        scene.handle()
    assert (len(scene.sent("baton")), scene.acknowledged) == (1, 1)


@pytest.mark.parametrize("call", ["gates.change", "queue.send", "lines.replace"])
def test_a_message_comes_again_if_its_turn_has_failed_and_no_baton_was_sent(call: str) -> None:
    scene = flow(8)
    scene.put(*triggers(2))

    def during(*_: object) -> bool:
        failing(scene, call)
        raise StoreError("the run cannot be recorded")

    scene.during = during
    with pytest.raises(StoreError):
        scene.handle()
    assert scene.acknowledged == len(scene.sent("baton")) == 0
