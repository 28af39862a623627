"""The rounds that keep what waits: when they begin, how steps follow each other, and when an alarm is due."""

from collections import Counter

import pytest
from tests.fakes.deliveries import meanwhile
from tests.fakes.faults import calls_of, killed_at
from tests.fakes.time_off import expire, keep, pass_days_off
from tests.fakes.world import NOON, World, quiet

from sweephand.base.errors import NewerError, NotKeptError, StoreError
from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS
from sweephand.base.timing import (
    AUDIT_STEP_MAX_MS,
    KEEP_ENDING_MS,
    KEEP_FIRST_MS,
    KEEP_ROUND_MS,
    KEEP_WARNING_MS,
    TIMER_RETENTION_MS,
)
from sweephand.model.keep_round import Kept
from sweephand.runs.keep import timers as keeping_timers


@pytest.fixture
def world() -> World:
    """A stack that was switched off at noon, with messages, timers and jobs that wait."""
    world = World()
    world.namespaces.enlist("ns")
    for number in range(12):
        world.put(f"once-{number}", dueTime=f"{1 + number}h", retention="1h")
    world.is_enabled = False
    for number in range(12):
        world.put(f"soon-{number}", dueTime="1m", retention="1h")
    world.tick()
    return world


def after(world: World, off_ms: int) -> Kept | None:
    """One step, so long after noon."""
    world.clock.time = NOON + off_ms
    return keep(world, NOON)


def delivered(world: World) -> Counter[str]:
    world.is_enabled = True
    world.run_until(world.clock.time + 30 * MINUTE_MS)
    return Counter(each.trigger.key.name for each in world.consumers.attempts)


EVERYTHING = {f"once-{number}": 1 for number in range(12)} | {f"soon-{number}": 1 for number in range(12)}


def test_the_first_round_begins_after_a_day_and_the_next_one_four_days_later(world: World) -> None:
    hours = range(14 * 24)
    begun = [hour * HOUR_MS for hour in hours if after(world, hour * HOUR_MS) is not None]
    assert begun == [KEEP_FIRST_MS + number * KEEP_ROUND_MS for number in range(4)]


def test_a_round_keeps_only_what_would_expire_before_the_next_but_one(world: World) -> None:
    assert after(world, DAY_MS) == Kept(messages=12, is_over=True)
    # Twelve timers would expire within nine days.
    assert after(world, 6 * DAY_MS) == Kept(timers=12, messages=12, is_over=True)
    # The jobs end a day after their last attempt, and their items would be removed 14 days after that.
    assert after(world, 10 * DAY_MS) == Kept(messages=12, jobs=24, is_over=True)
    # What a reader sees of a job does not show that it was kept. So each round writes its end.
    assert after(world, 14 * DAY_MS) == Kept(timers=12, messages=12, jobs=24, is_over=True)


def test_an_item_that_a_round_leaves_out_lasts_until_the_next_but_one() -> None:
    assert KEEP_ENDING_MS >= 2 * KEEP_ROUND_MS + DAY_MS
    assert 3 * KEEP_ROUND_MS < TIMER_RETENTION_MS, "a message meets three rounds"


def test_a_stack_that_goes_on_and_off_again_begins_anew(world: World) -> None:
    world.announce = lambda call: out_of_time(world, call)
    begun = after(world, DAY_MS)
    assert begun is not None
    assert not begun.is_over
    world.announce = quiet
    off_again = NOON + 30 * DAY_MS
    world.clock.time = off_again + DAY_MS - 1
    assert keep(world, off_again) is None
    world.clock.time += 1
    kept = keep(world, off_again)
    assert kept is not None
    assert kept.is_over
    stored = world.keep_rounds.get()
    assert stored is not None
    assert stored.done_at == off_again + DAY_MS


def out_of_time(world: World, call: str) -> None:
    """The time of a step is over when the first messages have been sent again."""
    if call == "after kept_queues.renew":
        world.clock.time += MINUTE_MS


def test_a_step_goes_on_where_the_one_before_has_ended(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping_timers, "_TIMERS_MAX", 5)
    slow = ("after timers.ending", "after kept_queues.renew", "after runs.page")

    def pass_time(call: str) -> None:
        if call in slow:
            world.clock.time += 21_000

    world.announce = pass_time
    world.clock.time = NOON + 10 * DAY_MS
    total, steps = Counter[str](), 0
    while (kept := keep(world, NOON)) is not None:
        steps += 1
        total += Counter({"timers": kept.timers, "messages": kept.messages, "jobs": kept.jobs})
        world.clock.time += MINUTE_MS
    # Steps as slow as these send messages again until enough in a row were sent since the round began.
    assert (total["timers"], total["jobs"]) == (12, 24)
    assert 300 <= total["messages"] < 400
    assert steps > 24 + 30
    world.announce = quiet
    pass_days_off(world, 20)
    assert delivered(world) == EVERYTHING


def test_a_step_that_fails_is_repeated_when_it_must_be_over(world: World) -> None:
    def fail() -> None:
        raise StoreError("DynamoDB throttles")

    meanwhile(world, "before timers.ending", fail)
    with pytest.raises(StoreError):
        after(world, 6 * DAY_MS)
    assert after(world, 6 * DAY_MS + AUDIT_STEP_MAX_MS - 1) is None
    kept = after(world, 6 * DAY_MS + AUDIT_STEP_MAX_MS)
    assert kept is not None
    assert kept.timers == 12


def test_while_a_step_is_at_work_no_other_one_begins(world: World) -> None:
    others: list[Kept | None] = []
    meanwhile(world, "before timers.ending", lambda: others.append(keep(world, NOON)))
    assert after(world, 6 * DAY_MS) is not None
    assert others == [None]


