"""The data over 2 KB that was given with a trigger is there for as long as the trigger waits."""

import json
from typing import Any

import pytest
from tests.fakes.faults import calls_of
from tests.fakes.time_off import expire, wait
from tests.fakes.world import NOON, World, key_of

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS
from sweephand.base.limits import RETRY_DAYS_MAX, RUN_DAYS_MAX
from sweephand.base.timing import PAYLOAD_KEPT_MS, TIMER_RETENTION_MS
from sweephand.model.attempt import Answer
from sweephand.model.definition import Payload
from sweephand.model.run import Run
from sweephand.runs.requeue import KeptData

LARGE = json.dumps("x" * 3_000)
#: Far longer than a payload is kept that nobody renews.
LONG_MS = 2 * PAYLOAD_KEPT_MS

ACCEPTED, FAILED, OK = (
    Answer(succeeded=True, code=202),
    Answer(succeeded=False, code=503),
    Answer(succeeded=True, code=204),
)


def world_with(**written: Any) -> World:
    world = World()
    world.put(schedule="@every 9000h", historyRetention="80d", **written)
    return world


def runs_of(world: World, name: str = "job") -> list[Run]:
    return list(world.runs.page(key_of(name), None, "", 10).items)


def test_a_chained_trigger_is_delivered_after_a_long_pause(world: World) -> None:
    world.put("second")
    world.put("first", dueTime="1m", completion="async", onComplete={"type": "job", "name": "second"})
    world.consumers.answering = lambda attempt: ACCEPTED if attempt.trigger.key.name == "first" else OK
    world.run_until(NOON + 2 * MINUTE_MS)
    [first] = world.consumers.attempts
    world.pause("second")
    result = json.dumps("x" * 2_000)
    world.callbacks().complete(key_of("first"), first.trigger.run_id, first.run_token, result=result)
    wait(world, LONG_MS)
    world.resume("second")
    wait(world, HOUR_MS)
    [run] = runs_of(world, "second")
    assert (run.state, run.reason) == ("succeeded", None)
    assert "xxx" in world.consumers.attempts[-1].body.decode()


def test_a_trigger_is_delivered_after_a_long_wait_for_its_turn() -> None:
    world = world_with(completion="async", overlap="wait", heartbeatTimeout="30d", maxRunTime="30d")
    world.consumers.answering = lambda _: ACCEPTED
    sent = ['"first"', '"second"', '"third"', LARGE]
    for data in sent:
        world.trigger(data=data)
        wait(world, MINUTE_MS)
    for _ in sent[1:]:
        wait(world, (RUN_DAYS_MAX - 1) * DAY_MS)
        attempt = world.consumers.attempts[-1]
        world.callbacks().complete(key_of(), attempt.trigger.run_id, attempt.run_token)
        wait(world, HOUR_MS)
    assert [each.body.decode() for each in world.consumers.attempts] == sent


def test_a_run_that_its_consumer_leaves_is_tried_again_with_its_data() -> None:
    retry = {"maxAge": "30d", "initialDelay": "1h"}
    world = world_with(completion="async", heartbeatTimeout="29d", maxRunTime="29d", retry=retry)
    world.consumers.answering = lambda _: ACCEPTED
    world.trigger(data=LARGE)
    wait(world, MINUTE_MS)
    wait(world, 29 * DAY_MS + 3 * HOUR_MS)
    assert [each.body.decode() for each in world.consumers.attempts] == [LARGE, LARGE]


def test_a_retry_that_waits_for_the_longest_delay_has_its_data() -> None:
    longest = f"{RETRY_DAYS_MAX}d"
    retry = {"maxAge": longest, "initialDelay": longest, "maxDelay": longest, "maxAttempts": 2}
    world = world_with(retry=retry)
    world.consumers.answering = lambda _: FAILED
    world.ids.fraction = lambda: 0.99  # type: ignore[method-assign]
    world.trigger(data=LARGE)
    wait(world, MINUTE_MS)
    world.consumers.answering = lambda _: OK
    wait(world, RETRY_DAYS_MAX * DAY_MS)
    assert [each.body.decode() for each in world.consumers.attempts] == [LARGE, LARGE]


def test_the_rest_of_a_batch_has_its_data_after_a_long_pause(world: World) -> None:
    world.put("second", batch={"count": 3, "window": "7d"})
    world.put("first", dueTime="1m", completion="async", onComplete={"type": "job", "name": "second"})
    world.consumers.answering = lambda attempt: ACCEPTED if attempt.trigger.key.name == "first" else OK
    world.run_until(NOON + 2 * MINUTE_MS)
    [first] = world.consumers.attempts
    world.pause("second")
    result = json.dumps("x" * 2_000)
    world.callbacks().complete(key_of("first"), first.trigger.run_id, first.run_token, result=result)
    wait(world, LONG_MS)
    world.resume("second")
    wait(world, 8 * DAY_MS)
    assert sorted(run.state for run in runs_of(world, "second")) == ["succeeded"] * 3


def test_a_redriven_run_has_its_data_for_two_weeks_more() -> None:
    world = world_with(retry={"maxAttempts": 1})
    world.consumers.answering = lambda _: FAILED
    run_id = world.trigger(data=LARGE).run_id
    wait(world, MINUTE_MS)
    wait(world, PAYLOAD_KEPT_MS - DAY_MS)
    world.redrive(run_id)
    world.clock.time += TIMER_RETENTION_MS - DAY_MS
    expire(world)
    world.consumers.answering = lambda _: OK
    wait(world, MINUTE_MS)
    assert [each.body.decode() for each in world.consumers.attempts] == [LARGE, LARGE]


def test_a_trigger_that_is_delivered_at_once_writes_its_data_once() -> None:
    world = world_with(retry={"maxAge": "24h"}, completion="async")
    world.consumers.answering = lambda _: FAILED
    called = calls_of(world, lambda: world.trigger(data=LARGE))
    called += calls_of(world, lambda: world.run_until(NOON + DAY_MS))
    assert len(world.consumers.attempts) > 5
    written = [each for each in called if each.startswith("before payloads.")]
    assert set(written) == {"before payloads.put", "before payloads.discard", "before payloads.get"}


def test_data_is_renewed_once_in_a_month_of_waiting() -> None:
    world = world_with()
    now = world.clock.time
    payload = Payload("digest", 3_000, None, "ref", kept_until=now + PAYLOAD_KEPT_MS)
    data, kept = KeptData(payloads=world.payloads, clock=world.clock), payload
    world.payloads.put("uid", "ref", LARGE)
    world.payloads.discard("uid", "ref")
    renewed = 0
    for _ in range(365 * 24 * 4):
        world.clock.time += 15 * MINUTE_MS
        before, kept = kept, data.of_run("uid", kept, world.clock.time + 15 * MINUTE_MS) or payload
        renewed += kept is not before
        world.payloads.remove_old(world.clock.time)
    assert world.payloads.get("uid", "ref") == LARGE
    assert 10 <= renewed <= 12


@pytest.mark.parametrize("payload", [None, Payload.of('"small"')])
def test_data_within_the_message_needs_nothing(world: World, payload: Payload | None) -> None:
    kept = KeptData(payloads=world.payloads, clock=world.clock)
    assert kept.of_run("uid", payload, world.clock.time + LONG_MS) is payload
