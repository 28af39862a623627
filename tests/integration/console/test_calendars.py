"""The calendars of a namespace: a list, a year at a glance, an editor, and what a job shows of its own."""

import json
from collections.abc import Callable
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect
from tests.integration.console.conftest import NARROW, SCRIPT, WIDE, Console, Town, serious_barriers

Open = Callable[..., Console]

URL: Final = "/v1/namespaces/ns/calendars/fr"
FRANCE: Final[dict[str, Any]] = {
    "holidays": [{"country": "FR"}],
    "closed": [{"from": "2026-12-28", "to": "2026-12-31", "note": SCRIPT[:60]}],
    "open": ["2026-12-19"],
}


@pytest.fixture(autouse=True)
def _calendar(town: Town) -> None:
    assert town.api.send("PUT", URL, FRANCE).status == 201
    month_end = {"schedule": "0 17 L * *", "timezone": "Europe/Paris"}
    town.put("month-end", **month_end, calendar={"name": "fr", "otherwise": "previous"})
    town.put("daily", schedule="0 9 * * *", calendar={"name": "fr"})


def month(page: Page, name: str) -> Any:
    return page.get_by_role("table", name=name, exact=True)


def test_a_year_shows_closed_days_with_their_reasons_and_days_open_against_the_week(
    open_console: Open,
) -> None:
    page = open_console().show("ns/calendars")
    page.get_by_role("link", name="fr", exact=True).click()
    expect(page.get_by_role("heading", name="2026", exact=True)).to_be_visible()
    expect(page.locator(".year table")).to_have_count(12)
    december = month(page, "December")
    expect(december.get_by_role("columnheader")).to_have_count(7)
    expect(december.get_by_role("cell", name="25 closed: Christmas Day")).to_have_attribute(
        "title", "Christmas Day"
    )
    expect(december.get_by_role("cell", name="19 open")).to_have_class("day is-opened")
    expect(december.get_by_role("cell", name="20 closed: weekend")).to_have_class("day is-weekend")
    expect(december.get_by_role("row").nth(1).get_by_role("cell").nth(1)).to_have_text("1")
    expect(december).to_contain_text(SCRIPT[:60])
    expect(page.locator(".year [aria-current=date]")).to_have_text("21closed: weekend")
    page.get_by_role("link", name="2027").click()
    page.wait_for_url("**/calendars/fr?year=2027")
    expect(month(page, "May").get_by_role("cell", name="6 closed: Ascension Day")).to_be_visible()


def test_a_calendar_is_made_changed_with_a_preview_and_deleted(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/calendars")
    page.get_by_role("link", name="New calendar").click()
    page.get_by_label("Name", exact=True).fill("shop")
    page.get_by_label("The calendar (JSON)").fill('{"weekend": ["SUN"], "closed": ["2026-12-24"]}')
    expect(page.get_by_role("row").filter(has_text="Thu 24 Dec")).to_contain_text("closed")
    page.get_by_role("button", name="Create").click()
    expect(month(page, "December").get_by_role("cell", name="24 closed")).to_be_visible()

    page.get_by_role("link", name="Edit").click()
    editor = page.get_by_label("The calendar (JSON)")
    expect(page.get_by_text("No days.")).to_be_visible()
    assert json.loads(editor.input_value()) == {"weekend": ["SUN"], "closed": ["2026-12-24"]}
    editor.fill('{"weekend": ["SUN"], "closed": ["2026-13-24"]}')
    expect(page.get_by_role("alert").filter(has_text="/closed/0")).to_be_visible()
    editor.fill('{"weekend": ["SUN"], "open": ["2026-12-27"]}')
    changes = page.get_by_role("region", name="What would change").get_by_role("row")
    expect(changes).to_have_count(3)
    expect(changes.nth(1)).to_contain_text("Thu 24 Dec")
    expect(changes.nth(1)).to_contain_text("open")
    page.get_by_role("button", name="Save").click()
    expect(month(page, "December").get_by_role("cell", name="27 open")).to_be_visible()
    assert town.api.send("GET", URL.replace("/fr", "/shop")).json["open"] == ["2026-12-27"]

    page.get_by_role("button", name="Delete").click()
    page.get_by_label("to confirm").fill("shop")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    page.wait_for_url("**#/ns/calendars")
    expect(page.get_by_role("link", name="fr", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="shop")).to_have_count(0)


def test_a_calendar_that_jobs_name_is_kept_and_the_dialog_names_them(open_console: Open) -> None:
    page = open_console().show("ns/calendars/fr")
    page.get_by_role("button", name="Delete").click()
    page.get_by_label("to confirm").fill("fr")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("dialog").get_by_role("alert")).to_contain_text("daily, month-end")


