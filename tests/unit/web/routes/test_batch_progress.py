"""The progress of batches over HTTP: counts, state, the estimated end, and the list of batches."""

from typing import Any

import pytest
from tests.fakes.http_events import TARGET, Client
from tests.fakes.world import NOON

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.model.attempt import Answer
from sweephand.model.job import EARLIER_REVISIONS_MAX

URL = "/v1/namespaces/ns/jobs/job"
DUE = NOON + 10 * SECOND_MS
HOURLY = {"dueTime": "10s", "target": TARGET, "batch": {"count": 60, "window": "1h"}}


def shown(client: Client, batch: object = DUE) -> dict[str, Any]:
    answer = client.send("GET", f"{URL}/batches/{batch}")
    assert answer.status == 200, answer.text
    found: dict[str, Any] = answer.json
    return found


def begun(**written: Any) -> Client:
    client = Client()
    client.put(job={**HOURLY, **written})
    return client


def test_a_batch_shows_its_counts_and_when_it_will_be_over() -> None:
    client = begun()
    client.world.run_until(DUE + 20 * MINUTE_MS + 1)
    assert shown(client) == {
        "id": str(DUE),
        "dueAt": "2026-11-21T12:00:10.000Z",
        "state": "running",
        "total": 60,
        "succeeded": 21,
        "failed": 0,
        "cancelled": 0,
        "endedAt": None,
        "overran": False,
        "estimatedEndAt": "2026-11-21T12:59:10.000Z",
    }


def test_a_batch_that_has_ended_shows_when_and_how() -> None:
    client = begun()
    client.world.consumers.answering = lambda each: Answer(
        each.trigger.index != 7, code=422, is_final=each.trigger.index == 7
    )
    client.world.run_until(DUE + 2 * HOUR_MS)
    batch = shown(client)
    assert (batch["state"], batch["succeeded"], batch["failed"]) == ("failed", 59, 1)
    assert (batch["endedAt"], batch["estimatedEndAt"]) == ("2026-11-21T12:59:10.000Z", None)
    client.world.consumers.answering = lambda _: Answer(succeeded=True, code=200)
    client.world.redrive(f"{DUE}-7")
    client.world.run_until(client.world.clock.time + MINUTE_MS)
    batch = shown(client)
    assert (batch["state"], batch["succeeded"], batch["failed"]) == ("succeeded", 60, 0)
    assert batch["endedAt"] == "2026-11-21T12:59:10.000Z"
    (listed,) = client.send("GET", f"{URL}/batches").json["items"]
    assert listed["end"] == batch["end"], "a redrive does not change how the batch had ended"
    assert listed["end"] == {"state": "failed", "succeeded": 59, "failed": 1, "cancelled": 0}


def test_a_batch_is_shown_before_its_first_run_is_over() -> None:
    client = begun(retry={"initialDelay": "10m"})
    client.world.consumers.answering = lambda _: Answer(succeeded=False, code=503)
    assert shown(client)["state"] == "scheduled"
    client.world.run_until(DUE + SECOND_MS)
    batch = shown(client)
    assert (batch["state"], batch["succeeded"], batch["total"]) == ("running", 0, 60)
    assert batch["estimatedEndAt"] == "2026-11-21T12:59:10.000Z"


def test_a_paused_batch_waits_and_that_of_a_deleted_job_is_cancelled() -> None:
    client = begun()
    client.world.run_until(DUE + 10 * MINUTE_MS + 1)
    client.send("POST", f"{URL}/pause")
    batch = shown(client)
    assert (batch["state"], batch["succeeded"], batch["estimatedEndAt"]) == ("waiting", 11, None)
    client.send("DELETE", URL)
    assert (shown(client)["state"], shown(client)["succeeded"]) == ("cancelled", 11)


def test_a_batch_by_hand_has_the_name_of_its_runs_without_the_index_and_the_trigger_says_it() -> None:
    client = Client()
    client.put(job={"target": TARGET, "batch": {"count": 3}})
    made = client.send("POST", f"{URL}/trigger").json
    kind, due, _, token = made["id"].split("-")
    name = f"{kind}-{due}-{token}"
    assert made["batchId"] == name
    assert (shown(client, name)["state"], shown(client, name)["total"]) == ("running", 3)
    client.world.run_until(NOON + SECOND_MS)
    assert (shown(client, name)["state"], shown(client, name)["succeeded"]) == ("succeeded", 3)


