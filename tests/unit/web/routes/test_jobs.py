"""Writing, reading, listing and deleting jobs over HTTP."""

from typing import Any

import pytest
from tests.fakes.http_events import JOB, READER, TARGET, Client
from tests.fakes.world import World

from sweephand.base.errors import ParameterError, StoreError
from sweephand.base.names import NAME_RULE
from sweephand.base.timing import BULK_TIME_LIMIT_MS
from sweephand.jobs import examine
from sweephand.model.job import Job
from sweephand.ports import Page

NAMES = ["a", "a.b", "~x", "a+b", "a=b", "a@b", "a:b", "a-b", "...", "A_0", "x" * 128, ".a", "=", "+", "@"]


def test_a_put_creates_a_job_and_a_second_put_replaces_it() -> None:
    client = Client()
    created = client.put()
    replaced = client.put(job={**JOB, "schedule": "@every 2h"})
    assert (created.status, replaced.status) == (201, 200)
    assert created.etag != replaced.etag
    assert replaced.json["schedule"] == "@every 2h"
    assert replaced.json["rev"] == replaced.etag.strip('"')


def test_a_put_of_an_equal_definition_changes_nothing() -> None:
    client = Client()
    created = client.put(job={**JOB, "data": {"a": 1}, "repeats": 4})
    again = client.put(job={"data": {"a": 1}, "repeats": 4.0, "timezone": None, **JOB})
    assert (again.status, again.etag) == (200, created.etag)


def test_a_put_of_an_equal_definition_changes_nothing_even_after_its_due_time() -> None:
    client = Client()
    job = {
        "dueTime": "2026-11-21T12:00:30Z",
        "ttl": "2026-12-01T00:00:00Z",
        "target": TARGET,
        "schedule": "@every 1h",
    }
    created = client.put(job=job)
    client.world.clock.time += 3_600_000
    assert client.put(job=job).etag == created.etag


def test_a_job_is_shown_as_it_was_written_with_the_fields_that_sweephand_derives() -> None:
    client = Client()
    job = {
        "schedule": "0 30 2 * * MON-FRI",
        "timezone": "Europe/Paris",
        "ttl": "2027-01-01T00:00:00Z",
        "target": {**TARGET, "headers": {"x-team": "ops"}, "timeout": "15s"},
        "data": {"task": "db-backup"},
        "retry": {"maxAttempts": 3, "maxAge": "24h", "multiplier": 1.5},
        "history": "failures",
        "historyRetention": "30d",
        "retention": "7d",
        "labels": {"team": "ops"},
        "description": "Nightly backup",
    }
    client.put(job=job)
    shown = client.get()
    assert shown.status == 200
    assert {name: shown.json[name] for name in job} == job
    assert shown.json["state"] == "active"
    assert shown.json["nextRun"] == "2026-11-23T01:30:00.000Z"
    assert shown.json["lastRun"] is None
    assert shown.json["createdAt"] == "2026-11-21T12:00:00.000Z"
    assert shown.json["owner"] == "admin"
    assert shown.etag == f'"{shown.json["rev"]}"'


def test_data_that_is_null_is_kept_and_data_that_is_left_out_is_not_shown() -> None:
    client = Client()
    client.put("with", {**JOB, "data": None})
    client.put("without")
    assert client.get("with").json["data"] is None
    assert "data" not in client.get("without").json


@pytest.mark.parametrize(
    "text",
    [
        "1.10",
        "1e400",
        "-0.0",
        "123456789012345678901234567890",
        "9" * 5_000,
        '"\\u0000\\ud83d\\ude00\u00e9\u2028"',
        '{"b":1,"a":[1.0,2E+3,null,true]}',
        "[" * 63 + "]" * 63,
        '""',
    ],
)
def test_data_is_stored_and_shown_byte_for_byte(text: str) -> None:
    client = Client()
    created = client.put(
        text=f'{{"dueTime": "1h", "target": {{"type":"http","url":"https://a.example"}}, "data": {text}}}',
        job=None,
    )
    assert created.status == 201
    stored = client.world.jobs.page("ns", "", "", 1).items[0].definition.payload
    assert stored is not None
    shown = client.get().text
    assert shown is not None
    kept = stored.text or client.world.payloads.get(*next(iter(client.world.payloads._payloads)))
    assert kept is not None
    assert f'"data":{kept}' in shown
    if "\\u" not in text:
        assert kept == text


