"""A trace of a job that follows its calendar, and traces in which it does not, or fires wrongly."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from tests.simulation.traces.doctored import Broken, changed, of, with_, without
from tests.simulation.traces.rare_events import CalendarStored
from tests.simulation.traces.stories import (
    NOON,
    answered,
    cursor,
    delivered,
    every_minute,
    in_order,
    swept,
    timer,
    written,
)
from tests.simulation.traces.trace import Event, Written

_MINUTELY: Final = {"schedule": "* * * * *", "data": '"x"', "calendar": {"name": "works"}}
_WEEKLY: Final = {
    "schedule": "10 12 * * SUN",
    "data": '"x"',
    "calendar": {"name": "works", "otherwise": "previous"},
}


def _stored(at_s: float, closed: str, *weekend: str) -> CalendarStored:
    return CalendarStored(NOON + round(at_s * 1_000), "works", closed, {"weekend": weekend})


def followed() -> list[Event]:
    """A job that fires each minute on open days. At 6:30 it follows a change of days to come."""
    events = in_order(
        _stored(-1, "sundays", "SUN"),
        (event for event in every_minute() if event.at < NOON + 390_000),
        _stored(389, "mondays", "MON"),
        timer(660, "2-b", at_s=390),
        written("follow", "2-b", 390),
        (event for due_s in range(420, 901, 60) for event in delivered(due_s, "2-b")),
        cursor(timer(480, at_s=0), 420, 8),
        swept(660, 960, "2-b"),
    )
    return [_with_calendar(event, _MINUTELY) for event in events]


def _with_calendar(event: Event, definition: dict[str, Any]) -> Event:
    if not isinstance(event, Written):
        return event
    return replace(event, definition=definition, closed="sundays" if event.verb == "create" else "mondays")


def _moved() -> list[Event]:
    """A job fires on a Saturday, since its Sunday is closed. Then the Sunday is open again."""
    events = in_order(
        _stored(-1, "sundays", "SUN"),
        written("create", "1-a", 0),
        answered("create", "1-a", 0),
        delivered(600, sequence=1),
        _stored(700, "mondays", "MON"),
        written("follow", "2-b", 701),
    )
    return [_with_calendar(event, _WEEKLY) for event in events]


def _moved_while_due() -> list[Event]:
    """A Sunday is closed, and the job follows just when it is due on the Saturday before."""
    events = in_order(
        _stored(-1, "sundays", "MON"),
        written("create", "1-a", 0),
        answered("create", "1-a", 0),
        _stored(599, "mondays", "SUN"),
        written("follow", "2-b", 599.998),
    )
    return [_with_calendar(event, _WEEKLY) for event in events]


_SUNDAY_S: Final = 24 * 60 * 60 + 600
_FOLLOW: Final = of(Written, verb="follow")

#: Each with a part of the complaint.
BROKEN_CALENDARS: Final[Sequence[Broken]] = [
    (followed, without(_FOLLOW), "it does not have the days of works"),
    (followed, with_(_stored(400, "tuesdays", "TUE")), "it does not have the days of works"),
    (followed, changed(of(CalendarStored, closed="mondays"), at=NOON + 300_000), "it followed works only at"),
    (followed, changed(_FOLLOW, closed="sundays"), "changed something else, or nothing"),
    (followed, changed(_FOLLOW, definition={**_MINUTELY, "repeats": 99}), "changed something else, or not"),
    (followed, with_(_stored(300, "tuesdays", "TUE"), _stored(391, "x", "TUE")), "it does not have the days"),
    (followed, changed(of(CalendarStored, closed="mondays"), closed="tuesdays"), "calendar did not have"),
    (_moved, with_(*delivered(_SUNDAY_S, "2-b")), "2026-11-22 fired at"),
    (_moved_while_due, without(), "2026-11-22 is never due"),
]
