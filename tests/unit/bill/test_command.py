"""The command writes the page, and fails if the committed page is out of date."""

from pathlib import Path

import pytest
from infra.bill import page
from infra.bill.__main__ import main


@pytest.fixture
def committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page that the command takes for the committed one."""
    path = tmp_path / "cost.md"
    path.write_text(page.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(page, "PAGE", path)
    return path


def test_a_page_that_is_up_to_date_passes(committed: Path) -> None:
    assert main(["--check"]) == 0
    assert committed.exists()


def test_a_page_with_another_figure_fails_and_is_written_again(
    committed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    right = committed.read_text(encoding="utf-8")
    committed.write_text(right.replace("2.20", "2.30"), encoding="utf-8")
    assert main(["--check"]) == 1
    assert "run make bill" in capsys.readouterr().out
    assert main([]) == 0
    assert committed.read_text(encoding="utf-8") == right


def test_a_part_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--measure", "weather"])
    assert "there is no part weather" in capsys.readouterr().err