def test_a_read_key_sees_the_names_of_headers_and_not_their_values() -> None:
    client = Client()
    client.put(job={**JOB, "target": {**TARGET, "headers": {"authorization": "s3cret"}}})
    for answer in (client.get(caller=READER), client.send("GET", "/v1/namespaces/ns/jobs", caller=READER)):
        assert "s3cret" not in str(answer.text)
        assert '"authorization":"(hidden)"' in str(answer.text)


@pytest.mark.parametrize("name", NAMES)
def test_every_character_that_the_rule_allows_can_be_in_a_name(name: str) -> None:
    client = Client()
    assert client.put(name).status == 201
    assert client.get(name).json["name"] == name
    assert client.send("DELETE", f"/v1/namespaces/ns/jobs/{name}").status == 204
    assert client.send("PUT", f"/v1/namespaces/{name}/jobs/job", JOB).json["namespace"] == name


@pytest.mark.parametrize(
    "name", ["a%20b", "a%22", "%23", "%3F", "x" * 129, ".", "..", "%C3%A9", "a%0A", "a%5C", "%E2%80%AE", "*"]
)
def test_a_name_with_another_character_is_refused_with_its_pointer(name: str) -> None:
    client = Client()
    refused = client.put(name)
    assert (refused.status, refused.pointers) == (422, ["/name"])
    assert client.send("GET", f"/v1/namespaces/{name}/jobs/job").pointers == ["/namespace"]
    assert client.world.jobs.page("ns", "", "", 10).items == ()


def test_an_unknown_job_is_not_found() -> None:
    client = Client()
    assert client.get().status == 404
    assert client.send("DELETE", "/v1/namespaces/ns/jobs/job").status == 404


def test_a_deleted_job_is_gone() -> None:
    client = Client()
    client.put()
    gone = client.send("DELETE", "/v1/namespaces/ns/jobs/job")
    assert (gone.status, gone.text) == (204, "")
    assert client.get().status == 404


def test_a_job_that_has_ended_is_not_shown_and_can_be_deleted_once() -> None:
    client = Client()
    rev = client.put(
        job={"dueTime": "1s", "retention": "0s", "retry": {"maxAge": "1s"}, "target": TARGET}
    ).etag
    client.world.clock.time += 2 * 3_600_000
    assert client.get().status == 404
    answers = [
        client.send("DELETE", "/v1/namespaces/ns/jobs/job", headers={"if-match": each}).status
        for each in ('"9-z"', rev, rev)
    ]
    assert answers == [412, 204, 404]


def test_a_list_goes_on_from_page_to_page_without_data() -> None:
    client = Client()
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


def test_a_list_can_be_filtered_by_a_text_anywhere_in_the_name() -> None:
    client = Client()
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
    monkeypatch.setattr(examine, "BULK_EXAMINED_MAX", 3)
    monkeypatch.setattr(examine, "_PAGE_MAX", 3)
    client = Client()
    for number in range(7):
        client.put(f"job-{number}")
    client.put("zebra")
    assert listed(client, "contains=zebra") == [[], [], ["zebra"]]
    page = client.world.jobs.page

    def slow(*asked: Any) -> Page[Job]:
        client.world.clock.time += BULK_TIME_LIMIT_MS
        return page(*asked)

    monkeypatch.setattr(examine, "BULK_EXAMINED_MAX", 1_000)
    monkeypatch.setattr(client.world.jobs, "page", slow)
    assert listed(client, "contains=zebra") == [[], [], ["zebra"]]


def test_a_list_can_be_filtered_by_state_and_labels() -> None:
    client = Client()
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


def test_a_list_by_state_or_label_looks_behind_jobs_that_are_not_asked_for() -> None:
    client = Client()
    for number in range(5):
        client.put(f"job-{number}")
    client.put("zebra", {**JOB, "labels": {"team": "ops"}})
    client.world.pause(name="zebra")
    assert listed(client, "state=paused&limit=1") == [["zebra"]]
    assert listed(client, "label=team:ops&limit=1") == [["zebra"]]
    assert listed(client, "state=active&limit=3") == [["job-0", "job-1", "job-2"], ["job-3", "job-4"]]


