"""The report on how fast the console shows many jobs."""

from infra.bench.console import Shown, Visits, report


def test_the_report_has_the_median_of_each_figure_and_marks_what_takes_more_than_a_second() -> None:
    fast = [Shown(0.1, 0.2, 0.3), Shown(0.2, 0.4, 0.3), Shown(5.0, 6.0, 7.0)]
    slow = [Shown(0.1, 1.5, 0.3)]
    few = [Shown(0.1, 0.15, 0.2)]
    found = report(10_000, {"Overview": Visits(fast, few), "Jobs": Visits(slow, few)})
    assert "10,000 jobs" in found.title
    assert found.rows == [
        ["Overview", "0.20 of 1", "0.40 of 1", "0.30 of 1", "0.10", "0.15", "0.20", "2.00"],
        ["Jobs", "0.10 of 1", "!1.50 of 1", "0.30 of 1", "0.10", "0.15", "0.20", "1.00"],
    ]
    assert len(found.columns) == len(found.rows[0])
    assert found.figures["Jobs"] == {
        "paintS": 0.1,
        "rowsS": 1.5,
        "largestS": 0.3,
        "few": {"paintS": 0.1, "rowsS": 0.15, "largestS": 0.2},
    }
    assert not found.is_within
    assert report(10_000, {"Overview": Visits(fast, few)}).is_within
