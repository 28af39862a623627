"""The API accepts the examples of the documentation."""

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
from tests.contract.builders import admin_change, run
from tests.fakes.curl import Curl, read_curl
from tests.fakes.http_events import JOB, Answered, Client
from tests.fakes.http_server import serving
from tests.fakes.world import NOON, World
from tests.unit.docs.blocks import ROOT, Block, blocks, commands, examples
from tests.unit.docs.test_shell_blocks import simple_commands
from typer.testing import CliRunner

from sweephand.model.api_key import Key
from sweephand.model.job import JobKey
from sweephand.model.timer import Heartbeat
from sweephand_client import Client as PythonClient
from sweephand_client.commands.main import app

#: The pages about targets are not here: tests/e2e/test_pages.py runs all of their commands.
PAGES: Final = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

#: The pages about a topic. The first blocks of each are one example for the command line, HTTP and Python.
TOPICS: Final = {
    "batches",
    "calendars",
    "catchup",
    "flow",
    "jobs",
    "keys",
    "namespaces",
    "notifications",
    "overlap",
    "retries",
    "runs",
    "schedules",
    "secrets",
    "stats",
    "watch",
    "windows",
}
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


@pytest.fixture
def client(world: World) -> Client:
    """An API that permits all that the pages show."""
    world.flow_functions_max = 5
    world.limits_namespaces = True
    world.counts_deliveries = True
    client = Client(world, allow_insecure_targets=True)
    client.world.leases.beat(Heartbeat(client.world.clock.now()))
    return client


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_api_accepts_every_request_of_a_page(client: Client, page: Path) -> None:
    for asked in requests(page):
        answer = ask(client, asked)

        # A run that is reported on is one of a delivery that has not been made here.
        lacks_a_run = "/runs/" in asked.url and answer.status in (404, 410)
        assert answer.status < 300 or lacks_a_run, (asked, answer)
        if asked.method == "POST" and asked.url.endswith("/jobs"):
            assert [each["status"] for each in answer.json["results"] if each["status"] >= 300] == []


def run_http(block: Block, client: Client) -> None:
    """Send the requests of a block with curl."""
    for command in commands(block.text):
        asked = read_curl(command, VARIABLES)
        client.send(asked.method, asked.url, text=asked.body, headers=asked.headers)


def run_shell(block: Block, _: Client) -> None:
    """Run the commands of a block with `sweephand`. What `printf` prints is the input of the next one."""
    given = None
    for program, *words in simple_commands(block):
        if program == "printf":
            (given,) = words
            continue
        assert program == "sweephand"
        done = CliRunner().invoke(app, words, input=given)
        assert done.exit_code == 0, done.output
        given = None


def run_python(block: Block, _: Client) -> None:
    """Run a block of Python, with the `client` that the page about jobs makes."""
    with PythonClient(os.environ["SWEEPHAND_URL"], os.environ["SWEEPHAND_KEY"]) as client:
        exec(compile(block.text, block.place, "exec"), {"client": client, "print": lambda *_: None})  # noqa: S102


@contextmanager
def sent_to(client: Client, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, str, Any]]]:
    """The method, the address and the body of each request that this API accepts, while the block lasts."""
    requests: list[tuple[str, str, Any]] = []
    send = client.send

    def recorded(method: str, url: str, **options: Any) -> Answered:
        answer = send(method, url, **options)
        assert answer.status < 300, answer
        body = json.loads(options["text"] or "null")
        given = {name: each for name, each in body.items() if each is not None} if body else body
        # The command line and the client read lists in pages of their own length.
        requests.append((method, re.sub(r"\?limit=\d+$", "", url), given))
        return answer

    with serving(client) as server, monkeypatch.context() as patched:
        patched.setattr(client, "send", recorded)
        for name, value in {"URL": server.url, "KEY": "sh_admin", "NAMESPACE": "demo"}.items():
            patched.setenv(f"SWEEPHAND_{name}", value)
        yield requests


@pytest.mark.parametrize(
    "example", [pytest.param(each, id=each[0].place) for page in PAGES for each in examples(page)]
)
def test_an_example_sends_the_same_requests_by_curl_on_the_command_line_and_in_python(
    client: Client, monkeypatch: pytest.MonkeyPatch, example: tuple[Block, Block, Block]
) -> None:
    client.send("PUT", "/v1/namespaces/demo/jobs/hello", JOB)
    assert client.world.runs.record(run(key=JobKey("demo", "hello"), state="succeeded", ended_at=NOON))
    ways: tuple[Callable[[Block, Client], None], ...] = (run_shell, run_http, run_python)
    requests = []
    for way, block in zip(ways, example, strict=True):
        with sent_to(client, monkeypatch) as sent:
            way(block, client)
        requests.append(sent)
    shell, http, python = requests

    assert http
    assert shell == http
    assert python == http


@pytest.mark.parametrize("page", sorted(TOPICS))
def test_each_command_of_a_topic_succeeds(client: Client, monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    client.send("PUT", "/v1/namespaces/demo/jobs/hello", JOB)
    with sent_to(client, monkeypatch) as sent:
        for block in blocks(ROOT / "docs" / f"{page}.md", "sh"):
            if "sweephand " in block.text and "sweephand deploy" not in block.text:
                run_shell(block, client)
    assert sent


def test_each_topic_begins_with_an_example_for_the_command_line_http_and_python() -> None:
    first = {page.stem for page in PAGES for shell, *_ in examples(page) if shell.number == 1}

    assert first == TOPICS


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
    assert jobs
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
