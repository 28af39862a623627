"""The commands about calendars: `sweephand calendar …`."""

import datetime as dt
from collections.abc import Iterable
from typing import Annotated, Any, cast

import typer

from sweephand_client.commands.inputs import Yes, ask, read_object, read_text
from sweephand_client.commands.session import Session, command
from sweephand_client.http.errors import InputError
from sweephand_client.openapi.calendars import CalendarRequest
from sweephand_client.openapi.job_answers import CalendarDay

app = typer.Typer(no_args_is_help=True, help="Calendars: which days are closed.")

_Calendar = Annotated[str, typer.Argument(help="The name of the calendar.", show_default=False)]

#: The fields of a calendar that are shown in other ways, or too long to show.
_NOT_SHOWN = ("ics", "nextDays")


@command(app, "put")
def put_calendar(
    session: Session,
    name: _Calendar,
    file: Annotated[str | None, typer.Argument(help="The calendar as JSON, in FILE or - .")] = None,
    *,
    holidays: Annotated[
        list[str] | None,
        typer.Option(metavar="COUNTRY[:PART]", help="A country whose holidays are closed: FR or FR:57."),
    ] = None,
    market: Annotated[
        list[str] | None, typer.Option(help="A market whose holidays are closed, as XNYS.")
    ] = None,
    ics: Annotated[str | None, typer.Option(help="An iCalendar file, instead of holidays.")] = None,
    weekend: Annotated[str | None, typer.Option(help="The closed days of the week, as FRI,SAT.")] = None,
    closed: Annotated[
        list[str] | None,
        typer.Option(metavar="DATE|FROM..TO", help="A closed day, or closed days in a row."),
    ] = None,
    opened: Annotated[
        list[str] | None,
        typer.Option("--open", metavar="DATE|FROM..TO", help="Days that are open all the same."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show which days would change.")] = False,
    if_match: Annotated[str | None, typer.Option(help="Only if the calendar has this revision.")] = None,
    if_absent: Annotated[
        bool, typer.Option("--if-absent", help="Only if the calendar does not exist.")
    ] = False,
) -> None:
    """Create or replace a calendar. Options change the fields of FILE. The jobs that name it follow."""
    calendar = read_object("-" if file == "-" else f"@{file}", "The calendar") if file else {}
    sources = [*map(_country, holidays or ()), *({"market": each} for each in market or ())]
    given = {
        "holidays": sources or None,
        "ics": None if ics is None else read_text(ics),
        "weekend": None if weekend is None else [each for each in weekend.split(",") if each],
        "closed": [_span(each) for each in closed or ()] or None,
        "open": [_span(each) for each in opened or ()] or None,
    }
    calendar |= {field: value for field, value in given.items() if value is not None}
    request = cast("CalendarRequest", calendar)  # the API checks it
    calendars = session.client.calendars
    if not dry_run:
        written = calendars.put(session.namespace, name, request, if_match=if_match, if_absent=if_absent)
        session.output.done(f"Wrote the calendar {name}.", written)
        return
    if if_match is not None or if_absent:
        raise InputError("Give --dry-run without --if-match and --if-absent: nothing is written.")
    preview = calendars.preview(session.namespace, name, request)
    if not preview["changes"] and not session.output.is_data:
        session.output.text(f"No day of a stored calendar {name} changes. The next days:")
    _show_days(session, preview["changes"] or preview["nextDays"], preview)


@command(app, "get")
def get_calendar(session: Session, name: _Calendar) -> None:
    """Show a calendar, its next days, and whether its jobs have followed the last change."""
    found = session.client.calendars.get(session.namespace, name)
    if session.output.is_data:
        session.output.data(found)
        return
    session.output.fields({field: value for field, value in found.items() if field not in _NOT_SHOWN})
    _show_days(session, found["nextDays"], None)


@command(app, "list")
def list_calendars(session: Session) -> None:
    """List calendars by name."""
    found = list(session.client.calendars.list(session.namespace))
    rows = [
        (each["name"], each["state"], each.get("knownUntil"), each.get("source"), each["updatedAt"])
        for each in found
    ]
    session.output.table(("NAME", "STATE", "KNOWN UNTIL", "SOURCE", "WRITTEN"), rows, found)


@command(app, "days")
def list_days(
    session: Session,
    name: _Calendar,
    *,
    since: Annotated[str | None, typer.Option("--from", help="The first day; today by default.")] = None,
    days: Annotated[int | None, typer.Option(help="How many days; 366 by default.")] = None,
) -> None:
    """List the days that are closed, and those that are open against the rule of their week."""
    found = session.client.calendars.days(session.namespace, name, since=since, days=days)
    _show_days(session, found, found)


@command(app, "delete")
def delete_calendar(session: Session, name: _Calendar, *, yes: Yes = False) -> None:
    """Delete a calendar that no job names."""
    ask(f"Delete the calendar {name} of {session.namespace}?", is_sure=yes)
    session.client.calendars.delete(session.namespace, name)
    session.output.done(f"Deleted the calendar {name}.", {"deleted": 1})


def _show_days(session: Session, days: Iterable[CalendarDay], value: Any) -> None:
    rows = [
        (
            each["date"],
            dt.date.fromisoformat(each["date"]).strftime("%a"),
            "closed" if each["isClosed"] else "open",
            each["reason"],
        )
        for each in days
    ]
    session.output.table(("DATE", "DAY", "IS", "REASON"), rows, value)


def _country(text: str) -> dict[str, str]:
    country, separator, part = text.partition(":")
    return {"country": country, **({"subdivision": part} if separator else {})}


def _span(text: str) -> str | dict[str, str]:
    first, separator, last = text.partition("..")
    return {"from": first, "to": last} if separator else text
