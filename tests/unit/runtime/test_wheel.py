"""When tick takes a step of each audit."""

from types import SimpleNamespace

import pytest
from aws_lambda_powertools import Logger
from tests.fakes.doubles import NOON, HandClock
from tests.fakes.world import World

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS
from sweephand.base.timing import AUDIT_MINUTE, AUDIT_ROUND_MS, JOB_AUDIT_MINUTE
from sweephand.jobs.payload_audit import Audited
from sweephand.runtime import wheel


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
        if (audited := wheel.audit()) is not None:
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