def test_a_list_can_be_filtered_by_policy_also_after_the_policy_was_deleted() -> None:
    world = World()
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
        ("sort=name", ["/sort"]),
        ("limit=0&state=x", ["/state", "/limit"]),
        ("policy=a&policy=b", ["/policy"]),
        ("limit=99999999999999999999999999999999", ["/limit"]),
    ],
)
def test_an_invalid_query_parameter_is_refused_by_its_name(query: str, pointers: list[str]) -> None:
    refused = Client().send("GET", f"/v1/namespaces/ns/jobs?{query}")
    assert (refused.status, refused.pointers) == (422, pointers)


def test_a_write_whose_precondition_fails_changes_nothing() -> None:
    client = Client()
    assert client.put(headers={"If-Match": '"1-x"'}).status == 412
    assert client.put(headers={"If-Match": "*"}).status == 412
    assert client.get().status == 404
    first = client.put(headers={"If-None-Match": "*"})
    assert first.status == 201
    assert client.put(job={**JOB, "repeats": 1}, headers={"If-None-Match": "*"}).status == 412
    assert client.put(job={**JOB, "repeats": 1}, headers={"If-Match": f"W/{first.etag}"}).status == 412
    assert client.send("DELETE", "/v1/namespaces/ns/jobs/job", headers={"If-Match": '"1-x"'}).status == 412
    assert client.get().etag == first.etag


@pytest.mark.parametrize("template", ["{}", '"1-x", {}', '{} , W/"y"', "*", " {} "])
def test_a_write_whose_precondition_holds_is_made(template: str) -> None:
    client = Client()
    first = client.put()
    second = client.put(job={**JOB, "repeats": 1}, headers={"if-match": template.format(first.etag)})
    assert second.status == 200
    gone = client.send(
        "DELETE", "/v1/namespaces/ns/jobs/job", headers={"if-match": template.format(second.etag)}
    )
    assert gone.status == 204


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("If-Match", "abc"),
        ("If-Match", ""),
        ("If-Match", '"a" "b"'),
        ("If-None-Match", '"a"'),
        ("If-None-Match", ""),
    ],
)
def test_a_precondition_that_is_no_etag_is_refused(name: str, value: str) -> None:
    refused = Client().put(headers={name: value})
    assert (refused.status, refused.pointers) == (422, [f"/{name}"])


def test_if_match_with_several_etags_is_refused_if_none_of_them_is_current() -> None:
    client = Client()
    client.put()
    assert client.put(headers={"If-Match": '"a", "b"'}).status == 412
    assert client.put("other", headers={"If-Match": '"a", "b"'}).status == 412


def test_a_store_that_fails_is_503_and_says_that_asking_again_is_safe(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    client = Client()

    def fail(*_: object) -> None:
        raise StoreError("connection reset by 10.1.2.3")

    monkeypatch.setattr(client.world.jobs, "put", fail)
    refused = client.put()
    assert refused.status == 503
    assert "10.1.2.3" not in str(refused.text)
    assert refused.headers["retry-after"] == "5"


def test_a_parameter_of_the_stack_that_is_wrong_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client()

    def fail(*_: object) -> None:
        raise ParameterError("PayloadTable must name a table.")

    monkeypatch.setattr(client.world.payloads, "put", fail)
    refused = client.put(job={**JOB, "data": "x" * 3_000})
    assert refused.status == 503
    assert refused.json["detail"] == "PayloadTable must name a table."


def test_an_unexpected_error_is_500_without_its_details(monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client()

    def fail(*_: object) -> None:
        raise ZeroDivisionError("s3cret")

    monkeypatch.setattr(client.world.jobs, "get", fail)
    refused = client.put()
    assert refused.status == 500
    assert "s3cret" not in str(refused.text)


@pytest.mark.parametrize(
    "times",
    [
        {"dueTime": "9999-12-31T23:59:59Z"},
        {"dueTime": "9999-12-31T23:59:59.999Z", "timezone": "Asia/Tokyo"},
        {"schedule": "@daily", "ttl": "9999-12-31T23:59:59Z"},
    ],
)
def test_a_job_that_ends_with_the_calendar_can_be_shown_and_listed(times: dict[str, str]) -> None:
    client = Client()
    created = client.put(job={**times, "target": TARGET})
    assert (created.status, created.json["expiresAt"]) == (201, "9999-12-31T23:59:59.999Z")
    assert client.send("GET", "/v1/namespaces/ns/jobs/job").status == 200
    assert len(client.send("GET", "/v1/namespaces/ns/jobs").json["items"]) == 1
    assert client.send("GET", "/v1/namespaces/ns/jobs/job/occurrences?limit=1").status == 200
