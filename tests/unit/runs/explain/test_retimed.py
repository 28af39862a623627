"""An earlier series that had other due times is not explained by the present one."""

from typing import Any

from tests.fakes.world import NOON, World, key_of

from sweephand.base.instants import HOUR_MS, SECOND_MS
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
