"""The batches of a job: how far each is, in numbers and as a bar, and what is read of them again."""

import re
from collections import Counter
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, Route, expect
from tests.integration.console.conftest import (
    NARROW,
    SCREENSHOTS,
    WIDE,
    Console,
    Town,
    serious_barriers,
)

from sweephand.base.instants import HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.model.attempt import Answer, Attempt

Open = Callable[..., Console]

JOB = "ns/jobs/mail-out"
URL = f"/v1/namespaces/{JOB}"

#: How a batch is asked for by itself.
PROGRESS = re.compile(r"/batches/(.+)$")


def failing(*indexes: int) -> Callable[[Attempt], Answer]:
    """A consumer that refuses those triggers of a batch for good, and takes the others."""
    return lambda attempt: Answer(
        succeeded=attempt.trigger.index not in indexes, is_final=True, code=422, text="no such address"
    )


def unavailable(_: Attempt) -> Answer:
    return Answer(succeeded=False, code=503)


def batches_of(page: Page) -> Locator:
    """The rows of batches that do not go on."""
    region = page.get_by_role("region", name="Batches")
    return region.get_by_role("group", name="Batches", exact=True).locator("tbody tr")


def under_way(page: Page) -> Locator:
    """The batches that go on."""
    return page.get_by_role("region", name="Batches").get_by_role("article")


def text(found: Locator) -> str:
    """What it says, with plain spaces."""
    expect(found).to_be_visible()
    return " ".join(found.inner_text().split())


def cells(row: Locator) -> list[str]:
    """The texts of a row, with plain spaces."""
    expect(row).to_be_visible()
    return [" ".join(text.split()) for text in row.get_by_role("cell").all_inner_texts()]


def test_a_job_shows_how_far_each_of_its_batches_is(open_console: Open, town: Town) -> None:
    town.put_mail_out(hours=2)
    page = open_console().show(JOB)
    now = under_way(page)
    assert text(now) == (
        "running due Sat 21 Nov 18:00:05 5 min ago 27 % 11 of 40 runs over "
        "11 succeeded, 29 to come. At this pace it ends Sat 21 Nov 18:19:35 in 14 min."
    )
    bar = now.get_by_role("progressbar", name="Progress of the batch due Sat 21 Nov 18:00:05")
    expect(bar).to_have_attribute("aria-valuenow", "11")
    expect(bar).to_have_attribute("aria-valuemax", "40")
    rows = batches_of(page)
    expect(rows).to_have_count(1)
    _, state, progress, *counts, end = cells(rows.nth(0))
    assert (state, progress, counts) == ("succeeded", "40 of 40", ["0", "40", "0"])
    assert end == "Sat 21 Nov 17:19:35 45 min ago"


def test_a_job_without_a_batch_has_no_such_section(open_console: Open) -> None:
    page = open_console().show("ns/jobs/failing")
    expect(page.get_by_role("region", name="Batches")).to_have_count(0)


def test_a_failed_batch_leads_to_the_failed_runs(open_console: Open, town: Town) -> None:
    town.world.consumers.answering = failing(7, 8)
    town.put_mail_out(hours=1)
    page = open_console().show(JOB)
    expect(under_way(page)).to_contain_text("2 failed, 9 succeeded, 29 to come.")
    under_way(page).get_by_role("link", name="2 failed").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**#/{JOB}?state=failed")
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_focused()
    expect(page.get_by_role("heading", name="Runs", exact=True)).to_be_in_viewport()
    expect(page.get_by_role("group", name="Outcomes").get_by_role("link")).to_have_count(2)


def test_the_failed_runs_of_a_batch_are_shown_by_their_index(open_console: Open, town: Town) -> None:
    town.world.consumers.answering = failing(8, 2)
    town.put("mail-outer", schedule="@every 1h", batch={"count": 9})
    town.put_mail_out(hours=2)
    page = open_console().show(JOB)
    failed = under_way(page).get_by_role("group", name="Failed runs of the batch").locator("tbody tr")
    expect(failed).to_have_count(2)
    assert cells(failed.nth(0)) == ["2", "1 attempt", "422 · no such address"]
    assert cells(batches_of(page).nth(0))[1:4] == ["failed Show the failed runs", "40 of 40", "2 index 2, 8"]
    failed.nth(1).get_by_role("link", name="8").click()
    page.wait_for_url(re.compile(f"#/{JOB}/runs/[0-9]+-8$"))


