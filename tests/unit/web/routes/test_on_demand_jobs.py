"""Jobs with neither schedule nor dueTime over HTTP: their responses, and the calls that they refuse."""

import pytest
from tests.fakes.http_events import JOB, TARGET, Client

URL = "/v1/namespaces/ns/jobs/job"
ON_DEMAND = {"target": TARGET}


def test_a_job_with_a_schedule_or_a_due_time_has_no_field_on_demand(client: Client) -> None:
    assert "onDemand" not in client.put(job=JOB).json
    assert "onDemand" not in client.put(job={**ON_DEMAND, "dueTime": "10s"}).json


def test_the_description_of_a_job_on_demand_says_that_it_has_no_occurrences(client: Client) -> None:
    client.put(job={**ON_DEMAND, "ttl": "1h"})
    answer = client.send("GET", f"{URL}/occurrences")
    assert answer.json == {"occurrences": [], "skipped": [], "description": "Only on demand", "end": None}


def test_a_backfill_of_a_job_on_demand_gets_409(client: Client) -> None:
    client.put(job=ON_DEMAND)
    span = {"from": "2026-11-20T00:00:00Z", "to": "2026-11-21T00:00:00Z"}
    refused = client.send("POST", f"{URL}/backfill", span)
    assert refused.status == 409
    assert "only on demand" in refused.json["detail"]


def test_a_preview_without_a_schedule_or_a_due_time_is_refused() -> None:
    refused = Client().send("POST", "/v1/occurrences", {})
    assert refused.status == 422


@pytest.mark.parametrize("left", [{"jitter": "1m"}, {"catchup": {"mode": "all"}}])
def test_a_patch_to_a_job_on_demand_names_each_field_that_has_no_effect_any_more(
    client: Client,
    left: dict[str, object],
) -> None:
    client.put(job={**ON_DEMAND, "dueTime": "1h", **left})
    (name,) = left
    refused = client.send("PATCH", URL, {"dueTime": None})
    assert (refused.status, refused.pointers) == (422, [f"/{name}"])
    assert "leave it out" in refused.json["errors"][0]["detail"]
    assert client.send("PATCH", URL, {"dueTime": None, name: None}).status == 200


def test_delete_after_completion_may_be_false_for_a_job_on_demand() -> None:
    assert Client().put(job={**ON_DEMAND, "deleteAfterCompletion": False}).status == 201
