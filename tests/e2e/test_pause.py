"""A job of the deployed template is paused while its trigger is in the queue, and resumed later."""

import json
import time

from tests.e2e.deliveries import dues_of, instant
from tests.e2e.scene import Scene

from sweephand.base.instants import SECOND_MS, Instant, rfc3339

REASON = "The database moves tonight."


def _wait_beyond(scene: Scene, name: str, due_at: Instant) -> None:
    """Wait until the stack has delivered a job that is due then. Earlier triggers come before it."""
    scene.schedule.put(name, dueTime=rfc3339(due_at), target=scene.target(name))
    scene.receiver.wait(f"/{name}", 1, within_s=90)


def test_a_pause_holds_what_is_in_the_queue_and_a_resume_fires_the_newest_occurrence(scene: Scene) -> None:
    ask = scene.schedule.client.ask
    first_at = (time.time_ns() // 1_000_000 // SECOND_MS + 7) * SECOND_MS
    dues = tuple(first_at + after_ms for after_ms in (0, SECOND_MS, 2 * SECOND_MS))
    times = [rfc3339(due_at) for due_at in dues]
    scene.schedule.put("job", schedule=times, labels={"moved": "tonight"}, target=scene.target("job"))
    many = {"labels": {"moved": "tonight"}, "reason": REASON}
    assert ask("POST", f"/v1/namespaces/{scene.schedule.namespace}/pause", many) == {"count": 1}
    by_hand = scene.schedule.do("job", "trigger", {"data": "by hand"})
    _wait_beyond(scene, "witness", dues[-1] + SECOND_MS)

    paused = ask("GET", scene.schedule.path("job"))
    assert (paused["state"], paused["pauseReason"], paused["nextRun"]) == ("paused", REASON, None)
    assert instant(paused["pausedAt"]) < dues[0], "it fell due before the pause; the machine stalled"
    (delivery,) = scene.receiver.deliveries("/job")
    assert (delivery.headers["sweephand-run"], json.loads(delivery.body)) == (by_hand["id"], "by hand")
    waiting = scene.schedule.run("job", f"{dues[0]}-0")
    assert (waiting["state"], waiting["reason"]) == ("waiting", f"The job is paused: {REASON}")

    scene.schedule.do("job", "resume")
    # A held message is put back for as long as its pause has lasted. It has come back by then.
    now = time.time_ns() // 1_000_000
    _wait_beyond(scene, "later", now + (now - instant(paused["pausedAt"])) + SECOND_MS)
    assert dues_of(scene.receiver.deliveries("/job")[1:]) == [dues[-1]]
    (record,) = [run for run in scene.schedule.runs("job") if run["state"] == "skipped"]
    assert (record["reason"], record["count"]) == ("misfire", 2)
    assert (instant(record["dueAt"]), instant(record["lastDueAt"])) == dues[:2]
