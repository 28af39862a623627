"""The port of the schedule groups of EventBridge Scheduler's API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sweephand.model.page import Page
    from sweephand.model.schedule_group import ScheduleGroup


class ScheduleGroupStore(Protocol):
    """The schedule groups. The token is `version`."""

    def get(self, name: str) -> ScheduleGroup | None:
        """The group of that name, or None."""
        ...

    def put(self, group: ScheduleGroup, replacing: str | None) -> bool:
        """Write it if the stored version is `replacing` (None: if there is none); return whether it did."""
        ...

    def delete(self, group: ScheduleGroup) -> bool:
        """Remove the group if it is in that version; return whether it is gone."""
        ...

    def page(self, prefix: str, after: str, limit: int) -> Page[ScheduleGroup]:
        """Up to `limit` groups with that prefix, in the order of their names, after the name `after`."""
        ...