def test_of_many_failed_runs_ten_are_shown(open_console: Open, town: Town) -> None:
    town.world.consumers.answering = failing(*range(40))
    town.put_mail_out(hours=1)
    now = under_way(open_console().show(JOB))
    expect(now.locator("tbody tr")).to_have_count(10)
    expect(now).to_contain_text("10 of 11 are shown.")


def test_a_small_batch_is_read_every_5_s_until_it_is_over(open_console: Open, town: Town) -> None:
    town.put_mail_out(hours=1, batch={"count": 40, "window": "6m"})
    console = open_console()
    console.take_clock()
    page = console.show(JOB)
    expect(under_way(page)).to_contain_text("34 of 40")
    town.let_pass(20 * SECOND_MS)
    page.clock.fast_forward(5_000)
    expect(under_way(page)).to_contain_text("36 of 40")
    town.let_pass(MINUTE_MS)
    page.clock.fast_forward(5_000)
    expect(under_way(page)).to_have_count(0)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.clock.fast_forward(5_000)
    page.clock.fast_forward(9_000)
    assert page.evaluate("true")  # by now the page has told of its requests
    assert not [url for url in asked if "/batches?" in url]
    with page.expect_request("**/batches?**"):
        page.clock.fast_forward(1_000)


def test_a_batch_that_overran_its_window_says_so(open_console: Open, town: Town) -> None:
    town.world.consumers.answering = lambda attempt: Answer(attempt.number > 1, code=503)
    town.put_mail_out(hours=1, retry={"initialDelay": "30m"})
    town.let_pass(HOUR_MS - 10 * MINUTE_MS)
    rows = batches_of(open_console().show(JOB))
    assert cells(rows.nth(0))[1:6] == ["succeeded", "40 of 40", "0", "40", "0"]
    expect(rows.nth(0)).to_contain_text("overran its window")


def test_a_batch_of_which_no_run_is_over_is_shown_too(open_console: Open, town: Town) -> None:
    town.put_mail_out(hours=0, retry={"initialDelay": "30m"})
    console = open_console()
    page = console.show(JOB)
    assert cells(batches_of(page).nth(0))[1:3] == ["scheduled Its first trigger is not due yet.", "0 of 40"]
    town.let_pass(HOUR_MS)
    town.world.consumers.answering = unavailable
    town.let_pass(HOUR_MS)
    page.clock.set_fixed_time(town.world.clock.time / SECOND_MS)
    console.show(JOB)
    expect(under_way(page)).to_have_count(2)
    expect(under_way(page).nth(0)).to_contain_text("0 of 40 runs over")
    expect(under_way(page).nth(1)).to_contain_text("11 of 40 runs over")


def test_a_batch_of_a_paused_job_says_why_it_waits(open_console: Open, town: Town) -> None:
    town.put_mail_out(hours=1)
    town.world.pause("mail-out")
    now = under_way(open_console().show(JOB))
    expect(now).to_contain_text("waiting")
    expect(now).to_contain_text("11 of 40 runs over")
    expect(now).to_contain_text("11 succeeded, 29 to come. Its job is paused.")


def test_the_batch_of_a_former_job_of_this_name_is_cancelled(open_console: Open, town: Town) -> None:
    town.put_mail_out(hours=1)
    town.world.delete("mail-out")
    town.put_mail_out(hours=0)
    row = batches_of(open_console().show(JOB)).nth(0)
    assert cells(row)[1:3] == ["cancelled Its job was deleted before all runs were over.", "11 of 40"]


def test_a_batch_by_hand_says_so(open_console: Open, town: Town) -> None:
    town.put("mail-out", batch={"count": 3})
    town.api.send("POST", f"{URL}/trigger")
    town.let_pass(SECOND_MS)
    row = batches_of(open_console().show(JOB)).nth(0)
    expect(row).to_contain_text("by hand")
    expect(row).to_contain_text("3 of 3")


def test_a_job_that_keeps_no_progress_says_why(open_console: Open, town: Town) -> None:
    town.put_mail_out(hours=3, history="failures")
    batches = open_console().show(JOB).get_by_role("region", name="Batches")
    expect(batches).to_contain_text('keeps no progress of its batches, because its history is "failures"')


