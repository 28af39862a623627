"""`@every`: a fixed period of elapsed time, as in robfig/cron and Dapr, but kept to the millisecond."""

from dataclasses import dataclass
from typing import Final

from sweephand.schedules.durations import parse_go_duration_ns
from sweephand.schedules.errors import ScheduleError, quoted
from sweephand.schedules.timeline import Beginning, Periodic

PREFIX: Final = "@every"
PERIOD_MIN_MS: Final = 1_000

_MS_NS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Every:
    """A period: the first fire is one period after the start, or at the dueTime where there is one."""

    period_ms: int

    def timeline(self, beginning: Beginning) -> Periodic:
        """The multiples of the period from the beginning on."""
        if beginning.due_at is not None:
            return Periodic(beginning.due_at, self.period_ms)
        return Periodic(beginning.start_at + self.period_ms, self.period_ms)


def parse_every(text: str) -> Every:
    """The period behind `@every`. Raises ScheduleError for less than a second and for parts of a millisecond.

    A period that is no whole number of milliseconds is refused, not rounded: rounding would add up to a
    drift.
    """
    written = text.removeprefix(PREFIX).strip(" \t")
    period_ns = parse_go_duration_ns(written)
    if period_ns < PERIOD_MIN_MS * _MS_NS:
        raise ScheduleError(f"{quoted(written)} after @every is too short; expected a period of at least 1s")
    if period_ns % _MS_NS:
        raise ScheduleError(
            f"{quoted(written)} after @every has parts of a millisecond; expected whole milliseconds"
        )
    return Every(period_ns // _MS_NS)
