"""Schedules, zones and series as properties draw them: a new form joins by one line in FORMS."""

from collections.abc import Callable, Mapping

from hypothesis import assume
from hypothesis import strategies as st

from sweephand.base.instants import DAY_MS, Instant, rfc3339
from sweephand.schedules import ScheduleError, Series
from sweephand.schedules.clock.dst import DstRule
from sweephand.schedules.clock.zones import zone_named
from sweephand.schedules.day_rule import DAY_KINDS, OTHERWISES, ClosedDays, DayRule
from sweephand.schedules.notations.cron import MACROS
from sweephand.schedules.notations.parsing import read_schedule
from sweephand.schedules.schedule import Schedule, ScheduleInput

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


def field(low: int, high: int, *, seldom: bool = False, longest: int | None = None) -> st.SearchStrategy[str]:
    """The texts of a field; `longest` is its longest step, by default one over its end."""
    number = st.integers(low, high)
    # Of one number only (`3-3`): cronsim then takes a step as if it were written `3/2`.
    span = st.integers(low, high - 1).flatmap(
        lambda first: st.integers(first + 1, high).map(lambda last: f"{first}-{last}")
    )
    stepped = st.builds("{}/{}".format, st.one_of(st.just("*"), span), st.integers(1, longest or high + 2))
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
    assume(not is_refused(text))
    return text


def is_refused(written: ScheduleInput) -> bool:
    """Whether no day of the expression exists: a fifth Friday among `*/8` (1, 9, 17, 25) does not."""
    try:
        read_schedule(written)
    except ScheduleError as refusal:
        if "never comes" in str(refusal):
            return True
        raise
    return False


crons_of_any_kind = st.one_of(crons(), crons(with_seconds=True))
periods = st.integers(1_000_000_000, 10**18).map(lambda ns: f"@every {ns}ns")
zones = st.sampled_from(ZONES)
#: From 1990 to 2060.
starts = st.integers(631_152_000_000, 2_840_140_800_000)
#: Where the clock may move: not in UTC, and in Kathmandu once in these years.
MOVING = [name for name in ZONES if name not in {"UTC", "Asia/Kathmandu"}]
rules = st.builds(DstRule, st.sampled_from(["shift", "skip"]), st.sampled_from(["first", "last", "both"]))
jitters = st.one_of(st.just(0), st.integers(1, DAY_MS))

special_days_of_aws = st.sampled_from(["L", "LW", "L-3", "15W", "31W"])
special_weekdays_of_aws = st.sampled_from(["MON-FRI", "7-2", "6L", "FRI#2", "L"])
days_of_aws = st.one_of(
    st.tuples(st.one_of(field(1, 28, longest=28), special_days_of_aws), st.just("?")),
    st.tuples(st.just("?"), st.one_of(field(1, 7, longest=7), special_weekdays_of_aws)),
)


@st.composite
def aws_crons(draw: st.DrawFn) -> str:
    minute, hour = draw(field(0, 59, longest=59)), draw(field(0, 23, longest=23))
    of_month, of_week = draw(days_of_aws)
    month = draw(field(1, 12, longest=12))
    year = draw(st.sampled_from(["*", "*", "2000-2060", "1990/3", "2030,2040-2050"]))
    text = f"cron({minute} {hour} {of_month} {month} {of_week} {year})"
    assume(not is_refused(text))
    return text


rates = st.builds("rate({} {})".format, st.integers(2, 5000), st.sampled_from(["minutes", "hours", "days"]))
periods_of_iso = st.one_of(
    st.builds("PT{}S".format, st.integers(1, 10**6)),
    st.builds("PT{}H{}M".format, st.integers(0, 90), st.integers(1, 90)),
    st.builds("P{}D".format, st.integers(1, 400)),
    st.builds("P{}W".format, st.integers(1, 60)),
    st.builds("P{}M".format, st.integers(1, 40)),
    st.builds("P{}Y{}M{}DT{}H".format, *(st.integers(0, 5) for _ in range(3)), st.integers(1, 30)),
)


@st.composite
def repetitions(draw: st.DrawFn, start_at: Instant) -> str:
    number = draw(st.one_of(st.just(""), st.integers(1, 90).map(str)))
    near = start_at + draw(st.integers(-400 * DAY_MS, 400 * DAY_MS))
    # As an instant, as a local time, as a day.
    start = draw(st.sampled_from(["", *(rfc3339(near)[:length] + "/" for length in (24, 19, 10))]))
    return f"R{number}/{start}{draw(periods_of_iso)}"


