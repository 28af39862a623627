"""A report of the benchmark shows its figures and says whether they are within their bounds."""

import pytest
from infra.bench.punctuality import Punctuality
from infra.bench.report import Figure, Report

ON_TIME = Punctuality(
    owed=100, delivered=100, lost=0, early=0, duplicates=0, p50_ms=5, p99_ms=250, max_ms=900
)


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
    ("changes", "is_within"),
    [({}, True), ({"p99_ms": 251}, False), ({"lost": 1}, False), ({"early": 1}, False)],
)
def test_a_late_a_lost_or_an_early_trigger_misses_the_aim(
    changes: dict[str, int], *, is_within: bool
) -> None:
    found = Punctuality(**({name: getattr(ON_TIME, name) for name in ON_TIME.__slots__} | changes))
    late, on_time = Report("", [found.cells(250)]), Report("", [ON_TIME.cells(250)])
    assert late.is_within == is_within
    assert on_time.is_within
    assert Report("", [*on_time.rows, *late.rows]).is_within == is_within
