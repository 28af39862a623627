"""Runs on the deployed template: redrive, callbacks, missing heartbeats and chains."""

import json
from typing import Any

import pytest
from infra.local.client import Client
from tests.e2e.deliveries import ON_TIME_MS
from tests.e2e.schedule import Schedule, eventually
from tests.fakes.receiver import Answer, Delivery, Receiver

from sweephand.base.instants import SECOND_MS

#: A missing heartbeat is found within 10 s of its time. The silent consumer has 1 s to send one.
FOUND_MS = 11 * SECOND_MS


def accepted(schedule: Schedule, receiver: Receiver, name: str, **job: Any) -> Delivery:
    """The delivery of a trigger that its consumer accepted by 202, after the run is recorded as running."""
    receiver.answer(f"/{name}", Answer(202))
    target = {"type": "http", "url": receiver.url(f"/{name}")}
    schedule.put(name, dueTime="1s", completion="async", target=target, **job)
    (delivery,) = receiver.wait(f"/{name}", 1, within_s=90)
    schedule.state_of(name, "running")
    return delivery


def test_a_failed_run_is_listed_explained_and_redriven_by_its_own_call_and_by_a_bulk_call(
    schedule: Schedule, receiver: Receiver
) -> None:
    receiver.answer("/ill", Answer(422), Answer(422))
    target = {"type": "http", "url": receiver.url("/ill")}
    schedule.put("ill", dueTime="1s", target=target, labels={"team": "ops"})
    run = schedule.state_of("ill", "failed")
    failed = f"/v1/namespaces/{schedule.namespace}/runs?state=failed&label=team:ops"
    assert schedule.client.ask("GET", failed)["items"] == [{"job": "ill", **run}]
    said = schedule.client.ask("GET", f"{schedule.path('ill')}/explain")
    assert (said["verdict"], said["run"]) == ("failed", run)
    path = f"{schedule.path('ill')}/runs/{run['id']}/redrive"
    assert schedule.client.ask("POST", path)["attempt"] == 2
    receiver.wait("/ill", 2, within_s=90)
    eventually(lambda: [schedule.runs("ill")], lambda runs: runs[0]["attempts"] == 2)
    schedule.state_of("ill", "failed")
    bulk = f"/v1/namespaces/{schedule.namespace}/redrive"
    assert schedule.client.ask("POST", bulk, {"labels": {"team": "dev"}}) == {"count": 0}
    assert schedule.client.ask("POST", bulk, {"labels": {"team": "ops"}}) == {"count": 1}
    assert schedule.state_of("ill", "succeeded")["attempts"] == 3
    assert schedule.client.ask("GET", failed)["items"] == []
    assert len({each.trigger_id for each in receiver.deliveries("/ill")}) == 1
    assert schedule.client.call("POST", path).status == 409
    # Each attempt was counted, by the function that made it.
    stats = f"/v1/namespaces/{schedule.namespace}/stats"
    found = eventually(
        lambda: [schedule.client.ask("GET", stats)["steps"]],
        lambda steps: sum(each["failed"] + each["succeeded"] for each in steps) >= 3,
    )
    assert [sum(each[outcome] for each in found) for outcome in ("failed", "succeeded")] == [2, 1]
    assert sum(each["attempts"] for step in found for each in step["lateness"]) == 1


def test_a_run_token_is_good_for_reports_on_its_own_run_and_for_nothing_else(
    schedule: Schedule, receiver: Receiver
) -> None:
    consumer, run = schedule.consumer_of(accepted(schedule, receiver, "slow"))
    beaten = consumer.call("POST", f"{run}/heartbeat")
    assert (beaten.status, beaten.body["state"]) == (200, "running")
    assert consumer.call("GET", run).status in {401, 403}
    assert consumer.call("GET", "/v1/limits").status in {401, 403}
    forged = Client(schedule.client.api_url, "shr_" + "x" * 43)
    assert forged.call("POST", f"{run}/complete").status == 410
    assert consumer.call("POST", f"{run}/complete").status == 200
    assert schedule.state_of("slow", "succeeded")["attempts"] == 1
    assert consumer.call("POST", f"{run}/heartbeat").status == 410


def test_a_chain_of_three_jobs_runs_in_order_and_notifies_its_last_target(
    schedule: Schedule, receiver: Receiver
) -> None:
    last = {"type": "http", "url": receiver.url("/told")}
    for name, after in (
        ("load", last),
        ("transform", {"type": "job", "name": "load"}),
        ("extract", {"type": "job", "name": "transform"}),
    ):
        due = "1s" if name == "extract" else "2099-01-01T00:00:00Z"
        target = {"type": "http", "url": receiver.url(f"/{name}")}
        schedule.put(name, dueTime=due, target=target, onComplete=after)
    (told,) = receiver.wait("/told", 1, within_s=90)
    assert told.is_signed
    assert told.headers["sweephand-event"] == "end"
    assert [len(receiver.deliveries(f"/{name}")) for name in ("extract", "transform", "load")] == [1, 1, 1]
    arrived = [receiver.deliveries(f"/{name}")[0].arrived_at for name in ("extract", "transform", "load")]
    assert arrived == sorted(arrived)
    assert schedule.runs("load")[0]["id"].startswith("chained-")


@pytest.mark.comes_last
def test_a_run_without_a_heartbeat_counts_as_failed_and_is_tried_again(silent: Receiver) -> None:
    first, second = silent.wait("/silent", 2, within_s=90)
    assert second.arrived_at - first.arrived_at < FOUND_MS + ON_TIME_MS
    assert [each.headers["sweephand-attempt"] for each in (first, second)] == ["1", "2"]
    assert first.trigger_id == second.trigger_id
    assert first.headers["sweephand-run-token"] != second.headers["sweephand-run-token"]


@pytest.mark.comes_last
def test_a_watch_tells_of_the_job_that_has_not_succeeded_in_time(watched: Receiver) -> None:
    # The rebuild of the test of losses repeats the check, and an alert that is repeated has the same id.
    (alert,) = {each.trigger_id: each for each in watched.wait("/alerts", 1, within_s=100)}.values()
    assert alert.is_signed
    assert alert.headers["sweephand-event"] == "alert"
    told = json.loads(alert.body)
    assert (told["job"], told["missed"], told["lastRun"]["state"]) == ("failing", 1, "failed")
    assert alert.trigger_id == told["alertId"]
    (failed,) = watched.deliveries("/failing")
    assert alert.arrived_at - failed.arrived_at > 60 * SECOND_MS - ON_TIME_MS