def test_of_two_steps_that_begin_at_once_one_is_taken(world: World) -> None:
    others: list[Kept | None] = []
    meanwhile(world, "after keep_rounds.get", lambda: others.append(keep(world, NOON)))
    assert after(world, 6 * DAY_MS) is None
    assert others == [Kept(timers=12, messages=12, is_over=True)]


def test_a_step_that_took_too_long_does_not_set_the_round_back(world: World) -> None:
    others: list[Kept | None] = []

    def later() -> None:
        world.clock.time += AUDIT_STEP_MAX_MS
        others.append(keep(world, NOON))

    meanwhile(world, "before kept_queues.renew", later)
    assert after(world, 6 * DAY_MS) is not None
    assert [each is not None and each.is_over for each in others] == [True]
    assert keep(world, NOON) is None, "the round is over"


def test_a_step_that_crashes_anywhere_loses_nothing_and_doubles_nothing_in_the_stores() -> None:
    def prepared() -> World:
        world = World()
        world.namespaces.enlist("ns")
        world.put("once", dueTime="1h", retention="1h")
        world.is_enabled = False
        world.put("soon", dueTime="1m", retention="1h")
        world.tick()
        world.clock.time = NOON + 6 * DAY_MS
        return world

    trial = prepared()
    calls = calls_of(trial, lambda: keep(trial, NOON))
    assert len(calls) > 20
    for number in range(len(calls)):
        world = prepared()
        killed_at(world, number, lambda: keep(world, NOON))  # noqa: B023 - called within this turn
        pass_days_off(world, 30)
        assert delivered(world) == {"once": 1, "soon": 1}, calls[number]


def test_a_timer_that_is_removed_meanwhile_does_not_come_back(world: World) -> None:
    meanwhile(world, "after timers.ending", world.timers.clear)
    kept = after(world, 6 * DAY_MS)
    assert kept is not None
    assert kept.timers == 0
    assert world.timers.everything() == []


def test_a_new_job_that_meanwhile_takes_the_name_of_one_that_has_ended_gets_no_end(world: World) -> None:
    meanwhile(world, "after jobs.page", lambda: world.put("soon-2", schedule="@every 9000h"))
    kept = after(world, 10 * DAY_MS)
    assert kept is not None
    assert kept.jobs == 23
    pass_days_off(world, 60)
    assert world.has_job("soon-2")


def test_a_line_that_only_a_newer_version_can_read_does_not_stop_the_round(world: World) -> None:
    def fail() -> None:
        raise NewerError("a line of version 99")

    world.put("in-turn", dueTime="2h", overlap="wait", retention="1h")
    meanwhile(world, "before lines.get", fail)
    kept = after(world, 10 * DAY_MS)
    assert kept is not None
    assert (kept.jobs, kept.is_over) == (25, True)


def test_the_switch_may_go_on_in_the_middle_of_a_step(world: World) -> None:
    expire(world)

    def go_on() -> None:
        world.is_enabled = True
        world.run_until(world.clock.time + MINUTE_MS)

    meanwhile(world, "after timers.ending", go_on)
    assert after(world, 6 * DAY_MS) is not None
    assert delivered(world) == EVERYTHING


def test_shards_that_are_added_meanwhile_are_kept_too(world: World) -> None:
    world.shards = 5
    world.leases.raise_shards(5)
    for number in range(20):
        world.put(f"more-{number}", dueTime="2d", retention="1h")
    assert {each.shard for each in world.timers.everything()} > {0, 1}
    pass_days_off(world, 40)
    assert set(delivered(world).values()) == {1}
    assert len(delivered(world)) == 44


def check(world: World, off_ms: int) -> str:
    """What tick says when the stack is off for so long; nothing if all is well."""
    world.clock.time = NOON + off_ms
    try:
        world.upkeep().keep_rounds.check(NOON)
    except NotKeptError as error:
        return str(error)
    return ""


def test_nothing_is_said_while_rounds_get_done(world: World) -> None:
    for day in range(1, 100):
        assert check(world, day * DAY_MS) == ""
        assert after(world, day * DAY_MS) is None or (day - 1) % 4 == 0


def test_an_alarm_is_due_days_before_something_is_lost_because_no_round_gets_done(world: World) -> None:
    assert check(world, TIMER_RETENTION_MS - KEEP_WARNING_MS - 1) == ""
    said = check(world, TIMER_RETENTION_MS - KEEP_WARNING_MS)
    assert "switched off since 2026-11-21T12:00:00.000Z" in said
    assert "From 2026-12-05T12:00:00.000Z on, triggers" in said


def test_an_alarm_is_due_if_rounds_are_no_longer_done(world: World) -> None:
    assert after(world, 5 * DAY_MS) is not None
    kept_ms = 5 * DAY_MS + KEEP_ENDING_MS
    assert check(world, kept_ms - KEEP_WARNING_MS - 1) == ""
    assert "From 2026-12-05T12:00:00.000Z on" in check(world, kept_ms - KEEP_WARNING_MS)
    assert after(world, kept_ms - KEEP_WARNING_MS) is not None
    assert check(world, kept_ms) == ""


def test_a_round_of_an_earlier_time_off_proves_nothing_now(world: World) -> None:
    assert after(world, 5 * DAY_MS) is not None
    world.clock.time = NOON + 40 * DAY_MS
    off_again = world.clock.time - TIMER_RETENTION_MS
    with pytest.raises(NotKeptError):
        world.upkeep().keep_rounds.check(off_again)
