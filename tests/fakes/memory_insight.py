"""The ports of lists and explanations in memory."""

import threading
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy

from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.model.counters import Stats, no_stats
from sweephand.model.page import Page
from sweephand.model.run import Flag
from sweephand.model.wheel_event import WheelEvent, WheelEventKind


class MemoryFlags:
    """ports.FlagStore."""

    def __init__(self) -> None:
        self._flags: dict[tuple[str, str], Flag] = {}
        self._lock = threading.Lock()

    def put(self, flag: Flag) -> None:
        with self._lock:
            self._flags[flag.key.namespace, flag.position] = flag

    def page(self, namespace: str, since: Instant, after: str, limit: int) -> Page[Flag]:
        with self._lock:
            flags = {place: each for (of, place), each in self._flags.items() if of == namespace}
        places = sorted(each for each in flags if each > after and flags[each].run.due_at >= since)
        items = tuple(flags[each] for each in places[:limit])
        return Page(items, places[limit - 1] if len(places) > limit else None)


class MemoryStats:
    """ports.StatsStore."""

    def __init__(self) -> None:
        self._minutes: dict[tuple[str, Instant], Stats] = {}
        self._lock = threading.Lock()

    def add(
        self, minute: Instant, part: int, counted: Mapping[str, Stats], in_time: Callable[[], bool]
    ) -> None:
        del part
        if not in_time():
            raise StoreError("too late")
        with self._lock:
            for namespace, stats in counted.items():
                self._minutes.setdefault((namespace, minute), no_stats()).update(stats)

    def minutes(self, namespace: str, since: Instant, until: Instant) -> Mapping[Instant, Stats]:
        with self._lock:
            return {
                minute: deepcopy(stats)
                for (of, minute), stats in self._minutes.items()
                if of == namespace and since <= minute < until
            }

    def sums(self, since: Instant, until: Instant) -> Mapping[str, Stats]:
        found: dict[str, Stats] = {}
        with self._lock:
            for (namespace, minute), stats in self._minutes.items():
                if since <= minute < until:
                    found.setdefault(namespace, no_stats()).update(stats)
        return found


class MemoryWheelHistory:
    """ports.WheelHistory."""

    def __init__(self) -> None:
        self._events: dict[tuple[Instant, WheelEventKind], WheelEvent] = {}

    def put(self, events: Sequence[WheelEvent]) -> None:
        self._events.update({(each.at, each.kind): each for each in events})

    def after(self, instant: Instant, limit: int) -> Sequence[WheelEvent]:
        later = sorted(place for place in self._events if place[0] > instant)
        return [self._events[place] for place in later[:limit]]
