"""No attempt begins while a window is open; what it holds comes after it, and what it skips is recorded."""

import pytest
from tests.fakes.deliveries import FAILED, answers, run_of
from tests.fakes.policies import add_policy
from tests.fakes.windows import at, delete_window, put_once, put_window, world_with_windows
from tests.fakes.world import NOON, World, key_of

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.base.timing import NAMESPACE_AGE_MAX_MS
from sweephand.model.attempt import Answer
from sweephand.model.run_id import RunName
from sweephand.model.timer import RetryTimer

UP = Answer(succeeded=True, code=200)


@pytest.fixture
def world() -> World:
    return world_with_windows()


def dues(world: World) -> list[int]:
    """The due times of what was delivered, in order, in ms after noon."""
    return [each.trigger.due_at - NOON for each in world.consumers.attempts]


def times(world: World) -> list[int]:
    """When it was delivered."""
    return [each - NOON for each in world.consumers.times]


def test_what_falls_due_in_a_window_is_delivered_within_its_spread_after_it(world: World) -> None:
    put_once(world, HOUR_MS, 2 * HOUR_MS, spread="10m")
    world.put(schedule="0 */10 * * * *")
    world.run_until(NOON + 3 * HOUR_MS)
    assert not [each for each in times(world) if HOUR_MS <= each < 2 * HOUR_MS]
    held = range(HOUR_MS, 2 * HOUR_MS, 10 * MINUTE_MS)
    came = [(due, time) for due, time in zip(dues(world), times(world), strict=True) if due in held]
    assert [due for due, _ in sorted(came, key=lambda each: each[1])] == list(held)
    assert all(2 * HOUR_MS <= time < 2 * HOUR_MS + 10 * MINUTE_MS for _, time in came)
    assert len({time for _, time in came}) == len(came)
    assert len(dues(world)) == len(set(dues(world))) == 18


def test_jobs_that_fell_due_together_are_spread(world: World) -> None:
    put_once(world, MINUTE_MS, 20 * MINUTE_MS)
    for number in range(20):
        world.put(f"job{number}", dueTime=at(5 * MINUTE_MS))
    world.run_until(NOON + HOUR_MS)
    came = times(world)
    assert len(came) == 20
    assert all(20 * MINUTE_MS <= time < 21 * MINUTE_MS for time in came)
    assert max(came) - min(came) > 15 * SECOND_MS


@pytest.mark.parametrize(
    "windows",
    [
        [
            {"schedule": "0 22 * * *", "duration": "8h", "spread": "4h"},
            {"schedule": "0 7 * * *", "duration": "14h"},
        ],
        [{"schedule": "0 7 * * *", "duration": "23h", "spread": "1d"}],
    ],
)
def test_what_is_held_leaves_before_the_next_window_opens_however_long_the_spread(
    world: World, windows: list[dict[str, str]]
) -> None:
    for number, window in enumerate(windows):
        put_window(world, f"w{number}", **window)
    for number in range(20):
        world.put(f"job{number}", dueTime=at(15 * HOUR_MS))
    world.run_until(NOON + 2 * DAY_MS)
    came = times(world)
    assert len(came) == 20
    assert all(18 * HOUR_MS <= time < 19 * HOUR_MS for time in came)
    assert max(came) - min(came) > 15 * MINUTE_MS


def test_a_held_trigger_polls_nothing(world: World) -> None:
    put_once(world, MINUTE_MS, 20 * HOUR_MS)
    world.put(dueTime=at(5 * MINUTE_MS))
    world.run_until(NOON + 10 * MINUTE_MS)
    assert not world.queue.waiting
    (timer,) = [each for each in world.timers.everything() if isinstance(each, RetryTimer)]
    assert 20 * HOUR_MS <= timer.due_at - NOON < 20 * HOUR_MS + MINUTE_MS


