"""One-offs that fall due at random times and go by the wheel: written to a local stack, and waited for."""

import random
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

from infra.bench.bulk import write_jobs
from infra.bench.consumer import Consumer
from infra.local.client import Client

from sweephand.base.concurrency import parts
from sweephand.base.instants import SECOND_MS, rfc3339
from sweephand.base.limits import JOBS_PER_BULK_MAX
from sweephand.base.timing import DIRECT_WINDOW_MS

#: The one-offs fall due within this range of time.
SPREAD_MS: Final = 120 * SECOND_MS

#: The namespace of the one-offs.
ONE_OFFS: Final = "once"

#: Each one-off is due at least this long after its creation, so that it goes by the wheel.
_BEYOND_MS: Final = DIRECT_WINDOW_MS + 10 * SECOND_MS

#: A trigger that has not come this long after the last due time counts as lost.
_PATIENCE_S: Final = 90

_CALLS_AT_ONCE: Final = 2


@dataclass(frozen=True, slots=True)
class Created:
    """The one-offs by name with their due times, and how their creation went."""

    due_at: Mapping[str, int]
    jobs_per_s: float
    seconds: float
    beyond: int

    @property
    def last_due_at(self) -> int:
        """When the last one-off is due."""
        return max(self.due_at.values())


def create(
    client: Client, url: str, triggers: int, *, after_creation_ms: int = 0, after_start_ms: int = 0
) -> Created:
    """Write the one-offs, the earliest due first.

    The first is due no earlier than the two given times after the end and the start of creation.
    """
    creation_ms = _creation_ms(client, url, triggers)
    # Creation may take the whole spread as well, since the last one-offs are due at its end.
    by_wheel_ms = _BEYOND_MS + max(0, creation_ms - SPREAD_MS)
    lead_ms = max(by_wheel_ms, creation_ms + after_creation_ms, after_start_ms)
    began_at, began = now(), time.monotonic()
    chance = random.Random(7)  # noqa: S311 - any spread will do, as long as it is the same
    dues = sorted(began_at + lead_ms + chance.randrange(SPREAD_MS) for _ in range(triggers))
    due_at = {f"job-{number}": due for number, due in enumerate(dues)}
    jobs = [job(name, {"dueTime": rfc3339(due)}, url) for name, due in due_at.items()]

    def put(some: Sequence[Mapping[str, Any]]) -> int:
        write_jobs(client, ONE_OFFS, some)
        last_at = now()
        return sum(due_at[each["name"]] - last_at > DIRECT_WINDOW_MS for each in some)

    with ThreadPoolExecutor(_CALLS_AT_ONCE) as threads:
        beyond = sum(threads.map(put, parts(jobs, JOBS_PER_BULK_MAX)))
    seconds = time.monotonic() - began
    created = Created(due_at, triggers / seconds, seconds, beyond)
    last = rfc3339(created.last_due_at)
    print(
        f"  created {triggers} one-offs, {created.jobs_per_s:.0f} a second; the last is due {last}",
        flush=True,
    )
    return created


def _creation_ms(client: Client, url: str, triggers: int) -> int:
    """How long the creation of so many one-offs will probably take on this machine, in milliseconds."""
    trial = [job(f"job-{number}", {"dueTime": "24h"}, url) for number in range(JOBS_PER_BULK_MAX)]
    write_jobs(client, "trial", trial[:1])
    began = time.monotonic()
    write_jobs(client, "trial", trial)
    # Two calls at once take a little less time than two in a row.
    return round(0.75 * (time.monotonic() - began) * SECOND_MS * triggers / len(trial))


def wait_for(consumer: Consumer, created: Created) -> None:
    """Wait until each one-off has come, and a little longer for duplicates; or until it counts as lost."""
    sleep_until(created.last_due_at + 2 * SECOND_MS)
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline and _come(consumer) < len(created.due_at):
        time.sleep(2)
    time.sleep(5)


def _come(consumer: Consumer) -> int:
    return len({each.trigger_id for each in consumer.arrivals() if each.namespace == ONE_OFFS})


def job(name: str, times: Mapping[str, str], url: str) -> dict[str, Any]:
    """The definition of a job with these times, as a bulk call takes it."""
    return {"name": name, **times, "target": {"type": "http", "url": url}, "data": {"job": name}}


def now() -> int:
    """The time in epoch milliseconds."""
    return time.time_ns() // 1_000_000


def sleep_until(instant: int) -> None:
    """Sleep until an instant, in epoch milliseconds."""
    time.sleep(max(0, instant - now()) / SECOND_MS)
