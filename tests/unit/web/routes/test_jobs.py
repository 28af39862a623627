"""Writing, reading and deleting jobs over HTTP."""

import pytest
from tests.fakes.http_events import JOB, READER, TARGET, Client

from sweephand.base.errors import ParameterError, StoreError

NAMES = ["a", "a.b", "~x", "a+b", "a=b", "a@b", "a:b", "a-b", "...", "A_0", "x" * 128, ".a", "=", "+", "@"]


def test_a_put_creates_a_job_and_a_second_put_replaces_it(client: Client) -> None:
    created = client.put()
    replaced = client.put(job={**JOB, "schedule": "@every 2h"})
    assert (created.status, replaced.status) == (201, 200)
    assert created.etag != replaced.etag
    assert replaced.json["schedule"] == "@every 2h"
    assert replaced.json["rev"] == replaced.etag.strip('"')


def test_a_job_is_shown_as_it_was_written_with_the_fields_that_sweephand_derives(client: Client) -> None:
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


def test_data_that_is_null_is_kept_and_data_that_is_left_out_is_not_shown(client: Client) -> None:
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
def test_data_is_stored_and_shown_byte_for_byte(client: Client, text: str) -> None:
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


def test_a_read_key_sees_the_names_of_headers_and_not_their_values(client: Client) -> None:
    client.put(job={**JOB, "target": {**TARGET, "headers": {"authorization": "s3cret"}}})
    for answer in (client.get(caller=READER), client.send("GET", "/v1/namespaces/ns/jobs", caller=READER)):
        assert "s3cret" not in str(answer.text)
        assert '"authorization":"(hidden)"' in str(answer.text)


@pytest.mark.parametrize("name", NAMES)
def test_every_character_that_the_rule_allows_can_be_in_a_name(client: Client, name: str) -> None:
    assert client.put(name).status == 201
    assert client.get(name).json["name"] == name
    assert client.send("DELETE", f"/v1/namespaces/ns/jobs/{name}").status == 204
    assert client.send("PUT", f"/v1/namespaces/{name}/jobs/job", JOB).json["namespace"] == name


@pytest.mark.parametrize(
    "name", ["a%20b", "a%22", "%23", "%3F", "x" * 129, ".", "..", "%C3%A9", "a%0A", "a%5C", "%E2%80%AE", "*"]
)
def test_a_name_with_another_character_is_refused_with_its_pointer(client: Client, name: str) -> None:
    refused = client.put(name)
    assert (refused.status, refused.pointers) == (422, ["/name"])
    assert client.send("GET", f"/v1/namespaces/{name}/jobs/job").pointers == ["/namespace"]
    assert client.world.jobs.page("ns", "", "", 10).items == ()


def test_an_unknown_job_is_not_found(client: Client) -> None:
    assert client.get().status == 404
    assert client.send("DELETE", "/v1/namespaces/ns/jobs/job").status == 404


def test_a_deleted_job_is_gone(client: Client) -> None:
    client.put()
    gone = client.send("DELETE", "/v1/namespaces/ns/jobs/job")
    assert (gone.status, gone.text) == (204, "")
    assert client.get().status == 404


def test_a_write_whose_precondition_fails_changes_nothing(client: Client) -> None:
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
def test_a_write_whose_precondition_holds_is_made(client: Client, template: str) -> None:
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


def test_if_match_with_several_etags_is_refused_if_none_of_them_is_current(client: Client) -> None:
    client.put()
    assert client.put(headers={"If-Match": '"a", "b"'}).status == 412
    assert client.put("other", headers={"If-Match": '"a", "b"'}).status == 412


@pytest.mark.parametrize("tags", ['"*"', '"nope", "*"', '"*", W/"x"'])
def test_an_asterisk_in_quotes_is_an_etag_that_no_revision_has(client: Client, tags: str) -> None:
    first = client.put()
    assert client.put(job={**JOB, "repeats": 1}, headers={"If-Match": tags}).status == 412
    assert client.send("DELETE", "/v1/namespaces/ns/jobs/job", headers={"If-Match": tags}).status == 412
    assert client.get().etag == first.etag
    both = f"{tags}, {first.etag}"
    assert client.send("DELETE", "/v1/namespaces/ns/jobs/job", headers={"If-Match": both}).status == 204


def test_a_store_that_fails_is_503_and_says_that_asking_again_is_safe(
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
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