def test_a_window_of_two_weeks_holds_with_all_that_the_trigger_needs(world: World) -> None:
    put_once(world, MINUTE_MS, 14 * DAY_MS)
    world.put(dueTime=at(5 * MINUTE_MS), data='"kept"', deleteAfterCompletion=True, retention="1s")
    world.run_until(NOON + 14 * DAY_MS + HOUR_MS)
    (attempt,) = world.consumers.attempts
    assert attempt.body == b'"kept"'
    assert 14 * DAY_MS <= times(world)[0] < 14 * DAY_MS + MINUTE_MS


def test_only_jobs_of_its_prefix_and_labels_are_held(world: World) -> None:
    put_once(world, MINUTE_MS, HOUR_MS, prefix="mail-", labels={"team": "a"})
    for name, labels in (
        ("mail-1", {"team": "a", "x": "y"}),
        ("mail-2", {"team": "b"}),
        ("other", {"team": "a"}),
    ):
        world.put(name, dueTime=at(5 * MINUTE_MS), labels=labels)
    world.run_until(NOON + 30 * MINUTE_MS)
    assert sorted(each.trigger.key.name for each in world.consumers.attempts) == ["mail-2", "other"]
    world.run_until(NOON + 2 * HOUR_MS)
    assert len(world.consumers.attempts) == 3


def test_a_window_that_skips_records_what_falls_due_in_it(world: World) -> None:
    put_once(world, HOUR_MS, 2 * HOUR_MS, then="skip")
    world.put(schedule="0 */30 * * * *")
    world.run_until(NOON + 3 * HOUR_MS - 1)
    assert dues(world) == [30 * MINUTE_MS, 2 * HOUR_MS, 2 * HOUR_MS + 30 * MINUTE_MS]
    runs = world.runs.page(key_of(), None, "", 10).items
    skipped = {each.due_at - NOON: each.reason for each in runs if each.state == "skipped"}
    assert skipped == {HOUR_MS: "window: freeze", HOUR_MS + 30 * MINUTE_MS: "window: freeze"}


def test_a_trigger_that_is_late_is_judged_by_its_due_time(world: World) -> None:
    put_once(world, HOUR_MS, 2 * HOUR_MS, then="skip")
    world.put(dueTime=at(HOUR_MS + MINUTE_MS))
    world.is_enabled = False
    world.run_until(NOON + 2 * HOUR_MS + MINUTE_MS)
    world.is_enabled = True
    world.run_until(NOON + 3 * HOUR_MS)
    assert not world.consumers.attempts
    assert run_of(world).state == "skipped"


def test_what_was_due_before_a_window_that_skips_waits_for_its_end(world: World) -> None:
    put_once(world, HOUR_MS, 2 * HOUR_MS, then="skip")
    answers(world, FAILED)
    retry = {"initialDelay": "30m", "maxDelay": "30m"}
    world.put(dueTime=at(HOUR_MS - MINUTE_MS), retry=retry)
    world.run_until(NOON + 3 * HOUR_MS)
    assert times(world)[0] == HOUR_MS - MINUTE_MS
    assert 2 * HOUR_MS <= times(world)[1] < 2 * HOUR_MS + MINUTE_MS
    assert run_of(world).state == "succeeded"


def test_a_retry_is_held_and_does_not_grow_too_old(world: World) -> None:
    put_once(world, 2 * MINUTE_MS, 3 * DAY_MS)
    answers(world, FAILED, FAILED)
    world.put(dueTime=at(MINUTE_MS), retry={"maxAge": "1h", "initialDelay": "10m", "multiplier": 1})
    world.run_until(NOON + DAY_MS)
    run = run_of(world)
    assert run.state == "retrying"
    assert (run.next_attempt_at or 0) > NOON + DAY_MS
    world.run_until(NOON + 4 * DAY_MS)
    assert len(times(world)) == 3
    assert times(world)[1] >= 3 * DAY_MS
    assert run_of(world).state == "succeeded"
    assert run_of(world).started_at == NOON + MINUTE_MS


