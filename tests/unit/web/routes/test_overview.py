"""The overview of all namespaces that a key sees."""

from collections import Counter
from typing import Any

import pytest
from tests.contract.builders import trigger_message
from tests.fakes.faults import calls_of
from tests.fakes.http_events import READER, STRANGER, TARGET, Client
from tests.fakes.world import NOON, World

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.counters import Stats
from sweephand.model.gate import GateName
from sweephand.model.gate_line import entries_of
from sweephand.model.policy import PolicyKey
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
    "failuresOverTime": [0] * 24,
    "waiting": 0,
    "waitingIsExact": True,
    "waitingSince": None,
    "pausedPolicies": 0,
    "partial": False,
}
TROUBLED = {
    **CALM,
    "failed": 2,
    "retrying": 2,
    "failingJobs": 2,
    "newestFailureAt": "2026-11-21T12:00:20.000Z",
    "failuresOverTime": [0] * 23 + [4],
}


def test_each_namespace_says_what_fails_in_it(client: Client) -> None:
    shown = client.send("GET", URL).json
    assert shown == {
        "since": "2026-11-20T12:00:31.000Z",
        "heartbeatAt": "2026-11-21T12:00:00.000Z",
        "enabled": True,
        "items": [{"namespace": "ns", **TROUBLED}, {"namespace": "other", **CALM}],
    }


def test_failures_are_counted_in_24_parts_of_the_time(client: Client) -> None:
    def parts(since: str) -> list[int]:
        found: list[int] = client.send("GET", f"{URL}?since={since}").json["items"][0]["failuresOverTime"]
        return found

    # The time is 12:00:31. A part has a second, and then half an hour.
    assert parts("2026-11-21T12:00:07Z") == [0, 0, 0, 2, *[0] * 9, 2, *[0] * 10]
    assert parts("2026-11-21T00:00:31Z") == [*[0] * 23, 4]
    assert parts("2026-11-21T12:00:31Z") == parts("2027-01-01T00:00:00Z") == [0] * 24


def test_deliveries_of_the_last_hour_that_began_late_are_counted() -> None:
    world = listed_world()
    world.counts_deliveries = True
    client = Client(world)
    client.put(job={"schedule": "@every 1h", "target": TARGET})
    assert hour_of(client) == {"attempts": 0, "late": 0, "maxMs": None}
    counted = Stats(Counter({"succeeded": 9}), Counter({1_000: 6, 1_500: 2, 30_000: 1}))
    for minutes in (61, 60, 0):
        world.stats.add(NOON - minutes * MINUTE_MS, 0, {"ns": counted, "other": counted}, lambda: True)
    assert hour_of(client) == {"attempts": 18, "late": 6, "maxMs": 30_000}
    world.counts_deliveries = False
    assert "lastHour" not in Client(world).send("GET", URL).json["items"][0]


def hour_of(client: Client) -> Any:
    return client.send("GET", URL).json["items"][0]["lastHour"]


def test_triggers_that_wait_under_policies_are_counted() -> None:
    world = listed_world()
    world.flow_functions_max = 5
    client = Client(world)
    client.send("PUT", "/v1/namespaces/ns/policies/a", {"maxConcurrent": 1})
    client.put(job={"schedule": "@every 1h", "target": TARGET})
    [entry] = entries_of([trigger_message(NOON - 3_000)] * 2, "normal", "0")
    world.gate_lines.put(GateName(PolicyKey("ns", "a"), 0), entry)
    (shown,) = client.send("GET", URL).json["items"]
    assert (shown["waiting"], shown["waitingIsExact"]) == (2, True)
    assert shown["waitingSince"] == "2026-11-21T11:59:57.000Z"


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


def test_what_late_and_waiting_triggers_cost() -> None:
    world = listed_world()
    world.counts_deliveries, world.flow_functions_max = True, 5
    client = Client(world)
    for namespace in ("ns", "other"):
        for policy in ("a", "b"):
            client.send("PUT", f"/v1/namespaces/{namespace}/policies/{policy}", {"maxConcurrent": 1})
        job = {"schedule": "@every 1h", "target": TARGET}
        client.send("PUT", f"/v1/namespaces/{namespace}/jobs/job", job)
    calls = calls_of(world, lambda: client.send("GET", URL))
    assert calls.count("before stats.sums") == 1
    assert calls.count("before gate_lines.count") == 4
    assert not [each for each in calls if each.startswith("before gates.")]


def test_an_overview_since_an_instant_after_the_calendar_counts_nothing(client: Client) -> None:
    found = client.send("GET", f"{URL}?since=9999-12-31T23:59:59-23:59")
    assert (found.status, found.json["since"]) == (200, "9999-12-31T23:59:59.999Z")
