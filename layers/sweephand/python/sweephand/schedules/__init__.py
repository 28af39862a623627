"""What a schedule means: expressions to occurrences, zones and DST. Pure."""

from sweephand.schedules.durations import parse_duration_ms
from sweephand.schedules.errors import ScheduleError
from sweephand.schedules.parsing import SCHEDULE_CHARS_MAX
from sweephand.schedules.request import REPEATS_MAX, series_of
from sweephand.schedules.series import Occurrence, Series

__all__ = [
    "REPEATS_MAX",
    "SCHEDULE_CHARS_MAX",
    "Occurrence",
    "ScheduleError",
    "Series",
    "parse_duration_ms",
    "series_of",
]