def test_a_change_of_somebody_else_is_not_overwritten(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/calendars/fr/edit")
    expect(page.get_by_label("The calendar (JSON)")).to_be_visible()
    town.api.send("PUT", URL, {"weekend": ["SUN"]})
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert").first).to_contain_text("If-Match")
    assert town.api.send("GET", URL).json["weekend"] == ["SUN"]


def test_a_job_links_to_its_calendar_and_marks_moved_and_skipped_days(open_console: Open) -> None:
    console = open_console()
    page = console.show("ns/jobs/month-end")
    fires = page.get_by_role("region", name="Next due times").get_by_role("row")
    moved = fires.filter(has_text="Moved from Thu 31 Dec")
    expect(moved).to_contain_text("Thu 24 Dec 17:00:00")
    expect(moved).to_contain_text(SCRIPT[:60])
    page.get_by_role("link", name="fr", exact=True).click()
    page.wait_for_url("**#/ns/calendars/fr")
    page = console.show("ns/jobs/daily")
    skipped = page.locator("tr.is-skipped").filter(has_text="Sun 22 Nov")
    expect(skipped).to_contain_text("Does not fire on this day: weekend.")


def test_the_editor_of_a_job_previews_its_calendar(open_console: Open) -> None:
    page = open_console().show("ns/jobs/nightly-backup/edit")
    editor = page.get_by_label("The whole definition")
    definition = json.loads(editor.input_value())
    editor.fill(json.dumps({**definition, "calendar": {"name": "fr", "otherwise": "next"}}))
    expect(page.get_by_text("otherwise on the next one")).to_be_visible()
    editor.fill(json.dumps({**definition, "calendar": {"name": "de"}}))
    wrong = page.locator(".field").filter(has=page.get_by_label("Calendar", exact=True)).get_by_role("alert")
    expect(wrong).to_contain_text("Create the calendar first")


def test_a_reader_is_offered_no_change_of_a_calendar(open_console: Open) -> None:
    console = open_console(key="sh_reader")
    assert console.show("ns/calendars").get_by_role("link", name="New calendar").count() == 0
    page = console.show("ns/calendars/fr")
    assert page.get_by_role("link", name="Edit").count() == 0
    assert page.get_by_role("button", name="Delete").count() == 0


@pytest.mark.sampled(3)
@pytest.mark.parametrize(("scheme", "size"), [("light", WIDE), ("light", NARROW), ("dark", WIDE)])
def test_no_screen_of_calendars_has_a_serious_barrier(open_console: Open, scheme: str, size: Any) -> None:
    console = open_console(size=size, scheme=scheme)
    for name, screen in (
        ("calendars", "ns/calendars"),
        ("calendar", "ns/calendars/fr"),
        ("calendar-edit", "ns/calendars/fr/edit"),
        ("calendar-new", "ns/new-calendar"),
        ("job-calendar", "ns/jobs/month-end"),
    ):
        page = console.show(screen)
        page.wait_for_load_state("networkidle")
        console.shoot(f"{name}-{scheme}")
        assert [(name, each["id"], each["nodes"][0]["html"]) for each in serious_barriers(page)] == []
        assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0, name
