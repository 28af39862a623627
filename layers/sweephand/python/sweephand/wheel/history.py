"""What tick writes into the wheel's history: what has changed since its last heartbeat."""

from sweephand.base.instants import Instant
from sweephand.base.timing import HEARTBEAT_GAP_MS
from sweephand.model.timer import Heartbeat
from sweephand.model.wheel_event import WheelEvent


def events_between(before: Heartbeat, now: Heartbeat) -> list[WheelEvent]:
    """The events between two heartbeats, the second of which was just written.

    A stack that was switched off did not stop: tick writes its heartbeat while the stack is off.
    """
    found = []
    if now.at - before.at > HEARTBEAT_GAP_MS:
        found.append(WheelEvent("stopped", now.at, before.at))
    if before.off_since is not None and now.off_since is None:
        found.append(WheelEvent("off", now.at, before.off_since))
    if before.limit != now.limit:
        found.append(WheelEvent("limit", now.at, before.at, before.limit))
    return found


def standstill_at(events: list[WheelEvent], at: Instant) -> WheelEvent | None:
    """The event that ended a standstill of the stack at that instant; None if the stack was at work then."""
    ends = (each for each in events if each.kind != "limit" and each.since < at < each.at)
    return next(ends, None)
