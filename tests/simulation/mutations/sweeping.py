"""Errors in ticking, sweeping and expanding."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final
from unittest.mock import patch

from tests.simulation.mutations.registry import (
    Broken,
    Deferred,
    Instead,
    Ports,
    built,
    everywhere,
    mutation,
    replacing,
    together,
    wrapping_in,
)

from sweephand.base.concurrency import one_by_one
from sweephand.base.errors import StoreError
from sweephand.base.instants import MINUTE_MS, Instant
from sweephand.base.timing import BUCKET_MS
from sweephand.model.revisions import revision_of
from sweephand.model.timer import Cursor, Lease, OccurrenceTimer, RetryTimer, bucket_of, position_key
from sweephand.model.trigger import Message
from sweephand.schedules import Occurrence
from sweephand.wheel import expand, shard_visit, span, sweep
from sweephand.wheel.expand import Expansion
from sweephand.wheel.sweep import Sweeper

_EXPAND: Final[Any] = expand.expand


def _commits_before(port: str, method: str) -> Broken:
    def change(ports: Ports) -> None:
        deferred, leases, late = Deferred(), ports["leases"], ports[port]

        def before(write: Callable[..., Lease | None]) -> Callable[..., Lease | None]:
            def written(*args: Any, **kwargs: Any) -> Lease | None:
                lease = write(*args, **kwargs)
                (deferred.make if lease else deferred.forget)()
                return lease

            return written

        ports["leases"] = Instead(leases, commit=before(leases.commit), release=before(leases.release))
        ports[port] = Instead(late, **{method: deferred.of(getattr(late, method))})
        ports["concurrently"] = one_by_one  # what is deferred is made by the strand that commits

    return built(Sweeper, change)


@mutation("The cursor is committed before the triggers are sent")
def commits_before_sending() -> Broken:
    return _commits_before("queue", "send")


@mutation("The cursor is committed before the successors are written")
def commits_before_succeeding() -> Broken:
    return _commits_before("timers", "put")


@mutation("The cursor is committed although not every trigger was accepted")
@wrapping_in(Sweeper, "queue", "send")
def commits_in_spite(send: Callable[..., None], messages: Sequence[tuple[Message, int]]) -> None:
    with suppress(StoreError):
        send(messages)


@mutation("The cursor is committed although one of its requests failed")
def commits_in_spite_of_one() -> Broken:
    def change(ports: Ports) -> None:
        concurrently = ports["concurrently"]

        def attempted(task: Callable[[], Any]) -> Any:
            with suppress(StoreError):
                return task()
            return {}, {}

        ports["concurrently"] = lambda tasks: concurrently([partial(attempted, task) for task in tasks])

    return built(Sweeper, change)


@mutation("Timers of two revisions share a key")
def shares_keys_of_revisions() -> Broken:
    def sort_key(timer: OccurrenceTimer) -> str:
        return f"{position_key(timer.due_at)}#{timer.key}#occurrence"

    return patch.object(OccurrenceTimer, "sort_key", property(sort_key))


@mutation("Timers of two retries share a key")
def shares_keys_of_retries() -> Broken:
    def sort_key(timer: RetryTimer) -> str:
        return f"{position_key(timer.due_at // MINUTE_MS * MINUTE_MS)}#{timer.key}#retry"

    return patch.object(RetryTimer, "sort_key", property(sort_key))


@mutation(
    "A batch read has the key of a job with two timers twice",
    masked_by="the sweeper reads the jobs of a page in halves where one read is refused",
)
def asks_twice() -> Broken:
    class Repeating(dict[Any, Any]):
        fromkeys = list  # type: ignore[assignment]

    return patch.object(shard_visit, "dict", Repeating, create=True)


@mutation("A page reads a minute further than its timers are expanded")
def reads_further_than_it_expands() -> Broken:
    ends_at, horizon = 0, sweep.horizon

    def further(now: Instant) -> Instant:
        nonlocal ends_at
        ends_at = max(ends_at, horizon(now))
        return ends_at + BUCKET_MS

    def bucket(due_at: Instant) -> Instant:
        return min(bucket_of(due_at), ends_at - BUCKET_MS)

    return together(patch.object(sweep, "horizon", further), patch.object(span, "bucket_of", bucket))


def _expanding(change: Any) -> Broken:
    def changed(*args: Any, **kwargs: Any) -> Expansion:
        expansion: Expansion = _EXPAND(*args, **kwargs)
        change(expansion, kwargs["triggers_max"])
        return expansion

    return patch.object(sweep, "expand", changed)


@mutation("A full page writes no successors")
def forgets_successors_of_full_pages() -> Broken:
    def change(expansion: Expansion, triggers_max: int) -> None:
        if len(expansion.messages) >= triggers_max:
            expansion.successors.clear()

    return _expanding(change)


@mutation("A successor counts its occurrences from the beginning")
def counts_from_the_beginning() -> Broken:
    def change(expansion: Expansion, _: int) -> None:
        expansion.successors = [
            each._replace(first=Occurrence(each.first.due_at, 1)) for each in expansion.successors
        ]

    return _expanding(change)


@mutation("The cursor's commit forgets the place within a timer")
def forgets_within() -> Broken:
    return patch.object(expand, "Cursor", lambda key, _within, *rest: Cursor(key, None, *rest))


@mutation("The next page begins at the start of a timer in which the last page stopped")
@replacing(sweep, "expand")
def repeats_within(timers: Any, jobs: Any, lease: Lease, **kwargs: Any) -> Expansion:
    begun = lease._replace(cursor=Cursor(lease.cursor.key))
    expansion: Expansion = _EXPAND(timers, jobs, begun, **kwargs)
    return expansion


@mutation("An earlier revision writes successors for ever")
@replacing(span, "revision_of")
def never_ends_revisions(*args: Any) -> Any:
    revision = revision_of(*args)
    return revision and revision._replace(until=None)


@mutation("Timers of earlier revisions are not expanded")
@replacing(span, "revision_of")
def drops_earlier_revisions(*args: Any) -> Any:
    revision = revision_of(*args)
    return revision if revision is None or revision.until is None else None


@mutation("A commit of the cursor has no condition on the fence")
def commits_without_fence() -> Broken:
    def change(ports: Ports) -> None:
        leases = ports["leases"]

        ports["leases"] = Instead(
            leases,
            commit=_without_fence(leases, leases.commit),
            release=_without_fence(leases, leases.release),
        )

    return built(Sweeper, change)


def _without_fence(leases: Any, write: Callable[..., Lease | None]) -> Callable[..., Lease]:
    def written(lease: Lease, *args: Any, **kwargs: Any) -> Lease:
        while True:
            fence = next(each.fence for each in leases.state().leases if each.shard == lease.shard)
            stored = write(lease._replace(fence=fence), *args, **kwargs)
            if stored is not None:
                return stored

    return written


@mutation(
    "The write that commits and releases frees a lease that another sweeper holds",
    shown_by="tests/unit/wheel/test_sweep.py::test_a_sweeper_that_was_taken_over_releases_nothing_and_moves_no_cursor",
)
def releases_without_fence() -> Broken:
    def change(ports: Ports) -> None:
        leases = ports["leases"]
        ports["leases"] = Instead(leases, release=_without_fence(leases, leases.release))

    return built(Sweeper, change)


@mutation(
    "The write that commits and releases forgets a chunk that is open",
    shown_by="tests/unit/wheel/test_sweep.py::test_a_sweeper_that_leaves_a_shard_within_a_chunk_keeps_the_chunk_in_the_cursor",
)
@wrapping_in(Sweeper, "leases", "release")
def releases_without_the_chunk(
    release: Callable[..., Lease | None], *args: Any, cursor: Cursor | None = None, **said: Any
) -> Lease | None:
    forgotten = None if cursor is None else cursor._replace(chunk=None)
    released: Lease | None = release(*args, cursor=forgotten, **said)
    return released


@mutation("The next page is read before the successors of this one are written")
def reads_on_before_succeeding() -> Broken:
    def change(ports: Ports) -> None:
        deferred, leases, timers = Deferred(), ports["leases"], ports["timers"]

        def page(*args: Any) -> Any:
            found = timers.page(*args)
            deferred.make()
            return found

        def behind(write: Callable[..., Lease | None]) -> Callable[..., Lease | None]:
            def written(*args: Any, **kwargs: Any) -> Lease | None:
                deferred.make()
                return write(*args, **kwargs)

            return written

        ports["timers"] = Instead(timers, page=page, put=deferred.of(timers.put))
        ports["leases"] = Instead(leases, commit=behind(leases.commit), release=behind(leases.release))
        ports["concurrently"] = one_by_one  # what is deferred is made by the strand that reads

    return built(Sweeper, change)


@mutation("A shard is claimed though another sweeper holds it")
def claims_what_is_held() -> Broken:
    def change(ports: Ports) -> None:
        leases = ports["leases"]

        def claim(lease: Lease, *args: Any) -> Lease | None:
            while True:
                claimed: Lease | None = leases.claim(lease, *args)
                if claimed is not None:
                    return claimed
                held = next(each for each in leases.state().leases if each.shard == lease.shard)
                leases.release(held, held.found, held.swept_at)

        ports["leases"] = Instead(leases, claim=claim)

    return built(Sweeper, change)


@mutation("The horizon is one minute short")
def sees_no_further_than_its_minute() -> Broken:
    return everywhere("HORIZON_MS", 60_000)


@mutation("A page is swept from the cursor that was read before the claim")
@wrapping_in(Sweeper, "leases", "claim")
def trusts_the_cursor_it_saw(claim: Callable[..., Lease | None], lease: Lease, *args: Any) -> Lease | None:
    claimed: Lease | None = claim(lease, *args)
    return claimed and claimed._replace(cursor=lease.cursor)


@mutation("A sweeper believes a stale read that does not know a timer's job or revision")
def sweep_believes_a_stale_read() -> Broken:
    return patch.object(shard_visit, "_is_sure", lambda *_: True)
