"""Which Chromium shows pages without a window."""

from collections.abc import Collection
from pathlib import Path

import pytest
from infra.chromium import PROGRAMS, found


def install(monkeypatch: pytest.MonkeyPatch, folder: Path, names: Collection[str]) -> None:
    """Let the system have programs of these names and no others."""
    for name in names:
        (folder / name).touch(mode=0o755)
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(folder))


@pytest.mark.parametrize(
    ("names", "taken"),
    [
        (PROGRAMS, "chromium-headless-shell"),
        (["chromium-browser", "chromium"], "chromium"),
        (["chromium-browser"], "chromium-browser"),
    ],
)
def test_the_shell_without_the_interface_of_a_browser_is_taken_first(
    names: list[str], taken: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    install(monkeypatch, tmp_path, names)
    assert found() == str(tmp_path / taken)


def test_a_variable_names_another_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(monkeypatch, tmp_path, PROGRAMS)
    monkeypatch.setenv("CHROMIUM", "/opt/browser")
    assert found() == "/opt/browser"


def test_a_system_may_have_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(monkeypatch, tmp_path, [])
    assert found() is None
