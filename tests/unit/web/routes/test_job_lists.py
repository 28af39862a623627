"""Lists of jobs over HTTP: their pages, their filters, and the parameters that are refused."""

from typing import Any
from unittest.mock import patch

import pytest
from tests.contract.builders import job
from tests.fakes.http_events import JOB, TARGET, Client
from tests.fakes.world import World

from sweephand.base.names import NAME_RULE
from sweephand.base.timing import BULK_TIME_LIMIT_MS
from sweephand.jobs import read
from sweephand.model.job import Job, JobKey
from sweephand.model.page import Page
from sweephand.ports.jobs import Wanted


def test_a_list_goes_on_from_page_to_page_without_data(client: Client) -> None:
    for number in range(5):
        client.put(f"job-{number}", {**JOB, "data": number})
    client.put("other")
    names: list[str] = []
    url = "/v1/namespaces/ns/jobs?prefix=job-&limit=2"
    cursor = ""
    while True:
        page = client.send("GET", url + cursor).json
        names += [each["name"] for each in page["items"]]
        assert all("data" not in each for each in page["items"])
        if "nextCursor" not in page:
            break
        cursor = f"&cursor={page['nextCursor']}"
    assert names == [f"job-{number}" for number in range(5)]


def listed(client: Client, query: str) -> list[list[str]]:
    """The names on each page of a list of jobs."""
    pages: list[list[str]] = []
    cursor = ""
    while True:
        page = client.send("GET", f"/v1/namespaces/ns/jobs?{query}{cursor}").json
        pages.append([each["name"] for each in page["items"]])
        if "nextCursor" not in page:
            return pages
        cursor = f"&cursor={page['nextCursor']}"


def test_a_list_can_be_filtered_by_a_text_anywhere_in_the_name(client: Client) -> None:
    for name in ("eu-report-1", "eu-mail", "us-report", "report", "Report"):
        client.put(name)
    assert listed(client, "contains=report") == [["eu-report-1", "report", "us-report"]]
    assert listed(client, "contains=report&prefix=eu-") == [["eu-report-1"]]
    assert listed(client, "contains=report&limit=1") == [["eu-report-1"], ["report"], ["us-report"]]
    assert listed(client, "contains=report&limit=2") == [["eu-report-1", "report"], ["us-report"]]
    assert listed(client, "contains=never") == [[]]
    assert listed(client, "contains=") == [["Report", "eu-mail", "eu-report-1", "report", "us-report"]]
    refused = client.send("GET", "/v1/namespaces/ns/jobs?contains=a%20b")
    assert (refused.status, refused.pointers) == (422, ["/contains"])


def test_a_list_by_a_part_of_the_name_goes_on_behind_an_empty_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "LIST_EXAMINED_MAX", 3)
    client = Client()
    for number in range(7):
        client.put(f"job-{number}")
    client.put("zebra")
    assert listed(client, "contains=zebra") == [[], [], ["zebra"]]
    search = client.world.jobs.search

    def slow(*asked: Any) -> Page[Job]:
        client.world.clock.time += BULK_TIME_LIMIT_MS
        return search(*asked)

    monkeypatch.setattr(read, "LIST_EXAMINED_MAX", 1_000)
    monkeypatch.setattr(read, "_LOOK_MIN", 3)
    monkeypatch.setattr(read, "_LOOKS_PER_PLACE", 1)
    monkeypatch.setattr(client.world.jobs, "search", slow)
    assert listed(client, "contains=zebra&limit=1") == [[], [], ["zebra"]]


def test_a_list_looks_at_ten_thousand_jobs_in_three_turns_and_at_few_if_most_are_selected() -> None:
    client = Client()
    for number in range(10_000):
        client.world.jobs.put(job(f"job-{number:05}", key=JobKey("ns", f"job-{number:05}")), replacing=None)
    looks: list[int] = []
    search = client.world.jobs.search

    def counted(namespace: str, prefix: str, after: str, limit: int, wanted: Wanted) -> Page[Job]:
        looks.append(limit)
        return search(namespace, prefix, after, limit, wanted)

    with patch.object(client.world.jobs, "search", counted):
        assert listed(client, "contains=777&limit=200") == [
            [f"job-{number:05}" for number in range(10_000) if "777" in f"{number:05}"]
        ]
        assert looks == [800, 6_400, 12_800]
        looks.clear()
        page = client.send("GET", "/v1/namespaces/ns/jobs?contains=job&limit=200").json
        assert (len(page["items"]), looks) == (200, [800])


