"""The tick function and the sweep function: their duties, and the errors that they raise after all others."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from aws_lambda_powertools import Logger
from tests.fakes.doubles import HandClock
from tests.fakes.faults import calls_of, failing
from tests.fakes.functions import forget_the_environment, function
from tests.fakes.metrics import printed
from tests.fakes.shards import sent, written
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import OffTooLongError, StoreError
from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS
from sweephand.base.timing import AUDIT_MINUTE, AUDIT_ROUND_MS, JOB_AUDIT_MINUTE
from sweephand.jobs.payload_audit import Audited
from sweephand.model.attempt import Answer
from sweephand.model.timer import UnreadTimer, position_key
from sweephand.runtime import wheel

NOW = NOON + AUDIT_MINUTE * 60_000


class Context:
    """The context that Lambda gives an invocation."""

    aws_request_id = "request-1"

    def get_remaining_time_in_millis(self) -> int:
        """The time that is left."""
        return 55_000


def wheel_of(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the functions run on that stack."""
    composed = world.wheel(world.clock)
    monkeypatch.setattr(wheel, "wheel", lambda: composed)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """The stack of the functions, with a trigger that is due and a timer that cannot be read."""
    world = World(NOW, shards=1)
    wheel_of(world, monkeypatch)
    written(world, "sound", NOW)
    world.timers.put([UnreadTimer(0, f"{position_key(NOW)}#ns/job#1-a#occurrence#", {}, "damaged")])
    return world


def run(handler: Callable[..., Any]) -> None:
    with pytest.raises(ExceptionGroup):
        handler({"firstShard": 0}, Context())


@pytest.mark.parametrize(("name", "event"), [("tick", "ticked"), ("sweep", "swept")])
def test_a_function_that_puts_a_timer_off_logs_what_it_found_before_it_fails(
    world: World, caplog: pytest.LogCaptureFixture, name: str, event: str
) -> None:
    with caplog.at_level("INFO"):
        run(function(name).handler)
    assert sent(world) == ["sound"]
    assert event in [each.message for each in caplog.records]


@pytest.mark.parametrize("name", ["tick", "sweep"])
@pytest.mark.usefixtures("world")
def test_each_line_of_an_invocation_has_its_request_id(name: str) -> None:
    loaded = function(name)
    run(loaded.handler)
    assert loaded.logger.get_current_keys()["request_id"] == "request-1"


def test_a_tick_that_puts_a_timer_off_does_the_step_of_the_audit(world: World) -> None:
    calls = calls_of(world, lambda: run(function("tick").handler))
    assert "after audits.position" in calls


