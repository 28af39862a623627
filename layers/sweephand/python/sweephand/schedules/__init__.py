"""What a schedule means: which occurrences an expression has, in which zone. This room is pure."""

from sweephand.base.errors import ScheduleError
from sweephand.schedules.durations import duration_text, parse_duration_ms
from sweephand.schedules.schedule import ScheduleInput
from sweephand.schedules.series import Batch, Occurrence, Series

__all__ = [
    "Batch",
    "Occurrence",
    "ScheduleError",
    "ScheduleInput",
    "Series",
    "duration_text",
    "parse_duration_ms",
]