@st.composite
def moments(draw: st.DrawFn, start_at: Instant) -> str:
    return f"at({rfc3339(start_at + draw(st.integers(0, 90 * DAY_MS)))[:19]})"


@st.composite
def named_fields(draw: st.DrawFn) -> dict[str, str]:
    minute, hour = draw(minutes_and_hours)
    given = {
        "second": str(draw(st.integers(0, 59))),
        "minute": minute,
        "hour": hour,
        "dayOfMonth": draw(days_of_month),
        "month": draw(field(1, 12)),
        "dayOfWeek": draw(days_of_week),
        "year": draw(st.sampled_from(["2000-2060", "2027", "*/4"])),
    }
    names = draw(st.sets(st.sampled_from(sorted(given)), min_size=1))
    fields = {name: text for name, text in given.items() if name in names}
    assume(not is_refused(fields))
    return fields


def instants(start_at: Instant) -> st.SearchStrategy[list[str]]:
    near = st.integers(start_at - 30 * DAY_MS, start_at + 400 * DAY_MS)
    return st.lists(near.map(rfc3339), min_size=1, max_size=100)


#: One strategy for each form, for a series that begins at an instant: what test_properties.py promises is
#: promised of all of them.
FORMS: Mapping[str, Callable[[Instant], st.SearchStrategy[ScheduleInput]]] = {
    "cron with five fields": lambda _: crons(),
    "cron with six fields": lambda _: crons(with_seconds=True),
    "a macro": lambda _: st.sampled_from(sorted(MACROS)),
    "every": lambda _: periods,
    "rate()": lambda _: rates,
    "cron()": lambda _: aws_crons(),
    "at()": moments,
    "a repetition": repetitions,
    "fields by name": lambda _: named_fields(),
    "a list": instants,
}


def schedules(start_at: Instant) -> st.SearchStrategy[Schedule]:
    """A schedule of any form, as a series keeps it."""
    return st.sampled_from(sorted(FORMS)).flatmap(lambda form: FORMS[form](start_at)).map(read_schedule)


@st.composite
def transitions(draw: st.DrawFn) -> tuple[str, int]:
    """A zone, and an instant up to two days before it changes its offset."""
    zone = zone_named(draw(st.sampled_from(MOVING)))
    year = draw(st.integers(1990, 2060))
    changes = [change.at_s for each in (year, 2011, 2012) for change in zone._transitions_in(each)]
    return zone.name, (draw(st.sampled_from(changes)) - draw(st.integers(0, 172_800))) * 1000


places = st.one_of(transitions(), st.tuples(zones, starts))


@st.composite
def day_rules(draw: st.DrawFn, start_at: Instant) -> DayRule:
    """A rule whose calendar knows days around an instant; rarely, none of its days fits."""
    day = start_at // DAY_MS
    weekend = draw(st.one_of(st.just({5, 6}), st.sets(st.integers(0, 6), max_size=7)))
    runs = st.tuples(st.integers(day - 40, day + 400), st.integers(1, 45), st.booleans())
    differing = {
        first + each: closed
        for first, length, closed in draw(st.lists(runs, max_size=6))
        for each in range(length)
    }
    days = ClosedDays.of(weekend, differing).text()
    return DayRule(days, draw(st.sampled_from(DAY_KINDS)), draw(st.sampled_from(OTHERWISES)))


@st.composite
def series(draw: st.DrawFn) -> Series:
    zone, start_at = draw(places)
    due_at = draw(st.one_of(st.none(), st.integers(start_at, start_at + 90 * DAY_MS)))
    ttl_at = draw(st.one_of(st.none(), st.integers(start_at, start_at + 1000 * DAY_MS)))
    repeats = draw(st.one_of(st.none(), st.integers(1, 40)))
    schedule = draw(schedules(start_at))
    jitter_ms = draw(jitters)
    days = draw(st.one_of(st.none(), day_rules(start_at)))
    return Series(
        schedule, zone, start_at, due_at, ttl_at, repeats, dst=draw(rules), jitter_ms=jitter_ms, days=days
    )
