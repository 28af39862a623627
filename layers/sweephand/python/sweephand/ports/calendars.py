"""The port of calendars."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sweephand.model.calendar import Calendar, CalendarContent, CalendarKey
    from sweephand.model.change import AdminChange
    from sweephand.model.page import Page


class CalendarStore(Protocol):
    """The calendars of namespaces. The token is `version`."""

    def get(self, key: CalendarKey) -> Calendar | None:
        """The calendar of that key, or None."""
        ...

    def content(self, key: CalendarKey) -> CalendarContent | None:
        """What the calendar was written as. It may be of another version than a calendar read just before."""
        ...

    def put(
        self, calendar: Calendar, content: CalendarContent, replacing: str | None, change: AdminChange
    ) -> bool:
        """Write both if the stored version is `replacing` (None: if there is none); return whether it did."""
        ...

    def delete(self, calendar: Calendar, change: AdminChange) -> bool:
        """Remove the calendar if it is in that version; return whether it is gone."""
        ...

    def page(self, namespace: str, after: str, limit: int) -> Page[Calendar]:
        """Up to `limit` calendars of a namespace by name, after the name `after`."""
        ...

    def follow(self, calendar: Calendar, reached: str | None, more: int) -> None:
        """Note that jobs of this version followed up to that name, and that `more` of them were changed.

        Nothing is noted of another version. A note that the SDK repeats may count twice.
        """
        ...
