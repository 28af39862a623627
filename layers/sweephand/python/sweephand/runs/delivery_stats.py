"""Counting what deliveries did, once for each call of a function (decision 160)."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Final
from zlib import crc32

from sweephand.base.errors import StoreError
from sweephand.base.instants import MINUTE_MS, Instant
from sweephand.base.timing import STATS_RESERVE_MS
from sweephand.model.stats import CountedOutcome, Stats, lateness_bound_ms, no_stats
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
