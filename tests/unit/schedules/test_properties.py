"""Properties of every series, whatever its schedule, zone and bounds."""

import datetime as dt
import time
from collections.abc import Callable, Iterator
from itertools import islice, takewhile

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from tests.unit.schedules.oracle import instants_between, packaged
from tests.unit.schedules.say import at, unhurried
from tests.unit.schedules.strategies import (
    aws_crons,
    crons_of_any_kind,
    places,
    repetitions,
    rules,
    series,
    transitions,
    zones,
)

from sweephand.base.instants import DAY_MS, INSTANT_MAX, to_datetime
from sweephand.schedules import Series
from sweephand.schedules.clock.dst import DstRule
from sweephand.schedules.clock.wall_timeline import WallTimeline
from sweephand.schedules.clock.zones import zone_named
from sweephand.schedules.notations.parsing import timeline_of
from sweephand.schedules.notations.repetition import AnchoredTimeline

START = at("2027-01-01T02:30:00")

#: Years in which a zone's clock moved by three hours or more: those nights are corrections, not made up.
MOVED_BY_HOURS = {("Pacific/Apia", 2011)} | {("Antarctica/Casey", year) for year in range(2009, 2024)}


@given(series(), st.integers(-DAY_MS, 400 * DAY_MS))
@unhurried
def test_occurrences_ascend_strictly_after_the_instant_and_inside_the_bounds(
    every: Series, later: int
) -> None:
    after = every.start_at + later
    found = list(islice(every.occurrences(after), 30))
    dues = [each.due_at for each in found]
    assert dues == sorted(set(dues))
    assert [each.sequence - found[0].sequence for each in found] == list(range(len(found)))
    for each in found:
        assert each.due_at > max(after, every.start_at - 1)
        assert each.due_at >= (every.due_at or 0)
        assert each.due_at <= (every.ttl_at or INSTANT_MAX)
        assert 1 <= each.sequence <= (every.repeats or each.sequence)


@given(series(), st.data())
@unhurried
def test_enumeration_from_any_instant_gives_the_same_occurrences_with_or_without_a_known_occurrence(
    every: Series, data: st.DataObject
) -> None:
    walked = list(islice(every.occurrences(every.start_at - 1), 60))
    assume(walked)
    stop = data.draw(st.integers(0, len(walked) - 1))
    known = data.draw(st.sampled_from(walked[: stop + 1]))
    rest = walked[stop + 1 :]
    assert list(islice(every.occurrences(walked[stop].due_at), len(rest))) == rest
    assert list(islice(every.occurrences(walked[stop].due_at, known), len(rest))) == rest
    assert every.next_after(walked[stop].due_at - 1) == walked[stop]
    assert every.following(walked[stop]) == every.next_after(walked[stop].due_at, walked[stop])


@given(series())
@unhurried
def test_a_series_reads_back_from_its_item_as_it_was(every: Series) -> None:
    item = every.to_item()
    assert Series.from_item(item) == every
    assert None not in item.values()


@given(series())
@unhurried
def test_the_last_instant_is_that_of_the_last_occurrence(every: Series) -> None:
    last_at = every.last_at()
    if every.repeats is not None:
        walked = list(every.occurrences(every.start_at - 1))
        reaches_far = bool(walked) and walked[-1].due_at > every.start_at + 20_000 * DAY_MS
        # A calendar may leave fewer days than the series repeats, and that is not looked for so far ahead.
        is_unknown = last_at is None and every.days is not None and len(walked) < every.repeats
        assert last_at == (walked[-1].due_at if walked else None) or reaches_far or is_unknown
    elif every.ttl_at is None and not every._timeline().is_finite:
        assert last_at is None
    else:
        assert last_at is None or every.next_after(last_at) is None
        assert last_at is None or every.next_after(last_at - 1) is not None


@given(series(), st.integers(0, 30), st.integers(-3 * DAY_MS, 3 * DAY_MS))
@unhurried
def test_count_nth_and_last_through_agree_with_the_enumerated_instants(
    every: Series, number: int, offset_ms: int
) -> None:
    timeline = every._timeline()
    after = every.start_at + offset_ms
    walked = list(islice(timeline.instants(after), number))
    assume(len(walked) == number)
    through = walked[-1] if walked else after
    assert timeline.count(after, through) == number
    assert timeline.count(through, after) == 0
    if walked:
        assert timeline.count(after, through - 1) == number - 1
        assert timeline.nth(number, after, 12_000) == through
        assert timeline.last_through(through) == through
        before = timeline.last_through(through - 1)
        assert before == (walked[-2] if number > 1 else before)
        assert before is None or before < through
    # Wherever the count is cut in two, the parts add up.
    middle = after + (through - after) // 3
    assert timeline.count(after, middle) + timeline.count(middle, through) == number


