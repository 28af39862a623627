"""The Protocols of what is read about the past besides jobs and runs: flags, stats, and the wheel's history.

The promises of ports.py hold here too.
"""

from typing import TYPE_CHECKING, Protocol

from sweephand.base.instants import Instant
from sweephand.model.page import Page

if TYPE_CHECKING:
    # Only some functions store these values. The others start without them.
    from collections.abc import Callable, Mapping, Sequence

    from sweephand.model.flag import Flag
    from sweephand.model.stats import Stats
    from sweephand.model.wheel_event import WheelEvent


class FlagStore(Protocol):
    """The flags of runs that did not simply succeed. None is removed: each expires with its run."""

    def put(self, flag: "Flag") -> None:
        """File a flag; filing it again changes only its `expires_at`."""
        ...

    def page(self, namespace: str, since: Instant, after: str, limit: int) -> "Page[Flag]":
        """Up to `limit` flags of a namespace, newest due time first, of runs due at `since` or later.

        They come after the position `after` ("": from the newest). `next` is the position after which the
        next page begins, as long as there may be more. A flag may still be returned past its `expires_at`,
        which is rounded up to whole seconds.
        """
        ...


class StatsStore(Protocol):
    """What deliveries counted in each minute. Each minute is kept for 30 days."""

    def add(
        self, minute: Instant, part: int, counted: "Mapping[str, Stats]", in_time: "Callable[[], bool]"
    ) -> None:
        """Add the counts of some namespaces to those of the minute that begins at `minute`.

        All are added or none. `part` is any number of zero or more. Additions with different ones seldom
        meet in one partition. No try is sent unless `in_time()` is true. After a StoreError, the counts may
        have been added, and so they may have been added twice if no error is raised.
        """
        ...

    def minutes(self, namespace: str, since: Instant, until: Instant) -> "Mapping[Instant, Stats]":
        """The counts of a namespace in the minutes that begin at `since` or later, and before `until`.

        Minutes without any are left out.
        """
        ...


class WheelHistory(Protocol):
    """What tick has found out about the time between its heartbeats. Each event is kept for 90 days."""

    def put(self, events: "Sequence[WheelEvent]") -> None:
        """File events; filing them again is harmless. After a StoreError, any of them may be filed."""
        ...

    def after(self, instant: Instant, limit: int) -> "Sequence[WheelEvent]":
        """The first `limit` events that were found after an instant, oldest first."""
        ...
