"""The console of a deployed stack: its page, its files as the gateway sends them, and a job from it."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import urllib3
from playwright.sync_api import Page, expect
from tests.fakes.chromium import chromium
from tests.fakes.receiver import Receiver

#: A run appears within a screen's refresh of 15 s. Until then the stack delivers and records.
RUN_SHOWS_MS = 60_000


@pytest.fixture(scope="module")
def shown(stack: Mapping[str, Any]) -> Iterator[tuple[Page, list[str]]]:
    """A tab that is signed in, and what the browser complains of in it."""
    complaints: list[str] = []
    with chromium() as browser:
        page = browser.new_page()
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
        page.goto(f"{stack['apiUrl']}/console")
        page.get_by_label("API key").fill(stack["apiKey"])
        page.get_by_role("button", name="Sign in").click()
        expect(page.get_by_role("button", name="Sign out")).to_be_visible()
        yield page, complaints


def test_a_job_that_is_written_in_the_console_fires_and_its_run_shows(
    stack: Mapping[str, Any],
    shown: tuple[Page, list[str]],
    namespace: str,
    receiver: Receiver,
) -> None:
    page, complaints = shown
    page.goto(f"{stack['apiUrl']}/console#/{namespace}/new")
    page.get_by_label("Name", exact=True).fill("from-the-console")
    page.get_by_label("Fires", exact=True).select_option("once")
    page.get_by_label("Fires at", exact=True).fill("1s")
    page.get_by_label("URL", exact=True).fill(receiver.url("/console"))
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name="from-the-console")).to_be_visible()
    receiver.wait("/console", 1, within_s=60)
    expect(page.locator(".strip .is-succeeded")).to_be_visible(timeout=RUN_SHOWS_MS)
    assert complaints == []


def test_the_gateway_sends_the_files_compressed_and_for_ever(stack: Mapping[str, Any]) -> None:
    page = urllib3.request("GET", f"{stack['apiUrl']}/console").data.decode()
    for name in re.findall(r'"console/([^"]+)"', page):
        sent = urllib3.request(
            "GET",
            f"{stack['apiUrl']}/console/{name}",
            headers={"accept-encoding": "gzip"},
        )
        assert (sent.status, sent.headers["content-encoding"]) == (200, "gzip")
        assert "immutable" in sent.headers["cache-control"]
        assert len(sent.data) > 1_000
