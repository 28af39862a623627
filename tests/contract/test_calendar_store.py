"""What every CalendarStore promises (ports/calendars.py)."""

from dataclasses import replace

import pytest
from tests.contract.builders import EVERY_CHARACTER, NOON
from tests.fakes.engines import Stores

from sweephand.model.calendar import Calendar, CalendarContent, CalendarKey
from sweephand.model.change import AdminChange, AdminVerb
from sweephand.ports.calendars import CalendarStore

MINE, OTHERS = "version000000001", "version000000002"


@pytest.fixture
def calendars(stores: Stores) -> CalendarStore:
    return stores.calendars


def calendar(name: str = "fr", version: str = MINE, reached: str | None = None) -> Calendar:
    return Calendar(
        CalendarKey("ns", name), version, "96,0,", NOON, NOON + 1, "key", "2041-12-31", "lib 1", reached
    )


def content(version: str = MINE) -> CalendarContent:
    written = {"ics": EVERY_CHARACTER, "closed": ["2027-12-24", {"from": "2027-12-26"}]}
    return CalendarContent(version, written, {"2027-12-24": EVERY_CHARACTER})


def change(what: AdminVerb = "created", version: str = MINE) -> AdminChange:
    return AdminChange(NOON, "key", what, "calendar", "ns", "fr", version)


@pytest.mark.parametrize(
    "written",
    [
        calendar(),
        calendar(reached=""),
        calendar(reached="job-1"),
        replace(calendar(), known_until=None, source=None, followed=7),
    ],
)
def test_a_calendar_reads_back_as_it_was_written(calendars: CalendarStore, written: Calendar) -> None:
    assert calendars.get(written.key) is None
    assert calendars.content(written.key) is None
    assert calendars.put(written, content(), None, change())
    assert calendars.get(written.key) == written
    assert calendars.content(written.key) == content()


def test_a_calendar_is_replaced_only_in_the_version_that_was_read(calendars: CalendarStore) -> None:
    first, second = calendar(), calendar(version=OTHERS)
    assert calendars.put(first, content(), None, change())
    assert not calendars.put(second, content(OTHERS), None, change())
    assert not calendars.put(second, content(OTHERS), "version000000009", change())
    assert calendars.get(first.key) == first
    assert calendars.content(first.key) == content()
    assert calendars.put(second, content(OTHERS), MINE, change("replaced", OTHERS))
    assert calendars.put(second, content(OTHERS), MINE, change("replaced", OTHERS))
    assert calendars.get(first.key) == second


def test_a_calendar_is_removed_only_in_that_version_and_each_change_is_in_the_trail(stores: Stores) -> None:
    calendars = stores.calendars
    assert calendars.put(calendar(), content(), None, change())
    assert not calendars.delete(calendar(version=OTHERS), change("deleted", OTHERS))
    assert calendars.delete(calendar(), change("deleted", "version000000003"))
    assert calendars.delete(calendar(), change("deleted", "version000000003"))
    assert calendars.get(calendar().key) is None
    assert calendars.content(calendar().key) is None
    assert {each.what for each in stores.admin_changes.page("ns", "", 9).items} == {"created", "deleted"}


def test_what_jobs_have_followed_is_noted_of_that_version_alone(calendars: CalendarStore) -> None:
    assert calendars.put(calendar(reached=""), content(), None, change())
    calendars.follow(calendar(), "job-1", 3)
    calendars.follow(calendar(version=OTHERS), "job-2", 5)
    assert calendars.get(calendar().key) == replace(calendar(reached="job-1"), followed=3)
    calendars.follow(calendar(), None, 4)
    assert calendars.get(calendar().key) == replace(calendar(), followed=7)
    calendars.follow(calendar("gone"), None, 4)
    assert calendars.get(calendar("gone").key) is None


def test_calendars_are_paged_by_name_within_their_namespace(calendars: CalendarStore) -> None:
    for name in ("b", "a", "c"):
        assert calendars.put(calendar(name), content(), None, change())
    first = calendars.page("ns", "", 2)
    assert ([each.key.name for each in first.items], first.next) == (["a", "b"], "b")
    rest = calendars.page("ns", "b", 2)
    assert ([each.key.name for each in rest.items], rest.next) == (["c"], None)
    assert calendars.page("other", "", 2).items == ()
