"""Making the timeline of a series: its schedule is parsed, put into its zone, and moved by its jitter."""

from functools import lru_cache

from sweephand.base.instants import Instant
from sweephand.schedules.clock.dst import DEFAULT, DstRule
from sweephand.schedules.clock.zones import zone_named
from sweephand.schedules.jitter import MovedTimeline
from sweephand.schedules.notations.parsing import parse
from sweephand.schedules.schedule import Schedule
from sweephand.schedules.timeline import Beginning, FixedInstants, Timeline


@lru_cache(maxsize=4096)
def timeline_of(
    schedule: Schedule | None,
    timezone: str,
    start_at: Instant,
    due_at: Instant | None,
    *,
    dst: DstRule = DEFAULT,
    jitter_ms: int = 0,
) -> Timeline:
    """The timeline of a series, without ttl and repeats. Raises ScheduleError if it cannot be read."""
    timeline: Timeline
    if schedule is None:
        timeline = FixedInstants(() if due_at is None else (due_at,))
    else:
        beginning = Beginning(start_at, due_at, zone_named(timezone), dst, jitter_ms)
        timeline = parse(schedule).notation.timeline(beginning)
    return MovedTimeline(timeline, jitter_ms) if jitter_ms else timeline
