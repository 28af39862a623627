"""A stack that is switched off for 40 days delivers what it owes when it is on again, and nothing twice."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from tests.fakes.acceptance import ACCEPTED
from tests.fakes.deliveries import crash_until
from tests.fakes.faults import calls_of, killed_at, meanwhile
from tests.fakes.policies import add_policy, delete_policy
from tests.fakes.time_off import pass_days_off, time_off
from tests.fakes.world import NOON, World, key_of, quiet

from sweephand.base.errors import OffTooLongError, StoreError
from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, Instant
from sweephand.base.timing import AUDIT_MINUTE, RENEWAL_MS
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.trigger import TriggerMessage


@pytest.fixture
def world() -> World:
    """A stack with a flow policy."""
    world = World()
    world.namespaces.enlist("ns")
    add_policy(world, 1)
    return world


def delivered(world: World) -> Counter[str]:
    """How often each job was asked to do something, by its name."""
    return Counter(each.trigger.key.name for each in world.consumers.attempts)


def switched_on(world: World) -> None:
    """Switch the stack on, and let it work for half an hour."""
    world.consumers.attempts.clear()
    world.is_enabled = True
    world.run_until(world.clock.time + 30 * MINUTE_MS)


def failing_first(attempt: Attempt) -> Answer:
    """The consumer fails at each first attempt."""
    return Answer(succeeded=attempt.number > 1)


def test_timers_and_jobs_with_an_end_wait_for_forty_days(world: World) -> None:
    for number in range(120):
        world.put(f"once-{number}", dueTime=f"{1 + number}h", retention="1h")
    world.put("daily", schedule="0 0 18 * * *")
    world.put("ending", schedule="0 0 18 * * *", ttl="2026-11-30T00:00:00Z", retention="1h")
    pass_days_off(world, 40)
    switched_on(world)
    assert delivered(world) == {f"once-{number}": 1 for number in range(120)} | {"daily": 1, "ending": 1}


def test_revisions_that_their_job_has_no_room_for_are_found_after_a_hundred_days(world: World) -> None:
    world.is_enabled = False
    for number in range(30):
        world.put("often", schedule="0 * * * * *", retry={"maxAttempts": 1 + number})
        world.clock.time += 2 * MINUTE_MS
    world.put("often", schedule="@every 9000h")
    assert len(world.jobs._filed) == 10
    pass_days_off(world, 100)
    switched_on(world)
    due = [(each.trigger.due_at - NOON) // MINUTE_MS for each in world.consumers.attempts]
    assert sorted(due) == list(range(1, 61))


def test_messages_in_every_lane_wait_for_forty_days(world: World) -> None:
    world.is_enabled = False
    for priority in ("high", "normal", "low"):
        for number in range(15):
            world.put(f"{priority}-{number}", dueTime="1m", priority=priority, retention="1h")
    assert len(world.queue.waiting) == 45
    assert len(world.timers.everything()) == 0
    pass_days_off(world, 40)
    switched_on(world)
    assert set(delivered(world).values()) == {1}
    assert len(delivered(world)) == 45


def test_triggers_on_demand_that_are_asked_for_meanwhile_are_delivered(world: World) -> None:
    world.put("asked", schedule="@every 9000h")
    for _ in range(3):
        world.trigger("asked")
        pass_days_off(world, 17)
    switched_on(world)
    assert delivered(world) == {"asked": 3}


def test_a_trigger_on_demand_keeps_its_large_data(world: World) -> None:
    world.put("asked", schedule="@every 9000h")
    data = [f'"{number}{"x" * 3_000}"' for number in range(3)]
    for each in data:
        world.trigger("asked", data=each)
        pass_days_off(world, 17)
    switched_on(world)
    assert [each.body.decode() for each in world.consumers.attempts] == data


@pytest.mark.parametrize(("days", "end"), [(29, ("succeeded", 2)), (40, ("failed", 2))])
def test_a_retry_waits_until_its_max_age_and_its_run_keeps_its_record(
    world: World, days: int, end: tuple[str, int]
) -> None:
    world.consumers.answering = failing_first
    names = {"by-timer": "2h", "by-message": "10m"}
    for name, delay in names.items():
        world.put(name, dueTime="1m", retry={"initialDelay": delay, "maxAge": "30d"}, retention="1h")
    world.run_until(NOON + 5 * MINUTE_MS)
    assert delivered(world) == dict.fromkeys(names, 1)
    pass_days_off(world, days)
    switched_on(world)
    assert delivered(world) == (dict.fromkeys(names, 1) if end[0] == "succeeded" else {})
    for name in names:
        [run] = world.runs.page(key_of(name), None, "", 10).items
        assert (run.state, run.attempts) == end
    assert len(world.queue.buried) == (0 if end[0] == "succeeded" else 2)


def off_once_in_line(world: World) -> None:
    """Switch the stack off as soon as a trigger stands in the line of a policy."""

    def switch_off(call: str) -> None:
        if call == "after gate_lines.put":
            world.is_enabled = False

    world.announce = switch_off
    world.run_until(NOON + 11 * MINUTE_MS)
    world.announce = quiet
    assert world.gate_lines.everything()
    assert world.flow_queue.waiting


def test_what_waits_in_the_line_of_a_policy_and_its_messages_wait_for_forty_days(world: World) -> None:
    for number in range(5):
        world.put(f"mailed-{number}", dueTime="10m", policy="mailer", retention="1h")
    off_once_in_line(world)
    pass_days_off(world, 40)
    switched_on(world)
    assert delivered(world) == {f"mailed-{number}": 1 for number in range(5)}


@pytest.mark.parametrize("closes", [False, True])
def test_the_line_of_a_policy_that_no_job_names_any_more_waits_too(world: World, *, closes: bool) -> None:
    world.put("mailed", dueTime="10m", policy="mailer")
    off_once_in_line(world)
    world.put("mailed", schedule="@every 9000h")
    if closes:
        delete_policy(world)
    pass_days_off(world, 40)
    switched_on(world)
    assert delivered(world) == {"mailed": 1}


def test_a_run_whose_deadline_was_missed_meanwhile_ends(world: World) -> None:
    world.consumers.answering = lambda _: ACCEPTED
    world.put("report", dueTime="1m", completion="async", maxRunTime="1d", retention="1h")
    world.run_until(NOON + 5 * MINUTE_MS)
    assert delivered(world) == {"report": 1}
    pass_days_off(world, 40)
    switched_on(world)
    [run] = world.runs.page(key_of("report"), None, "", 10).items
    assert run.state == "failed"
    assert "the next one would exceed retry.maxAge" in str(run.reason)


def test_a_consumer_can_report_though_its_function_crashed_before_the_stack_was_off(world: World) -> None:
    world.consumers.answering = lambda _: ACCEPTED
    patient: dict[str, Any] = {"heartbeatTimeout": "30d", "maxRunTime": "30d"}
    world.put("report", dueTime="1m", completion="async", historyRetention="15d", retention="1h", **patient)
    crash_until(world, NOON + 5 * MINUTE_MS)
    pass_days_off(world, 40)
    [run] = world.runs.page(key_of("report"), None, "", 10).items
    assert run.state == "claimed"
    assert world.callbacks().complete(run.key, run.run_id, run.token).state == "succeeded"
    switched_on(world)
    assert delivered(world) == {}


def test_triggers_that_wait_for_their_turn_keep_their_order_for_a_hundred_days(world: World) -> None:
    world.consumers.answering = lambda _: ACCEPTED
    schedule = [f"2026-11-21T12:0{minute}:00Z" for minute in (1, 2, 3)]
    world.put("report", schedule=schedule, completion="async", overlap="wait", heartbeatTimeout="1d")
    world.run_until(NOON + 5 * MINUTE_MS)
    assert delivered(world) == {"report": 1}
    stored = world.lines.get(key_of("report"))
    assert stored is not None
    assert len(stored.line.waiting) == 2
    pass_days_off(world, 100)
    kept = world.lines.get(key_of("report"))
    assert kept is not None
    assert kept.line == stored.line
    world.queue.waiting.reverse()
    switched_on(world)
    world.run_until(world.clock.time + 2 * DAY_MS)
    begun = [each.trigger.due_at for each in world.consumers.attempts if each.number == 1]
    assert begun == [NOON + 2 * MINUTE_MS, NOON + 3 * MINUTE_MS]


def test_a_hundred_days_off_leave_what_is_owed(world: World) -> None:
    world.put("once", dueTime="2h", retention="1h")
    world.put("daily", schedule="0 0 18 * * *")
    world.is_enabled = False
    world.put("soon", dueTime="1m", retention="1h")
    [(_, message)] = world.queue.waiting
    assert isinstance(message, TriggerMessage)
    pass_days_off(world, 100)
    switched_on(world)
    assert delivered(world) == {"once": 1, "daily": 1, "soon": 1}
    world.run_until(world.clock.time + 7 * HOUR_MS)
    assert delivered(world)["daily"] == 2, "the series goes on"


def test_a_retry_that_is_cancelled_while_the_stack_is_off_is_not_delivered(world: World) -> None:
    world.consumers.answering = failing_first
    world.put("cancelled", schedule="@every 10h", historyRetention="15d", retry={"initialDelay": "10m"})
    world.run_until(NOON + 10 * HOUR_MS + MINUTE_MS)
    [attempt] = world.consumers.attempts
    world.is_enabled = False
    assert world.callbacks().cancel(key_of("cancelled"), attempt.trigger.run_id, "key").state == "cancelled"
    pass_days_off(world, 40)
    switched_on(world)
    assert [each for each in world.consumers.attempts if each.trigger.run_id == attempt.trigger.run_id] == []


def test_a_trigger_that_was_skipped_before_the_stack_was_off_is_not_delivered(world: World) -> None:
    world.consumers.answering = lambda _: Answer(succeeded=True, code=202)
    rule: dict[str, Any] = {"overlap": "waitLatest", "completion": "async", "heartbeatTimeout": "1h"}
    world.put("skipped", schedule="R5/PT1M", historyRetention="15d", **rule)
    world.run_until(NOON + 4 * MINUTE_MS + 30_000)
    [first] = world.consumers.attempts
    skipped = {run.run_id for run in world.runs.page(key_of("skipped"), "skipped", "", 10).items}
    assert len(skipped) == 3
    world.callbacks().complete(key_of("skipped"), first.trigger.run_id, first.run_token)
    pass_days_off(world, 40)
    world.consumers.answering = lambda _: Answer(succeeded=True, code=200)
    switched_on(world)
    assert skipped.isdisjoint(each.trigger.run_id for each in world.consumers.attempts)


def test_dynamodb_removes_nothing_from_the_second_day_off_until_two_weeks_after_it(world: World) -> None:
    world.put("daily", schedule="0 0 18 * * *")
    pass_days_off(world, 0.9)
    assert removes_items(world)
    pass_days_off(world, 29.1)
    assert not removes_items(world)
    world.is_enabled = True
    on_at = world.clock.time
    for after_ms, is_on in ((DAY_MS, False), (13 * DAY_MS, False), (14 * DAY_MS, True)):
        # Tick looks at it in this minute of an hour.
        world.clock.time = on_at + after_ms
        step(world)
        assert not removes_items(world)
        world.clock.time += AUDIT_MINUTE * MINUTE_MS
        step(world)
        assert removes_items(world) == is_on


def removes_items(world: World) -> bool:
    return world.expiry.is_on


def step(world: World) -> int:
    """A tick, and what it does to keep what waits. Returns how many messages were sent again."""
    ticked = world.tick()
    return time_off(world).keep(ticked.off_since, ticked.off_at)


def test_a_stack_that_was_never_off_for_long_leaves_the_tables_as_they_are(world: World) -> None:
    world.expiry.is_on = False
    pass_days_off(world, 0.9)
    world.is_enabled = True
    world.clock.time = NOON + 30 * DAY_MS + AUDIT_MINUTE * MINUTE_MS
    step(world)
    assert not world.expiry.is_on


def test_old_messages_are_sent_again_however_many_there_are(world: World) -> None:
    world.is_enabled = False
    for number in range(1_200):
        world.put(f"soon-{number}", dueTime="1m", priority="high" if number % 2 else "normal")
    step(world)
    world.clock.time = NOON + 5 * DAY_MS
    assert step(world) == 1_200
    world.clock.time += HOUR_MS
    assert step(world) == 200, "of each of two queues, 100 young messages in a row"


def test_each_minute_begins_with_another_queue(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def slow(name: str, _: int) -> Sequence[Instant]:
        asked.append(name)
        world.clock.time += RENEWAL_MS
        return [NOON]

    monkeypatch.setattr(world.stack_queues, "renew", slow)
    world.is_enabled = False
    step(world)
    world.clock.time = NOON + 5 * DAY_MS
    for _ in range(5):
        step(world)
        world.clock.time += MINUTE_MS - RENEWAL_MS
    assert sorted(asked) == ["flow", "high", "low", "normal", "policy"]


def test_messages_are_sent_again_although_dynamodb_refuses(world: World) -> None:
    world.is_enabled = False
    world.put("soon", dueTime="1m")
    step(world)
    world.clock.time = NOON + 5 * DAY_MS

    def fail() -> None:
        raise StoreError("no right")

    meanwhile(world, "before expiry.set", fail)
    with pytest.raises(StoreError):
        step(world)
    [(at, _)] = world.queue.waiting
    assert at > world.clock.time


def test_a_tick_that_crashes_anywhere_loses_nothing(world: World) -> None:
    def prepared() -> World:
        world = World()
        world.put("once", dueTime="1h", retention="1h")
        world.is_enabled = False
        world.put("soon", dueTime="1m", retention="1h")
        world.tick()
        world.clock.time = NOON + 5 * DAY_MS
        return world

    trial = prepared()
    calls = calls_of(trial, lambda: step(trial))
    assert len(calls) > 6
    for number in range(len(calls)):
        world = prepared()
        killed_at(world, number, lambda: step(world))  # noqa: B023 - called within this turn
        pass_days_off(world, 30)
        switched_on(world)
        assert delivered(world) == {"once": 1, "soon": 1}, calls[number]


def test_an_alarm_is_due_on_the_tenth_day(world: World) -> None:
    pass_days_off(world, 9.5)
    keeper, since = time_off(world), world.leases.state().off_since
    keeper.check(since)
    keeper.check(None)
    world.clock.time += DAY_MS
    with pytest.raises(OffTooLongError, match="switched off since 2026-11-21T18:00"):
        keeper.check(since)
