"""The record that forbids a delivery lives as long as anything that could deliver, with the stack on."""

from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.acceptance import ACCEPTED
from tests.fakes.deliveries import FAILED, answers, crash_until, due, handle, run_of, waiting
from tests.fakes.faults import Killed, working
from tests.fakes.time_off import wait
from tests.fakes.world import NOON, World, key_of

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.base.limits import RETRY_DAYS_MAX
from sweephand.base.timing import QUEUE_DELAY_MAX_MS, TIMER_RETENTION_MS
from sweephand.model.attempt import Answer
from sweephand.model.definition import HISTORY_RETENTION_MIN_MS

RUN = f"{NOON + 10_000}-0"
OK = Answer(succeeded=True, code=200)
LONGEST: dict[str, Any] = {"maxAge": f"{RETRY_DAYS_MAX}d", "maxDelay": f"{RETRY_DAYS_MAX}d"}


def with_two_retries_on_their_way(world: World) -> None:
    """A crash lets a run have two copies of its retry: one in ten minutes, and one in four weeks."""
    message = due(world, historyRetention="1s", retry={**LONGEST, "initialDelay": "10m"})
    later = Answer(succeeded=False, code=503, retry_after_at=world.clock.time + (RETRY_DAYS_MAX - 1) * DAY_MS)
    answers(world, later, FAILED)

    def killing(call: str) -> None:
        if call == "before runs.record":
            raise Killed(call)

    world.announce = killing
    with pytest.raises(Killed):
        handle(world, message)
    working(world)
    assert handle(world, message._replace(crashes=1)).name in ("retrying", "claimed")
    if run_of(world).state != "retrying":
        world.clock.time += 4 * MINUTE_MS
        assert handle(world, message._replace(crashes=1)).name == "retrying"


def test_a_cancelled_run_is_not_delivered_by_the_other_copy_of_its_retry(world: World) -> None:
    with_two_retries_on_their_way(world)
    world.callbacks().cancel(key_of(), RUN, "k1")
    wait(world, (RETRY_DAYS_MAX + 10) * DAY_MS)
    assert len(world.consumers.attempts) == 2


def test_a_run_that_has_succeeded_is_not_delivered_by_the_other_copy_of_its_retry(world: World) -> None:
    with_two_retries_on_their_way(world)
    world.run_until(world.clock.time + HOUR_MS, ticking=False)
    assert run_of(world).state == "succeeded"
    wait(world, (RETRY_DAYS_MAX + 10) * DAY_MS)
    assert len(world.consumers.attempts) == 3


@pytest.mark.parametrize("days", [0.01, 1, RETRY_DAYS_MAX])
def test_a_record_outlives_every_retry_that_its_job_allows(world: World, days: float) -> None:
    definition = world.put(retry={"maxAge": f"{int(days * 24 * 60)}m"}, historyRetention="1s").job.definition
    assert definition.history_retention_ms >= definition.retry.age_max_ms + TIMER_RETENTION_MS
    assert definition.history_retention_ms >= HISTORY_RETENTION_MIN_MS


def test_an_update_does_not_shorten_the_life_of_a_record_that_waits(world: World) -> None:
    message = due(world, historyRetention="1s", retry={**LONGEST, "initialDelay": "10d"})
    answers(world, FAILED)
    assert handle(world, message).name == "retrying"
    kept_until = run_of(world).expires_at
    world.put(dueTime="10s", historyRetention="1s")
    world.callbacks().cancel(key_of(), RUN, "k1")
    assert kept_until is not None
    assert (run_of(world).expires_at or 0) >= kept_until


def test_the_record_of_a_retry_that_waits_for_its_turn_stays(world: World) -> None:
    patient: dict[str, Any] = {"heartbeatTimeout": "30d", "maxRunTime": "30d"}
    world.put(schedule="@every 9000h", overlap="wait", completion="async", historyRetention="1s", **patient)
    world.consumers.answering = lambda _: ACCEPTED
    first = world.trigger()
    wait(world, MINUTE_MS)
    second = world.trigger()
    wait(world, MINUTE_MS)
    # The second one was tried under an earlier definition, and its retry has to wait for its turn now.
    [message] = [each for _, each in waiting(world) if each.trigger == second]
    run = world.runs.of(first)
    assert run is not None
    retrying = replace(
        run,
        due_at=second.due_at,
        demand=second.demand,
        state="retrying",
        token=None,
        next_attempt_at=world.clock.time,
        expires_at=world.clock.time + TIMER_RETENTION_MS,
    )
    assert world.runs.record(retrying)
    world.queue.waiting[:] = [each for each in world.queue.waiting if each[1] is not message]
    world.queue.send([(message._replace(attempt=2), 0)])
    wait(world, 28 * DAY_MS)
    stored = world.runs.of(second)
    assert stored is not None
    assert stored.state == "retrying"
    assert world.callbacks().cancel(key_of(), second.run_id, "k1").state == "cancelled"


def test_a_consumer_can_report_after_a_long_pause_though_the_function_crashed(world: World) -> None:
    world.consumers.answering = lambda _: ACCEPTED
    patient: dict[str, Any] = {"heartbeatTimeout": "30d", "maxRunTime": "30d"}
    world.put(dueTime="1m", completion="async", historyRetention="1s", **patient)
    crash_until(world, NOON + 2 * MINUTE_MS)
    world.pause()
    wait(world, HISTORY_RETENTION_MIN_MS + 2 * DAY_MS)
    run = run_of(world)
    assert run.state == "claimed"
    assert world.callbacks().complete(key_of(), run.run_id, run.token).state == "succeeded"


def test_a_skipped_trigger_that_a_pause_holds_is_not_delivered_after_it(world: World) -> None:
    world.consumers.answering = lambda _: ACCEPTED
    patient: dict[str, Any] = {"heartbeatTimeout": "30d", "maxRunTime": "30d"}
    schedule: dict[str, Any] = {"schedule": "R3/PT1M", "overlap": "waitLatest", "completion": "async"}
    world.put(historyRetention="1s", **schedule, **patient)
    world.run_until(NOON + MINUTE_MS + 30 * SECOND_MS)
    copies = [each for each in world.queue.waiting if getattr(each[1], "trigger", None) is not None]
    world.run_until(NOON + 3 * MINUTE_MS)
    skipped = {run.run_id for run in world.runs.page(key_of(), "skipped", "", 10).items}
    assert skipped
    world.pause()
    for _, message in copies:
        world.queue.send([(message, QUEUE_DELAY_MAX_MS)])
    wait(world, HISTORY_RETENTION_MIN_MS + 5 * DAY_MS)
    [first] = [each for each in world.consumers.attempts if each.run_token is not None][:1]
    world.callbacks().complete(key_of(), first.trigger.run_id, first.run_token)
    world.resume()
    wait(world, DAY_MS)
    assert skipped.isdisjoint(each.trigger.run_id for each in world.consumers.attempts)


def test_a_copy_that_waits_for_its_slot_for_weeks_finds_that_its_run_is_over(world: World) -> None:
    world.triggers_per_minute_max = 1
    message = due(world, historyRetention="1s")
    assert handle(world, message).name == "succeeded"
    # The limit has fallen behind by weeks, and a copy of the message waits for its slot.
    slots = world.allowances.take("", world.clock.time, 1, 60 * 24 * 40)
    assert slots
    world.queue.send([(message, 0)])
    wait(world, 45 * DAY_MS)
    assert len(world.consumers.attempts) == 1
    assert not world.queue.waiting
