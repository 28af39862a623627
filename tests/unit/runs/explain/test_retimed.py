"""An earlier series that had other due times is not explained by the present one."""

from typing import Any

import pytest
from tests.fakes.world import NOON, World, key_of
from tests.unit.runs.explain.ways import explained

from sweephand.base.instants import HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.jobs.policy_check import PolicyCheck
from sweephand.runtime.app_insight import InsightUseCases


def test_a_completed_job_that_is_written_again_had_other_due_times_before() -> None:
    world = World()
    twice: dict[str, Any] = {"schedule": "R2/PT90S", "dueTime": "30s", "history": "failures"}
    world.put(**twice)
    world.run_until(NOON + HOUR_MS)
    world.put(**twice)

    explainer = InsightUseCases(world.ports(world.api_clock)).explainer(PolicyCheck(None))
    found, _ = explainer.explain(key_of("job"), NOON + 30 * SECOND_MS, world.clock.time)

    assert found.verdict == "not-kept"


@pytest.mark.parametrize(
    ("before", "change", "lasts_ms"),
    [
        ({}, {"jitter": "10m"}, 0),
        ({"jitter": "50s"}, {"jitter": None}, 50 * SECOND_MS),
    ],
)
def test_the_record_of_a_trigger_is_found_where_it_was_before_the_times_changed(
    before: dict[str, Any], change: dict[str, Any], lasts_ms: int
) -> None:
    world = World()
    world.put(**{"schedule": "0 * * * * *", **before})
    world.run_until(NOON + HOUR_MS)
    given = {name: value for name, value in change.items() if value is not None}
    world.patch(without=[name for name in change if name not in given], **given)
    world.run_until(NOON + HOUR_MS + 30 * MINUTE_MS)

    for minute in (10, 59, 60):
        at = NOON + minute * MINUTE_MS
        found = explained(world, at)
        assert (found.verdict, found.run is not None) == ("delivered", True), found.summary
        assert found.due_at is not None
        assert at <= found.due_at <= at + lasts_ms
