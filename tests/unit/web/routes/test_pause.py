"""Pause and resume of one job over HTTP."""

from typing import Any

import pytest
from tests.fakes.http_events import Client

URL = "/v1/namespaces/ns/jobs/job"


def test_a_job_is_paused_with_a_reason_and_resumed(client: Client) -> None:
    created = client.put()
    client.world.clock.time += 1_000
    paused = client.send("POST", f"{URL}/pause", {"reason": "the database moves"})
    assert paused.status == 200
    assert paused.etag == created.etag
    assert paused.json["state"] == "paused"
    assert paused.json["pausedAt"] == "2026-11-21T12:00:01.000Z"
    assert paused.json["pauseReason"] == "the database moves"
    assert paused.json["nextRun"] is None
    assert client.get().json["pauseReason"] == "the database moves"
    resumed = client.send("POST", f"{URL}/resume")
    assert resumed.status == 200
    assert resumed.etag != created.etag
    assert resumed.json["state"] == "active"
    assert resumed.json["nextRun"] == created.json["nextRun"]
    assert not {"pausedAt", "pauseReason"} & resumed.json.keys()


@pytest.mark.parametrize("options", [{}, {"text": ""}, {"body": {}}, {"body": {"reason": None}}])
def test_a_pause_needs_neither_reason_nor_body(client: Client, options: dict[str, Any]) -> None:
    client.put()
    paused = client.send("POST", f"{URL}/pause", **options)
    assert paused.status == 200
    assert "pauseReason" not in paused.json


@pytest.mark.parametrize(
    ("verb", "body", "pointers"),
    [
        ("pause", {"reason": 7}, ["/reason"]),
        ("pause", {"reason": "x" * 513}, ["/reason"]),
        ("pause", {"why": "x"}, ["/why"]),
        ("pause", [], [""]),
        ("resume", {"catchup": "some"}, ["/catchup"]),
        ("resume", {"catchup": {"mode": "all"}}, ["/catchup"]),
        ("resume", {"reason": "x"}, ["/reason"]),
    ],
)
def test_an_invalid_request_is_refused_by_its_field_and_changes_nothing(
    client: Client, verb: str, body: Any, pointers: list[str]
) -> None:
    created = client.put()
    refused = client.send("POST", f"{URL}/{verb}", body)
    assert (refused.status, refused.pointers) == (422, pointers)
    assert client.get().etag == created.etag
    assert client.get().json["state"] == "active"


@pytest.mark.parametrize("text", ["{", "7x", "\x00"])
def test_a_body_that_is_no_json_is_malformed(client: Client, text: str) -> None:
    client.put()
    assert client.send("POST", f"{URL}/pause", text=text).status == 400


def test_paused_jobs_are_found_in_the_list(client: Client) -> None:
    client.put("a")
    client.put("b")
    client.send("POST", "/v1/namespaces/ns/jobs/b/pause")
    found = client.send("GET", "/v1/namespaces/ns/jobs?state=paused").json["items"]
    assert [each["name"] for each in found] == ["b"]