def test_batches_are_listed_from_the_newest_on(client: Client) -> None:
    client.put(job={"schedule": "@every 1h", "target": TARGET, "batch": {"count": 2, "window": "1m"}})
    assert client.send("GET", f"{URL}/batches").json == {"items": []}
    client.world.run_until(NOON + 3 * HOUR_MS + SECOND_MS)
    first = client.send("GET", f"{URL}/batches?limit=2").json
    assert [each["dueAt"] for each in first["items"]] == [
        "2026-11-21T15:00:00.000Z",
        "2026-11-21T14:00:00.000Z",
    ]
    assert [each["endedAt"] for each in first["items"]] == [None, "2026-11-21T14:00:30.000Z"]
    assert first["items"][0].keys() == {"id", "dueAt", "total", "endedAt", "overran"}
    ended = {"state": "succeeded", "succeeded": 2, "failed": 0, "cancelled": 0}
    assert first["items"][1]["end"] == ended
    rest = client.send("GET", f"{URL}/batches?limit=2&cursor={first['nextCursor']}").json
    assert [each["id"] for each in rest["items"]] == [str(NOON + HOUR_MS)]
    assert "nextCursor" not in rest


def test_a_batch_that_does_not_exist_is_not_found() -> None:
    client = begun()
    for name in (DUE + 1, f"{DUE}-0", "x", f"backfill-{DUE}-abc", f"manual-{NOON - DAY_MS}-abc"):
        assert client.send("GET", f"{URL}/batches/{name}").status == 404, name
    assert client.send("GET", "/v1/namespaces/ns/jobs/other/batches").status == 404
    client.put("single", job={"dueTime": "10s", "target": TARGET})
    assert client.send("GET", f"/v1/namespaces/ns/jobs/single/batches/{DUE}").status == 404


def test_a_job_that_keeps_no_progress_says_why() -> None:
    client = begun(history="failures")
    client.world.run_until(DUE + MINUTE_MS)
    refused = client.send("GET", f"{URL}/batches/{DUE}")
    assert refused.status == 409
    assert 'its history is "failures" and it has no onComplete' in refused.json["detail"]


def run_of(client: Client, index: int, batch: object = DUE) -> Any:
    return client.send("GET", f"{URL}/runs/{batch}-{index}")


def retried() -> Client:
    """A batch of which each attempt has failed, so that no run is over."""
    client = begun(retry={"initialDelay": "1h"})
    client.world.consumers.answering = lambda _: Answer(succeeded=False, code=503)
    client.world.run_until(DUE + MINUTE_MS)
    return client


@pytest.mark.parametrize("size", [7, 100])
def test_a_batch_of_which_no_run_is_over_is_shown_as_it_began_after_updates(size: int) -> None:
    client = retried()
    before = shown(client)
    client.send("PATCH", URL, {"description": "new"})
    assert shown(client) == before
    client.send("PATCH", URL, {"batch": {"count": size, "window": "1m"}})
    client.send("PATCH", URL, {"description": "newer"})
    assert shown(client) == before
    assert before["total"] == 60


@pytest.mark.parametrize("size", [7, 100])
def test_the_runs_of_a_batch_that_has_begun_are_shown_as_it_began_after_updates(size: int) -> None:
    client = retried()
    before = run_of(client, 59).json
    client.send("PATCH", URL, {"description": "new"})
    assert run_of(client, 59).json == before
    client.send("PATCH", URL, {"batch": {"count": size, "window": "1m"}})
    assert run_of(client, 59).json == before
    assert run_of(client, 60).status == 404
    client.world.clock.time = DUE + 59 * MINUTE_MS
    assert run_of(client, 59).json["state"] == "enqueued"
    client.send("POST", f"{URL}/pause", {})
    assert run_of(client, 59).json["state"] == "waiting"


def test_a_batch_is_shown_as_it_began_after_more_updates_than_its_job_remembers() -> None:
    client = retried()
    before = shown(client), run_of(client, 59).json
    for number in range(2 * EARLIER_REVISIONS_MAX):
        client.world.clock.time += 1
        client.send("PATCH", URL, {"description": str(number)})
    client.send("PATCH", URL, {"batch": {"count": 7, "window": "1m"}})
    client.send("PATCH", URL, {"description": "newer"})
    assert (shown(client), run_of(client, 59).json) == before


def test_the_runs_of_a_batch_are_not_found_after_a_change_of_their_records() -> None:
    """Those that succeeded before the change have left none."""
    client = begun(history="failures", onComplete={"type": "http", "url": "https://consumer.example/end"})
    client.world.run_until(DUE + 5 * MINUTE_MS)
    client.send("PATCH", URL, {"history": "full"})
    assert run_of(client, 3).status == 404
    assert shown(client)["succeeded"] == 6


def test_a_batch_by_hand_in_a_pause_is_shown_after_the_resume(client: Client) -> None:
    client.put(job={"schedule": "@every 10m", "target": TARGET, "batch": {"count": 3, "window": "1m"}})
    client.send("POST", f"{URL}/pause", {})
    client.world.clock.time += 15 * MINUTE_MS
    first = client.send("POST", f"{URL}/trigger").json["id"]
    client.world.clock.time += 10 * MINUTE_MS
    client.send("POST", f"{URL}/resume", {"catchup": "none"})
    assert client.send("GET", f"{URL}/runs/{first}").json["state"] == "enqueued"
    due, token = first.split("-")[1], first.split("-")[3]
    assert shown(client, f"manual-{due}-{token}")["total"] == 3