@given(crons_of_any_kind, places, rules)
@settings(unhurried, max_examples=300)
def test_a_cron_expression_fires_exactly_at_the_local_times_that_match_it(
    expression: str, where: tuple[str, int], rule: DstRule
) -> None:
    zone, start_at = where
    before = start_at + 4 * DAY_MS
    begun = Series(expression, zone, start_at, dst=rule)
    coming = takewhile(lambda each: each.due_at < before, begun.occurrences(start_at))
    assert [each.due_at for each in coming] == instants_between(expression, zone, start_at, before, rule)


@given(crons_of_any_kind, transitions(), rules)
@unhurried
def test_every_matching_local_time_near_a_transition_fires_or_is_reported(
    expression: str, where: tuple[str, int], rule: DstRule
) -> None:
    zone, start_at = where
    through = start_at + 4 * DAY_MS
    begun = Series(expression, zone, start_at, dst=rule)
    fired = {
        each.due_at for each in takewhile(lambda each: each.due_at <= through, begun.occurrences(start_at))
    }
    told = list(begun.clock_effects(start_at, through))
    assert [each.instant for each in told] == sorted(each.instant for each in told)
    for effect in told:
        shown_s = effect.instant // 1000 + zone_named(zone).offset_at(effect.instant // 1000)
        assert (effect.cause == "gap") == (shown_s != effect.wall_s)
        if effect.fires:
            assert effect.instant in fired
        elif effect.cause != "gap":
            assert effect.instant not in fired
    # Each instant is reported at most once as the first or the second of two equal local times.
    showings = [each.instant for each in told if each.cause != "gap"]
    assert len(showings) == len(set(showings))


@given(st.one_of(crons_of_any_kind, aws_crons(), repetitions(START)), zones, rules, st.data())
@settings(unhurried, max_examples=60)
def test_counting_over_centuries_gives_the_same_number_as_enumeration(
    schedule: str, zone: str, rule: DstRule, data: st.DataObject
) -> None:
    timeline = Series(schedule, zone, START, dst=rule)._timeline()
    on_the_wall = timeline.rest if isinstance(timeline, AnchoredTimeline) else timeline
    assume(isinstance(on_the_wall, WallTimeline))
    assert isinstance(on_the_wall, WallTimeline)
    low_s = max(data.draw(st.integers(START // 1000, 20_000_000_000)), on_the_wall.floor_at // 1000)
    high_s = low_s + data.draw(st.integers(0, 15_000_000_000))
    # What is over in any zone is not looked at.
    looked_at = on_the_wall._count(low_s, min(high_s, on_the_wall._last_s))
    assert on_the_wall.count(low_s * 1000, high_s * 1000) == looked_at


@given(series())
@unhurried
def test_jitter_moves_a_series_and_changes_nothing_else(every: Series) -> None:
    moved, at_rest = every._timeline(), every._replace(jitter_ms=0)._timeline()
    first = next(iter(at_rest.instants(every.start_at - 1)), None)
    assume(first is not None)
    assert first is not None
    theirs = [each + every.jitter_ms for each in islice(at_rest.instants(first - 1), 20)]
    assert list(islice(moved.instants(first + every.jitter_ms - 1), 20)) == theirs


@given(
    st.sampled_from(("2 2 * * *", "30 1 * * *", "0 0 * * *", "59 2,2 * * *")), zones, st.integers(1990, 2060)
)
@unhurried
def test_a_nightly_job_runs_exactly_once_on_every_night_of_the_year(
    expression: str, zone: str, year: int
) -> None:
    assume((zone, year) not in MOVED_BY_HOURS)
    noon_at = at(f"{year}-01-01T12:00:00")
    fired = islice(Series(expression, zone, noon_at).occurrences(noon_at), 364)
    nights = [to_datetime(each.due_at).astimezone(packaged(zone)).date() for each in fired]
    assert nights == [nights[0] + dt.timedelta(days=later) for later in range(364)]


@pytest.fixture
def machine_zone(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    """Sets the zone of this process."""

    def set_to(name: str) -> None:
        monkeypatch.setenv("TZ", name)
        time.tzset()
        timeline_of.cache_clear()
        zone_named.cache_clear()

    yield set_to
    monkeypatch.undo()
    time.tzset()


@given(series())
@settings(unhurried, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_the_zone_of_the_machine_changes_nothing(machine_zone: Callable[[str], None], every: Series) -> None:
    found = []
    for name in ("UTC", "Asia/Tokyo", "America/St_Johns"):
        machine_zone(name)
        found.append(list(islice(every.occurrences(every.start_at - 1), 10)))
    assert found[0] == found[1] == found[2]