def test_a_list_can_be_filtered_by_state_and_labels(client: Client) -> None:
    client.put("both", {**JOB, "labels": {"team": "ops", "tier": "a:b"}})
    client.put("one", {**JOB, "labels": {"team": "ops"}})
    client.put("done", {"dueTime": "1s", "target": TARGET})
    client.world.clock.time += 2_000

    def names(query: str) -> list[str]:
        page = client.send("GET", f"/v1/namespaces/ns/jobs?{query}").json
        return [each["name"] for each in page["items"]]

    assert names("label=team:ops") == ["both", "one"]
    assert names("label=team:ops&label=tier:a%3Ab") == ["both"]
    assert names("state=completed") == ["done"]
    assert names("state=active&prefix=o") == ["one"]
    assert names("state=paused") == []
    twice = client.send("GET", "/v1/namespaces/ns/jobs?label=team:ops&label=team:web")
    assert (twice.status, twice.pointers) == (422, ["/label"])


def test_a_list_by_state_or_label_looks_behind_jobs_that_are_not_asked_for(client: Client) -> None:
    for number in range(5):
        client.put(f"job-{number}")
    client.put("zebra", {**JOB, "labels": {"team": "ops"}})
    client.world.pause(name="zebra")
    assert listed(client, "state=paused&limit=1") == [["zebra"]]
    assert listed(client, "label=team:ops&limit=1") == [["zebra"]]
    assert listed(client, "state=active&limit=3") == [["job-0", "job-1", "job-2"], ["job-3", "job-4"]]


def test_a_list_can_be_filtered_by_policy_also_after_the_policy_was_deleted(world: World) -> None:
    world.flow_functions_max = 5
    client = Client(world)
    for policy in ("mail", "mail-2"):
        client.send("PUT", f"/v1/namespaces/ns/policies/{policy}", {"maxConcurrent": 5})
        client.put(f"under-{policy}", {**JOB, "policy": policy})
    client.put("alone")
    client.put("zebra", {**JOB, "policy": "mail", "labels": {"team": "ops"}})
    assert listed(client, "policy=mail") == [["under-mail", "zebra"]]
    assert listed(client, "policy=mail&limit=1") == [["under-mail"], ["zebra"]]
    assert listed(client, "policy=mail&label=team:ops&state=active&contains=eb") == [["zebra"]]
    assert listed(client, "policy=never") == [[]]
    client.send("DELETE", "/v1/namespaces/ns/policies/mail")
    assert listed(client, "policy=mail&prefix=u") == [["under-mail"]]


@pytest.mark.parametrize("name", ["", "..", "a%20b", "x" * 129])
def test_a_policy_that_is_no_name_is_refused_with_what_would_be_right(name: str) -> None:
    refused = Client().send("GET", f"/v1/namespaces/ns/jobs?policy={name}")
    assert (refused.status, refused.pointers) == (422, ["/policy"])
    assert refused.json["errors"][0]["detail"] == NAME_RULE


@pytest.mark.parametrize(
    ("query", "pointers"),
    [
        ("limit=0", ["/limit"]),
        ("limit=201", ["/limit"]),
        ("limit=x", ["/limit"]),
        ("limit=", ["/limit"]),
        ("limit=1&limit=2", ["/limit"]),
        ("cursor=garbage", ["/cursor"]),
        ("cursor=%00", ["/cursor"]),
        ("cursor=", ["/cursor"]),
        ("cursor=cnVuczph", ["/cursor"]),
        ("state=running", ["/state"]),
        ("label=team", ["/label/0"]),
        ("label=:x", ["/label/0"]),
        ("prefix=a%2Fb", ["/prefix"]),
        ("prefix=" + "x" * 129, ["/prefix"]),
        ("sort=nextRun", ["/sort"]),
        ("limit=0&state=x", ["/state", "/limit"]),
        ("policy=a&policy=b", ["/policy"]),
        ("limit=99999999999999999999999999999999", ["/limit"]),
    ],
)
def test_an_invalid_query_parameter_is_refused_by_its_name(query: str, pointers: list[str]) -> None:
    refused = Client().send("GET", f"/v1/namespaces/ns/jobs?{query}")
    assert (refused.status, refused.pointers) == (422, pointers)
