"""A chart: what it says in words, its axes, its keys and zoom, and the table behind it."""

import re
from collections import Counter
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect
from tests.integration.console.conftest import NARROW, Console, Town, serious_barriers

from sweephand.base.instants import MINUTE_MS
from sweephand.model.counters import Stats

Open = Callable[..., Console]

OUTCOMES = "What came of the deliveries of the last hour?"
LATENESS = "How late did deliveries begin in the last hour?"
LIBRARY = re.compile(r"/console/uplot\.[0-9a-f]+\.js$")


def count_deliveries(town: Town, *minutes_ago: int) -> None:
    """Count some deliveries in each of those minutes."""
    counted = Stats(Counter({"succeeded": 1_200, "retrying": 3}), Counter({20: 1_000, 3_000: 200}))
    now = town.world.clock.time
    for ago in minutes_ago:
        town.world.stats.add(now - now % MINUTE_MS - ago * MINUTE_MS, 0, {"ns": counted}, lambda: True)


def chart(page: Page, title: str) -> Locator:
    return page.get_by_role("figure", name=title)


def plot(page: Page, title: str) -> Locator:
    """The drawing of a chart, once it is drawn."""
    found = chart(page, title).get_by_role("application")
    expect(found.locator("canvas")).to_be_visible()
    return found


def values(page: Page, title: str) -> list[str]:
    """What a chart shows of the instant that is read: each series with its value, and the instant."""
    keys = chart(page, title).locator(".keys")
    texts = [*keys.get_by_role("button", pressed=True).all_inner_texts(), keys.locator(".soft").inner_text()]
    return [" ".join(text.split()) for text in texts]


def test_a_chart_answers_a_question_in_words(open_console: Open, town: Town) -> None:
    count_deliveries(town, 30)
    page = open_console().show("ns/overview")
    outcomes = chart(page, OUTCOMES)
    expect(outcomes).to_contain_text(re.compile(r"1.200 delivered"))
    expect(outcomes).to_contain_text("3 to be tried again")
    expect(outcomes).to_contain_text("deliveries in each minute")
    late = chart(page, LATENESS)
    expect(late).to_contain_text(re.compile(r"200 of 1.20\d began more than a second late"))
    expect(late).to_contain_text("half within 20 ms, 99 of 100 within 3.0 s")
    expect(late).to_contain_text("time after the due time")


def test_arrow_keys_read_the_values_of_an_instant(open_console: Open, town: Town) -> None:
    count_deliveries(town, 59, 58)
    page = open_console().show("ns/overview")
    plot(page, OUTCOMES).focus()
    page.keyboard.press("ArrowRight")
    expect(chart(page, OUTCOMES).locator(".keys strong").first).to_be_visible()
    failed, retried, delivered, instant = values(page, OUTCOMES)
    assert (failed, retried, instant) == ("failed 0", "to be tried again 3", "Sat 21 Nov 15:01:00")
    assert re.fullmatch("delivered 1.200", delivered)
    page.keyboard.press("ArrowRight")
    expect(chart(page, OUTCOMES).locator(".keys .soft")).to_have_text("Sat 21 Nov 15:02:00")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    expect(chart(page, OUTCOMES).locator(".keys .soft")).to_have_text("Sat 21 Nov 15:02:00")


def test_a_chart_is_zoomed_by_keys_by_buttons_and_by_the_mouse(open_console: Open, town: Town) -> None:
    count_deliveries(town, 30)
    page = open_console().show("ns/overview")
    show_all = chart(page, OUTCOMES).get_by_role("button", name="Show all")
    drawing = plot(page, OUTCOMES)
    expect(show_all).to_be_disabled()
    drawing.focus()
    page.keyboard.press("+")
    expect(show_all).to_be_enabled()
    page.keyboard.press("Escape")
    expect(show_all).to_be_disabled()
    chart(page, OUTCOMES).get_by_role("button", name="Zoom in").click()
    show_all.click()
    expect(show_all).to_be_disabled()
    box = drawing.locator(".u-over").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 100, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 300, box["y"] + 40, steps=4)
    page.mouse.up()
    expect(show_all).to_be_enabled()
    drawing.locator(".u-over").dblclick(position={"x": 200, "y": 40})
    expect(show_all).to_be_disabled()


