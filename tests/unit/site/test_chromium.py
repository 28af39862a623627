"""Which Chromium shows pages without a window."""

from pathlib import Path

import pytest
from infra.chromium import PROGRAMS, found

SHELL = "chromium-headless-shell"


@pytest.mark.parametrize(("names", "taken"), [(PROGRAMS, SHELL), (PROGRAMS[:0:-1], "chromium"), ((), None)])
def test_the_shell_without_the_interface_of_a_browser_is_taken_first(
    names: tuple[str, ...], taken: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in names:
        (tmp_path / name).touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CHROMIUM", raising=False)
    assert found() == (taken and str(tmp_path / taken))
    monkeypatch.setenv("CHROMIUM", "/opt/browser")
    assert found() == "/opt/browser"