def test_a_tick_of_which_the_sweep_and_the_audit_fail_raises_both(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    class AuditFailedError(Exception):
        pass

    def failing(_remaining_ms: int) -> None:
        raise AuditFailedError

    monkeypatch.setattr(wheel, "audit", failing)
    with pytest.raises(ExceptionGroup) as caught:
        function("tick").handler({}, Context())
    assert isinstance(caught.value.__context__, AuditFailedError)
    assert len(sent(world)) == 1


@pytest.mark.usefixtures("world")
@pytest.mark.parametrize("name", ["tick", "sweep"])
def test_a_function_that_sweeps_measures_its_sweep(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    monkeypatch.setenv("METRICS", "all")
    # Powertools keeps a logger, and the stream that was there, for each service.
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", f"sweeping {name}")
    forget_the_environment()
    run(function(name).handler)
    found = {each.metric.name: each.value for each in printed(capsys.readouterr().out.splitlines())}
    forget_the_environment()
    assert found == {"Sent": 1, "SweepTime": 0}


@pytest.mark.parametrize("name", ["tick", "sweep"])
def test_a_function_that_cannot_read_the_leases_writes_a_line_before_it_fails(
    world: World, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """The line has what DynamoDB's answers have shown, as that it throttles."""
    failing(world, "leases.state")
    with caplog.at_level("INFO"), pytest.raises(StoreError):
        function(name).handler({"firstShard": 0}, Context())
    assert [each.message for each in caplog.records] == ["not begun"]


def test_a_tick_logs_each_job_and_run_that_its_audit_has_mended(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world = World(NOON)
    wheel_of(world, monkeypatch)
    world.namespaces.enlist("ns")
    world.consumers.answering = lambda _: Answer(succeeded=False, code=500)
    world.put("retried", schedule="@every 1h", retry={"initialDelay": "20m"})
    world.put("lost", schedule="@every 5h")
    world.run_until(NOON + HOUR_MS + MINUTE_MS)
    world.queue.waiting.clear()
    world.timers.lose(key_of("lost"), NOON)
    world.timers.lose(key_of("retried"), NOON + HOUR_MS + MINUTE_MS)
    world.run_until(NOON + 3 * HOUR_MS)
    world.clock.time = NOON + 3 * HOUR_MS + JOB_AUDIT_MINUTE * MINUTE_MS
    with caplog.at_level("INFO"):
        function("tick").handler({}, Context())
    lines = [each for each in caplog.records if each.message in ("armed again", "sent again", "jobs audited")]
    assert [(each.message, getattr(each, "job", "")) for each in lines] == [
        ("armed again", "ns/lost"),
        ("armed again", "ns/retried"),
        ("sent again", "ns/retried"),
        ("jobs audited", ""),
    ]
    assert vars(lines[-1]).items() >= {"jobs": 2, "late": 0, "timers": 2, "runs": 1, "failed": 0}.items()


def switched_off(monkeypatch: pytest.MonkeyPatch) -> World:
    """The stack of the functions, which is off, with a message and a timer that wait."""
    world = World(NOON)
    world.is_enabled = False
    wheel_of(world, monkeypatch)
    world.put("soon", dueTime="1m")
    world.put("later", dueTime="1h")
    world.tick()
    return world


def test_a_tick_of_a_stack_that_is_off_logs_what_it_has_kept(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    world = switched_off(monkeypatch)
    world.clock.time = NOON + 6 * DAY_MS
    with caplog.at_level("INFO"):
        function("tick").handler({}, Context())
    [line] = [each for each in caplog.records if each.message == "kept"]
    assert vars(line).items() >= {"messages": 1}.items()


def test_a_tick_fails_if_what_waits_is_not_kept_and_from_the_tenth_day_off_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = switched_off(monkeypatch)
    handler = function("tick").handler
    failing(world, "expiry.set")
    for day in range(2, 10):
        world.clock.time = NOON + day * DAY_MS
        with pytest.raises(StoreError):
            handler({}, Context())
    world.announce = lambda _: None
    handler({}, Context())
    world.clock.time = NOON + 10 * DAY_MS
    with pytest.raises(OffTooLongError):
        handler({}, Context())


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> HandClock:
    clock = HandClock()
    composed = World().wheel(clock)
    monkeypatch.setattr(wheel, "wheel", lambda: composed)
    return clock


def test_tick_takes_one_step_of_the_audit_in_each_hour(clock: HandClock) -> None:
    steps = []
    for minute in range(2 * HOUR_MS // MINUTE_MS):
        clock.time = NOON + minute * MINUTE_MS + 20_000
        if (audited := wheel.audit(55_000)) is not None:
            steps.append((minute, audited))
    assert steps == [(AUDIT_MINUTE, Audited(0, 0)), (60 + AUDIT_MINUTE, Audited(0, 0))]


def minutes_of_job_audits(clock: HandClock, begin: int, remaining_ms: int = 55_000) -> list[int]:
    """The minutes of two hours in which tick takes a step of the audit of jobs."""
    steps = []
    for minute in range(2 * HOUR_MS // MINUTE_MS):
        clock.time = begin + minute * MINUTE_MS + 20_000
        if wheel.audit_jobs(remaining_ms) is not None:
            steps.append(minute)
    return steps


def test_tick_takes_steps_of_the_audit_of_jobs_until_the_round_is_over(clock: HandClock) -> None:
    assert minutes_of_job_audits(clock, NOON) == [JOB_AUDIT_MINUTE]
    assert minutes_of_job_audits(clock, NOON + HOUR_MS) == []
    assert minutes_of_job_audits(clock, NOON + AUDIT_ROUND_MS) == [JOB_AUDIT_MINUTE]


def test_tick_takes_a_step_in_every_fifth_minute_while_a_round_goes_on(
    clock: HandClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    endless = SimpleNamespace(audit_rounds=SimpleNamespace(step=object))
    monkeypatch.setattr(wheel, "upkeep", lambda: endless)
    assert minutes_of_job_audits(clock, NOON) == list(range(JOB_AUDIT_MINUTE, 120, 5))


def test_tick_takes_no_step_without_time_for_it(clock: HandClock) -> None:
    assert minutes_of_job_audits(clock, NOON, remaining_ms=19_999) == []
    assert minutes_of_job_audits(clock, NOON, remaining_ms=20_000) == [JOB_AUDIT_MINUTE]


def test_tick_takes_no_step_while_the_stack_is_switched_off(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, world = HandClock(), World()
    world.is_enabled = False
    composed = world.wheel(clock)
    monkeypatch.setattr(wheel, "wheel", lambda: composed)
    assert minutes_of_job_audits(clock, NOON) == []


def kept(world: World, monkeypatch: pytest.MonkeyPatch, remaining_ms: int = 55_000) -> bool:
    """Whether tick, with so much time left, has the tables of a stack that is off keep everything."""
    world.is_enabled = False
    composed = world.wheel(world.clock)
    monkeypatch.setattr(wheel, "wheel", lambda: composed)
    world.tick()
    world.clock.time += 2 * DAY_MS
    wheel.keep_waiting(Logger(), world.tick(), remaining_ms)
    return not world.expiry.is_on


def test_tick_keeps_what_waits_if_it_has_time_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not kept(World(), monkeypatch, remaining_ms=39_999)
    assert kept(World(), monkeypatch, remaining_ms=40_000)
