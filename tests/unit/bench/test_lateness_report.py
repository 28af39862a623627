"""The lateness benchmarks say whether their figures are within the aims."""

import pytest
from infra.bench.lateness_report import Judged, report
from infra.bench.one_offs import Created
from infra.bench.punctuality import Punctuality

ON_TIME = Punctuality(
    owed=100, delivered=100, lost=0, early=0, duplicates=0, p50_ms=5, p99_ms=250, max_ms=900
)
CREATED = Created({"job-1": 1_000, "job-2": 3_000}, jobs_per_s=200.0, seconds=0.01, beyond=1)


def _with(**changes: int) -> Punctuality:
    return Punctuality(**({name: getattr(ON_TIME, name) for name in ON_TIME.__slots__} | changes))


def test_a_p99_that_equals_its_aim_is_within() -> None:
    assert Judged(ON_TIME, 250).is_within


@pytest.mark.parametrize("found", [_with(p99_ms=251), _with(lost=1), _with(early=1)])
def test_a_late_a_lost_or_an_early_trigger_misses_the_aim(found: Punctuality) -> None:
    assert not Judged(found, 250).is_within


def test_a_report_is_within_only_if_each_group_is() -> None:
    within, over = Judged(ON_TIME, 250), Judged(_with(p99_ms=251), 250)
    assert report("Lateness", {"both": within}, CREATED, [0.5]).is_within
    found = report("Lateness", {"one": within, "other": over}, CREATED, [0.5])
    assert not found.is_within
    assert "!251 of 250" in found.text()


def test_a_report_says_how_many_one_offs_went_by_the_wheel() -> None:
    assert "1 of 2 by the wheel" in report("Lateness", {}, CREATED, []).text()


def test_the_last_one_off_is_the_one_with_the_latest_due_time() -> None:
    assert CREATED.last_due_at == 3_000
