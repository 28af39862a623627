"""The API accepts the examples of the documentation."""

import json
import re
from pathlib import Path
from typing import Any, Final

import pytest
from tests.contract.builders import admin_change
from tests.fakes.curl import Curl, read_curl
from tests.fakes.http_events import JOB, Answered, Client
from tests.fakes.world import World
from tests.unit.docs.blocks import ROOT, blocks, commands

from sweephand.model.api_key import Key
from sweephand.model.timer import Heartbeat

#: The pages about targets are not here: tests/e2e/test_pages.py runs all of their commands.
PAGES: Final = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
CRONTAB: Final = ROOT / "docs" / "crontab.md"

#: What the shell variables of the examples hold.
VARIABLES: Final = {
    "API": "https://api.example.com",
    "KEY": "sh_admin_secret",
    "INBOX": "http://127.0.0.1:4701",
    "QUEUE": "https://sqs.eu-west-1.amazonaws.com/123456789012/sweephand-orders",
    "RUN": "1795262400000-0",
    "KEY_ID": "k1",
    "TOKEN": "eyJ0eXAiOiJKV1QifQ",
    "AT": "2190-01-01T00:00:00Z",
}


def requests(page: Path) -> list[Curl]:
    """The requests to the API that a page tells its readers to send."""
    found = []
    for block in blocks(page, "sh"):
        for command in commands(block.text):
            curl = command.partition(" | ")[0].partition(" \\\n  |")[0].replace("curl -s ", "curl ")
            if curl.startswith("curl ") and "$API" in curl:
                found.append(read_curl(curl, VARIABLES))
    return found


def ask(client: Client, asked: Curl) -> Answered:
    """The answer to a request; the job or the key that it is about exists."""
    client.keys.put(Key(VARIABLES["KEY_ID"], "0" * 64, "demo", "write", 0), admin_change())
    job = re.match(r"/v1/namespaces/[^/]+/jobs/[^/?]+", asked.url)
    if job and asked.method != "PUT" and client.send("GET", job[0]).status == 404:
        client.send("PUT", job[0], JOB)
    return client.send(asked.method, asked.url, text=asked.body, headers=asked.headers)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_api_accepts_every_request_of_a_page(world: World, page: Path) -> None:
    world.flow_functions_max = 5
    world.limits_namespaces = True
    world.counts_deliveries = True
    client = Client(world, allow_insecure_targets=True)
    client.world.leases.beat(Heartbeat(client.world.clock.now()))
    for asked in requests(page):
        answer = ask(client, asked)

        # A run that is reported on is one of a delivery that has not been made here.
        lacks_a_run = "/runs/" in asked.url and answer.status in (404, 410)
        assert answer.status < 300 or lacks_a_run, (asked, answer)
        if asked.method == "POST" and asked.url.endswith("/jobs"):
            assert [each["status"] for each in answer.json["results"] if each["status"] >= 300] == []


def test_the_requests_of_the_pages_are_found() -> None:
    found = {page.relative_to(ROOT).as_posix(): len(requests(page)) for page in PAGES}

    assert found["README.md"] >= 3
    assert found["docs/quickstart.md"] >= 7
    assert found["docs/crontab.md"] >= 3
    assert found["docs/keys.md"] >= 3
    assert found["docs/runs.md"] >= 4


def test_the_api_accepts_every_job_of_the_page_about_crontabs() -> None:
    client = Client()
    jobs = [json.loads(block.text) for block in blocks(CRONTAB, "json")]
    assert len(jobs) >= 2
    for job in jobs:
        answer = client.put("job", job)
        assert answer.status in (200, 201), (job, answer)


def rows_of_time_fields() -> list[tuple[str, str]]:
    """The schedules in the page's table, and what the page says of each."""
    section = CRONTAB.read_text("utf-8").partition("## The time fields\n")[2].partition("\n## ")[0]
    return re.findall(r"^\| `(.+?)` \| (.+?) \|$", section, re.MULTILINE)


@pytest.mark.parametrize(("schedule", "meaning"), rows_of_time_fields())
def test_the_page_about_crontabs_says_what_the_api_says(schedule: str, meaning: str) -> None:
    answer: dict[str, Any] = Client().send("POST", "/v1/occurrences", {"schedule": schedule, "limit": 1}).json

    assert answer["description"] == meaning
