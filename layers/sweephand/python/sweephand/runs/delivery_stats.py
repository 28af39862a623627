"""What deliveries did: counting it once for each call of a function, and reading it."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple
from zlib import crc32

from sweephand.base.errors import ConflictError, StoreError
from sweephand.base.instants import HOUR_MS, MINUTE_MS, Instant
from sweephand.base.timing import BULK_TIME_LIMIT_MS, STATS_RESERVE_MS
from sweephand.model.counters import CountedOutcome, Stats, lateness_bound_ms, no_stats
from sweephand.ports.clock import Clock
from sweephand.ports.runs import StatsStore
from sweephand.runs.received import Handled, OutcomeName

#: What each outcome counts as. The others are none of a trigger, or the trigger comes again unchanged.
_COUNTED: Final[Mapping[OutcomeName, CountedOutcome]] = {
    "succeeded": "succeeded",
    "unrecorded": "succeeded",
    "running": "running",
    "retrying": "retrying",
    "failed": "failed",
    "skipped": "skipped",
    "fault": "faults",
    "buried": "faults",
}


class DeliveryStats:
    """Counts what became of triggers, by one write for each call of a function.

    The write goes last and is never repeated by Sweephand. If it fails or the function crashes before it, the
    counts of the call are lost. If only its answer is lost, the SDK repeats it and the call counts twice.
    """

    def __init__(self, *, stats: StatsStore, clock: Clock) -> None:
        self._stats = stats
        self._clock = clock

    def count(self, handled: Iterable[Handled], call: str, deadline: Instant) -> StoreError | None:
        """Count what became of the messages of a call of the delivery function.

        `call` is anything that tells it from other calls. At `deadline` the function's time is up. If
        nothing could be counted, the error says why. It is returned, since it must not make messages come
        again.
        """
        found: defaultdict[str, Stats] = defaultdict(no_stats)
        for each in handled:
            if each.trigger is None:
                continue
            of_namespace = found[each.trigger.key.namespace]
            if (name := _COUNTED.get(each.outcome.name)) is not None:
                of_namespace.outcomes[name] += 1
            if each.outcome.lateness_ms is not None:
                of_namespace.lateness[lateness_bound_ms(each.outcome.lateness_ms)] += 1
        return self._add(found, call, deadline)

    def count_of_line(
        self, namespace: str | None, outcomes: Counter[OutcomeName], call: str, deadline: Instant
    ) -> StoreError | None:
        """Count what became of triggers in the line of a flow policy: count() for the flow function.

        No lateness is counted: a trigger that waits for a permit is late because its policy says so.
        """
        if namespace is None:
            return None
        found = no_stats()
        for name, number in outcomes.items():
            if name in _COUNTED:
                found.outcomes[_COUNTED[name]] += number
        return self._add({namespace: found}, call, deadline)

    def _add(self, found: Mapping[str, Stats], call: str, deadline: Instant) -> StoreError | None:
        counted = {namespace: stats for namespace, stats in found.items() if not stats.are_empty}
        if not counted:
            return None
        now, last_at = self._clock.now(), deadline - STATS_RESERVE_MS
        minute = now - now % MINUTE_MS
        try:
            self._stats.add(minute, crc32(call.encode()), counted, lambda: self._clock.now() < last_at)
        except StoreError as error:
            return error
        return None


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

    def sums(self, since: Instant, until: Instant) -> Mapping[str, Stats] | None:
        """The counts of each namespace in those minutes together. None in a stack that does not count."""
        return None if self._stats is None else self._stats.sums(since, until)


def _parts(span: StatsSpan, since: Instant) -> Iterator[tuple[Instant, Instant]]:
    """Spans of whole steps, of an hour or of one longer step."""
    length_ms = max(_READ_AT_ONCE_MS // span.step_ms, 1) * span.step_ms
    for low in range(since, span.until, length_ms):
        yield low, min(low + length_ms, span.until)
