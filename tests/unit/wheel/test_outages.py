"""Misfires after an outage, by each mode: one decision, although sweepers crash and repeat the page."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from tests.fakes.faults import calls_of, killed_at
from tests.fakes.ledger import Ledger
from tests.fakes.world import NOON, World, key_of

from sweephand.model.run import Run

MINUTE = 60_000
HOUR = 60 * MINUTE

#: Where a sweep is killed at most: its first pages, after which those that follow are like them.
KILLS_MAX = 64

#: How long no sweeper runs: a trigger that is due up to five hours after noon is then a misfire.
OUTAGE = 6 * HOUR + 3 * MINUTE


@dataclass
class Expected:
    """What fires and what is skipped of an hour's sixths, each in minutes after noon."""

    fire: set[int]
    skipped: tuple[int, int, int] | None = None


WITHIN = set(range(310, 361, 10))

EXPECTED = {
    "latest": Expected({300} | WITHIN, (10, 290, 29)),
    "all": Expected(set(range(10, 361, 10))),
    "none": Expected(WITHIN, (10, 300, 30)),
}


def stood_still(world: World, **catchup: str) -> World:
    """A job that fires every ten minutes, and a wheel that stood still for six hours."""
    rule: dict[str, Any] = {"catchup": catchup} if catchup else {}
    world.put(schedule="@every 10m", **rule)
    world.clock.time = NOON + OUTAGE
    return world


def records(world: World) -> list[Run]:
    return list(world.runs.page(key_of(), "skipped", "", 100).items)


