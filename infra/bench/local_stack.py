"""A local stack of a bench's own, and the jobs that it is given."""

import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from infra.bench.consumer import Arrival
from infra.local import stack
from infra.local.client import Client
from infra.local.places import Place

from sweephand.base.instants import SECOND_MS


@contextmanager
def deployed(place: Place) -> Iterator[Client]:
    """A client of a new stack, which ends with the context."""
    described = stack.up(place, say=show)
    try:
        with Client.of(described) as client:
            yield client
    finally:
        stack.down(place)


def show(text: str) -> None:
    """Say what a bench does now."""
    print(f"  {text}", flush=True)


def title(subject: str) -> str:
    """The title of a report, with how busy this machine is."""
    return f"{subject}, on the local stack, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"


def job(name: str, times: Mapping[str, str], url: str) -> dict[str, Any]:
    """The definition of a job with these times, as a bulk call takes it."""
    return {"name": name, **times, "target": {"type": "http", "url": url}, "data": {"job": name}}


def by_due_time(arrivals: Iterable[Arrival]) -> list[tuple[tuple[str, int], int]]:
    """When each delivery came, by its job and due time."""
    return [((each.job, each.due_at), each.arrived_at) for each in arrivals]


def series_owed(
    arrivals: Iterable[Arrival], period_ms: int, *, after: int, until: int
) -> dict[tuple[str, int], int]:
    """The due times of jobs of one period in a range of time, by job and due time.

    A trigger's number shows when its series began.
    """
    begins = {each.job: each.due_at - (each.sequence - 1) * period_ms for each in arrivals}
    return {
        (name, due_at): due_at
        for name, begin_at in begins.items()
        for due_at in range(begin_at, until + 1, period_ms)
        if due_at > after
    }


def now() -> int:
    """The time in epoch milliseconds."""
    return time.time_ns() // 1_000_000


def sleep_until(instant: int) -> None:
    """Sleep until an instant, in epoch milliseconds."""
    time.sleep(max(0, instant - now()) / SECOND_MS)
