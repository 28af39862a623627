"""Which work messages come again: enough that nothing waits for ever, and no more."""

import pytest
from tests.contract.builders import NOON, trigger_message
from tests.fakes.faults import Killed
from tests.unit.runs.flow.test_line_worker import KEY, LIMIT_MS, WORK, flow, triggers

from sweephand.base.instants import SECOND_MS
from sweephand.base.timing import CLOCK_SKEW_MAX_MS, COVER_SLACK_MS, HELP_MS, HOLDER_MS


def test_the_copy_of_a_message_comes_when_the_holder_of_a_worker_that_was_slow_has_ended() -> None:
    scene = flow(1)
    scene.put(trigger_message(NOON))
    scene.sent.clear()

    def announce(call: str) -> None:
        if call == "before permits.take":
            scene.clock.time += 30 * SECOND_MS
        if call == "before lines.claim":
            raise Killed(call)

    scene.announce = announce
    with pytest.raises(Killed):
        scene.work(receives=2)
    scene.announce = lambda _: None
    assert scene.acknowledged == 1
    scene.run(int(2 * HOLDER_MS / SECOND_MS))
    assert scene.delivered == [trigger_message(NOON)]


def test_a_message_that_is_dropped_before_its_time_by_another_clock_comes_again() -> None:
    scene = flow(1)
    late = trigger_message(NOON + 60_000)
    [held] = scene.holders()[:1]
    assert scene.permits.take(KEY, held, "other", NOON, NOON + HOLDER_MS)
    scene.put(late)
    [(_, message)], scene.sent[:] = scene.sent[:], []
    # The clock of this worker is a minute ahead of the one that has the permits.
    scene.clock.time = NOON + 60_000
    assert scene.work(message) == "full"
    assert scene.work(message) == "full"
    [(comes_at, again)] = scene.sent
    assert comes_at == NOON + 60_000 + CLOCK_SKEW_MAX_MS + COVER_SLACK_MS
    assert again.not_before == late.not_before + COVER_SLACK_MS
    assert scene.permits.enter(KEY, held.slot, "other", {}, releasing=True)
    scene.run(200)
    assert scene.delivered == [late]


def test_a_message_that_is_dropped_after_its_time_by_every_clock_does_not_come_again() -> None:
    scene = flow(1)
    scene.clock.time = NOON + CLOCK_SKEW_MAX_MS
    [held] = scene.holders()[:1]
    assert scene.permits.take(KEY, held, "other", scene.clock.time, scene.clock.time + HOLDER_MS)
    assert scene.work() == "full"
    assert not scene.sent


def test_work_messages_do_not_multiply_while_triggers_keep_coming() -> None:
    scene = flow(40)
    for number in range(60):
        scene.put(trigger_message(scene.clock.time + 80 * SECOND_MS), source=f"message {number}")
        scene.run(30)
    assert len(scene.delivered) >= 57
    # Each trigger has one work message, which is handled when the trigger is due.
    assert len(scene.sent) <= 3


def test_a_worker_that_has_no_time_to_read_all_partitions_calls_the_next_one() -> None:
    scene = flow(1)
    scene.put(trigger_message(NOON))
    scene.sent.clear()

    def announce(call: str) -> None:
        if call == "after permits.enter":
            scene.clock.time = NOON + LIMIT_MS - 3 * SECOND_MS

    scene.announce = announce
    assert scene.work() == "walked"
    assert len(scene.sent) == 1


def test_a_call_for_help_that_comes_late_is_dropped_without_a_call_of_a_store() -> None:
    scene, calls = flow(1), list[str]()
    scene.put(trigger_message(NOON))
    scene.sent.clear()
    scene.announce = calls.append
    scene.clock.time = NOON + HELP_MS + 1
    assert scene.work(WORK._replace(until=NOON + HELP_MS)) == "outdated"
    assert not calls
    scene.clock.time = NOON + HELP_MS
    assert scene.work(WORK._replace(until=NOON + HELP_MS)) == "walked"
    assert scene.delivered == [trigger_message(NOON)]


def test_a_call_for_help_that_finds_no_permit_neither_comes_again_nor_stands_for_others() -> None:
    scene = flow(1)
    [held] = scene.holders()[:1]
    assert scene.permits.take(KEY, held, "other", NOON, NOON + HOLDER_MS)
    assert scene.work(WORK._replace(until=NOON + HELP_MS)) == "full"
    assert not scene.sent
    assert scene.work() == "full"
    assert [message.until for _, message in scene.sent] == [None]


def test_a_worker_calls_helpers_for_ten_seconds() -> None:
    scene = flow(8)
    scene.request_ms = 1_000
    scene.put(*triggers(40))
    scene.sent.clear()
    scene.work()
    calls = [message for _, message in scene.sent if message.until is not None]
    assert calls
    assert all(message.until == message.not_before + HELP_MS for message in calls)


def test_a_call_for_help_whose_worker_may_have_died_is_handled_however_late_it_comes_again() -> None:
    scene = flow(1)
    scene.put(trigger_message(NOON))
    scene.clock.time = NOON + HOLDER_MS
    assert scene.work(WORK._replace(until=NOON + HELP_MS), 2) == "walked"
    assert scene.delivered == [trigger_message(NOON)]


def test_a_message_that_came_in_time_by_another_clock_and_is_too_early_now_has_a_copy() -> None:
    scene = flow(5)
    late = trigger_message(NOON + 30_000)
    scene.put(late)
    [(_, message)], scene.sent[:] = scene.sent[:], []
    scene.clock.time = NOON + 30_000

    def announce(call: str) -> None:
        if call == "before consumer.deliver":
            raise Killed(call)

    # The first worker's clock is ahead. It dies when it has claimed the partition.
    scene.announce = announce
    with pytest.raises(Killed):
        scene.work(message)
    scene.announce = lambda _: None
    scene.clock.time = NOON + 25_000
    assert scene.work(message, 2) == "early"
    assert [at for at, _ in scene.sent] == [NOON + 25_000 + HOLDER_MS, NOON + 30_000]
    scene.run(int(2 * HOLDER_MS / SECOND_MS))
    assert [each.trigger for each in scene.delivered] == [late.trigger]