def test_an_accepted_run_that_fails_after_the_window_is_not_too_old_either(world: World) -> None:
    put_once(world, 2 * MINUTE_MS, 3 * DAY_MS)
    answers(world, FAILED, Answer(succeeded=True, code=202))
    world.put(
        dueTime=at(MINUTE_MS),
        completion="async",
        heartbeatTimeout="1m",
        retry={"maxAge": "1h", "initialDelay": "10m", "multiplier": 1},
    )
    world.run_until(NOON + 4 * DAY_MS)
    # The second attempt was accepted and forgotten. The third one follows its deadline.
    assert len(times(world)) >= 3


def test_an_attempt_that_has_begun_goes_on(world: World) -> None:
    put_once(world, MINUTE_MS, HOUR_MS)
    world.put(dueTime=at(MINUTE_MS - 1), completion="async", heartbeatTimeout="10m")
    answers(world, Answer(succeeded=True, code=202))
    world.run_until(NOON + 5 * MINUTE_MS)
    assert run_of(world).state == "running"
    run = run_of(world)
    world.callbacks()
    assert run.deadline_at == NOON + MINUTE_MS - 1 + 10 * MINUTE_MS


def test_triggers_by_hand_redrives_and_chained_triggers_pass(world: World) -> None:
    put_once(world, MINUTE_MS, DAY_MS)
    world.run_until(NOON + 2 * MINUTE_MS)
    answers(world, Answer(succeeded=False, code=400, is_final=True))
    world.put("last", schedule="@yearly", onComplete={"type": "job", "name": "next"})
    world.put("next")
    world.run_until(NOON + HOUR_MS)
    trigger = world.trigger("last")
    world.run_until(NOON + HOUR_MS + MINUTE_MS)
    world.redrive(trigger.run_id, "last")
    world.run_until(NOON + HOUR_MS + 2 * MINUTE_MS)
    assert [each.trigger.key.name for each in world.consumers.attempts].count("last") == 2
    assert [each.trigger.key.name for each in world.consumers.attempts].count("next") >= 1


def test_runs_that_take_turns_do_so_after_the_window(world: World) -> None:
    put_once(world, MINUTE_MS, HOUR_MS)
    world.put(schedule="0 */10 * * * *", overlap="wait")
    world.run_until(NOON + HOUR_MS + 5 * MINUTE_MS)
    held = [each * 10 * MINUTE_MS for each in range(1, 6)]
    assert dues(world) == [HOUR_MS, *held]


def test_a_trigger_by_hand_goes_before_a_retry_that_a_window_holds(world: World) -> None:
    put_once(world, 2 * MINUTE_MS, DAY_MS)
    answers(world, FAILED)
    world.put(dueTime=at(MINUTE_MS), overlap="wait", retry={"initialDelay": "10m"})
    world.run_until(NOON + HOUR_MS)
    world.trigger()
    world.run_until(NOON + HOUR_MS + MINUTE_MS)
    assert len(times(world)) == 2
    world.run_until(NOON + DAY_MS + HOUR_MS)
    assert len(times(world)) == 3
    assert run_of_schedule(world) == "succeeded"


def test_a_trigger_by_hand_waits_for_a_retry_that_a_window_held_before(world: World) -> None:
    put_once(world, 2 * MINUTE_MS, HOUR_MS)
    answers(world, FAILED, FAILED)
    world.put(dueTime=at(MINUTE_MS), overlap="wait", retry={"initialDelay": "10m", "multiplier": 1})
    world.run_until(NOON + HOUR_MS + 2 * MINUTE_MS)
    assert len(times(world)) == 2
    world.trigger()
    world.run_until(NOON + 2 * HOUR_MS)
    assert [each.trigger.demand is None for each in world.consumers.attempts] == [True, True, True, False]


def test_scheduled_triggers_do_not_pass_a_retry_that_a_window_holds(world: World) -> None:
    put_once(world, 90 * SECOND_MS, HOUR_MS, spread="20m")
    answers(world, FAILED)
    world.put(schedule="0 * * * * *", overlap="wait", retry={"initialDelay": "10s"})
    world.run_until(NOON + 2 * HOUR_MS)
    first = dues(world)[0]
    assert dues(world)[:2] == [first, first]


