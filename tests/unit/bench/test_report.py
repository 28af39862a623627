"""A report of the benchmark shows its figures and says whether they are within their bounds."""

import pytest
from infra.bench.punctuality import Punctuality
from infra.bench.report import Figure, Report


@pytest.mark.parametrize(
    ("figure", "shown"),
    [
        (Figure(1.25, 1), "1.2"),
        (Figure(0.304, most=0.3), "0.30 of 0.3"),
        (Figure(0.306, most=0.3), "!0.31 of 0.3"),
        (Figure(0.696, least=0.7), "0.70 of 0.7"),
        (Figure(0.694, least=0.7), "!0.69 of 0.7"),
    ],
)
def test_a_figure_is_shown_with_its_bound_and_marked_if_it_misses_it(figure: Figure, shown: str) -> None:
    assert str(figure) == shown
    assert figure.is_within == (not shown.startswith("!"))


def test_a_table_has_every_column_of_every_row() -> None:
    report = Report("Title", [{"name": "a", "count": 7}, {"name": "bb", "ms": Figure(1.26, 1)}], ["Note."])
    assert report.text().splitlines() == [
        "Title",
        "  name  count   ms",
        "  ----  -----  ---",
        "  a         7",
        "  bb           1.3",
        "  Note.",
    ]


@pytest.mark.parametrize(
    ("found", "missed"),
    [
        (Punctuality(100, 100, early=0, twice=1, p50_ms=5, p99_ms=250, max_ms=900), []),
        (Punctuality(100, 100, early=0, twice=0, p50_ms=5, p99_ms=251, max_ms=900), ["p99 ms"]),
        (Punctuality(100, 99, early=0, twice=0, p50_ms=5, p99_ms=250, max_ms=900), ["lost"]),
        (Punctuality(100, 100, early=1, twice=0, p50_ms=5, p99_ms=250, max_ms=900), ["early"]),
    ],
)
def test_a_late_a_lost_or_an_early_trigger_misses_the_aim(found: Punctuality, missed: list[str]) -> None:
    assert [name for name, cell in found.cells(250).items() if str(cell).startswith("!")] == missed
