"""What tick and sweep are made of."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TYPE_CHECKING

from sweephand.base.instants import HOUR_MS, MINUTE_MS
from sweephand.base.timing import AUDIT_MINUTE
from sweephand.delivery.sweepers import LambdaSweepers
from sweephand.runtime import parts
from sweephand.wheel.pace import RECORDS_AT_ONCE
from sweephand.wheel.sweep import Sweeper, Swept
from sweephand.wheel.tick import Ticked, Ticker

if TYPE_CHECKING:
    from sweephand.jobs.payload_audit import Audited


@cache
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(RECORDS_AT_ONCE, thread_name_prefix="sweep")


def _concurrently(tasks: Sequence[Callable[[], object]]) -> None:
    """Run the tasks in threads; the first error is raised when all of them are over."""
    futures = [_threads().submit(task) for task in tasks]
    errors = [future.exception() for future in futures]
    for error in filter(None, errors):
        raise error


@cache
def _sweeper() -> Sweeper:
    return Sweeper(
        jobs=parts.jobs(),
        timers=parts.timers(),
        leases=parts.leases(),
        runs=parts.runs(),
        queue=parts.queue(),
        clock=parts.clock(),
        concurrently=_concurrently,
    )


@cache
def _ticker() -> Ticker:
    settings = parts.settings()
    return Ticker(
        leases=parts.leases(),
        sweeper=_sweeper(),
        sweepers=LambdaSweepers(settings.sweep_function),
        clock=parts.clock(),
        shards=settings.shards,
        sweepers_max=settings.sweepers_max,
    )


def tick(remaining_ms: int) -> Ticked:
    """One tick, within what is left of the function's time."""
    deadline = parts.clock().now() + remaining_ms
    return _ticker().tick(owner=parts.ids().token(), deadline=deadline)


def audit() -> "Audited | None":
    """Once an hour one step of the audit of payloads, None in every other minute; StoreError if it failed."""
    if parts.clock().now() % HOUR_MS // MINUTE_MS != AUDIT_MINUTE:
        return None
    # Tick starts without what S3 needs: it is wanted once an hour.
    from sweephand.runtime import payload_audit  # noqa: PLC0415

    return payload_audit.payloads().step()


def sweep(first_shard: int, remaining_ms: int) -> Swept:
    """One sweep from a shard on, within what is left of the function's time."""
    return _sweeper().sweep(
        parts.leases().state().leases,
        owner=parts.ids().token(),
        first_shard=first_shard,
        deadline=parts.clock().now() + remaining_ms,
    )
