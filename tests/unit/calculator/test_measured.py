"""The file of measured points."""

from pathlib import Path

import pytest
from tests.unit.calculator.test_bill import COUNTS, MEASURED, counted

from sweephand_engine.costs import measured, prices


def test_a_part_that_is_measured_again_leaves_the_other_parts_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "measured.json"
    path.write_bytes(measured.FILE.read_bytes())
    before = measured.load(path)
    measured.update({"counts": COUNTS, "idle": MEASURED.idle}, "2027-01-01", path)
    found = measured.load(path)
    assert (found.counts, found.idle) == (COUNTS, MEASURED.idle)
    assert (found.handling, found.batches) == (before.handling, before.batches)
    assert found.when == {**before.when, "counts": "2027-01-01", "idle": "2027-01-01"}


def test_a_count_is_found_by_its_kind_and_rate_and_a_herd_by_its_size() -> None:
    assert MEASURED.count("recurring", 20.0) == counted("recurring", 20.0, per_minute=1_200, writes=0.1)
    assert MEASURED.count("recurring", None, 60).per_minute == 60
    with pytest.raises(ValueError, match="not enough values"):
        MEASURED.count("recurring", 7.0)


def test_the_committed_file_has_every_count_that_the_page_shows() -> None:
    found = measured.load()
    assert {each.kind for each in found.counts} == {
        "recurring",
        "recurringWithHistory",
        "oneOffInBulk",
        "oneOffSingly",
    }
    assert all(each.triggers > 0 and each.writes >= 0 and each.reads >= 1 for each in found.counts)
    assert (found.idle.writes, found.idle.reads, found.idle.invocations) == (1, 2, 1)


def test_the_committed_file_has_a_batch_without_a_policy_and_batches_under_one() -> None:
    without, *under = measured.load().batches
    assert without.limit is None
    assert {each.limit for each in under} == {50, 200}
    assert all(each.writes > without.writes and each.reads > without.reads for each in under)


def test_the_metrics_of_a_stack_that_delivers_all_day_cost_less_than_a_dollar_a_month() -> None:
    assert prices.METRICS.of(measured.load().handling.metrics) < 1
