"""The command that opens the site of the documentation."""

import webbrowser
from pathlib import Path

import pytest
from tests.unit.client.conftest import CommandLine

from sweephand_client.commands.docs import SITE


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that a browser opens."""
    found: list[str] = []
    monkeypatch.setattr(webbrowser, "open", found.append)
    return found


def test_the_site_is_opened_from_any_folder_of_a_clone(
    sweephand: CommandLine, opened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / SITE / "index.html"
    page.parent.mkdir(parents=True)
    page.touch()
    inner = tmp_path / "client" / "inner"
    inner.mkdir(parents=True)
    for folder in (tmp_path, inner):
        monkeypatch.chdir(folder)
        assert sweephand.ok("docs").out == f"{page.as_uri()}\n"
    assert opened == [page.as_uri(), page.as_uri()]


def test_without_a_site_the_command_says_what_to_do(
    sweephand: CommandLine, opened: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = sweephand.run("docs")
    assert (ran.code, ran.out, opened) == (2, "", [])
    assert f"{tmp_path} nor a folder above it has {SITE / 'index.html'}. Run `make docs`" in ran.err
