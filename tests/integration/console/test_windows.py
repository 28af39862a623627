"""The windows of a namespace in the console: a time line, a list, and the form that writes one."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from playwright.sync_api import expect
from tests.integration.console.conftest import Console, Town

from sweephand.base.instants import HOUR_MS

Open = Callable[..., Console]

URL: Final = "/v1/namespaces/ns/windows"
NIGHTLY: Final = {"schedule": "0 1 * * *", "timezone": "Europe/Paris", "duration": "2h", "spread": "10m"}
FREEZE: Final = {
    "from": "2026-11-21T10:00:00Z",
    "to": "2026-11-23T06:00:00Z",
    "then": "skip",
    "prefix": "report-",
}


def put(town: Town, name: str, body: Any) -> None:
    answer = town.api.send("PUT", f"{URL}/{name}", body)
    assert answer.status == 201, answer.text


def test_the_time_line_shows_each_time_at_which_a_window_is_open(open_console: Open, town: Town) -> None:
    put(town, "nightly", NIGHTLY)
    put(town, "freeze", FREEZE)
    page = open_console().show("ns/windows")
    nightly = page.get_by_role("img", name="nightly: open Sat 21 Nov 01:00:00 to Sat 21 Nov 03:00:00")
    expect(nightly).to_be_visible()
    expect(nightly.locator("rect.hold")).to_have_count(14)
    freeze = page.get_by_role("img", name="freeze: open Sat 21 Nov 11:00:00 to Mon 23 Nov 07:00:00")
    expect(freeze.locator("rect.skip")).to_have_count(1)
    row = page.get_by_role("group", name="Windows").get_by_role("row").filter(has_text="freeze")
    expect(row).to_contain_text("open")
    expect(row).to_contain_text("names that begin with report-")
    expect(row).to_contain_text("is skipped")


@pytest.mark.parametrize(
    ("zone", "first", "bars"),
    [
        ("Europe/Paris", "Sat 21 Nov 01:00:00", 91),
        ("America/St_Johns", "Sat 21 Nov 20:30:00", 91),
        ("Asia/Tokyo", "Sun 22 Nov 09:00:00", 91),
        ("Pacific/Auckland", "Sun 22 Nov 13:00:00", 91),
    ],
)
def test_the_time_line_has_the_days_of_whoever_looks(
    open_console: Open, town: Town, zone: str, first: str, bars: int
) -> None:
    put(town, "nightly", {"schedule": "0 0 * * *", "duration": "1h"})
    page = open_console(zone=zone).show("ns/windows?days=91")
    lane = page.get_by_role("img", name=f"nightly: open {first}")
    expect(lane.locator("rect")).to_have_count(bars)
    expect(page.get_by_text(f"Times are in {zone}.")).to_be_visible()


def test_openings_are_asked_for_once_and_the_list_again(open_console: Open, town: Town) -> None:
    put(town, "nightly", NIGHTLY)
    console = open_console()
    asked: list[str] = []
    console.page.on("request", lambda request: asked.append(request.url))
    page = console.show("ns/windows")
    with page.expect_request("**/windows"):
        page.get_by_title("Load it again").click()
    page.wait_for_load_state("networkidle")
    assert len([each for each in asked if each.endswith("/occurrences")]) == 1


def test_a_window_is_made_changed_and_deleted(open_console: Open, town: Town) -> None:
    page = open_console().show("ns/windows")
    page.get_by_role("link", name="New window").click()
    page.get_by_label("Name", exact=True).fill("nightly")
    page.get_by_label("Schedule").fill("0 22 * * *")
    expect(page.get_by_role("region", name="When it would be open")).to_contain_text("Sat 21 Nov 22:00:00")
    page.get_by_label("Open for").fill("25h")
    page.get_by_label("Only jobs with the labels").fill("uses:warehouse")
    page.get_by_role("button", name="Create").click()
    expect(page.locator(".field").filter(has_text="Open for").get_by_role("alert")).to_contain_text(
        "expected"
    )
    page.get_by_label("Open for").fill("2h")
    page.get_by_role("button", name="Create").click()
    row = page.get_by_role("group", name="Windows").get_by_role("row").filter(has_text="nightly")
    expect(row).to_contain_text("uses:warehouse")
    stored = town.api.send("GET", f"{URL}/nightly").json
    assert (stored["schedule"], stored["timezone"], stored["duration"]) == (
        "0 22 * * *",
        "Europe/Paris",
        "2h",
    )
    assert (stored["labels"], stored["then"]) == ({"uses": "warehouse"}, "hold")

    page.get_by_role("link", name="Edit nightly").click()
    expect(page.get_by_label("Schedule")).to_have_value("0 22 * * *")
    page.get_by_label("What falls due in it").select_option("skip")
    page.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("is skipped")
    assert town.api.send("GET", f"{URL}/nightly").json["then"] == "skip"

    page.get_by_role("button", name="Delete nightly").click()
    page.get_by_label("Type nightly to confirm").fill("nightly")
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No windows in ns yet.")).to_be_visible()


def test_a_window_that_opens_once_keeps_its_instants_if_only_its_fate_changes(
    open_console: Open, town: Town
) -> None:
    # 02:30 is twice on this day in Paris. The input cannot tell which one it shows.
    twice = {"from": "2027-10-31T01:30:00.000Z", "to": "2027-10-31T04:00:00.000Z"}
    put(town, "once", twice)
    page = open_console().show("ns/windows/once/edit")
    expect(page.get_by_label("From")).to_have_value("2027-10-31T02:30")
    page.get_by_label("What falls due in it").select_option("skip")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**#/ns/windows")
    stored = town.api.send("GET", f"{URL}/once").json
    assert {**stored, **twice} == stored
    assert stored["then"] == "skip"


def test_a_window_keeps_labels_with_blanks_and_commas_if_only_its_fate_changes(
    open_console: Open, town: Town
) -> None:
    labels = {"team": "data platform", "sites": "Paris, Lyon"}
    put(town, "nightly", {**NIGHTLY, "labels": labels})
    page = open_console().show("ns/windows/nightly/edit")
    page.get_by_label("What falls due in it").select_option("skip")
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**#/ns/windows")
    stored = town.api.send("GET", f"{URL}/nightly").json
    assert (stored["then"], stored["labels"]) == ("skip", labels)


def test_a_change_of_somebody_else_is_not_overwritten(open_console: Open, town: Town) -> None:
    put(town, "nightly", NIGHTLY)
    page = open_console().show("ns/windows/nightly/edit")
    town.world.clock.time += HOUR_MS
    town.api.send("PUT", f"{URL}/nightly", {**NIGHTLY, "duration": "1h"})
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert town.api.send("GET", f"{URL}/nightly").json["duration"] == "1h"


def test_a_reader_sees_windows_and_no_way_to_change_them(open_console: Open, town: Town) -> None:
    put(town, "nightly", NIGHTLY)
    console = open_console(key="sh_reader")
    page = console.show("ns/windows")
    expect(page.get_by_role("group", name="Windows")).to_be_visible()
    assert page.locator("main button").count() == 0
    assert page.locator("main a").count() == 0
    expect(
        console.show("ns/new-window").get_by_text("This screen needs a key with the role write.")
    ).to_be_visible()
