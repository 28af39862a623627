"""The wheel's history: each time that tick found the stack at work again, or another limit."""

from typing import Literal, NamedTuple

from sweephand.base.instants import Instant

#: `stopped`: tick did not run. `off`: the stack was switched off. `limit`: another `MaxTriggersPerMinute`.
WheelEventKind = Literal["stopped", "off", "limit"]


class WheelEvent(NamedTuple):
    """One event, which tick found at `at`.

    The stack was `stopped` or `off` since `since`, and no more from `at` on. A `limit` of so many triggers a
    minute (0: none) was in force until `at`; `since` is then the heartbeat before.
    """

    kind: WheelEventKind
    at: Instant
    since: Instant
    limit: int = 0