def check(world: World, expected: Expected) -> None:
    """Assert that the expected triggers fired, and that one record stands for all others of the outage."""
    dues = {(due - NOON) // MINUTE for due in world.consumers.dues if due <= NOON + OUTAGE}
    assert dues == expected.fire
    told = [
        ((run.due_at - NOON) // MINUTE, ((run.last_due_at or 0) - NOON) // MINUTE, run.count)
        for run in records(world)
    ]
    assert told == ([expected.skipped] if expected.skipped else [])


@pytest.mark.parametrize("mode", EXPECTED)
def test_after_an_outage_the_rule_decides_what_fires_and_one_record_stands_for_the_rest(mode: str) -> None:
    world = stood_still(World(shards=1), mode=mode)
    world.run_until(NOON + OUTAGE + 5 * MINUTE)
    check(world, EXPECTED[mode])


def test_without_a_rule_the_newest_misfire_fires() -> None:
    world = stood_still(World(shards=1))
    world.run_until(NOON + OUTAGE + 5 * MINUTE)
    check(world, EXPECTED["latest"])


def test_the_window_of_the_job_decides_which_occurrences_are_misfires() -> None:
    world = stood_still(World(shards=1), mode="none", window="5h")
    world.run_until(NOON + OUTAGE + 5 * MINUTE)
    check(world, Expected(set(range(70, 361, 10)), (10, 60, 6)))


def test_the_record_says_why_and_is_kept_as_long_as_any_other() -> None:
    world = World(shards=1)
    world.put(schedule="@every 10m", catchup={"mode": "none"}, historyRetention="20d")
    world.clock.time = NOON + OUTAGE
    world.tick()
    (run,) = records(world)
    assert (run.reason, run.attempts, run.is_over) == ("misfire", 0, True)
    assert run.ended_at == NOON + OUTAGE
    assert run.expires_at == NOON + OUTAGE + 20 * 24 * HOUR


def test_a_late_one_off_fires_unless_the_rule_is_none() -> None:
    for mode, expected in (("latest", 1), ("all", 1), ("none", 0)):
        world = World(shards=1)
        world.put(dueTime="10m", catchup={"mode": mode})
        world.clock.time = NOON + OUTAGE
        world.run_until(world.clock.time + 5 * MINUTE)
        assert len(world.consumers.ids) == expected
        assert len(records(world)) == 1 - expected


@pytest.mark.parametrize("mode", EXPECTED)
def test_each_revision_has_a_range_of_its_own(mode: str) -> None:
    world = World(shards=1)
    ledger = Ledger(world)
    world.put(schedule="@every 10m", catchup={"mode": mode})
    world.clock.time = NOON + 3 * HOUR
    world.put(schedule="@every 15m", catchup={"mode": mode})
    world.clock.time = NOON + OUTAGE
    world.run_until(NOON + OUTAGE + 5 * MINUTE)
    ledger.check(world.clock.time)
    fired = {(due - NOON) // MINUTE for due in world.consumers.dues if due <= NOON + OUTAGE}
    newest = {"latest": {180, 300}, "none": set()}
    if mode == "all":
        assert fired == set(range(10, 181, 10)) | set(range(195, 361, 15))
    else:
        assert fired == newest[mode] | set(range(315, 361, 15))
        first = {"latest": (170, 17), "none": (180, 18)}[mode]
        second = {"latest": (285, 7), "none": (300, 8)}[mode]
        told = [(((run.last_due_at or 0) - NOON) // MINUTE, run.count) for run in records(world)]
        assert sorted(told) == [first, second]


def test_after_an_outage_catchup_of_a_paused_job_covers_only_times_before_the_pause() -> None:
    world = World(shards=1)
    world.put(schedule="@every 10m", catchup={"mode": "none"})
    job = world.stored()
    assert world.jobs.put(replace(job, version="paused", paused_at=NOON + 2 * HOUR), job.version)
    world.clock.time = NOON + OUTAGE
    world.tick()
    (run,) = records(world)
    assert (run.last_due_at, run.count) == (NOON + 2 * HOUR, 12)


def killed_everywhere(
    mode: str,
    later_ms: int,
    see: Callable[[World, Ledger], None],
    *,
    schedule: str = "@every 10m",
    window: str = "1h",
    outage_ms: int = OUTAGE,
) -> int:
    """Kill the first tick after an outage at each of its calls, go on later, and see; how many calls."""

    def prepared() -> tuple[World, Ledger]:
        world = World(shards=1)
        ledger = Ledger(world)
        world.put(schedule=schedule, catchup={"mode": mode, "window": window})
        world.clock.time = NOON + outage_ms
        return world, ledger

    trial, _ = prepared()
    calls = calls_of(trial, trial.tick)
    for number, call in enumerate(calls[:KILLS_MAX]):
        world, ledger = prepared()
        killed_at(world, number, world.tick)
        world.clock.time += later_ms
        world.run_until(world.clock.time + 5 * MINUTE)
        try:
            see(world, ledger)
        except AssertionError as error:
            raise AssertionError(f"killed {call} (call {number} of {len(calls)})") from error
    return len(calls)


@pytest.mark.parametrize("mode", EXPECTED)
def test_a_sweep_that_is_killed_anywhere_leaves_no_half_decision(mode: str) -> None:
    assert killed_everywhere(mode, MINUTE, lambda world, _: check(world, EXPECTED[mode])) > 20


@pytest.mark.parametrize("mode", EXPECTED)
def test_a_repeated_decision_on_misfires_is_the_same_an_hour_later(mode: str) -> None:
    """The ledger checks that each occurrence was delivered or is in one record, and none is both."""

    def see(world: World, ledger: Ledger) -> None:
        ledger.check(world.clock.time)

    killed_everywhere(mode, HOUR, see, schedule="@every 25s", window="3m", outage_ms=12 * MINUTE)


def test_a_sweep_that_is_killed_before_the_outage_judged_only_the_page_that_it_had_begun() -> None:
    """A sweeper that dies leaves `judged_at`. It must not count for pages that it could not read."""
    trial = World(shards=1)
    trial.put(schedule="@every 5m", catchup={"mode": "none"})
    trial.clock.time += 4 * MINUTE
    calls = calls_of(trial, trial.tick)
    for number, call in enumerate(calls):
        world = World(shards=1)
        ledger = Ledger(world)
        world.put(schedule="@every 5m", catchup={"mode": "none"})
        world.clock.time += 4 * MINUTE
        killed_at(world, number, world.tick)
        world.clock.time = NOON + OUTAGE
        world.run_until(NOON + OUTAGE + 5 * MINUTE)
        ledger.check(world.clock.time)
        fired = {(due - NOON) // MINUTE for due in world.consumers.dues if due <= NOON + OUTAGE}
        assert fired - {5} == set(range(305, 361, 5)), call


def test_a_page_of_normal_times_costs_no_write_more_and_neither_does_a_late_one() -> None:
    world = stood_still(World(shards=1), mode="all")
    calls = calls_of(world, world.sweep)
    commits = [calls.count(f"before leases.{write}") for write in ("commit", "release")]
    assert commits == [len(range(10, 361, 10)) - 1, 1]
