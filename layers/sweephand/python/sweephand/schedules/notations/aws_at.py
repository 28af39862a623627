"""EventBridge Scheduler's `at(yyyy-mm-ddThh:mm:ss)`: a one-off at a local time.

Reference: AWS, "Schedule types in EventBridge Scheduler". The local time is that of the job's zone. If a
clock change drops or repeats it, the rule of a fixed cron time applies. A local time up to a minute ago means
now, as with a dueTime.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from sweephand.base.instants import DAY_MS, SECOND_MS, Instant
from sweephand.schedules.clock.calendar_periods import CalendarPeriods
from sweephand.schedules.clock.wall_timeline import WallTimeline
from sweephand.schedules.clock.zones import DAY_S
from sweephand.schedules.errors import ScheduleError, quoted
from sweephand.schedules.notations.cron import Cron
from sweephand.schedules.time_points import PAST_MAX_MS, parse_local
from sweephand.schedules.timeline import Beginning, FixedInstants


@dataclass(frozen=True, slots=True)
class At:
    """A local time, in seconds as in wall_pattern.py."""

    wall_s: int

    def timeline(self, beginning: Beginning) -> FixedInstants:
        """The instants that show the local time: usually one, and none if it is past or dropped."""
        floor_at = _floor_at(beginning)
        # No zone shows a local time further from UTC than this, so the search begins here.
        near_at = (self.wall_s - 2 * DAY_S) * SECOND_MS
        # The search begins before the floor, because a local time of less than a minute ago still counts.
        since_at = max(floor_at - PAST_MAX_MS, near_at)
        since = beginning._replace(start_at=since_at, due_at=None, jitter_ms=0)
        local_times = Cron(CalendarPeriods.once(self.wall_s), is_wildcard=False).timeline(since)
        effects = local_times.clock_effects(max(floor_at, near_at), near_at + 4 * DAY_MS)
        return FixedInstants(tuple(dict.fromkeys(_instants(local_times, beginning))), tuple(effects))


def _instants(local_times: WallTimeline, beginning: Beginning) -> Iterator[Instant]:
    floor_at = _floor_at(beginning)
    for instant in local_times.instants(local_times.floor_at):
        if beginning.due_at is None or instant > floor_at:
            yield max(instant, floor_at + 1)


def _floor_at(beginning: Beginning) -> Instant:
    # Jitter moves the instants afterwards: whether one is past is judged before, as with a dueTime.
    return beginning.start_at - 1 if beginning.due_at is None else beginning.eager_floor_at


def parse_at(written: str) -> At:
    """The local time between the parentheses. Raises ScheduleError."""
    wall_s = parse_local(written)
    if wall_s is None:
        raise ScheduleError(
            f"{quoted(written)} in at(): expected a local date and time without an offset, "
            "as in at(2027-03-01T09:00:00)"
        )
    return At(wall_s)