@pytest.mark.parametrize(
    ("history", "told"), [("outcome", "one of its runs is over"), ("failures", "onComplete")]
)
def test_a_job_without_any_batch_says_when_there_will_be_one(
    open_console: Open, town: Town, history: str, told: str
) -> None:
    town.put("mail-out", batch={"count": 3}, history=history)
    batches = open_console().show(JOB).get_by_role("region", name="Batches")
    expect(batches).to_contain_text("No batch to show.")
    expect(batches).to_contain_text(told)


def test_a_batch_whose_progress_is_gone_says_so(open_console: Open, town: Town) -> None:
    town.put_mail_out(hours=2)
    console = open_console()
    newest = town.api.send("GET", f"{URL}/batches").json["items"][0]["id"]

    def gone(route: Route) -> None:
        route.fulfill(status=404, json={"detail": "The job mail-out has no such batch."})

    console.page.route(f"**/batches/{newest}", gone)
    rows = batches_of(console.show(JOB))
    assert cells(rows.nth(0))[1:] == ["The stack no longer has the progress of this batch. It had 40 runs."]
    assert cells(rows.nth(1))[1] == "succeeded"


def test_only_batches_that_are_not_over_are_read_again(open_console: Open, town: Town) -> None:
    town.put_mail_out(hours=3)
    console = open_console()
    asked: Counter[str] = Counter()

    def heard(url: str) -> None:
        found = PROGRESS.search(url)
        if found is not None:
            asked[found[1]] += 1

    console.page.on("request", lambda request: heard(request.url))
    console.take_clock()
    page = console.show(JOB)
    expect(batches_of(page)).to_have_count(2)
    expect(under_way(page)).to_contain_text("11 of 40")
    newest, *older = [each["id"] for each in town.api.send("GET", f"{URL}/batches").json["items"]]
    assert asked == {newest: 1, **dict.fromkeys(older, 1)}
    town.let_pass(5 * MINUTE_MS)
    page.clock.fast_forward(15_000)
    expect(under_way(page)).to_contain_text("21 of 40")
    assert asked == {newest: 2, **dict.fromkeys(older, 1)}


def test_a_failed_batch_has_succeeded_once_its_failed_runs_were_redriven(
    open_console: Open, town: Town
) -> None:
    town.world.consumers.answering = failing(3)
    town.put("mail-out", batch={"count": 5})
    town.api.send("POST", f"{URL}/trigger")
    town.let_pass(SECOND_MS)
    page = open_console().show(JOB)
    row = batches_of(page).nth(0)
    expect(row).to_contain_text("failed")
    town.world.consumers.answering = failing()
    page.get_by_role("button", name="Redrive").click()
    page.get_by_role("dialog").get_by_role("button", name="Redrive").click()
    expect(page.get_by_text("Attempt 2 of the run is on its way.")).to_be_visible()
    town.let_pass(SECOND_MS)
    with page.expect_response("**/batches?**"):
        page.get_by_title("Load it again").click()
    expect(row.locator(".state")).to_have_text("succeeded")
    assert cells(row)[2:6] == ["5 of 5", "0", "5", "0"]


def test_five_batches_are_shown_and_five_more_on_demand(open_console: Open, town: Town) -> None:
    town.put_mail_out(hours=7, batch={"count": 2, "window": "1m"})
    console = open_console()
    asked: list[str] = []
    console.page.on("request", lambda request: asked.append(request.url))
    page = console.show(JOB)
    region = page.get_by_role("region", name="Batches")
    expect(batches_of(page)).to_have_count(5)
    expect(region.get_by_role("status")).to_have_text("The newest 5 are shown.")
    assert len([url for url in asked if PROGRESS.search(url)]) == 5
    region.get_by_role("button", name="More batches").focus()
    page.keyboard.press("Enter")
    expect(batches_of(page)).to_have_count(7)
    expect(region.get_by_role("status")).to_have_text("All 7 are shown.")
    assert len([url for url in asked if PROGRESS.search(url)]) == 7


def test_batches_fit_a_phone_and_have_no_barrier(open_console: Open, town: Town) -> None:
    town.world.consumers.answering = failing(3, 7, 31)
    town.put_mail_out(hours=3)
    for size in (WIDE, NARROW):
        for scheme in ("light", "dark"):
            console = open_console(size=size, scheme=scheme)
            page = console.show(JOB)
            expect(under_way(page)).to_be_visible()
            region = page.get_by_role("region", name="Batches")
            region.screenshot(path=SCREENSHOTS / f"batches-{scheme}-{size['width']}.png")
            assert page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
            assert [each["id"] for each in serious_barriers(page)] == []
