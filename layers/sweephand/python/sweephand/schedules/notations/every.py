"""`@every`: a fixed period of elapsed time. Source: Dapr; robfig/cron rounds the period to whole seconds."""

from typing import Final, NamedTuple

from sweephand.schedules.durations import MS_NS, parse_go_duration_ns
from sweephand.schedules.errors import ScheduleError, quoted
from sweephand.schedules.periodic import Periodic
from sweephand.schedules.timeline import Beginning

PREFIX: Final = "@every"
PERIOD_MIN_NS: Final = 1_000 * MS_NS


class Every(NamedTuple):
    """A period. The first fire is at the dueTime, or one period after the start without a dueTime."""

    period_ns: int

    def timeline(self, beginning: Beginning) -> Periodic:
        """The multiples of the period from the beginning on."""
        started_at, due_at = beginning.start_at, beginning.due_at
        return Periodic(started_at, self.period_ns) if due_at is None else Periodic(due_at, self.period_ns, 0)


def parse_every(text: str) -> Every:
    """The period after `@every`. Raises ScheduleError, also for a period of less than a second."""
    written = text.removeprefix(PREFIX).strip(" \t")
    period_ns = parse_go_duration_ns(written)
    if period_ns < PERIOD_MIN_NS:
        raise ScheduleError(f"{quoted(written)} after @every is too short; expected a period of at least 1s")
    return Every(period_ns)
