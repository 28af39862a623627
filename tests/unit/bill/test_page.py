"""docs/cost.md is what the template, the prices and the measured points give."""

import re
from pathlib import Path
from typing import Final

from infra.bill import comparison, measured, page, tables
from infra.bill.lines import total
from infra.bill.template import template
from infra.bill.triggers import Bill

ROOT: Final = Path(__file__).parents[3]


def test_the_committed_page_is_the_one_that_make_bill_writes() -> None:
    text = page.text(Bill(measured.load(), template()))
    assert page.PAGE.read_text(encoding="utf-8") == text, "run make bill"


def test_the_readme_and_other_pages_name_the_figures_of_the_committed_bill() -> None:
    bill = Bill(measured.load(), template())
    idle = f"${tables.dollars(total(tables.idle_lines(bill)))} a month"
    for name in ("README.md", "CHANGELOG.md", "docs/operations.md", "infra/smoke/__main__.py"):
        assert idle in (ROOT / name).read_text(encoding="utf-8"), name
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"from {comparison.cheaper_from(bill):.1f} triggers a second on" in readme


def test_the_page_shows_every_price_and_no_placeholder() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    assert not re.search(r"\{\w+\}", text)
    assert text.count("xychart-beta") == 2
