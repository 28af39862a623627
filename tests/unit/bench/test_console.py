"""The report on how fast the console shows many jobs."""

from infra.bench.console import Shown, report


def test_the_report_has_the_median_of_each_figure_and_marks_what_takes_more_than_a_second() -> None:
    fast = [Shown(0.1, 0.2, 0.3), Shown(0.2, 0.4, 0.3), Shown(5.0, 6.0, 7.0)]
    slow = [Shown(0.1, 1.5, 0.3)]
    found = report(10_000, {"Overview": fast, "Jobs": slow})
    assert "10,000 jobs" in found.title
    assert found.rows == [
        ["Overview", "0.20 of 1", "0.40 of 1", "0.30 of 1"],
        ["Jobs", "0.10 of 1", "!1.50 of 1", "0.30 of 1"],
    ]
    assert found.figures["Jobs"] == {"paintS": 0.1, "rowsS": 1.5, "largestS": 0.3}
    assert not found.is_within
    assert report(10_000, {"Overview": fast}).is_within
