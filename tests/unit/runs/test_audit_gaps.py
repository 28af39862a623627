"""An audit arms a job behind its last trigger, also if there is a gap in its chain of timers before that."""

from collections import Counter
from typing import Any

import pytest
from tests.fakes.world import NOON, World, key_of

from sweephand.base.instants import rfc3339
from sweephand.model.run import Run
from sweephand.runs import audit_part

MINUTE = 60_000
HOUR = 60 * MINUTE
STEP = 10 * MINUTE

#: A minute after the outage of tick begins.
OUTAGE = NOON + 2 * HOUR + MINUTE


def world_with(**written: Any) -> World:
    """A world with a job each ten minutes, and with another one whose timers stay."""
    world = World()
    for name in ("job", "other"):
        world.put(name, schedule="0 */10 * * * *", **written)
    return world


def outage(world: World, until: int) -> None:
    """Let no tick come from OUTAGE on."""
    world.run_until(OUTAGE)
    world.run_until(until, ticking=False)


def lose_timer(world: World, at: int) -> None:
    """Lose the next timer of the job that no sweeper has passed."""
    world.run_until(at)
    world.timers.lose(key_of(), world.clock.time + 2 * MINUTE)


def runs(world: World) -> list[Run]:
    return list(world.runs.page(key_of(), None, "", 1_000).items)


def skipped(world: World) -> list[Run]:
    return [each for each in runs(world) if each.state == "skipped"]


def sent(world: World) -> Counter[int]:
    """How often each trigger of the job was sent, by its due time."""
    return Counter(each.trigger.due_at for each in world.consumers.attempts if each.trigger.key == key_of())


@pytest.mark.parametrize("lost_h", [8, 9])
@pytest.mark.parametrize("mode", ["latest", "none"])
def test_after_an_outage_it_records_no_trigger_as_skipped_that_was_delivered(lost_h: int, mode: str) -> None:
    world = world_with(catchup={"mode": mode})
    outage(world, NOON + 7 * HOUR)
    lose_timer(world, NOON + lost_h * HOUR)
    world.run_until(NOON + 20 * HOUR)
    world.audit_jobs()
    world.run_until(NOON + 21 * HOUR)
    named = Counter(at for each in skipped(world) for at in range(each.due_at, each.through + 1, STEP))
    named.update(sent(world).keys())
    assert named == dict.fromkeys(range(NOON + STEP, NOON + 21 * HOUR + 1, STEP), 1)


@pytest.mark.parametrize("looks", [0, 2_000])
def test_without_records_it_sends_nothing_again_as_far_as_it_looks(
    looks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_part, "_LOOKS_MAX", looks)
    world = world_with(catchup={"mode": "latest", "window": "12h"}, history="failures")
    outage(world, NOON + 28 * HOUR)
    lose_timer(world, NOON + 29 * HOUR)
    world.run_until(NOON + 30 * HOUR + 30 * MINUTE)
    world.audit_jobs()
    world.run_until(NOON + 31 * HOUR)
    assert sent(world)[NOON + 31 * HOUR] == 1
    assert (set(sent(world).values()) == {1}) == (looks > 0)


def test_behind_what_a_rebuild_has_armed_it_sends_nothing_again() -> None:
    world = world_with(catchup={"mode": "all"}, history="failures")
    world.run_until(OUTAGE)
    world.lose_timers()
    world.run_until(NOON + 7 * HOUR)
    world.api().rebuilder.rebuild(OUTAGE, namespace="ns")
    lose_timer(world, NOON + 9 * HOUR)
    world.run_until(NOON + 20 * HOUR)
    world.audit_jobs()
    world.run_until(NOON + 21 * HOUR)
    assert sent(world) == dict.fromkeys(range(NOON + STEP, NOON + 21 * HOUR + 1, STEP), 1)


def test_it_finds_nothing_if_all_that_was_left_of_a_series_was_skipped() -> None:
    world = world_with(ttl=rfc3339(NOON + 4 * HOUR), catchup={"mode": "none"})
    outage(world, NOON + 7 * HOUR)
    world.run_until(NOON + 8 * HOUR)
    before = runs(world)
    assert [each.through for each in skipped(world)] == [NOON + 4 * HOUR]
    assert world.audit_jobs().timers == []
    world.run_until(NOON + 9 * HOUR)
    assert runs(world) == before


@pytest.mark.parametrize("since_min", [25, 35])
def test_a_rebuild_records_what_is_skipped_behind_the_last_delivered_trigger(since_min: int) -> None:
    world = world_with()
    world.run_until(NOON + 35 * MINUTE)
    world.lose_timers()
    world.run_until(NOON + 5 * HOUR)
    assert world.api().rebuilder.rebuild(NOON + since_min * MINUTE, namespace="ns").failed == []
    world.run_until(NOON + 6 * HOUR)
    (record,) = skipped(world)
    assert (record.due_at, record.sequence, record.count) == (NOON + 40 * MINUTE, 4, 19)
    assert record.through == NOON + 3 * HOUR + 40 * MINUTE
    assert sorted(sent(world)) == [
        *range(NOON + STEP, NOON + 31 * MINUTE, STEP),
        *range(record.through + STEP, NOON + 6 * HOUR + 1, STEP),
    ]
