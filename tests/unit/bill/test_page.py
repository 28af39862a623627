"""docs/cost.md is what the template, the prices and the measured points give."""

import re

from infra.bill import measured, page
from infra.bill.template import template
from infra.bill.triggers import Bill


def test_the_committed_page_is_the_one_that_make_bill_writes() -> None:
    text = page.text(Bill(measured.load(), template()))
    assert page.PAGE.read_text(encoding="utf-8") == text, "run make bill"


def test_the_page_shows_every_price_and_no_placeholder() -> None:
    text = page.PAGE.read_text(encoding="utf-8")
    assert not re.search(r"\{\w+\}", text)
    assert text.count("xychart-beta") == 2
