"""Errors of windows: what is to wait leaves, what waits is lost, or a window concerns what it should not."""

from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, mutation, wrapping
from tests.simulation.workload.windows import FIRST_WITH_WINDOWS

from sweephand.jobs.settings_cache import CachedSettings
from sweephand.model.job import Job
from sweephand.model.run import WINDOW
from sweephand.model.watch import WatchMessage
from sweephand.model.window import Opening, skips
from sweephand.runs import gates, watch
from sweephand.runs.deliver import Deliverer
from sweephand.runs.delivery import Wait
from sweephand.runs.overlap_queue import OverlapQueue
from sweephand.runs.received import Outcome
from sweephand.runs.requeue import Requeue


@mutation("A trigger is delivered inside a window that holds", first=FIRST_WITH_WINDOWS)
def delivers_within_windows() -> Broken:
    return patch.object(gates, "open_for", lambda *_: None)


@mutation("A trigger that a window holds is acknowledged and not sent again", first=FIRST_WITH_WINDOWS)
@wrapping(Deliverer, "_waits")
def loses_what_windows_hold(waits: Callable[..., Outcome], deliverer: Deliverer, wait: Wait) -> Outcome:
    return Outcome(wait.why) if wait.why == "in_window" else waits(deliverer, wait)


@mutation("A function that cannot read the windows goes on with older ones", first=FIRST_WITH_WINDOWS)
def keeps_old_windows() -> Broken:
    return patch.object(CachedSettings, "windows_of", lambda known, of: known._read_lately(of).windows)


@mutation("All that a window holds leaves at its end", first=FIRST_WITH_WINDOWS)
def spreads_nothing() -> Broken:
    return patch.object(Opening, "releases_at", lambda opening, _: opening.closes_at)


@mutation(
    "The spread of a window goes on when it opens again",
    shown_by="tests/unit/runs/test_windows.py::test_what_is_held_leaves_before_the_next_window_opens_however_long_the_spread",
)
def spreads_into_the_next_opening() -> Broken:
    return patch.object(gates, "before_next", lambda *known: known[-1])


@mutation("What a window skips has no record", first=FIRST_WITH_WINDOWS)
@wrapping(OverlapQueue, "skip")
def skips_without_record(
    skip: Callable[..., bool], queue: OverlapQueue, trigger: Any, job: Job, reason: str, *line: Any
) -> bool:
    return reason.startswith(WINDOW) or skip(queue, trigger, job, reason, *line)


@mutation("A window skips what falls due when it is closed", first=FIRST_WITH_WINDOWS)
def skips_what_is_due_before() -> Broken:
    def always(windows: Sequence[Any], job: Job, due_at: int) -> Opening | None:
        closed = (Opening(each, 0) for each in windows if each.then == "skip" and each.is_for(job))
        return skips(windows, job, due_at) or next(closed, None)

    return patch.object(gates, "skips", always)


@mutation(
    "A window holds triggers by hand",
    shown_by="tests/unit/runs/test_windows.py::test_triggers_by_hand_redrives_and_chained_triggers_pass",
)
def holds_what_is_by_hand() -> Broken:
    return patch.object(gates, "passes", lambda _: False)


@mutation(
    "The time for which a window holds a retry counts for its age",
    shown_by="tests/unit/runs/test_windows.py::test_a_retry_is_held_and_does_not_grow_too_old",
)
@wrapping(Deliverer, "_waits")
def ages_what_is_held(waits: Callable[..., Outcome], deliverer: Deliverer, wait: Wait) -> Outcome:
    delivery = wait.delivery
    message = delivery.message._replace(held_ms=0)
    return waits(deliverer, wait._replace(delivery=delivery._replace(message=message)))


@mutation("A watch does not look again at what a window held", first=FIRST_WITH_WINDOWS)
@wrapping(Requeue, "send_at")
def looks_only_once(send_at: Callable[..., None], requeue: Requeue, message: Any, shard: int) -> None:
    if not isinstance(message, WatchMessage):
        send_at(requeue, message, shard)


@mutation("A watch tells of what a window holds", first=FIRST_WITH_WINDOWS)
def tells_of_what_is_held() -> Broken:
    return patch.object(watch, "hold_between", lambda *_: None)


@mutation("An alert stands for what an earlier check saw, though windows changed", first=FIRST_WITH_WINDOWS)
def trusts_checks_before_changes() -> Broken:
    return patch.object(watch, "_SETTLED_MS", -(2**60))