def test_a_zoomed_chart_stays_so_when_its_values_are_loaded_again(open_console: Open, town: Town) -> None:
    count_deliveries(town, 30)
    console = open_console()
    console.take_clock()
    page = console.show("ns/overview")
    plot(page, OUTCOMES).focus()
    page.keyboard.press("+")
    count_deliveries(town, 10)
    page.clock.fast_forward(15_000)
    expect(chart(page, OUTCOMES)).to_contain_text(re.compile("2.400 delivered"))
    expect(chart(page, OUTCOMES).get_by_role("button", name="Show all")).to_be_enabled()


def test_a_series_is_hidden_and_shown_again(open_console: Open, town: Town) -> None:
    count_deliveries(town, 30)
    page = open_console().show("ns/overview")
    plot(page, OUTCOMES)
    delivered = chart(page, OUTCOMES).get_by_role("button", name="delivered")
    expect(delivered).to_have_attribute("aria-pressed", "true")
    delivered.click()
    expect(delivered).to_have_attribute("aria-pressed", "false")
    delivered.click()
    expect(delivered).to_have_attribute("aria-pressed", "true")


def test_the_table_behind_a_chart_opens_by_the_keyboard(open_console: Open, town: Town) -> None:
    count_deliveries(town, 30)
    page = open_console().show("ns/overview")
    behind = chart(page, LATENESS)
    expect(behind.get_by_role("table")).to_have_count(0)
    behind.get_by_text("Show as a table").focus()
    page.keyboard.press("Enter")
    rows = behind.locator("tbody tr")
    expect(rows).to_have_count(60)
    expect(rows.nth(30)).to_have_text(re.compile(r"Sat 21 Nov 15:30:00\s*20 ms\s*3.0 s"))
    expect(rows.nth(0)).to_contain_text("16:00:00")
    expect(behind.get_by_role("columnheader")).to_have_text(
        ["Time (Europe/Paris)", "half of them within", "99 of 100 within"]
    )


def test_a_browser_loads_the_library_with_the_first_chart_and_once(open_console: Open, town: Town) -> None:
    count_deliveries(town, 30)
    console = open_console()
    loaded: list[str] = []
    console.page.on("request", lambda request: loaded.append(request.url))
    console.show("ns/jobs")
    assert not [url for url in loaded if LIBRARY.search(url)]
    page = console.show("ns/overview")
    plot(page, OUTCOMES)
    plot(page, LATENESS)
    assert len([url for url in loaded if LIBRARY.search(url)]) == 1


def test_without_the_library_the_table_is_open(open_console: Open, town: Town) -> None:
    count_deliveries(town, 30)
    console = open_console()
    console.page.route(LIBRARY, lambda route: route.fulfill(status=404, json={}))
    page = console.show("ns/overview")
    expect(chart(page, OUTCOMES)).to_contain_text("The chart could not be loaded. Its table shows the same.")
    expect(chart(page, OUTCOMES).locator("tbody tr")).to_have_count(60)


def test_a_chart_fits_a_phone_and_has_no_barrier_in_the_dark(open_console: Open, town: Town) -> None:
    count_deliveries(town, *range(5, 55))
    for size in (NARROW, {"width": 1280, "height": 860}):
        for scheme in ("light", "dark"):
            console = open_console(size=size, scheme=scheme)
            page = console.show("ns/overview")
            plot(page, LATENESS).focus()
            page.keyboard.press("ArrowLeft")
            console.shoot(f"charts-{scheme}")
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
            assert [each["id"] for each in serious_barriers(page)] == []
