"""Jobs of the deployed template that are paused with messages in the queue, and resumed.

One story for all tests of this module: its jobs are paused and resumed together, so that they wait together.
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
    """What was seen of the jobs while they were paused: each job, its deliveries, and a trigger to come."""

    dues: tuple[Instant, ...]
    jobs: Mapping[str, Any]
    deliveries: Mapping[str, Sequence[Delivery]]
    trigger: Any
    by_hand: Any


@pytest.fixture(scope="module")
def night(scene: Scene) -> Night:
    """The story, when all of it has been told.

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
    # What is held is put back for as long as its pause has lasted: it has come round again by then.
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
    """Wait until the stack has delivered what is due then: what was due before would have come, too."""
    scene.schedule.put(name, dueTime=rfc3339(due_at), target=scene.target(name))
    scene.receiver.wait(f"/{name}", 1, within_s=60)


def records(scene: Scene, name: str) -> list[Any]:
    return [run for run in scene.schedule.runs(name) if run["state"] == "skipped"]


def of_schedule(deliveries: Sequence[Delivery]) -> list[Delivery]:
    """Those that nobody asked for by hand."""
    return [each for each in deliveries if not each.headers["sweephand-run"].startswith("manual-")]


def test_a_paused_job_is_not_delivered_though_it_is_in_the_queue(night: Night) -> None:
    for name, job in night.jobs.items():
        assert (job["state"], job["pauseReason"], job["nextRun"]) == ("paused", REASON, None)
        assert instant(job["pausedAt"]) < night.dues[0], "it fell due before the pause; the machine stalled"
        before = 1 if name == "retrying" else 0
        assert len(of_schedule(night.deliveries[name])) == before
    assert (night.trigger["state"], night.trigger["reason"]) == ("waiting", f"The job is paused: {REASON}")


def test_a_resumed_job_fires_the_newest_of_what_it_has_missed(night: Night, scene: Scene) -> None:
    fired = of_schedule(scene.receiver.deliveries("/latest"))
    assert dues_of(fired) == [night.dues[-1]]
    (record,) = records(scene, "latest")
    assert (record["reason"], record["count"]) == ("misfire", 2)
    assert (instant(record["dueAt"]), instant(record["lastDueAt"])) == night.dues[:2]


def test_a_resumed_job_fires_all_of_what_it_has_missed_if_asked_to(night: Night, scene: Scene) -> None:
    assert dues_of(scene.receiver.deliveries("/all")) == list(night.dues)
    assert not records(scene, "all")


def test_a_resumed_job_fires_nothing_of_what_it_has_missed_if_asked_to(night: Night, scene: Scene) -> None:
    assert not scene.receiver.deliveries("/none")
    (record,) = records(scene, "none")
    assert (record["reason"], record["count"]) == ("misfire", 3)
    assert instant(record["lastDueAt"]) == night.dues[-1]
    assert scene.schedule.client.ask("GET", scene.schedule.path("none"))["state"] == "completed"


def test_a_retry_that_a_pause_held_back_goes_on_after_it(night: Night, scene: Scene) -> None:
    (first,) = night.deliveries["retrying"]
    _, second = scene.receiver.wait("/retrying", 2, within_s=30)
    assert second.headers["sweephand-attempt"] == "2"
    assert second.trigger_id == first.trigger_id
    assert scene.schedule.state_of("retrying", "succeeded")["attempts"] == 2


def test_a_paused_job_fires_when_somebody_asks_for_it(night: Night, scene: Scene) -> None:
    (delivery,) = night.deliveries["latest"]
    assert json.loads(delivery.body) == "by hand"
    assert delivery.headers["sweephand-run"] == night.by_hand["id"]
    assert delivery.arrived_at < night.dues[0]
    (run,) = (run for run in scene.schedule.runs("latest") if run["id"] == night.by_hand["id"])
    assert run["state"] == "succeeded"


def test_a_job_that_is_patched_stays_paused_and_goes_on_as_patched(night: Night, scene: Scene) -> None:
    assert night.jobs["all"]["state"] == "paused"
    assert {each.body for each in scene.receiver.deliveries("/all")} == {b'"patched"'}
    path = f"{scene.schedule.path('all')}/changes"
    changes = scene.schedule.client.ask("GET", path)["items"]
    assert [change["what"] for change in changes] == ["resumed", "patched", "paused", "created"]
    assert changes[2]["reason"] == REASON


def test_a_job_that_is_deleted_with_others_is_not_delivered(night: Night, scene: Scene) -> None:
    assert not night.deliveries["deleted"]
    assert not scene.receiver.deliveries("/deleted")
    assert scene.schedule.client.call("GET", scene.schedule.path("deleted")).status == 404
