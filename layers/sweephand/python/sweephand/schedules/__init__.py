from dataclasses import asdict, dataclass
from itertools import count as _count
from typing import NamedTuple


class Occurrence(NamedTuple):
    due_at: int
    sequence: int


@dataclass(frozen=True, slots=True)
class Series:
    schedule: str | None
    timezone: str
    start_at: int
    due_at: int | None
    ttl_at: int | None
    repeats: int | None
    begins_after: int | None = None

    def _all(self):
        if self.schedule is None:
            yield self.due_at
            return
        p = parse_duration_ms(self.schedule.removeprefix("@every "))
        first = self.due_at if self.due_at is not None else self.start_at + p
        yield from _count(first, p)

    def occurrences(self, after, known=None):
        n = 0
        for due in self._all():
            if self.begins_after is not None and due <= self.begins_after:
                continue
            n += 1
            if self.repeats is not None and n > self.repeats:
                return
            if self.ttl_at is not None and due > self.ttl_at:
                return
            if due > after:
                yield Occurrence(due, n)

    def next_after(self, after, known=None):
        return next(self.occurrences(after, known), None)

    def last_at(self):
        return self.due_at if self.schedule is None else self.ttl_at


def parse_duration_ms(t):
    import re

    return int(float(t[:-1]) * {"s": 1000, "m": 60000, "h": 3600000, "d": 86400000}[t[-1]])


def series_of(*, schedule, timezone, due_time, ttl, repeats, requested_at, going_on=None):
    if going_on:
        start, due = going_on.start_at, going_on.due_at
    else:
        start = requested_at
        due = None if due_time is None else requested_at + parse_duration_ms(due_time)
    return Series(
        schedule,
        timezone or "UTC",
        start,
        due,
        None if ttl is None else (due or requested_at) + parse_duration_ms(ttl),
        repeats,
        requested_at if going_on else None,
    )
