"""Jobs with neither schedule nor dueTime over HTTP: their responses, and the calls that they refuse."""

import pytest
from tests.fakes.http_events import JOB, TARGET, Client
from tests.fakes.world import NOON

URL = "/v1/namespaces/ns/jobs/job"
ON_DEMAND = {"target": TARGET}


def test_a_job_on_demand_is_shown_as_active_without_a_next_run() -> None:
    client = Client()
    created = client.put(job=ON_DEMAND)
    assert created.status == 201
    for shown in (created.json, client.get().json):
        assert (shown["state"], shown["nextRun"], shown["onDemand"]) == ("active", None, True)
        assert "expiresAt" not in shown
    assert client.put(job=ON_DEMAND).status == 200
    assert client.get().etag == created.etag


def test_a_job_with_a_schedule_or_a_due_time_has_no_field_on_demand() -> None:
    client = Client()
    assert "onDemand" not in client.put(job=JOB).json
    assert "onDemand" not in client.put(job={**ON_DEMAND, "dueTime": "10s"}).json


def test_a_job_on_demand_is_triggered_paused_and_resumed() -> None:
    client = Client()
    client.put(job=ON_DEMAND)
    assert client.send("POST", f"{URL}/pause").json["state"] == "paused"
    assert client.send("POST", f"{URL}/trigger").status == 202
    client.world.run_until(NOON + 1_000)
    assert client.get().json["lastRun"]["state"] == "succeeded"
    assert client.send("POST", f"{URL}/resume").json["state"] == "active"


def test_the_description_of_a_job_on_demand_says_that_it_has_no_occurrences() -> None:
    client = Client()
    client.put(job={**ON_DEMAND, "ttl": "1h"})
    answer = client.send("GET", f"{URL}/occurrences")
    assert answer.json == {"occurrences": [], "skipped": [], "description": "Only on demand", "end": None}


def test_a_backfill_of_a_job_on_demand_gets_409() -> None:
    client = Client()
    client.put(job=ON_DEMAND)
    span = {"from": "2026-11-20T00:00:00Z", "to": "2026-11-21T00:00:00Z"}
    refused = client.send("POST", f"{URL}/backfill", span)
    assert refused.status == 409
    assert "only on demand" in refused.json["detail"]


def test_a_preview_without_a_schedule_or_a_due_time_is_refused() -> None:
    refused = Client().send("POST", "/v1/occurrences", {})
    assert refused.status == 422


def test_a_bulk_call_creates_jobs_on_demand() -> None:
    client = Client()
    jobs = [{"name": "a", **ON_DEMAND}, {"name": "b", **ON_DEMAND, "ttl": "1h"}]
    results = client.send("POST", "/v1/namespaces/ns/jobs", {"jobs": jobs}).json["results"]
    assert [each["status"] for each in results] == [201, 201]


def test_removing_the_due_time_of_a_one_off_leaves_a_job_on_demand() -> None:
    client = Client()
    client.put(job={**ON_DEMAND, "dueTime": "1h"})
    patched = client.send("PATCH", URL, {"dueTime": None})
    assert patched.status == 200
    assert (patched.json["state"], patched.json["nextRun"], patched.json["onDemand"]) == (
        "active",
        None,
        True,
    )
    client.world.run_until(NOON + 2 * 3_600_000)
    assert not client.world.consumers.attempts


@pytest.mark.parametrize("left", [{"jitter": "1m"}, {"catchup": {"mode": "all"}}])
def test_a_patch_to_a_job_on_demand_names_each_field_that_has_no_effect_any_more(
    left: dict[str, object],
) -> None:
    client = Client()
    client.put(job={**ON_DEMAND, "dueTime": "1h", **left})
    (name,) = left
    refused = client.send("PATCH", URL, {"dueTime": None})
    assert (refused.status, refused.pointers) == (422, [f"/{name}"])
    assert "leave it out" in refused.json["errors"][0]["detail"]
    assert client.send("PATCH", URL, {"dueTime": None, name: None}).status == 200


def test_delete_after_completion_may_be_false_for_a_job_on_demand() -> None:
    assert Client().put(job={**ON_DEMAND, "deleteAfterCompletion": False}).status == 201
