"""Pause, resume and redrive over HTTP."""

from typing import Any

import pytest
from tests.fakes.http_events import TARGET, Client
from tests.fakes.world import NOON

from sweephand.model.attempt import Answer

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
        ("pause", {"until": 5}, ["/until"]),
        ("pause", {"until": "soon"}, ["/until"]),
        ("pause", {"until": "2027-01-05T06:00"}, ["/until"]),
        ("pause", {"until": "2026-02-30T06:00:00Z"}, ["/until"]),
        ("pause", {"until": "2026-11-21T12:00:00Z"}, ["/until"]),
        ("pause", {"until": "2026-11-21T11:59:30Z"}, ["/until"]),
        ("pause", {"until": "2025-11-21T12:00:00Z"}, ["/until"]),
        ("pause", {"until": "0s"}, ["/until"]),
        ("pause", {"until": "-2h"}, ["/until"]),
        ("pause", {"until": "2027-11-22T12:00:00.001Z"}, ["/until"]),
        ("pause", {"until": "PT2H", "catchup": "some"}, ["/catchup"]),
        ("pause", {"catchup": "all"}, ["/catchup"]),
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


RUN = f"/v1/namespaces/ns/jobs/job/runs/{NOON + 10_000}-0"
ALL = "/v1/namespaces/ns/redrive"


def client_with_failures() -> Client:
    """A job whose triggers at :10, :20 and :30 have been given up."""
    client = Client()
    job = {"schedule": "@every 10s", "target": TARGET, "retry": {"maxAttempts": 1}, "repeats": 3}
    client.put(job={**job, "labels": {"team": "ops"}})
    client.world.consumers.answering = lambda _: Answer(succeeded=False, code=500)
    client.world.run_until(NOON + 31_000)
    client.world.consumers.answering = lambda _: Answer(succeeded=True, code=200)
    return client


def test_a_run_is_redriven_and_stays_failed_until_its_next_attempt_begins() -> None:
    client = client_with_failures()
    answer = client.send("POST", f"{RUN}/redrive")
    uid = client.world.consumers.attempts[0].trigger.uid
    assert answer.status == 202
    assert answer.json == {
        "id": f"{NOON + 10_000}-0",
        "triggerId": f"{uid}-{NOON + 10_000}-0",
        "attempt": 2,
    }
    assert client.send("GET", RUN).json["state"] == "failed"
    client.world.run_until(NOON + 32_000)
    run = client.send("GET", RUN).json
    assert (run["state"], run["attempts"]) == ("succeeded", 2)


def test_a_run_of_a_deleted_job_is_a_conflict_and_an_unknown_one_is_not_found() -> None:
    client = client_with_failures()
    for unknown in (f"{NOON}-0", "x", "9" * 5_000 + "-0"):
        assert client.send("POST", f"/v1/namespaces/ns/jobs/job/runs/{unknown}/redrive").status == 404
    client.send("DELETE", "/v1/namespaces/ns/jobs/job")
    assert client.send("POST", f"{RUN}/redrive").status == 409


@pytest.mark.parametrize(
    ("body", "count"),
    [
        ({"prefix": "j"}, 3),
        ({"prefix": "x"}, 0),
        ({"labels": {"team": "ops"}}, 3),
        ({"labels": {"team": "dev"}}, 0),
        ({"prefix": "job", "labels": {"team": "ops"}, "cursor": None}, 3),
    ],
)
def test_the_runs_of_many_jobs_are_redriven_and_counted(body: Any, count: int) -> None:
    client = client_with_failures()
    answer = client.send("POST", ALL, body)
    assert (answer.status, answer.json) == (200, {"count": count})


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({}, [""]),
        ({"prefix": None, "labels": {}}, [""]),
        ({"prefix": "a b"}, ["/prefix"]),
        ({"prefix": "x", "cursor": "x"}, ["/cursor"]),
        ({"prefix": "x", "cursor": "am9iczp4"}, ["/cursor"]),
        ({"labels": {"team": 5}}, ["/labels/team"]),
        ({"since": None, "until": None, "reason": ""}, [""]),
        ({"since": "yesterday"}, ["/since"]),
        ({"since": "2026-11-21T12:00:00Z", "until": "2026-11-21T12:00:00Z"}, ["/until"]),
        ({"reason": 5, "dryRun": "yes"}, ["/reason", "/dryRun"]),
        ({"prefix": "x", "state": "failed"}, ["/state"]),
    ],
)
def test_a_bulk_redrive_without_a_filter_is_refused(body: Any, pointers: list[str]) -> None:
    refused = client_with_failures().send("POST", ALL, body)
    assert (refused.status, refused.pointers) == (422, pointers)


@pytest.mark.parametrize(
    ("until", "shown"),
    [
        ("2027-01-05T06:00:00Z", "2027-01-05T06:00:00.000Z"),
        ("2027-01-05T06:00:00+01:00", "2027-01-05T05:00:00.000Z"),
        ("2h", "2026-11-21T14:00:00.000Z"),
        ("PT2H", "2026-11-21T14:00:00.000Z"),
        ("P1M", "2026-12-21T12:00:00.000Z"),
        ("366d", "2027-11-22T12:00:00.000Z"),
    ],
)
def test_a_pause_with_an_until_is_shown_in_the_job_in_lists_and_in_its_history(
    client: Client, until: str, shown: str
) -> None:
    client.put()
    paused = client.send("POST", f"{URL}/pause", {"until": until, "catchup": "none"})
    assert (paused.status, paused.json["pausedUntil"], paused.json["resumeCatchup"]) == (200, shown, "none")
    assert client.get().json["pausedUntil"] == shown
    [listed] = client.send("GET", "/v1/namespaces/ns/jobs").json["items"]
    assert listed["pausedUntil"] == shown
    assert client.send("GET", f"{URL}/changes").json["items"][0]["until"] == shown


def test_the_job_and_its_history_show_that_the_pause_has_ended_by_itself(client: Client) -> None:
    client.put()
    client.send("POST", f"{URL}/pause", {"until": "1h"})
    client.world.run_until(NOON + 3_601_000)
    assert not {"pausedAt", "pausedUntil", "resumeCatchup"} & client.get().json.keys()
    change = client.send("GET", f"{URL}/changes").json["items"][0]
    assert (change["what"], change["who"], change["until"]) == (
        "resumed",
        "sweephand",
        "2026-11-21T13:00:00.000Z",
    )


def test_a_refused_until_says_what_would_be_right_and_leaves_nothing_behind(client: Client) -> None:
    client.put()
    waiting = list(client.world.queue.waiting)
    for until in ("P2Y", "2026-11-20T00:00:00Z"):
        far = client.send("POST", f"{URL}/pause", {"until": until})
        assert far.json["errors"][0]["detail"] == (
            "Give an instant in the future, at most 366 days from now. "
            "For a longer pause, leave `until` out, and resume the job by a call."
        )
    alone = client.send("POST", f"{URL}/pause", {"catchup": "all"})
    assert alone.json["errors"][0]["detail"].startswith("Give `until` too")
    assert client.world.queue.waiting == waiting


def test_a_bulk_pause_takes_an_until_and_refuses_a_bad_one(client: Client) -> None:
    client.put()
    bulk = "/v1/namespaces/ns/pause"
    refused = client.send("POST", bulk, {"prefix": "j", "until": "2020-01-01T00:00:00Z"})
    assert (refused.status, refused.pointers) == (422, ["/until"])
    assert client.send("POST", bulk, {"prefix": "j", "until": "1h", "catchup": "all"}).json == {"count": 1}
    assert client.get().json["pausedUntil"] == "2026-11-21T13:00:00.000Z"
