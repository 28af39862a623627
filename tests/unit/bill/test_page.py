"""docs/cost.md is what the template, the prices and the measured points give."""

import re
from pathlib import Path
from typing import Final

import pytest
from infra.bill import measured, page, quotes, tables
from infra.bill.lines import total
from infra.bill.template import template
from infra.bill.triggers import Bill

ROOT: Final = Path(__file__).parents[3]


def test_the_committed_page_is_the_one_that_make_bill_writes() -> None:
    text = page.text(Bill(measured.load(), template()))
    assert page.PAGE.read_text(encoding="utf-8") == text, "run make bill"


def test_the_prices_on_other_pages_are_those_that_make_bill_writes() -> None:
    assert [path.name for path, _, _ in quotes.outdated(Bill(measured.load(), template()))] == []


#: `make bill` writes the whole of cost.md. performance.md shows what its own commands measured.
_PAGES_WITH_OTHER_FIGURES: Final = ("cost.md", "performance.md")


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
    assert quotes.unknown_prices(str(path.relative_to(ROOT)), text) == []


def test_a_price_that_is_not_up_to_date_is_found_and_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page_path = tmp_path / "a.md"
    page_path.write_text("It costs $9.99 a\nmonth, and $1.00 more.\n", encoding="utf-8")
    monkeypatch.setattr(quotes, "_ROOT", tmp_path)
    monkeypatch.setattr(quotes, "QUOTES", {"a.md": ("costs ${idle_dollars} a month, and ${metric} more",)})
    bill = Bill(measured.load(), template())

    ((path, _, wanted),) = quotes.outdated(bill)

    idle = tables.dollars(total(tables.idle_lines(bill)))
    assert path == page_path
    assert wanted == f"It costs ${idle} a\nmonth, and $0.30 more.\n"
    assert quotes.unknown_prices("a.md", "That is $5 more.") == ["That is $5"]


def test_a_sentence_that_its_page_lost_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text("Nothing.\n", encoding="utf-8")
    monkeypatch.setattr(quotes, "_ROOT", tmp_path)
    monkeypatch.setattr(quotes, "QUOTES", {"a.md": ("costs ${idle_dollars}",)})
    with pytest.raises(ValueError, match=r"a.md has no sentence like: costs"):
        list(quotes.outdated(Bill(measured.load(), template())))


def test_the_page_shows_every_price_and_no_placeholder() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    assert not re.search(r"\{\w+\}", text)
    assert text.count("xychart-beta") == 2
