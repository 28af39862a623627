"""Every outcome of a message is counted by a metric that the operator's page explains."""

from pathlib import Path
from typing import get_args

import pytest

from sweephand.runs.outcome import METRICS, OutcomeName, outcome_of_failure

OPERATIONS = Path(__file__).parents[3] / "docs" / "operations.md"


def test_every_outcome_has_a_metric_of_its_own() -> None:
    assert set(METRICS) == set(get_args(OutcomeName))
    assert len(set(METRICS.values())) == len(METRICS)


@pytest.mark.parametrize("metric", METRICS.values())
def test_every_metric_is_explained_to_operators(metric: str) -> None:
    assert f"`{metric}`" in OPERATIONS.read_text("utf-8")


def test_a_failed_attempt_leaves_its_run_retrying_or_failed() -> None:
    assert [outcome_of_failure(state) for state in ("retrying", "failed")] == ["retrying", "failed"]
    with pytest.raises(AssertionError, match="succeeded"):
        outcome_of_failure("succeeded")
