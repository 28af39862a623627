"""A stack that is broken in one way turns the alarms red that report it, and no others."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.fakes.doubles import NOON
from tests.fakes.engines import Dynamo
from tests.fakes.faults import failing
from tests.fakes.functions import forget_the_environment
from tests.fakes.wire import dated, refused, without_waiting
from tests.fakes.world import World
from tests.template.alarms.running import RunningStack, new_world, red_minutes
from tests.template.deployed import Deployed
from tests.template.stack import Stack

from sweephand.model.attempt import Answer
from sweephand.runtime import metrics
from sweephand.storage.connect import Answers

MINUTE = 60_000
BEFORE = 6
BROKEN = 12
LARGE = '"' + "x" * 3_000 + '"'

Run = Callable[..., dict[str, list[int]]]


@pytest.fixture
def alarms(stack: Stack) -> dict[str, dict[str, Any]]:
    """The alarms of a stack with a topic and a valve."""
    deployed = Deployed(
        stack, AlarmTopicArn="arn:aws:sns:eu-west-1:123456789012:ops", MaxTriggersPerMinute="9"
    )
    return deployed.named("AWS::CloudWatch::Alarm")


@pytest.fixture
def world() -> World:
    return new_world()


@pytest.fixture
def running(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunningStack]:
    running = RunningStack(world, monkeypatch)
    running.write_jobs()
    yield running
    forget_the_environment()


@pytest.fixture
def broken(running: RunningStack, alarms: dict[str, dict[str, Any]]) -> Run:
    """Lets a healthy stack run, breaks it, and returns in which minutes since then each alarm was red."""

    def run(break_it: Callable[[], object], minutes: int = BROKEN, late_ms: int = 0) -> dict[str, list[int]]:
        running.run(BEFORE)
        healthy, broken_at = running.metrics(), running.world.clock.time
        red = red_minutes(alarms, healthy, NOON + 4 * MINUTE, broken_at, late_ms=late_ms)
        assert red == {}, "it was not healthy before"
        break_it()
        since = running.world.clock.time
        running.run(minutes)
        return red_minutes(alarms, running.metrics(), since, running.world.clock.time, late_ms=late_ms)

    return run


def test_a_healthy_stack_turns_no_alarm_red(broken: Run, world: World) -> None:
    assert broken(lambda: None) == {}
    assert len(world.consumers.attempts) > 20 * (BEFORE + BROKEN - 1)


def test_a_paused_and_resumed_job_turns_no_alarm_red(
    broken: Run, running: RunningStack, world: World
) -> None:
    """Its triggers are late, as somebody asked."""

    def pause() -> None:
        world.pause("job-7")
        running.run(4)
        world.resume("job-7", mode="all")

    assert broken(pause) == {}


#: Lambda publishes a minute of its metrics up to so many minutes late.
late = pytest.mark.parametrize("late", [0, 1, 2])


@late
def test_without_ticks(broken: Run, running: RunningStack, late: int) -> None:
    def stop() -> None:
        running.is_ticking = False

    red = broken(stop, late_ms=late * MINUTE)
    assert set(red) == {"TickStoppedAlarm"}
    assert red["TickStoppedAlarm"][0] == 4


@late
def test_a_minute_without_a_tick_turns_no_alarm_red(broken: Run, running: RunningStack, late: int) -> None:
    """A tick that slips over the end of its minute leaves one without any."""

    def slip() -> None:
        running.is_ticking = False
        running.run(1)
        running.is_ticking = True

    assert broken(slip, late_ms=late * MINUTE) == {}


def test_a_delivery_function_that_fails(broken: Run, running: RunningStack) -> None:
    def fail() -> None:
        running.crash = crash

    def crash() -> None:
        raise RuntimeError("the function cannot start")

    red = broken(fail)
    assert set(red) == {"DeliverFailuresAlarm"}
    assert red["DeliverFailuresAlarm"][0] == 3


def test_a_delivery_function_that_fails_for_long_leaves_old_messages(
    broken: Run, running: RunningStack
) -> None:
    def fail() -> None:
        running.crash = crash

    def crash() -> None:
        raise RuntimeError("the function cannot start")

    assert set(broken(fail, minutes=30)) == {"DeliverFailuresAlarm", "DeliveryStuckAlarm"}


def test_without_the_right_to_send_to_the_delivery_queue(broken: Run, world: World) -> None:
    red = broken(lambda: failing(world, "queue.send"))
    assert set(red) == {"TickErrorsAlarm", "CursorBehindAlarm"}
    assert red["TickErrorsAlarm"][0] == 3
    # The sweeps before have sent what is due for three minutes.
    assert red["CursorBehindAlarm"][0] <= 6


@pytest.fixture
def dynamo(on_moto: Dynamo, world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dynamo]:
    """The leases lie in a table, and its answers have the true date. Made before the functions."""
    without_waiting(monkeypatch)
    leases = on_moto.stores().leases
    leases.raise_shards(1)
    world.leases = leases  # type: ignore[assignment]
    answers = Answers(world.wheel_clock.now)
    answers.watch(on_moto.client.meta.events)
    monkeypatch.setattr(metrics, "answers", lambda: answers)
    with dated(on_moto.client, world.clock.now):
        yield on_moto


def test_a_table_that_is_throttled(dynamo: Dynamo, broken: Run, request: pytest.FixtureRequest) -> None:
    def throttle() -> None:
        throttled = refused(dynamo.client, "Query", "ThrottlingException")
        throttled.__enter__()
        request.addfinalizer(lambda: throttled.__exit__(None, None, None))

    red = broken(throttle)
    assert set(red) == {"TickErrorsAlarm", "ThrottlingAlarm"}
    assert red["ThrottlingAlarm"][0] == 3


@pytest.mark.usefixtures("dynamo")
def test_a_clock_that_is_ahead(broken: Run, world: World) -> None:
    def skew() -> None:
        world.wheel_clock.ahead_ms = 7_000

    red = broken(skew)
    assert set(red) == {"ClockSkewAlarm"}
    assert red["ClockSkewAlarm"][0] == 1


@pytest.mark.usefixtures("dynamo")
def test_a_clock_that_is_behind(broken: Run, world: World) -> None:
    """The sweep then delays messages for too long, so triggers are late as well."""

    def skew() -> None:
        world.wheel_clock.ahead_ms = -6_000

    red = broken(skew)
    assert set(red) == {"ClockSkewAlarm", "LatenessAlarm"}
    assert red["ClockSkewAlarm"][0] == 1


@pytest.mark.parametrize("ahead_ms", [-10 * MINUTE, 10 * MINUTE])
@pytest.mark.usefixtures("dynamo")
def test_a_clock_that_is_far_off(broken: Run, world: World, ahead_ms: int) -> None:
    """Its metrics have AWS's time. By its own time the alarm would look at them too early or too late."""

    def skew() -> None:
        world.wheel_clock.ahead_ms = ahead_ms

    red = broken(skew)
    assert red["ClockSkewAlarm"] == list(range(1, BROKEN + 1))


