"""What holds of every series, whatever its schedule, zone and bounds."""

import datetime as dt
from itertools import islice

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.unit.schedules.oracle import instants_between, packaged
from tests.unit.schedules.say import at, unhurried

from sweephand.instants import DAY_MS, INSTANT_MAX, to_datetime
from sweephand.schedules import ScheduleError, Series
from sweephand.schedules.parsing import parse_schedule
from sweephand.schedules.zones import zone_named

#: Zones with transitions of half an hour, at midnight, of a whole day, of three hours, twice within a month.
ZONES = (
    "UTC",
    "Europe/Paris",
    "Europe/Dublin",
    "America/New_York",
    "America/Santiago",
    "Asia/Beirut",
    "Asia/Kathmandu",
    "Australia/Lord_Howe",
    "Africa/Casablanca",
    "Asia/Gaza",
    "Antarctica/Casey",
    "Pacific/Apia",
)

#: Years in which a zone's clock moved by three hours or more: those nights are corrections, not made up.
MOVED_BY_HOURS = {("Pacific/Apia", 2011)} | {("Antarctica/Casey", year) for year in range(2009, 2024)}


def field(low: int, high: int, *, seldom: bool = False) -> st.SearchStrategy[str]:
    number = st.integers(low, high)
    # Of one number only (`3-3`): cronsim then takes a step as if it were written `3/2`.
    span = st.integers(low, high - 1).flatmap(
        lambda first: st.integers(first + 1, high).map(lambda last: f"{first}-{last}")
    )
    stepped = st.builds("{}/{}".format, st.one_of(st.just("*"), span), st.integers(1, high + 2))
    item = st.one_of(number.map(str), span, stepped)
    listed = st.lists(item, min_size=1, max_size=3).map(",".join)
    return listed if seldom else st.one_of(st.just("*"), listed)


minutes_and_hours = st.one_of(
    st.tuples(field(0, 59), field(0, 23)), st.tuples(field(0, 59, seldom=True), field(0, 23, seldom=True))
)
days_of_week = st.one_of(
    field(0, 7), st.sampled_from(["MON-FRI", "sun", "5L", "1#2", "5#5", "7L,3", "2#1,5L", "SAT,0"])
)
days_of_month = st.one_of(st.just("*"), field(1, 28), st.sampled_from(["L", "LW", "1,L", "29,LW", "*/10"]))


@st.composite
def crons(draw: st.DrawFn, *, with_seconds: bool = False) -> str:
    minute, hour = draw(minutes_and_hours)
    fields = [
        minute,
        hour,
        draw(days_of_month),
        draw(st.one_of(st.just("*"), field(1, 12))),
        draw(days_of_week),
    ]
    if with_seconds:
        fields.insert(0, str(draw(st.integers(0, 59))))
    text = " ".join(fields)
    assume(ever_comes(text))
    return text


def ever_comes(text: str) -> bool:
    """Whether a day of the expression exists: a fifth Friday among `*/8` (1, 9, 17, 25) does not."""
    try:
        parse_schedule(text)
    except ScheduleError as refusal:
        if "never comes" in str(refusal):
            return False
        raise
    return True


periods = st.integers(1_000_000_000, 10**18).map(lambda ns: f"@every {ns}ns")
zones = st.sampled_from(ZONES)
#: From 1990 to 2060.
starts = st.integers(631_152_000_000, 2_840_140_800_000)


@st.composite
def transitions(draw: st.DrawFn) -> tuple[str, int]:
    """A zone, and an instant up to two days before it changes its offset."""
    zone = zone_named(draw(zones.filter(lambda name: name not in {"UTC", "Asia/Kathmandu"})))
    year = draw(st.integers(1990, 2060))
    changes = [change.at_s for each in (year, 2011, 2012) for change in zone._transitions_in(each)]
    return zone.name, (draw(st.sampled_from(changes)) - draw(st.integers(0, 172_800))) * 1000


@st.composite
def series(draw: st.DrawFn) -> Series:
    start_at = draw(starts)
    due_at = draw(st.one_of(st.none(), st.integers(start_at, start_at + 90 * DAY_MS)))
    ttl_at = draw(st.one_of(st.none(), st.integers(start_at, start_at + 1000 * DAY_MS)))
    repeats = draw(st.one_of(st.none(), st.integers(1, 40)))
    schedule = draw(st.one_of(crons(), crons(with_seconds=True), periods))
    return Series(schedule, draw(zones), start_at, due_at, ttl_at, repeats)


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
def test_a_restart_anywhere_gives_the_same_occurrences_with_or_without_a_known_one(
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


@given(series())
@unhurried
def test_a_series_comes_back_from_its_item_as_it_was(every: Series) -> None:
    item = every.to_item()
    assert Series.from_item(item) == every
    assert None not in item.values()


@given(series())
@unhurried
def test_the_last_instant_is_that_of_the_last_occurrence(every: Series) -> None:
    last_at = every.last_at()
    if every.repeats is None and every.ttl_at is None:
        assert last_at is None
    elif every.repeats is not None:
        walked = list(every.occurrences(every.start_at - 1))
        reaches_far = bool(walked) and walked[-1].due_at > every.start_at + 20_000 * DAY_MS
        assert last_at == (walked[-1].due_at if walked else None) or reaches_far
    else:
        assert last_at is None or every.next_after(last_at) is None
        assert last_at is None or every.next_after(last_at - 1) is not None


@given(st.one_of(crons(), crons(with_seconds=True)), st.one_of(transitions(), st.tuples(zones, starts)))
@settings(unhurried, max_examples=150)
def test_cron_fires_when_each_wall_time_by_itself_says_so(expression: str, where: tuple[str, int]) -> None:
    zone, start_at = where
    before = start_at + 4 * DAY_MS
    found = []
    for each in Series(expression, zone, start_at).occurrences(start_at):
        if each.due_at >= before:
            break
        found.append(each.due_at)
    assert found == instants_between(expression, zone, start_at, before)


@given(
    st.one_of(crons(), crons(with_seconds=True)),
    st.one_of(transitions(), st.tuples(zones, starts)),
    st.integers(1, 8),
)
@unhurried
def test_counting_is_enumerating(expression: str, where: tuple[str, int], days: int) -> None:
    zone, start_at = where
    begun = Series(expression, zone, start_at)
    through = start_at + days * DAY_MS
    walked = 0
    for each in begun.occurrences(start_at):
        if each.due_at > through:
            assert each.sequence == walked + 1
            break
        walked += 1
    following = begun.next_after(through)
    assert following is not None
    assert following.sequence == walked + 1


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
