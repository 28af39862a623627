"""Traces with a retry that is older than its job allows, or a run that is given up too early for its age."""

from collections.abc import Sequence
from typing import Final

from tests.simulation.oracle.ages import TOO_LATE
from tests.simulation.traces.doctored import Broken, with_
from tests.simulation.traces.stories import UID, requested, written
from tests.simulation.traces.trace import Event, RunStored

_MINUTE_MS: Final = 60_000


def _job() -> Event:
    """A job of every minute whose retries may be a minute old."""
    definition = {"schedule": "@every 60s", "data": '"x"', "retry": {"maxAge": "1m"}}
    return written("create", "1-a", 0, definition=definition)


def _retried() -> list[Event]:
    return [_job(), requested(60), requested(60, late_ms=10 * _MINUTE_MS, attempt=2)]


def _given_up() -> list[Event]:
    first = requested(60)
    reason, run_id = f"It {TOO_LATE}.", f"{first.due_at}-0"
    over = RunStored(first.at + _MINUTE_MS - 1, "job", UID, run_id, "claimed", "failed", 1, "o", reason)
    return [_job(), first, over]


#: Each with a part of the complaint.
BROKEN_AGES: Final[Sequence[Broken]] = (
    (_retried, with_(), "of u1-1795262460000-0 left at 2026-11-21T12:11:00.000Z, and its first one at"),
    (_given_up, with_(), "was given up for its age at 2026-11-21T12:02:00.019Z, and began at"),
)
