"""The calls about calendars: which days are closed."""

from collections.abc import Iterator

from sweephand_client.api.calls import Calls, preconditions
from sweephand_client.http.transport import Query
from sweephand_client.openapi import operations
from sweephand_client.openapi.calendars import (
    CalendarBriefResponse,
    CalendarPreview,
    CalendarRequest,
    CalendarResponse,
)
from sweephand_client.openapi.job_answers import CalendarDay


class Calendars(Calls):
    """The calendars of all namespaces."""

    def put(
        self,
        namespace: str,
        name: str,
        calendar: CalendarRequest,
        *,
        if_match: str | None = None,
        if_absent: bool = False,
    ) -> CalendarResponse:
        """Create or replace a calendar. The jobs that name it follow within minutes."""
        headers = preconditions(if_match, if_absent=if_absent)
        return self._transport.call(
            operations.PUT_CALENDAR, _calendar(namespace, name), body=calendar, headers=headers
        )

    def preview(self, namespace: str, name: str, calendar: CalendarRequest) -> CalendarPreview:
        """The days that a calendar would have, and the days on which the stored calendar differs."""
        return self._transport.call(operations.PREVIEW_CALENDAR, _calendar(namespace, name), body=calendar)

    def get(self, namespace: str, name: str) -> CalendarResponse:
        """A calendar, its next days, and whether its jobs have followed the last change."""
        return self._transport.call(operations.GET_CALENDAR, _calendar(namespace, name))

    def days(
        self, namespace: str, name: str, *, since: str | None = None, days: int | None = None
    ) -> list[CalendarDay]:
        """The days that are closed, or that are open against the rule of their week.

        From the date `since` on, or from today, for 366 days or for as many as `days` says.
        """
        query: Query = {"from": since, "days": None if days is None else str(days)}
        return self._transport.call(operations.LIST_CALENDAR_DAYS, _calendar(namespace, name), query=query)[
            "days"
        ]

    def delete(self, namespace: str, name: str, *, if_match: str | None = None) -> None:
        """Delete a calendar. ConflictError while jobs name it."""
        self._transport.call(
            operations.DELETE_CALENDAR, _calendar(namespace, name), headers=preconditions(if_match)
        )

    def list(self, namespace: str) -> Iterator[CalendarBriefResponse]:
        """The calendars of a namespace, by name, without their days."""
        return self._items(operations.LIST_CALENDARS, {"namespace": namespace})


def _calendar(namespace: str, name: str) -> dict[str, str]:
    return {"namespace": namespace, "calendar": name}
