"""A local stack of a bench's own, and the jobs that it is given."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

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


def now() -> int:
    """The time in epoch milliseconds."""
    return time.time_ns() // 1_000_000


def sleep_until(instant: int) -> None:
    """Sleep until an instant, in epoch milliseconds."""
    time.sleep(max(0, instant - now()) / SECOND_MS)