@pytest.mark.parametrize("ahead_ms", [4_000, -4_000])
@pytest.mark.usefixtures("dynamo")
def test_a_clock_that_differs_by_less_turns_no_alarm_red(broken: Run, world: World, ahead_ms: int) -> None:
    def skew() -> None:
        world.wheel_clock.ahead_ms = ahead_ms

    assert broken(skew) == {}


def test_a_consumer_that_is_down(broken: Run, world: World) -> None:
    def end() -> None:
        world.consumers.answering = lambda _: Answer(succeeded=False, code=503)

    red = broken(end)
    assert set(red) == {"DeliveryErrorsAlarm"}
    assert red["DeliveryErrorsAlarm"][0] == 2


def test_a_consumer_of_one_job_in_twenty_that_is_down_turns_no_alarm_red(broken: Run, world: World) -> None:
    def end() -> None:
        world.consumers.answering = lambda attempt: Answer(succeeded=attempt.trigger.key.name != "job-7")

    assert broken(end) == {}


def test_a_valve_that_is_closed(broken: Run, running: RunningStack, world: World) -> None:
    def close() -> None:
        # The parameter makes new versions of the functions.
        world.triggers_per_minute_max = 9
        running.deploy()

    red = broken(close)
    assert set(red) == {"ValveAlarm"}
    assert red["ValveAlarm"][0] <= 2


def test_a_payload_that_is_gone(broken: Run, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def lose() -> None:
        world.put("job-7", schedule="21 * * * * *", data=LARGE)
        monkeypatch.setattr(world.payloads, "get", lambda *_: None)

    red = broken(lose)
    assert set(red) == {"DeadLettersAlarm"}
    assert red["DeadLettersAlarm"][0] <= 2


def test_deliveries_that_begin_late(broken: Run, running: RunningStack) -> None:
    def slow() -> None:
        running.slow_ms = 8_000

    red = broken(slow)
    assert set(red) == {"LatenessAlarm"}
    assert red["LatenessAlarm"][0] == 1
