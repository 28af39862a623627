"""The runs of a namespace that did not simply succeed, over HTTP."""

from typing import Any

import pytest
from tests.fakes.http_events import TARGET, Client
from tests.fakes.world import NOON

from sweephand.model.attempt import Answer

RUNS = "/v1/namespaces/ns/runs"


@pytest.fixture
def client() -> Client:
    """Two jobs that fired at :10, :20 and :30, the second time in vain."""
    client = Client()

    def answer(attempt: Any) -> Answer:
        failed = attempt.trigger.sequence == 2
        return Answer(succeeded=not failed, code=500 if failed else 204, text="no" if failed else "")

    client.world.consumers.answering = answer
    for name, team in (("a", "ops"), ("b", "web")):
        job = {"schedule": "@every 10s", "target": TARGET, "retry": {"maxAttempts": 1}}
        client.send("PUT", f"/v1/namespaces/ns/jobs/{name}", {**job, "labels": {"team": team}})
    client.world.run_until(NOON + 31_000)
    return client


def jobs(client: Client, query: str = "") -> list[str]:
    return sorted(each["job"] for each in client.send("GET", f"{RUNS}?{query}").json["items"])


def test_the_list_shows_the_failed_runs_of_all_jobs_with_the_names_of_the_jobs(client: Client) -> None:
    items = client.send("GET", RUNS).json["items"]
    assert sorted(each["job"] for each in items) == ["a", "b"]
    for each in items:
        shown = client.send("GET", f"/v1/namespaces/ns/jobs/{each['job']}/runs/{each['id']}").json
        assert each == {"job": each["job"], **shown}
        assert (each["state"], each["responseCode"], each["answer"]) == ("failed", 500, "no")


def test_the_list_is_filtered_and_read_page_by_page(client: Client) -> None:
    assert jobs(client, "state=failed") == ["a", "b"]
    assert jobs(client, "state=skipped") == []
    assert jobs(client, "label=team:web") == ["b"]
    assert jobs(client, "since=2026-11-21T12:00:20Z") == ["a", "b"]
    assert jobs(client, "since=2026-11-21T12:00:20.001Z") == []
    first = client.send("GET", f"{RUNS}?limit=1").json
    second = client.send("GET", f"{RUNS}?limit=1&cursor={first['nextCursor']}").json
    assert sorted(each["job"] for each in first["items"] + second["items"]) == ["a", "b"]
    assert "nextCursor" not in second


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        ("state=succeeded", "/state"),
        ("state=waiting", "/state"),
        ("since=yesterday", "/since"),
        ("since=2026-11-21T12:00:20", "/since"),
        ("label=ops", "/label/0"),
        ("limit=0", "/limit"),
        ("cursor=x", "/cursor"),
        ("until=2026-11-21T12:00:20Z", "/until"),
    ],
)
def test_a_filter_that_means_nothing_is_refused_by_name(client: Client, query: str, pointer: str) -> None:
    refused = client.send("GET", f"{RUNS}?{query}")
    assert refused.status == 422
    assert [each["pointer"] for each in refused.json["errors"]] == [pointer]


def test_a_namespace_without_such_runs_has_an_empty_list(client: Client) -> None:
    assert client.send("GET", "/v1/namespaces/other/runs").json == {"items": []}
