"""The overview of all namespaces that a key sees."""

from typing import Any

import pytest
from tests.fakes.faults import calls_of
from tests.fakes.http_events import READER, STRANGER, TARGET, Client
from tests.fakes.world import NOON, World

from sweephand.base.instants import DAY_MS, HOUR_MS
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.timer import Heartbeat
from sweephand.runs import overview

URL = "/v1/overview"


def listed_world() -> World:
    """A stack that lists the namespaces in which jobs are created."""
    world = World()
    world.limits_namespaces = True
    return world


@pytest.fixture
def client() -> Client:
    """A stack with two namespaces. In `ns` one job fails for good and one is retried, in `other` none."""
    client = Client(listed_world())

    def answer(attempt: Attempt) -> Answer:
        return Answer(succeeded=attempt.trigger.key.name == "good", code=503)

    client.world.consumers.answering = answer
    retry = {"given-up": {"maxAttempts": 1}, "retried": {"initialDelay": "1h"}, "good": None}
    for name, rule in retry.items():
        job = {"schedule": "@every 10s", "target": TARGET, "repeats": 2, "retry": rule}
        client.put(name, job)
    client.send("PUT", "/v1/namespaces/other/jobs/good", {"schedule": "@every 10s", "target": TARGET})
    client.send("POST", "/v1/namespaces/ns/jobs/retried/pause")
    client.send("POST", "/v1/namespaces/ns/jobs/retried/resume")
    client.world.run_until(NOON + 31_000)
    client.send("POST", "/v1/namespaces/ns/jobs/retried/pause")
    client.world.leases.beat(Heartbeat(NOON))
    return client


CALM = {
    "failed": 0,
    "retrying": 0,
    "skipped": 0,
    "running": 0,
    "failingJobs": 0,
    "newestFailureAt": None,
    "pausedPolicies": 0,
    "partial": False,
}
TROUBLED = {
    **CALM,
    "failed": 2,
    "retrying": 2,
    "failingJobs": 2,
    "newestFailureAt": "2026-11-21T12:00:20.000Z",
}


def test_each_namespace_says_what_fails_in_it(client: Client) -> None:
    shown = client.send("GET", URL).json
    assert shown == {
        "since": "2026-11-20T12:00:31.000Z",
        "heartbeatAt": "2026-11-21T12:00:00.000Z",
        "enabled": True,
        "items": [{"namespace": "ns", **TROUBLED}, {"namespace": "other", **CALM}],
    }


def test_jobs_are_counted_by_state_if_the_call_asks_for_it(client: Client) -> None:
    first, second = client.send("GET", f"{URL}?include=jobs").json["items"]
    assert first["jobs"] == {"active": 0, "paused": 1, "completed": 2}
    assert second["jobs"] == {"active": 1, "paused": 0, "completed": 0}


def test_runs_from_an_instant_on_are_counted(client: Client) -> None:
    assert counts(client, "since=2026-11-21T12:00:20Z") == (1, 1)
    assert counts(client, "since=2026-11-21T12:00:20.001Z") == (0, 0)
    client.world.clock.time += DAY_MS - HOUR_MS
    assert counts(client) == (2, 2)
    client.world.clock.time += HOUR_MS
    assert counts(client) == (0, 0)


def counts(client: Client, query: str = "") -> tuple[int, int]:
    found = client.send("GET", f"{URL}?{query}").json["items"][0]
    return found["failed"], found["retrying"]


@pytest.mark.parametrize(("caller", "names"), [(READER, ["ns"]), (STRANGER, ["elsewhere"])])
def test_a_key_of_one_namespace_sees_that_one(client: Client, caller: Any, names: list[str]) -> None:
    shown = client.send("GET", URL, caller=caller).json
    assert [each["namespace"] for each in shown["items"]] == names
    assert "nextCursor" not in shown


def test_namespaces_are_shown_page_by_page(client: Client) -> None:
    first = client.send("GET", f"{URL}?limit=1").json
    second = client.send("GET", f"{URL}?limit=1&cursor={first['nextCursor']}").json
    assert [each["namespace"] for each in first["items"] + second["items"]] == ["ns", "other"]
    assert "nextCursor" not in second


def test_more_runs_or_jobs_than_a_call_looks_at_are_said(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overview, "BULK_EXAMINED_MAX", 3)
    first, second = client.send("GET", URL).json["items"]
    assert (first["failed"] + first["retrying"], first["partial"], second["partial"]) == (3, True, False)


def test_paused_policies_are_counted() -> None:
    world = listed_world()
    world.flow_functions_max = 5
    client = Client(world)
    for name in ("a", "b"):
        client.send("PUT", f"/v1/namespaces/ns/policies/{name}", {"maxConcurrent": 1})
    client.send("POST", "/v1/namespaces/ns/policies/a/pause")
    client.put(job={"schedule": "@every 1h", "target": TARGET})
    (shown,) = client.send("GET", URL).json["items"]
    assert shown["pausedPolicies"] == 1


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("since=yesterday", "/since"),
        ("include=runs", "/include"),
        ("limit=0", "/limit"),
        ("cursor=x", "/cursor"),
    ],
)
def test_an_invalid_parameter_is_refused_by_its_name(client: Client, query: str, pointer: str) -> None:
    refused = client.send("GET", f"{URL}?{query}")
    assert (refused.status, refused.pointers) == (422, [pointer])


def test_what_an_overview_costs(client: Client) -> None:
    calls = calls_of(client.world, lambda: client.send("GET", URL))
    of_namespace = ["flags.page", "runs.of_flags", "policies.page"]
    assert [each for each in calls if each.startswith("before")] == [
        f"before {each}" for each in ("namespaces.page", *of_namespace, *of_namespace, "leases.state")
    ]
    calls = calls_of(client.world, lambda: client.send("GET", f"{URL}?include=jobs"))
    assert calls.count("before jobs.page") == 2
