"""Other libraries answer the same, each on the ground where its rule is ours.

Where their rules are others is told in docs/schedules.md.
"""

import datetime as dt
from itertools import islice, takewhile

from aws_croniter import AwsCroniter
from croniter import croniter
from cronsim import CronSim
from hypothesis import assume, example, given, reject
from hypothesis import strategies as st
from tests.unit.schedules.oracle import packaged
from tests.unit.schedules.say import unhurried
from tests.unit.schedules.strategies import aws_crons, crons, starts

from sweephand.base.instants import DAY_MS, from_datetime, to_datetime
from sweephand.schedules import Series

#: Lord Howe is left out, where cronsim misses what follows half an hour after a whole one. Zones that moved
#: by three hours or more are left out too: cronsim makes up for such a move.
ZONES_OF_CRONSIM = (
    "Africa/Casablanca",
    "America/New_York",
    "America/Santiago",
    "Antarctica/Troll",
    "Asia/Beirut",
    "Asia/Kathmandu",
    "Europe/Dublin",
    "Europe/Riga",
    "UTC",
)


def _exists(local: dt.datetime) -> bool:
    """Whether clocks show that local time."""
    shown = local.astimezone(dt.UTC).astimezone(local.tzinfo)
    return shown.replace(tzinfo=None) == local.replace(tzinfo=None)


@given(crons(), st.sampled_from(ZONES_OF_CRONSIM), starts)
@example("0 */5 * * sun", "America/Santiago", 631_152_000_000)
@example("* * * * sun", "Asia/Beirut", 1_079_894_400_000)
@unhurried
def test_cronsim_and_sweephand_fire_at_the_same_instants(expression: str, zone: str, start_at: int) -> None:
    info = packaged(zone)
    start = to_datetime(start_at).replace(microsecond=0).astimezone(info)
    assume(start.fold == 0)  # it takes a start within the second showing for one within the first
    end_at = start_at + 300 * DAY_MS
    named = takewhile(lambda each: from_datetime(each) <= end_at, CronSim(expression, start))
    theirs = list(islice(named, 300))
    series = Series(expression, zone, from_datetime(start), ttl_at=end_at)
    ours = [each.due_at for each in islice(series.occurrences(from_datetime(start)), 300)]
    # If a day field is given, cronsim names a midnight that does not exist. Whether the job fires at that
    # instant depends on the next minute that exists, so the instant is not compared.
    skipped = {from_datetime(each) for each in theirs if not _exists(each)}
    expected = [instant for instant in map(from_datetime, theirs) if instant not in skipped]
    assert [instant for instant in ours if instant not in skipped][:200] == expected[:200]


@given(crons(), starts)
@unhurried
def test_croniter_and_sweephand_find_the_same_local_times_without_a_zone(
    expression: str, start_at: int
) -> None:
    _, _, day_of_month, _, day_of_week = expression.split()
    # Specials in lists are not its own; a step from a star it joins as if it restricted.
    assume(not set(expression) & set("L#W"))
    assume("*" in (day_of_month, day_of_week) or "*" not in day_of_month + day_of_week)
    start = to_datetime(start_at)
    theirs = croniter(expression, start, ret_type=dt.datetime)
    expected = [from_datetime(theirs.get_next()) for _ in range(20)]
    ours = Series(expression, "UTC", start_at).occurrences(start_at)
    assert [each.due_at for each in islice(ours, 20)] == expected


@given(aws_crons(), starts)
@unhurried
def test_aws_croniter_and_sweephand_fire_at_the_same_instants(schedule: str, start_at: int) -> None:
    written = schedule.removeprefix("cron(").removesuffix(")")
    start_at -= start_at % 60_000
    try:
        theirs = AwsCroniter(written).get_next(to_datetime(start_at), 10)
    except ValueError:
        reject()  # LW, a step of years or of weekdays: not its own
    # Nor does it find what comes after a century without any.
    expected = [from_datetime(each) for each in theirs if each is not None]
    ours = Series(schedule, "UTC", start_at).occurrences(start_at)
    assert [each.due_at for each in islice(ours, len(expected))] == expected
