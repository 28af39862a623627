"""A long list of instants is stored in parts. Each instant fires once, although its job changes."""

import pytest
from tests.fakes.world import NOON, World, definition, key_of

from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant, rfc3339
from sweephand.model.definition import CatchUpPolicy
from sweephand.schedules import Occurrence
from sweephand.schedules.series import PART_INSTANTS_MAX
from sweephand.wheel.arm import Armable, arm

HUNDRED = 100


def list_of(dues: list[Instant]) -> list[str]:
    return [rfc3339(due_at) for due_at in dues]


def every(step_ms: int, first_ms: int = 0) -> list[Instant]:
    return [NOON + first_ms + step_ms * number for number in range(HUNDRED)]


def fired(world: World) -> list[tuple[Instant, int]]:
    return [(each.trigger.due_at, each.trigger.sequence) for each in world.consumers.attempts]


def numbered(dues: list[Instant]) -> list[tuple[Instant, int]]:
    return [(due_at, number) for number, due_at in enumerate(dues, 1)]


@pytest.mark.parametrize(
    "dues",
    [
        every(SECOND_MS),  # over within the direct window
        every(SECOND_MS, 10 * MINUTE_MS),  # all of them in two buckets
        every(5 * SECOND_MS),  # partly direct, partly by the wheel
        every(17 * MINUTE_MS + 1, 239_999),
    ],
)
def test_each_of_a_hundred_instants_fires_once_under_its_number(world: World, dues: list[Instant]) -> None:
    world.put(schedule=list_of(dues))
    world.run_until(dues[-1] + MINUTE_MS)
    assert sorted(fired(world)) == numbered(dues)
    assert len(set(world.consumers.ids)) == HUNDRED


def test_instants_in_any_order_and_written_twice_fire_once_in_order() -> None:
    dues = every(90 * SECOND_MS, MINUTE_MS)
    world = World()
    world.put(schedule=list_of(dues[50:] + dues[:50])[:99] + list_of([dues[49]]))
    world.run_until(dues[-1] + MINUTE_MS)
    assert fired(world) == numbered(dues)


def test_a_timer_carries_twenty_instants_and_stays_under_a_kilobyte() -> None:
    dues = every(MINUTE_MS, 30 * MINUTE_MS)
    world = World()
    series = world.put(schedule=list_of(dues)).job.series
    armable = Armable(key_of(), "u", "1-r", 0, series, CatchUpPolicy())
    timers = arm(armable, after=NOON, now=NOON).timers
    assert [timer.first for timer in timers] == [
        Occurrence(dues[at], at + 1) for at in range(0, 100, PART_INSTANTS_MAX)
    ]
    for timer in timers:
        assert len(list(timer.series.occurrences(0))) == PART_INSTANTS_MAX
        assert len(str(timer.series.to_item())) < 512


def test_a_part_numbers_its_occurrences_as_the_whole_series_does(world: World) -> None:
    series = world.put(schedule=list_of(every(MINUTE_MS, MINUTE_MS)), repeats=45).job.series
    whole = list(series.occurrences(NOON))
    parts = list(series.parts(whole[0]))
    assert [each for part, _ in parts for each in part.occurrences(0)] == whole
    assert [
        each for part, first in parts for each in (first, *part.occurrences(first.due_at, first))
    ] == whole


@pytest.mark.parametrize("minutes", [0, 1, 5, 29, 30, 31, 55, 80, 128])
def test_an_update_amid_a_list_neither_loses_nor_doubles_an_instant(minutes: int) -> None:
    dues = every(MINUTE_MS, 30 * MINUTE_MS + 500)
    world = World()
    world.put(schedule=list_of(dues))
    world.run_until(NOON + minutes * MINUTE_MS)
    world.put(schedule=list_of(dues), data='"new"')
    world.run_until(dues[-1] + MINUTE_MS)
    assert [due_at for due_at, _ in fired(world)] == dues


def test_a_replaced_list_still_fires_the_instants_that_it_owes_though_the_wheel_was_late() -> None:
    # The wheel stands still while forty instants of one bucket fall due; then the list is replaced.
    dues = [NOON + 10 * MINUTE_MS + number * SECOND_MS for number in range(40)]
    world = World()
    world.put(schedule=list_of(dues))
    world.run_until(NOON + 11 * MINUTE_MS, ticking=False)
    world.put(schedule="@every 1h")
    world.run_until(NOON + 13 * MINUTE_MS)
    assert fired(world) == numbered(dues)


def test_a_list_that_was_replaced_fires_no_more() -> None:
    dues = every(MINUTE_MS, 30 * MINUTE_MS)
    world = World()
    world.put(schedule=list_of(dues))
    world.run_until(dues[9] + 1)
    world.put_definition("job", definition(schedule=list_of([*dues[:5], dues[99] + 1])))
    world.run_until(dues[-1] + MINUTE_MS)
    assert [due_at for due_at, _ in fired(world)] == [*dues[:10], dues[99] + 1]


@pytest.mark.parametrize(("mode", "late"), [("latest", 1), ("all", 94), ("none", 0)])
def test_of_a_list_that_an_outage_made_late_the_newest_fires_and_not_that_of_each_part(
    mode: str, late: int
) -> None:
    dues = every(10 * MINUTE_MS, 10 * MINUTE_MS)
    world = World(shards=1)
    world.put(schedule=list_of(dues), catchup={"mode": mode})
    world.clock.time = dues[-1] + MINUTE_MS
    world.run_until(world.clock.time + 5 * MINUTE_MS)
    within = dues[-6:]
    assert [due_at for due_at, _ in fired(world)][late:] == within
    assert len(fired(world)) == late + len(within)
    skipped = world.runs.page(key_of(), "skipped", "", 1_000).items
    assert sum(run.count for run in skipped) == HUNDRED - late - len(within)
    if mode == "latest":
        assert fired(world)[0] == numbered(dues)[-7]
