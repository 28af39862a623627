"""Reading what deliveries counted, in steps of equal length."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from sweephand.base.errors import ConflictError
from sweephand.base.instants import HOUR_MS, Instant
from sweephand.base.timing import BULK_TIME_LIMIT_MS
from sweephand.model.stats import Stats, no_stats
from sweephand.ports.clock import Clock
from sweephand.ports.runs import StatsStore

STATS_OFF: Final = "This stack does not count deliveries: set its parameter Stats to on."

#: So much is read before the time is looked at again, if a step is shorter.
_READ_AT_ONCE_MS: Final = HOUR_MS


class StatsSpan(NamedTuple):
    """The steps from `since` up to and without `until`. The last one may be shorter.

    `since` is the start of a minute, and a step has whole minutes.
    """

    since: Instant
    until: Instant
    step_ms: int

    @property
    def steps(self) -> int:
        """How many steps there are."""
        return -(-(self.until - self.since) // self.step_ms)

    def has_step_at(self, instant: Instant) -> bool:
        """Whether a step begins at that instant."""
        return self.since <= instant < self.until and (instant - self.since) % self.step_ms == 0


class StatsRead(NamedTuple):
    """The steps in which something was counted, each with its first instant.

    `reached` is where the next step begins that was not read; None if all were.
    """

    steps: Sequence[tuple[Instant, Stats]]
    reached: Instant | None


class StatsReader:
    """Reads counts. `stats` is None in a stack that does not count."""

    def __init__(self, *, stats: StatsStore | None, clock: Clock) -> None:
        self._stats = stats
        self._clock = clock

    @property
    def is_on(self) -> bool:
        """Whether the stack counts deliveries."""
        return self._stats is not None

    def read(self, namespace: str, span: StatsSpan, since: Instant) -> StatsRead:
        """The steps of a span from the one on that begins at `since`, for up to 10 s of reading.

        Raises ConflictError in a stack that does not count.
        """
        if self._stats is None:
            raise ConflictError(STATS_OFF)
        ends_at = self._clock.now() + BULK_TIME_LIMIT_MS
        found: dict[Instant, Stats] = {}
        for low, high in _parts(span, since):
            if low > since and self._clock.now() >= ends_at:
                return StatsRead(sorted(found.items()), low)
            for minute, stats in self._stats.minutes(namespace, low, high).items():
                step = minute - (minute - span.since) % span.step_ms
                found.setdefault(step, no_stats()).update(stats)
        return StatsRead(sorted(found.items()), None)


def _parts(span: StatsSpan, since: Instant) -> Iterator[tuple[Instant, Instant]]:
    """Spans of whole steps, of an hour or of one longer step."""
    length_ms = max(_READ_AT_ONCE_MS // span.step_ms, 1) * span.step_ms
    for low in range(since, span.until, length_ms):
        yield low, min(low + length_ms, span.until)
