"""The deployed template obeys `overlap: wait` for triggers that come due during a run of their job."""

import time
from typing import Any

from infra.local.receiver import Answer
from tests.e2e.scene import Scene
from tests.e2e.schedule import eventually

from sweephand.base.instants import SECOND_MS, rfc3339


def seen(scene: Scene, run_id: str, state: str) -> Any:
    """A run, as soon as it is seen in that state."""
    return eventually(lambda: [scene.schedule.run("wait", run_id)], lambda run: run["state"] == state)


def test_triggers_due_during_a_run_are_delivered_in_order_one_after_the_other(scene: Scene) -> None:
    scene.receiver.answer("/wait", *[Answer(202)] * 3)
    scene.schedule.put("wait", dueTime="1s", completion="async", overlap="wait", target=scene.target("wait"))
    first = scene.schedule.state_of("wait", "running")["id"]
    # The others are asked for when the first one is under way. Otherwise their order would not be known.
    next_at = time.time_ns() // 1_000_000 + 2 * SECOND_MS
    dues = (next_at, next_at + SECOND_MS)
    more = {"schedule": [rfc3339(due_at) for due_at in dues], "dueTime": None}
    scene.schedule.client.ask("PATCH", scene.schedule.path("wait"), more)
    runs = (first, *[f"{due_at}-0" for due_at in dues])
    for run_id in runs[1:]:
        assert first in seen(scene, run_id, "waiting")["reason"]
    for turn, run_id in enumerate(runs, start=1):
        came = scene.receiver.wait("/wait", turn, within_s=90)
        assert tuple(each.headers["sweephand-run"] for each in came) == runs[:turn]
        seen(scene, run_id, "running")
        consumer, run = scene.schedule.consumer_of(came[-1])
        consumer.ask("POST", f"{run}/complete")
    assert [run["state"] for run in scene.schedule.runs("wait")] == ["succeeded"] * 3
