"""docs/cost.md and docs/capacity.md are what the template, the prices, the quotas and the points give."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from infra.calculator import pages
from infra.calculator.__main__ import main

from sweephand_engine.costs import measured
from sweephand_engine.costs.bill import Bill
from sweephand_engine.costs.prices import total
from sweephand_engine.costs.template import template

ROOT: Final = Path(__file__).parents[3]
BILL: Final = Bill(measured.load(), template())
COST: Final = (ROOT / "docs" / "cost.md").read_text(encoding="utf-8")
CAPACITY: Final = (ROOT / "docs" / "capacity.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def wanted() -> Mapping[Path, str]:
    return pages.wanted(BILL)


def test_every_page_is_the_one_that_make_bill_writes(wanted: Mapping[Path, str]) -> None:
    outdated = [path.name for path, text in wanted.items() if path.read_text(encoding="utf-8") != text]
    assert outdated == [], "run make bill"
    assert {"cost.md", "capacity.md", "README.md", "template.yaml"} <= {path.name for path in wanted}


def test_the_command_writes_a_page_with_another_figure_again(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "cost.md"
    path.write_text(COST.replace("2.20", "2.30"), encoding="utf-8")
    monkeypatch.setattr(pages, "wanted", lambda _: {path: COST})
    main([])
    assert "cost.md is written" in capsys.readouterr().out
    assert path.read_text(encoding="utf-8") == COST
    main([])
    assert capsys.readouterr().out == ""


def test_a_part_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--measure", "weather"])
    assert "invalid choice: 'weather'" in capsys.readouterr().err


#: `make bill` writes the whole of the first two. performance.md shows what its own commands measured.
_PAGES_WITH_OTHER_FIGURES: Final = ("cost.md", "capacity.md", "performance.md")


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in (
            ROOT / "README.md",
            ROOT / "SECURITY.md",
            ROOT / "template.yaml",
            *(ROOT / "docs").rglob("*.md"),
        )
        if path.name not in _PAGES_WITH_OTHER_FIGURES and path.parent.name != "decisions"
    ],
    ids=lambda path: path.name,
)
def test_a_page_has_no_price_that_the_bill_does_not_make(path: Path) -> None:
    text = re.sub("(?s)```.*?```", "", path.read_text(encoding="utf-8"))
    assert pages.unknown_prices(str(path.relative_to(ROOT)), text) == []


def test_a_price_that_is_not_up_to_date_is_written_and_nothing_else_of_its_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "a.md"
    page.write_text(
        "It costs $9.99 for 12\nmonths, and $1.00 more. It costs $1 for 12 months, and $2 more.\n"
    )
    monkeypatch.setattr(pages, "_ROOT", tmp_path)
    monkeypatch.setattr(
        pages, "QUOTES", {"a.md": ("costs ${idle:.2f} for 12 months, and ${metrics[1]:.2f} more",)}
    )
    idle = f"{total(BILL.idle()):.2f}"
    assert pages.wanted(BILL)[page] == (
        f"It costs ${idle} for 12\nmonths, and $0.30 more. It costs ${idle} for 12 months, and $0.30 more.\n"
    )
    assert pages.unknown_prices("a.md", "That is $5 more.") == ["That is $5"]


def test_a_sentence_that_its_page_lost_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text("Nothing.\n", encoding="utf-8")
    monkeypatch.setattr(pages, "_ROOT", tmp_path)
    monkeypatch.setattr(pages, "QUOTES", {"a.md": ("costs ${idle:.2f}",)})
    with pytest.raises(ValueError, match=r"a.md has no sentence like: costs"):
        pages.wanted(BILL)


@pytest.mark.parametrize("page", [COST, CAPACITY], ids=["cost.md", "capacity.md"])
def test_every_table_has_as_many_cells_in_each_row_and_every_plot_as_many_values_as_places(page: str) -> None:
    for table in re.findall(r"(?:^\|.*\|\n)+", page, re.MULTILINE):
        assert len({line.count("|") for line in table.splitlines()}) == 1, table
    plots = re.findall(r"```mermaid\nxychart-beta\n(.*?)```", page, re.DOTALL)
    assert len(plots) == 1
    for plot in plots:
        [axis] = re.findall(r"x-axis .*\[(.*)\]", plot)
        for values in re.findall(r"^    (?:bar|line) \[(.*)\]", plot, re.MULTILINE):
            assert values.count(",") == axis.count(",")
