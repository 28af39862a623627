"""The deployed template obeys `overlap` for triggers that come due while a run of their job is not over."""

import time
from collections.abc import Mapping
from typing import Any

import pytest
from infra.local.receiver import Answer, Delivery
from tests.e2e.scene import Scene
from tests.e2e.schedule import eventually

from sweephand.base.instants import SECOND_MS, rfc3339

JOBS: dict[str, dict[str, Any]] = {
    "skip": {"overlap": "skip"},
    "wait": {"overlap": "wait"},
    "waitLatest": {"overlap": "waitLatest"},
    "one-waits": {"overlap": "wait", "waitLimit": 1},
}

#: The runs of one job, by the order of their due times.
RunIds = tuple[str, str, str]


@pytest.fixture(scope="module")
def ids(scene: Scene) -> Mapping[str, RunIds]:
    """The runs of each job: its consumer works on the first, and two more come due a second apart.

    They are asked for when the first is under way: who comes first would be anybody's guess otherwise.
    """
    for name in JOBS:
        scene.receiver.answer(f"/{name}", *[Answer(202)] * 4)
    whole = {"dueTime": "1s", "completion": "async"}
    scene.schedule.put_many(
        {name: whole | job | {"target": scene.target(name)} for name, job in JOBS.items()}
    )
    first = {name: scene.schedule.state_of(name, "running")["id"] for name in JOBS}
    next_at = time.time_ns() // 1_000_000 + 2 * SECOND_MS
    dues = (next_at, next_at + SECOND_MS)
    for name in JOBS:
        more = {"schedule": [rfc3339(due_at) for due_at in dues], "dueTime": None}
        scene.schedule.client.ask("PATCH", scene.schedule.path(name), more)
    return {name: (first[name], f"{dues[0]}-0", f"{dues[1]}-0") for name in JOBS}


def seen(scene: Scene, name: str, run_id: str, state: str) -> Any:
    """A run, as soon as it is seen in that state."""
    return eventually(lambda: [scene.schedule.run(name, run_id)], lambda run: run["state"] == state)


def complete(scene: Scene, delivery: Delivery) -> None:
    consumer, run = scene.schedule.consumer_of(delivery)
    consumer.ask("POST", f"{run}/complete")


def test_under_skip_a_trigger_due_during_a_run_is_skipped_and_a_later_one_is_delivered(
    scene: Scene, ids: Mapping[str, RunIds]
) -> None:
    _, *others = ids["skip"]
    for run_id in others:
        assert seen(scene, "skip", run_id, "skipped")["reason"] == "overlap"
    (first,) = scene.receiver.deliveries("/skip")
    complete(scene, first)
    later = scene.schedule.do("skip", "trigger")
    _, second = scene.receiver.wait("/skip", 2, within_s=90)
    assert second.headers["sweephand-run"] == later["id"]


def test_under_wait_triggers_due_during_a_run_are_delivered_in_order_one_after_the_other(
    scene: Scene, ids: Mapping[str, RunIds]
) -> None:
    first, *others = ids["wait"]
    for run_id in others:
        assert first in seen(scene, "wait", run_id, "waiting")["reason"]
    for turn, run_id in enumerate(ids["wait"], start=1):
        came = scene.receiver.wait("/wait", turn, within_s=90)
        assert tuple(each.headers["sweephand-run"] for each in came) == ids["wait"][:turn]
        seen(scene, "wait", run_id, "running")
        complete(scene, came[-1])
    assert [run["state"] for run in scene.schedule.runs("wait")] == ["succeeded"] * 3


def test_under_wait_latest_only_the_newest_waiting_trigger_is_kept(
    scene: Scene, ids: Mapping[str, RunIds]
) -> None:
    first, older, newest = ids["waitLatest"]
    assert seen(scene, "waitLatest", older, "skipped")["reason"] == "overlap"
    assert first in seen(scene, "waitLatest", newest, "waiting")["reason"]
    (delivery,) = scene.receiver.deliveries("/waitLatest")
    complete(scene, delivery)
    _, second = scene.receiver.wait("/waitLatest", 2, within_s=90)
    assert second.headers["sweephand-run"] == newest


def test_no_more_triggers_wait_than_the_wait_limit_of_the_job_allows(
    scene: Scene, ids: Mapping[str, RunIds]
) -> None:
    first, *others = ids["one-waits"]
    runs = eventually(
        lambda: [[scene.schedule.run("one-waits", run_id) for run_id in others]],
        lambda runs: {run["state"] for run in runs} == {"skipped", "waiting"},
    )
    assert {run["reason"] for run in runs} == {"overlap", f"Run {first} of this job is not over."}
    assert len(scene.receiver.deliveries("/one-waits")) == 1
