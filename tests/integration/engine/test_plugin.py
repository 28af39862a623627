"""The plugin of pytest as its users have it: found by its entry point, in processes of their own."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from tests.fakes.receivers_page import FRAMEWORKS, text_of
from tests.unit.docs.blocks import ROOT, blocks

PAGE: Final = ROOT / "docs" / "testing.md"
#: Pages with a test of their recipes.
RECIPES: Final = (ROOT / "docs" / "calendars.md", ROOT / "docs" / "windows.md")

#: Writes all that a stack has sent into a file, so that two processes can be compared.
STORY: Final = """
import os

import pytest


@pytest.mark.parametrize("number", range(4))
def test_story(sweephand, number):
    sweephand.deliver_to(lambda delivery: 500 if delivery.attempt == 1 else None)
    for name in ("a", "b", "c"):
        sweephand.put_job(name, "@every 10m", jitter="2m", labels={"x": "1", "y": "2"})
    sweephand.client.policies.put("default", "erp", {"maxConcurrent": 1})
    sweephand.put_job("d", "*/20 * * * *", policy="erp")
    sweephand.travel("1 hour")
    told = [*sweephand.deliveries, *sweephand.runs("a"), *sweephand.runs("d"), sweephand.secret()]
    with open(os.path.join(os.environ["STORIES"], str(number)), "w") as file:
        file.writelines(f"{each!r} {getattr(each, 'headers', None)}\\n" for each in told)


@pytest.mark.sweephand(now="2026-10-12T12:00:00Z", namespace="billing", seed=7)
class TestMarked:
    def test_of_a_class(self, sweephand):
        assert sweephand.now.isoformat() == "2026-10-12T12:00:00+00:00"
        assert sweephand.put_job("a", "@daily")["namespace"] == "billing"
"""

#: A project of Django around the `urls.py` of a page.
PROJECT: Final = """
from django.conf import settings

settings.configure(ROOT_URLCONF="urls", ALLOWED_HOSTS=["testserver"])

from django.core.wsgi import get_wsgi_application

app = get_wsgi_application()

from urls import receiver
"""

#: The test of a page about receivers, for a function.
OF_A_FUNCTION: Final = """
import pytest
from lambda_app import handler, receiver

ARN = "arn:aws:lambda:eu-west-1:123456789012:function:billing"


@pytest.mark.sweephand(namespace="billing")
def test_invoices_are_made(sweephand):
    receiver.use(sweephand.client)
    sweephand.function(ARN, handler)
    target = {"type": "lambda", "functionArn": ARN, "invocation": "sync"}
    sweephand.put_job("invoices", "@daily", data={"customers": [7, 8]}, target=target)
    sweephand.travel("1 day")
    [run] = sweephand.runs("invoices")
    assert run.answer["answer"] == '{"made": 2}'
"""

IDLE: Final = """
import sys


def test_without_the_fixture():
    assert {each for each in sys.modules if each.startswith("sweephand")} == {
        "sweephand_engine", "sweephand_engine.pytest_plugin"
    }
    assert not {"boto3", "greenlet", "pydantic"} & sys.modules.keys()
"""


@pytest.fixture
def environment(tmp_path: Path) -> Mapping[str, str]:
    """An environment in which the distribution is installed, with nothing but its entry point."""
    installed = tmp_path / "site" / "sweephand-1.0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: sweephand\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text("[pytest11]\nsweephand = sweephand_engine.pytest_plugin\n")
    path = (installed.parent, ROOT / "layers" / "sweephand" / "python", ROOT / "client")
    inherited = {name: text for name, text in os.environ.items() if not name.startswith("PYTEST")}
    return {**inherited, "PYTHONPATH": os.pathsep.join(map(str, path))}


def run(folder: Path, environment: Mapping[str, str], *arguments: str) -> str:
    """What a command of Python prints. It must succeed."""
    found = subprocess.run(  # noqa: S603 - the interpreter of this test
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert found.returncode == 0, found.stdout
    return found.stdout


def test_a_test_is_the_same_under_xdist_and_with_other_hashes(
    tmp_path: Path, environment: Mapping[str, str]
) -> None:
    told = []
    for number, options in enumerate(([], ["-n", "2"])):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "test_story.py").write_text(STORY)
        chosen = {**environment, "PYTHONHASHSEED": str(number), "STORIES": str(folder)}
        run(folder, chosen, "-m", "pytest", "--strict-markers", "-W", "error", *options)
        told.append([(folder / str(each)).read_bytes() for each in range(4)])
    first, *others = told[0]
    assert first.count(b"webhook-signature") > 30
    assert others == [first] * 3
    assert told[1] == told[0]


def test_every_example_of_the_pages_holds(tmp_path: Path, environment: Mapping[str, str]) -> None:
    recipes = [each for page in RECIPES for each in blocks(page, "python") if "def test_" in each.text]
    examples = [*blocks(PAGE, "python"), *recipes]
    assert len(recipes) == len(RECIPES)
    for each in examples:
        (tmp_path / f"test_{each.page.stem}_{each.number}.py").write_text(each.text)
    printed = run(tmp_path, environment, "-m", "pytest", "--strict-markers", "-W", "error")
    assert f"{len(examples)} passed" in printed


def test_every_application_of_the_page_about_receivers_passes_the_test_of_that_page(
    tmp_path: Path, environment: Mapping[str, str]
) -> None:
    test = text_of("deliver_to")
    for framework in FRAMEWORKS:
        name = framework.lower()
        module = "urls" if framework == "Django" else f"{name}_app"
        (tmp_path / f"{module}.py").write_text(text_of(FRAMEWORKS[framework]))
        (tmp_path / f"test_{name}.py").write_text(test.replace("from app", f"from {name}_app"))
    (tmp_path / "django_app.py").write_text(PROJECT)
    (tmp_path / "test_lambda.py").write_text(OF_A_FUNCTION)
    words = ("-m", "pytest", "--strict-markers", "-W", "error")
    assert f"{len(FRAMEWORKS)} passed" in run(tmp_path, environment, *words)


def test_a_stack_needs_no_pytest(tmp_path: Path, environment: Mapping[str, str]) -> None:
    [example] = [each for each in blocks(PAGE, "python") if "unittest" in each.text]
    (tmp_path / "test_reports.py").write_text(example.text)
    assert re.search(r"Ran 1 test .*OK", run(tmp_path, environment, "-m", "unittest"), re.DOTALL)


def test_the_plugin_imports_nothing_until_a_test_uses_it(
    tmp_path: Path, environment: Mapping[str, str]
) -> None:
    (tmp_path / "test_idle.py").write_text(IDLE)
    assert "1 passed" in run(tmp_path, environment, "-m", "pytest")
    markers = run(tmp_path, environment, "-m", "pytest", "--markers")
    assert "@pytest.mark.sweephand(now, namespace, seed)" in markers
