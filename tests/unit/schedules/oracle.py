"""A second way to the same instants: every wall time by itself, mapped by zoneinfo's `fold`."""

import datetime as dt
import importlib.resources
from functools import lru_cache
from zoneinfo import ZoneInfo

from cronsim import CronSim

from sweephand.base.instants import Instant, from_datetime, to_datetime
from sweephand.schedules.clock.dst import DEFAULT, DstRule

_GAP_MADE_UP_BELOW = dt.timedelta(hours=3)


@lru_cache
def packaged(zone: str) -> ZoneInfo:
    place = importlib.resources.files("tzdata").joinpath("zoneinfo", *zone.split("/"))
    with place.open("rb") as data:
        return ZoneInfo.from_file(data, key=zone)


def instants_between(
    expression: str, zone: str, after: Instant, before: Instant, rule: DstRule = DEFAULT
) -> list[Instant]:
    """What a cron expression fires at, both ends excluded, by a rule written out case by case."""
    info = packaged(zone)
    fields = expression.split()[-5:]
    is_wildcard = fields[0].startswith("*") or fields[1].startswith("*")
    day = dt.timedelta(days=1)
    # cronsim without a zone does no more than match the wall clock.
    walls = CronSim(expression, to_datetime(after).replace(tzinfo=None) - 2 * day)
    end = to_datetime(before).replace(tzinfo=None) + 2 * day
    found: set[Instant] = set()
    for wall in walls:
        if wall > end:
            break
        found.update(_shown(wall, info, rule, is_wildcard=is_wildcard))
    return sorted(each for each in found if after < each < before)


def _shown(wall: dt.datetime, info: ZoneInfo, rule: DstRule, *, is_wildcard: bool) -> list[Instant]:
    first, second = wall.replace(tzinfo=info), wall.replace(tzinfo=info, fold=1)
    back = first.astimezone(dt.UTC).astimezone(info).replace(tzinfo=None)
    if back == wall:
        shown = [first] if first.utcoffset() == second.utcoffset() else [first, second]
        if not is_wildcard:
            shown = {"first": shown[:1], "last": shown[-1:], "both": shown}[rule.overlap]
        return [from_datetime(each) for each in shown]
    before, after = first.utcoffset(), second.utcoffset()
    assert before is not None
    assert after is not None
    if is_wildcard or rule.gap == "skip" or after - before >= _GAP_MADE_UP_BELOW:
        return []
    # In a gap, zoneinfo reads fold 0 by the offset before it and fold 1 by the one after it.
    low, high = second.astimezone(dt.UTC), first.astimezone(dt.UTC)
    while high - low > dt.timedelta(seconds=1):
        middle = low + (high - low) // 2
        low, high = (low, middle) if middle.astimezone(info).utcoffset() == after else (middle, high)
    return [from_datetime(high.replace(microsecond=0))]
