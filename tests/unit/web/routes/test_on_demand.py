"""Triggers on demand over HTTP, and jobs with neither schedule nor dueTime."""

from typing import Any

import pytest
from tests.fakes.http_events import JOB, TARGET, Client
from tests.fakes.world import NOON

URL = "/v1/namespaces/ns/jobs/job"


def test_a_job_is_triggered_and_its_run_is_found_by_its_name(client: Client) -> None:
    client.put(job={**JOB, "data": {"a": 1}})
    client.send("POST", f"{URL}/pause")
    made = client.send("POST", f"{URL}/trigger")
    assert made.status == 202
    assert made.json.keys() == {"id", "triggerId", "dueAt"}
    assert made.json["dueAt"] == "2026-11-21T12:00:00.000Z"
    assert client.send("GET", f"{URL}/runs/{made.json['id']}").json["state"] == "enqueued"
    client.world.run_until(NOON + 1_000)
    run = client.send("GET", f"{URL}/runs/{made.json['id']}")
    assert (run.status, run.json["state"]) == (200, "succeeded")
    assert run.json["triggerId"] == made.json["triggerId"] == client.world.consumers.ids[0]
    assert [each["id"] for each in client.send("GET", f"{URL}/runs").json["items"]] == [made.json["id"]]
    assert client.get().json["lastRun"]["id"] == made.json["id"]


@pytest.mark.parametrize("text", ["1.10", "null", '{"a":[1E400]}'])
def test_the_data_of_a_trigger_by_hand_is_delivered_as_it_was_written(client: Client, text: str) -> None:
    client.put(job={**JOB, "data": 7})
    assert client.send("POST", f"{URL}/trigger", text=f'{{"data": {text}}}').status == 202
    client.world.run_until(NOON + 1_000)
    assert [each.body for each in client.world.consumers.attempts] == [text.encode()]


@pytest.mark.parametrize("options", [{}, {"text": ""}, {"body": {}}])
def test_a_trigger_by_hand_without_data_delivers_the_jobs_data(options: dict[str, Any]) -> None:
    client = Client()
    client.put(job={**JOB, "data": 7})
    client.send("POST", f"{URL}/trigger", **options)
    client.world.run_until(NOON + 1_000)
    assert [each.body for each in client.world.consumers.attempts] == [b"7"]


def test_data_of_a_trigger_is_refused_if_the_method_of_the_target_carries_none(client: Client) -> None:
    client.put(job={"schedule": "@every 1h", "target": {**TARGET, "method": "GET"}})
    assert client.send("POST", f"{URL}/trigger").status == 202
    refused = client.send("POST", f"{URL}/trigger", {"data": 1})
    assert (refused.status, refused.pointers) == (422, ["/data"])


def test_data_over_its_limit_is_too_large(client: Client) -> None:
    client.put()
    assert client.send("POST", f"{URL}/trigger", {"data": "x" * 262_144}).status == 413


def test_a_backfill_answers_with_its_count_and_its_runs_can_be_read(client: Client) -> None:
    client.put(job={"schedule": "*/10 * * * *", "target": TARGET})
    made = client.send(
        "POST", f"{URL}/backfill", {"from": "2026-11-21T10:00:00Z", "to": "2026-11-21T12:00:00+01:00"}
    )
    assert (made.status, made.json["count"]) == (202, 6)
    client.world.run_until(NOON + 1_000)
    for run_id in (made.json["firstId"], made.json["lastId"]):
        run = client.send("GET", f"{URL}/runs/{run_id}")
        assert (run.status, run.json["state"], run.json["latenessMs"]) == (200, "succeeded", None)
    assert len(client.send("GET", f"{URL}/runs").json["items"]) == 6


@pytest.mark.parametrize(
    ("verb", "body", "pointers"),
    [
        ("trigger", {"payload": 1}, ["/payload"]),
        ("trigger", [], [""]),
        ("backfill", {}, ["/from", "/to"]),
        ("backfill", {"from": "yesterday", "to": 7}, ["/from", "/to"]),
        ("backfill", {"from": "yesterday", "to": "2026-11-21T11:00:00"}, ["/from", "/to"]),
        ("backfill", {"from": "2026-11-21T11:00:00Z", "to": "2026-11-21T13:00:00Z"}, ["/to"]),
        ("backfill", {"from": "2026-11-21T11:00:00Z", "to": "2026-11-21T11:00:00Z"}, ["/from"]),
        ("backfill", {"from": "0001-01-01T00:00:00Z", "to": "2026-11-21T11:00:00Z"}, ["/from"]),
        ("backfill", {"from": "1969-12-31T23:59:59Z", "to": "1970-01-02T00:00:00Z"}, ["/from"]),
        ("backfill", {"from": None, "to": None, "since": 1}, ["/from", "/to", "/since"]),
    ],
)
def test_an_invalid_request_is_refused_by_its_field(verb: str, body: Any, pointers: list[str]) -> None:
    client = Client()
    client.put(job={"schedule": "* * * * * *", "target": TARGET})
    refused = client.send("POST", f"{URL}/{verb}", body)
    assert (refused.status, refused.pointers) == (422, pointers)


@pytest.mark.parametrize(
    ("verb", "body"),
    [("trigger", None), ("backfill", {"from": "2026-11-21T10:00:00Z", "to": "2026-11-21T11:00:00Z"})],
)
def test_a_missing_job_is_refused(verb: str, body: Any) -> None:
    assert Client().send("POST", f"{URL}/{verb}", body).status == 404


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
