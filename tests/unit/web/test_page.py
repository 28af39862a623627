"""The page that shows the API's description shows all of it; its own script is run, in Node."""

import json
import shutil
import subprocess
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.http_events import document

from sweephand.web.operations import OPERATIONS

_READER = Path(__file__).with_name("page.cjs")


@cache
def shown() -> Any:
    """What a reader of the page sees of the description."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node, which runs the page's script, is not installed")
    text = files("sweephand.web").joinpath("docs.html").read_text("utf-8")
    script = text.partition("<script>")[2].partition("</script>")[0]
    done = subprocess.run(  # noqa: S603 - our own page and description
        [node, _READER],
        input=json.dumps({"script": script, "api": document()}),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def kinds(operation: str) -> dict[str, str]:
    """The kind of each parameter and field that the page shows of an operation, those of its body first."""
    rows = [row for row in shown()["rows"][operation] if row]
    return {row[0].split(" ")[0].removesuffix("required"): row[1] for row in reversed(rows)}


def test_the_page_can_show_the_description() -> None:
    assert shown()["alerts"] == []


def test_every_operation_has_its_article_and_its_link() -> None:
    names = {each.name for each in OPERATIONS}
    assert set(shown()["articles"]) == names
    assert {f"#{name}" for name in names} < set(shown()["links"])


def test_a_field_that_takes_several_forms_says_which() -> None:
    fields = kinds("putJob")
    assert fields["schedule"] == "text or object or list of time"
    assert fields["schedule.hour"] == "text or whole number"
    assert fields["target"] == "object"
    assert fields["target.url"] == "text"
    assert fields["retry.maxAttempts"] == "whole number"
