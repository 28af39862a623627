"""Jobs of the deployed template are paused while their triggers are in the queue, and resumed later.

All tests of this module share one scenario, so that they wait for its times together.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from infra.local.receiver import Answer, Delivery
from tests.e2e.deliveries import dues_of, instant
from tests.e2e.scene import Scene

from sweephand.base.instants import SECOND_MS, Instant, rfc3339

REASON = "The database moves tonight."
LABELS = {"moved": "tonight"}


@dataclass(frozen=True)
class Night:
    """The state during the pause: the jobs, their deliveries, a trigger that waits, and a trigger by hand."""

    dues: tuple[Instant, ...]
    jobs: Mapping[str, Any]
    deliveries: Mapping[str, Sequence[Delivery]]
    trigger: Any
    by_hand: Any


@pytest.fixture(scope="module")
def night(scene: Scene) -> Night:
    """The scenario, after all of its steps.

    `latest`, `all` and `none` fall due three times during the pause; `retrying` has failed before it, and is
    to be tried again during it. `deleted` is deleted when the others are paused.
    """
    first_at = (time.time_ns() // 1_000_000 // SECOND_MS + 7) * SECOND_MS
    dues = tuple(first_at + after_ms for after_ms in (0, SECOND_MS, 2 * SECOND_MS))
    _write(scene, dues)
    whole = f"/v1/namespaces/{scene.schedule.namespace}"
    ask = scene.schedule.client.ask
    scene.schedule.state_of("retrying", "retrying")
    assert ask("POST", f"{whole}/pause", {"labels": LABELS, "reason": REASON}) == {"count": 4}
    assert ask("DELETE", f"{whole}/jobs?prefix=deleted&label=moved:away") == {"count": 1}
    by_hand = scene.schedule.do("latest", "trigger", {"data": "by hand"})
    ask("PATCH", scene.schedule.path("all"), {"data": "patched"})
    _wait_beyond(scene, "witness", dues[-1] + SECOND_MS)
    names = ("latest", "all", "none", "retrying")
    seen = Night(
        dues,
        {name: ask("GET", scene.schedule.path(name)) for name in names},
        {name: scene.receiver.deliveries(f"/{name}") for name in (*names, "deleted")},
        scene.schedule.run("none", f"{dues[0]}-0"),
        by_hand,
    )
    scene.schedule.do("latest", "resume")
    scene.schedule.do("all", "resume", {"catchup": "all"})
    scene.schedule.do("none", "resume", {"catchup": "none"})
    assert ask("POST", f"{whole}/resume", {"prefix": "retr"}) == {"count": 1}
    # A held message is put back for as long as its pause has lasted. It has come back by then.
    paused_at = instant(seen.jobs["none"]["pausedAt"])
    now = time.time_ns() // 1_000_000
    _wait_beyond(scene, "later", now + (now - paused_at) + SECOND_MS)
    return seen


def _write(scene: Scene, dues: Sequence[Instant]) -> None:
    scene.receiver.answer("/retrying", Answer(503))
    missed = {"schedule": [rfc3339(due_at) for due_at in dues], "data": "as written"}
    jobs: dict[str, dict[str, Any]] = {
        "latest": missed,
        "all": missed,
        "none": missed,
        "retrying": {
            "schedule": [rfc3339(dues[0] - 5 * SECOND_MS), "2099-01-01T00:00:00Z"],
            "retry": {"initialDelay": "6s"},
        },
    }
    jobs = {name: job | {"labels": LABELS} for name, job in jobs.items()}
    jobs["deleted"] = missed | {"labels": {"moved": "away"}}
    scene.schedule.put_many({name: job | {"target": scene.target(name)} for name, job in jobs.items()})


def _wait_beyond(scene: Scene, name: str, due_at: Instant) -> None:
    """Wait until the stack has delivered a job that is due then. Earlier triggers come before it."""
    scene.schedule.put(name, dueTime=rfc3339(due_at), target=scene.target(name))
    scene.receiver.wait(f"/{name}", 1, within_s=90)


def records(scene: Scene, name: str) -> list[Any]:
    return [run for run in scene.schedule.runs(name) if run["state"] == "skipped"]


def of_schedule(deliveries: Sequence[Delivery]) -> list[Delivery]:
    """The deliveries whose triggers were not made by hand."""
    return [each for each in deliveries if not each.headers["sweephand-run"].startswith("manual-")]


def test_a_trigger_in_the_queue_is_not_delivered_while_its_job_is_paused(night: Night) -> None:
    for name, job in night.jobs.items():
        assert (job["state"], job["pauseReason"], job["nextRun"]) == ("paused", REASON, None)
        assert instant(job["pausedAt"]) < night.dues[0], "it fell due before the pause; the machine stalled"
        before = 1 if name == "retrying" else 0
        assert len(of_schedule(night.deliveries[name])) == before
    assert (night.trigger["state"], night.trigger["reason"]) == ("waiting", f"The job is paused: {REASON}")


def test_a_resume_fires_the_newest_occurrence_that_the_pause_held_back(night: Night, scene: Scene) -> None:
    fired = of_schedule(scene.receiver.deliveries("/latest"))
    assert dues_of(fired) == [night.dues[-1]]
    (record,) = records(scene, "latest")
    assert (record["reason"], record["count"]) == ("misfire", 2)
    assert (instant(record["dueAt"]), instant(record["lastDueAt"])) == night.dues[:2]


def test_a_resume_with_catch_up_all_fires_every_occurrence_that_the_pause_held_back(
    night: Night, scene: Scene
) -> None:
    assert dues_of(scene.receiver.deliveries("/all")) == list(night.dues)
    assert not records(scene, "all")


def test_a_resume_with_catch_up_none_fires_no_occurrence_that_the_pause_held_back(
    night: Night, scene: Scene
) -> None:
    assert not scene.receiver.deliveries("/none")
    (record,) = records(scene, "none")
    assert (record["reason"], record["count"]) == ("misfire", 3)
    assert instant(record["lastDueAt"]) == night.dues[-1]
    assert scene.schedule.client.ask("GET", scene.schedule.path("none"))["state"] == "completed"


def test_a_retry_that_a_pause_held_back_is_made_after_the_resume(night: Night, scene: Scene) -> None:
    (first,) = night.deliveries["retrying"]
    _, second = scene.receiver.wait("/retrying", 2, within_s=90)
    assert second.headers["sweephand-attempt"] == "2"
    assert second.trigger_id == first.trigger_id
    assert scene.schedule.state_of("retrying", "succeeded")["attempts"] == 2


def test_a_trigger_by_hand_is_delivered_while_its_job_is_paused(night: Night, scene: Scene) -> None:
    (delivery,) = night.deliveries["latest"]
    assert json.loads(delivery.body) == "by hand"
    assert delivery.headers["sweephand-run"] == night.by_hand["id"]
    assert delivery.arrived_at < night.dues[0]
    (run,) = (run for run in scene.schedule.runs("latest") if run["id"] == night.by_hand["id"])
    assert run["state"] == "succeeded"


def test_a_patched_job_stays_paused_and_is_delivered_as_patched_after_the_resume(
    night: Night, scene: Scene
) -> None:
    assert night.jobs["all"]["state"] == "paused"
    assert {each.body for each in scene.receiver.deliveries("/all")} == {b'"patched"'}
    path = f"{scene.schedule.path('all')}/changes"
    changes = scene.schedule.client.ask("GET", path)["items"]
    assert [change["what"] for change in changes] == ["resumed", "patched", "paused", "created"]
    assert changes[2]["reason"] == REASON


def test_a_job_that_a_bulk_call_deletes_is_not_delivered(night: Night, scene: Scene) -> None:
    assert not night.deliveries["deleted"]
    assert not scene.receiver.deliveries("/deleted")
    assert scene.schedule.client.call("GET", scene.schedule.path("deleted")).status == 404
