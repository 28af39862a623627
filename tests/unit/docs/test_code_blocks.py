"""A test of its language checks each block of code of the documentation, and each link leads somewhere."""

import re
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final

import pytest
from infra.size import pages
from tests.fakes.http_events import Client as Api
from tests.fakes.http_server import serving
from tests.unit.docs.blocks import ROOT, Block, all_blocks, prose

from sweephand.delivery.http.request import signatures
from sweephand.runtime.machine import SystemClock

SECRET: Final = "whsec_c3dlZXBoYW5kIHNpZ25zIGl0cyBkZWxpdmVyaWVz"
BODY: Final = b'{"task":"db-backup"}'

MONITORING: Final = (ROOT / "docs" / "monitoring.md").read_text("utf-8")

#: What checks the blocks of a language, besides the modules of this folder. Pictures are drawn where the page
#: is read, and test_internals.py compares those of states with the code.
CHECKED_BY: Final = {
    "sh": "test_examples.py, test_shell_blocks.py, test_signatures.py, tests/e2e/test_pages.py",
    "json": "test_json_blocks.py",
    "python": "this module, test_examples.py, tests/integration/engine/test_plugin.py",
    "": "this module",
    "mermaid": "test_internals.py",
    "crontab": "tests/unit/client/test_crontab.py, and the table of docs/crontab.md in test_examples.py",
    "yaml": "tests/e2e/test_command_line.py, tests/unit/client/test_crontab.py, client/worker/test_page.py, "
    "client/test_action.py, client/test_check.py, docs/test_templates.py",
    "ts": "test_templates.py",
    "ini": "tests/unit/client/worker/test_page.py",
    "dockerfile": "tests/unit/client/worker/test_page.py",
    "text": "tests/unit/client/test_distribution.py",
}

#: Fields of a line that Powertools writes, and that CloudWatch Logs adds.
_OF_EACH_LINE: Final = {"timestamp", "level", "message", "exception"}


def python_blocks(part: str) -> list[Any]:
    """The blocks of Python that have this in them, as the parameters of a test."""
    found = [pytest.param(each, id=each.place) for each in all_blocks("python") if part in each.text]
    assert found, part
    return found


@contextmanager
def consuming(
    block: Block, monkeypatch: pytest.MonkeyPatch, show: Callable[..., None] = print
) -> Iterator[str]:
    """Run the consumer of a page on a free port, and yield its address. It prints by `show`."""
    servers: list[HTTPServer] = []
    text = block.text.replace("8000", "0").replace("whsec_…", SECRET)
    with monkeypatch.context() as patched:
        patched.setattr(HTTPServer, "serve_forever", lambda server: servers.append(server))  # noqa: PLW0108 - bound
        exec(compile(text, block.place, "exec"), {"__name__": "consumer", "print": show})  # noqa: S102 - a page of ours
    (server,) = servers
    with server:
        thread = Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def post(url: str, body: bytes, signed: bytes, job: str) -> int:
    """The status of a delivery of `body` whose signature is that of `signed`."""
    now = SystemClock().now()
    headers = {
        "webhook-id": "uid-5-0",
        "webhook-timestamp": str(now // 1000),
        "webhook-signature": signatures([SECRET], "uid-5-0", now, signed),
        "sweephand-job": job,
    }
    request = urllib.request.Request(url, body, headers)  # noqa: S310 - loopback
    try:
        with urllib.request.urlopen(request) as answer:  # noqa: S310
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


@pytest.mark.parametrize("block", python_blocks("HTTPServer"))
def test_the_consumer_of_a_page_takes_what_is_signed(block: Block, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[Any] = []
    with consuming(block, monkeypatch, lambda *said, **_: shown.extend(said)) as url:
        assert post(url, BODY, BODY, "backup") == 204
    assert shown == ["uid-5-0", {"task": "db-backup"}]


@pytest.mark.parametrize("block", python_blocks("HTTPServer"))
def test_the_consumer_of_a_page_takes_nothing_that_is_forged(
    block: Block, monkeypatch: pytest.MonkeyPatch
) -> None:
    with consuming(block, monkeypatch) as url, pytest.raises((ConnectionError, urllib.error.URLError)):
        post(url, BODY, b"another body", "backup")


@pytest.mark.parametrize("block", python_blocks("InvalidError"))
def test_the_example_of_the_client_writes_and_lists_a_job(
    block: Block, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[tuple[Any, ...]] = []
    with serving(Api()) as server:
        monkeypatch.setenv("SWEEPHAND_URL", server.url)
        monkeypatch.setenv("SWEEPHAND_KEY", "sh_admin")
        names = {"print": lambda *said: shown.append(said)}
        exec(compile(block.text, block.place, "exec"), names)  # noqa: S102 - a page of ours
    (name, next_at), (pointers,) = shown
    assert name == "report"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", next_at)
    assert pointers == ["/schedule"]


@pytest.mark.parametrize("block", [pytest.param(each, id=each.place) for each in all_blocks("")])
def test_a_query_of_the_logs_names_fields_that_monitoring_lists(block: Block) -> None:
    assert re.match(r"(fields|filter) ", block.text)
    without_texts = re.sub(r'"[^"]*"', "", block.text)
    made = set(re.findall(r"\bas (\w+)", without_texts))
    words = set(re.findall(r"@?\b[a-z_]+\b(?!\()", without_texts)) - made
    syntax = {"fields", "filter", "stats", "sort", "desc", "by", "as", "in", "and", "h"}
    listed = set(re.findall(r"`(\w+)`", MONITORING)) | _OF_EACH_LINE
    assert {each.removeprefix("@") for each in words - syntax} <= listed


def test_every_block_has_a_language_whose_blocks_are_checked() -> None:
    assert {each.language for each in all_blocks()} == set(CHECKED_BY)


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", each.lower()).replace(" ", "-") for each in headings}


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    for link in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if "://" in link:
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize(
    "page", [page for page in pages() if page.parent.name != "decisions"], ids=lambda page: page.stem
)
def test_every_file_of_the_tests_that_a_page_names_is_there(page: Path) -> None:
    for path in re.findall(r"`(tests/[\w/]+(?:\.py)?)`", prose(page)):
        assert (ROOT / path).exists(), path
