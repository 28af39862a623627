"""Schedules, zones and series as properties draw them: a new form joins by one line in FORMS."""

from hypothesis import assume
from hypothesis import strategies as st

from sweephand.instants import DAY_MS
from sweephand.schedules import ScheduleError, Series
from sweephand.schedules.cron import MACROS
from sweephand.schedules.dst import DstRule
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
    "Antarctica/Troll",
    "Pacific/Apia",
)


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


crons_of_any_kind = st.one_of(crons(), crons(with_seconds=True))
periods = st.integers(1_000_000_000, 10**18).map(lambda ns: f"@every {ns}ns")
zones = st.sampled_from(ZONES)
#: From 1990 to 2060.
starts = st.integers(631_152_000_000, 2_840_140_800_000)
#: Where the clock may move: not in UTC, and in Kathmandu once in these years.
MOVING = [name for name in ZONES if name not in {"UTC", "Asia/Kathmandu"}]
rules = st.builds(DstRule, st.sampled_from(["shift", "skip"]), st.sampled_from(["first", "last", "both"]))
jitters = st.one_of(st.just(0), st.integers(1, DAY_MS))

#: One strategy for each form: what test_properties.py promises is promised of all of them.
FORMS = {
    "cron with five fields": crons(),
    "cron with six fields": crons(with_seconds=True),
    "a macro": st.sampled_from(sorted(MACROS)),
    "every": periods,
}
schedules = st.one_of(*FORMS.values())


@st.composite
def transitions(draw: st.DrawFn) -> tuple[str, int]:
    """A zone, and an instant up to two days before it changes its offset."""
    zone = zone_named(draw(st.sampled_from(MOVING)))
    year = draw(st.integers(1990, 2060))
    changes = [change.at_s for each in (year, 2011, 2012) for change in zone._transitions_in(each)]
    return zone.name, (draw(st.sampled_from(changes)) - draw(st.integers(0, 172_800))) * 1000


places = st.one_of(transitions(), st.tuples(zones, starts))


@st.composite
def series(draw: st.DrawFn) -> Series:
    zone, start_at = draw(places)
    due_at = draw(st.one_of(st.none(), st.integers(start_at, start_at + 90 * DAY_MS)))
    ttl_at = draw(st.one_of(st.none(), st.integers(start_at, start_at + 1000 * DAY_MS)))
    repeats = draw(st.one_of(st.none(), st.integers(1, 40)))
    return Series(
        draw(schedules), zone, start_at, due_at, ttl_at, repeats, dst=draw(rules), jitter_ms=draw(jitters)
    )
