"""Showing and writing the settings of a namespace over HTTP, and being refused by its limits."""

from typing import Any

import pytest
from tests.fakes.http_events import JOB, NS_ADMIN, READER, STRANGER, WRITER, Answered, Client
from tests.fakes.world import World

from sweephand.base.timing import NAMESPACE_AGE_MAX_MS

URL = "/v1/namespaces/ns"


def client() -> Client:
    world = World()
    world.limits_namespaces = True
    return Client(world)


def put(to: Client, limits: Any, **options: Any) -> Answered:
    return to.send("PUT", URL, {"limits": limits}, **options)


def test_a_namespace_without_settings_has_no_limits_and_no_revision() -> None:
    shown = client().send("GET", URL, caller=READER)
    assert (shown.status, shown.json) == (200, {"namespace": "ns", "limits": {}})
    assert "etag" not in shown.headers


def test_an_admin_of_the_namespace_writes_its_limits_and_everybody_in_it_sees_them() -> None:
    to = client()
    limits = {"triggersPerMinute": 600, "jobs": 1000, "payload": 65536}
    written = put(to, limits, caller=NS_ADMIN)
    assert (written.status, written.json["limits"]) == (200, limits)
    assert written.json["updatedBy"] == "nsadmin"
    shown = to.send("GET", URL, caller=READER)
    assert (shown.json, shown.etag) == (written.json, f'"{shown.json["rev"]}"')
    assert shown.json["jobsCounted"] == 0
    assert put(to, limits, caller=WRITER).status == 403
    assert to.send("GET", URL, caller=STRANGER).status == 404


def test_a_put_replaces_all_limits_and_an_equal_one_changes_nothing() -> None:
    to = client()
    first = put(to, {"jobs": 5, "payload": None})
    assert put(to, {"jobs": 5.0}).etag == first.etag
    second = put(to, {"payload": 5})
    assert second.json["limits"] == {"payload": 5}
    assert second.etag != first.etag
    assert put(to, {}).json["limits"] == {}


def test_preconditions_are_those_of_jobs() -> None:
    to = client()
    assert put(to, {"jobs": 5}, headers={"If-Match": "*"}).status == 412
    first = put(to, {"jobs": 5}, headers={"If-None-Match": "*"})
    assert first.status == 200
    assert put(to, {"jobs": 6}, headers={"If-None-Match": "*"}).status == 412
    assert put(to, {"jobs": 6}, headers={"If-Match": '"other"'}).status == 412
    assert put(to, {"jobs": 6}, headers={"If-Match": first.etag}).json["limits"] == {"jobs": 6}


@pytest.mark.parametrize(
    ("body", "pointers"),
    [
        ({}, ["/limits"]),
        ({"limits": None}, ["/limits"]),
        ({"limits": 5}, ["/limits"]),
        ({"limits": {"jobs": 0}}, ["/limits/jobs"]),
        ({"limits": {"jobs": 100_001}}, ["/limits/jobs"]),
        ({"limits": {"jobs": 1.5}}, ["/limits/jobs"]),
        ({"limits": {"jobs": 0, "payload": 0}}, ["/limits/jobs", "/limits/payload"]),
        ({"limits": {"triggersPerMinute": 0}}, ["/limits/triggersPerMinute"]),
        ({"limits": {"triggersPerMinute": 1_000_001}}, ["/limits/triggersPerMinute"]),
        ({"limits": {"payload": 262_145}}, ["/limits/payload"]),
        ({"limits": {"job": 5}}, ["/limits/job"]),
        ({"limits": {}, "defaultTargets": {}}, ["/defaultTargets"]),
        ({"limits": {}, "defaultTarget": {}}, ["/defaultTarget/type"]),
        ({"limits": {}, "defaultTarget": "https://a.example"}, ["/defaultTarget"]),
        ({"limits": {}, "defaultTarget": {"type": "default"}}, ["/defaultTarget/type"]),
        ({"limits": {}, "defaultTarget": {"type": "job", "name": "a"}}, ["/defaultTarget/type"]),
        ({"limits": {}, "defaultTarget": {"type": "http"}}, ["/defaultTarget/url"]),
        (
            {"limits": {}, "defaultTarget": {"type": "http", "url": "https://10.0.0.1"}},
            ["/defaultTarget/url"],
        ),
        (
            {"limits": {}, "defaultTarget": {"type": "http", "url": "https://a.example", "path": "/"}},
            ["/defaultTarget/path"],
        ),
        ({"limits": {}, "defaultRetry": {"maxAttempts": 0}}, ["/defaultRetry/maxAttempts"]),
        ({"limits": {}, "defaultRetry": {"maxAge": "never"}}, ["/defaultRetry/maxAge"]),
        ({"limits": {}, "defaultRetry": {"attempts": 3}}, ["/defaultRetry/attempts"]),
        ({"limits": {}, "defaultRetry": 3}, ["/defaultRetry"]),
        ([], [""]),
    ],
)
def test_settings_that_are_not_valid_are_refused_with_their_pointers(body: Any, pointers: list[str]) -> None:
    to = client()
    refused = to.send("PUT", URL, body)
    assert (refused.status, refused.pointers) == (422, pointers)
    assert to.send("GET", URL).json == {"namespace": "ns", "limits": {}}


def test_a_job_beyond_the_limit_gets_429_with_the_number_and_when_to_try_again() -> None:
    to = client()
    put(to, {"jobs": 1})
    to.world.clock.time += NAMESPACE_AGE_MAX_MS
    assert to.put("a").status == 201
    refused = to.put("b")
    assert refused.status == 429
    assert "may store 1 jobs (limits.jobs)" in refused.json["detail"]
    assert int(refused.headers["retry-after"]) > 0
    many = to.send("POST", f"{URL}/jobs", {"jobs": [{"name": each, **JOB} for each in ("a", "b", "c")]})
    assert [each["status"] for each in many.json["results"]] == [200, 429, 429]
    assert to.send("GET", URL).json["jobsCounted"] == 1
    assert to.send("DELETE", f"{URL}/jobs/a").status == 204


def test_data_beyond_the_limit_gets_422_with_the_number() -> None:
    to = client()
    put(to, {"payload": 10})
    to.world.clock.time += NAMESPACE_AGE_MAX_MS
    assert to.put("a", {**JOB, "data": "12345678"}).status == 201
    for answer in (
        to.put("b", {**JOB, "data": "123456789"}),
        to.send("PATCH", f"{URL}/jobs/a", {"data": "123456789"}),
        to.send("POST", f"{URL}/jobs/a/trigger", {"data": "123456789"}),
    ):
        assert (answer.status, answer.pointers) == (422, ["/data"])
        assert "allows 10 (limits.payload)" in answer.json["errors"][0]["detail"]