def run_of_schedule(world: World) -> str:
    (run,) = [each for each in world.runs.page(key_of(), None, "", 10).items if each.demand is None]
    return run.state


def test_what_waits_under_a_policy_when_a_window_opens_is_held(world: World) -> None:
    add_policy(world, concurrent_max=1)
    put_once(world, MINUTE_MS, HOUR_MS)
    world.put(dueTime=at(30 * MINUTE_MS), policy="mailer")
    world.run_until(NOON + HOUR_MS - 1)
    assert not world.consumers.attempts
    world.run_until(NOON + HOUR_MS + 2 * MINUTE_MS)
    assert len(world.consumers.attempts) == 1


def test_a_batch_counts_what_a_window_skips(world: World) -> None:
    put_once(world, MINUTE_MS, 6 * MINUTE_MS, then="skip")
    world.put(dueTime="0s", batch={"count": 10, "window": "10m"})
    world.run_until(NOON + HOUR_MS)
    assert len(world.consumers.attempts) == 5
    batch = world.api().batches.get(key_of(), RunName(NOON, 0), NOON + HOUR_MS)
    assert (batch.counts.succeeded, batch.counts.cancelled) == (5, 5)


def test_a_window_that_is_made_longer_holds_again(world: World) -> None:
    put_once(world, MINUTE_MS, HOUR_MS)
    world.put(dueTime=at(5 * MINUTE_MS))
    world.run_until(NOON + 30 * MINUTE_MS)
    put_once(world, MINUTE_MS, 2 * HOUR_MS)
    world.run_until(NOON + 2 * HOUR_MS - 1)
    assert not world.consumers.attempts
    world.run_until(NOON + 2 * HOUR_MS + MINUTE_MS)
    assert len(world.consumers.attempts) == 1


def test_what_a_removed_window_holds_comes_within_a_day(world: World) -> None:
    put_once(world, MINUTE_MS, 10 * DAY_MS)
    world.put(dueTime=at(5 * MINUTE_MS))
    world.run_until(NOON + HOUR_MS)
    delete_window(world)
    world.run_until(NOON + DAY_MS + 10 * MINUTE_MS)
    assert len(world.consumers.attempts) == 1


def test_a_recurring_window_follows_its_zone(world: World) -> None:
    # Noon of 21 November is 13:00 in Riga, with the seconds of the world's beginning.
    put_window(world, schedule="0 15 * * *", timezone="Europe/Riga", duration="1h", spread="0s")
    world.put(schedule="0 30 15 * * *", timezone="Europe/Riga")
    world.run_until(NOON + 2 * DAY_MS)
    assert len(times(world)) == 2
    assert all(time - due == 30 * MINUTE_MS for due, time in zip(dues(world), times(world), strict=True))


def test_a_process_knows_a_new_window_within_a_minute(world: World) -> None:
    world.put(schedule="* * * * * *")
    deliveries = world.deliveries()
    world.deliveries = lambda *_, **__: deliveries  # type: ignore[method-assign]
    world.run_until(NOON + 10 * SECOND_MS)
    put_once(world, 0, HOUR_MS)
    world.run_until(NOON + 2 * MINUTE_MS)
    assert max(times(world)) <= 11 * SECOND_MS + NAMESPACE_AGE_MAX_MS


def test_a_copy_of_a_trigger_whose_run_is_over_does_not_wait(world: World) -> None:
    world.put(dueTime=at(MINUTE_MS))
    ((_, message),) = world.queue.waiting
    world.run_until(NOON + 2 * MINUTE_MS)
    put_once(world, 0, HOUR_MS)
    world.queue.send([(message, 0)])
    world.run_until(NOON + 3 * MINUTE_MS)
    assert not [each for each in world.timers.everything() if isinstance(each, RetryTimer)]
    assert len(world.consumers.attempts) == 1
