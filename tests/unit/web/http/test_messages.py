"""Error messages suggest the name that a slip resembles, and have only characters that print."""

import json
import re
from typing import Any

import pytest
from tests.fakes.http_events import JOB, TARGET, Answered, Client

PUT = "/v1/namespaces/ns/jobs/job"
PREVIEW = "/v1/occurrences"


def details(answer: Answered) -> list[str]:
    """Every sentence of a problem."""
    return [answer.json["detail"], *(each["detail"] for each in answer.json.get("errors", []))]


@pytest.mark.parametrize(
    ("job", "meant"),
    [
        ({"schedul": "@daily", "target": TARGET}, "schedule"),
        ({**JOB, "shedule": "@daily"}, "schedule"),
        ({**JOB, "due_time": "10s"}, "dueTime"),
        ({**JOB, "timezon": "UTC"}, "timezone"),
        ({**JOB, "lables": {}}, "labels"),
        ({**JOB, "retry": {"maxAttemps": 3}}, "maxAttempts"),
        ({**JOB, "dst": {"gpa": "skip"}}, "gap"),
        ({**JOB, "overlap": "wiat"}, "wait"),
        ({**JOB, "overlap": "wait-latest"}, "waitLatest"),
        ({**JOB, "catchup": {"mode": "lastest"}}, "latest"),
        ({**JOB, "completion": "asynch"}, "async"),
        ({**JOB, "history": "failure"}, "failures"),
        ({**JOB, "schedule": "@dialy"}, "@daily"),
        ({**JOB, "schedule": {"hours": 3}}, "hour"),
        ({**JOB, "timezone": "Europe/Pari"}, "Europe/Paris"),
        ({**JOB, "timezone": "europe/paris"}, "Europe/Paris"),
        ({**JOB, "target": {**TARGET, "type": "htp"}}, "http"),
        ({**JOB, "target": {**TARGET, "urll": "x"}}, "url"),
        ({**JOB, "target": {**TARGET, "method": "PSOT"}}, "POST"),
        ({**JOB, "target": {**TARGET, "method": "post"}}, "POST"),
        ({**JOB, "onComplete": {"type": "job", "name": "next", "when": "alway"}}, "always"),
    ],
)
def test_a_misspelled_name_in_a_job_gets_a_suggestion(job: Any, meant: str) -> None:
    refused = Client().put(job=job)
    assert refused.status == 422
    assert [each for each in details(refused) if f"Did you mean {meant}?" in each], refused.text


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("/v1/namespaces/ns/jobs?limt=3", "limit"),
        ("/v1/namespaces/ns/jobs?curser=x", "cursor"),
        ("/v1/namespaces/ns/jobs?state=actve", "active"),
        ("/v1/namespaces/ns/jobs/job/runs?state=suceeded", "succeeded"),
        ("/v1/keys?Limit=3", "limit"),
    ],
)
def test_a_misspelled_name_in_a_query_gets_a_suggestion(url: str, meant: str) -> None:
    refused = Client().send("GET", url)
    assert refused.status == 422
    assert f"Did you mean {meant}?" in refused.json["errors"][0]["detail"]


@pytest.mark.parametrize(
    "job",
    [
        {**JOB, "colour": "red"},
        {**JOB, "overlap": "queue"},
        {**JOB, "overlap": True},
        {**JOB, "overlap": ["wait"]},
        {**JOB, "overlap": "w" * 10_000},
        {**JOB, "target": {**TARGET, "type": "kafka"}},
        {**JOB, "target": {**TARGET, "method": 5}},
    ],
)
def test_a_name_that_resembles_no_other_gets_no_suggestion(job: Any) -> None:
    refused = Client().put(job=job)
    assert refused.status == 422
    assert "Did you mean" not in str(refused.text)


@pytest.mark.parametrize(
    "text",
    [
        '{"description": "a\x00b"}',
        '{"description": "a\nb"}',
        '{"a\tb": 1}',
        '{"a": "\\x41"}',
        '{"a": "\\u12"}',
        '{"a": "',
        '{"a" 1}',
        '{"a": 1,}',
        '{"a": [1,]}',
        '{"a": [1 2]}',
        '{"a": 1} 2',
        "{a: 1}",
        "{",
        "[",
        "nul",
        "NaN",
        '{"a": 1, "a": 2}',
        '{"\x01": 1, "\x01": 2}',
    ],
)
def test_a_body_that_is_no_json_is_refused_in_a_printable_sentence_without_placeholders(text: str) -> None:
    (detail,) = details(Client().send("PUT", PUT, text=text))
    assert detail.isprintable()
    assert detail.endswith(".")
    assert not re.search(r"%[a-z]|[{][a-z_]*[}]|  | at at ", detail), detail


ODD = "\x00\x1b\u202e\u2028{0}%r"


@pytest.mark.parametrize(
    ("method", "url", "body"),
    [
        ("PUT", PUT, {ODD: 1}),
        *(("PUT", PUT, {**JOB, name: ODD}) for name in ("schedule", "timezone", "dueTime", "ttl", "jitter")),
        *(("PUT", PUT, {**JOB, name: ODD}) for name in ("overlap", "retention", "deadLetterQueue", "target")),
        ("PUT", PUT, {**JOB, "labels": {ODD + ":": ""}}),
        ("PUT", PUT, {**JOB, "dst": {ODD: ODD, "gap": ODD}}),
        ("PUT", PUT, {**JOB, "schedule": {ODD: ODD, "hour": ODD}}),
        ("PUT", PUT, {**JOB, "schedule": [ODD]}),
        *(("PUT", PUT, {**JOB, "target": {**TARGET, name: ODD}}) for name in ("type", "url", "method", ODD)),
        ("PUT", PUT, {**JOB, "target": {**TARGET, "headers": {ODD: ODD, "x": ODD}}}),
        ("POST", PREVIEW, {"schedule": "@daily", "after": ODD}),
        ("POST", "/v1/keys", {"namespace": ODD, "role": ODD, "expiresIn": ODD}),
        ("POST", "/v1/namespaces/ns/pause", {"prefix": ODD, "cursor": ODD}),
        ("GET", "/v1/namespaces/a%00b%1B/jobs", None),
        ("GET", "/v1/namespaces/ns/jobs/job/runs/a%00b%1B", None),
        ("GET", "/v1/namespaces/ns/jobs?state=%00%E2%80%AE&%1B=1", None),
        ("GET", "/v1/a%00b", None),
        ("A\x1bB", "/v1/limits", None),
    ],
)
def test_an_error_message_is_printable_and_has_no_placeholder_whatever_was_sent(
    method: str, url: str, body: Any
) -> None:
    refused = Client().send(method, url, body)
    assert refused.status in (404, 405, 422)
    for detail in details(refused):
        assert detail.isprintable(), ascii(detail)
        assert not re.search(r"[{](?!0[}])[a-z_]*[}]", detail), detail


def test_a_content_type_with_control_characters_is_shown_escaped() -> None:
    headers = {"content-type": "text/pl\x1bain"}
    refused = Client().send("PUT", PUT, text=json.dumps(JOB), headers=headers)
    assert refused.status == 415
    assert refused.json["detail"].isprintable()


@pytest.mark.parametrize(
    ("job", "at"),
    [
        ({**JOB, "[key]": 1}, "/[key]"),
        ({**JOB, "retry": {"[key]": "retry"}}, "/retry/[key]"),
        ({**JOB, "labels": {"[key]": 5}}, "/labels/[key]"),
        ({**JOB, "labels": {"": "ops"}}, "/labels/"),
    ],
)
def test_a_field_named_like_the_mark_of_pydantic_for_keys_is_refused_by_its_name(job: Any, at: str) -> None:
    assert Client().put("job", job).pointers == [at]


def test_a_bulk_call_refuses_a_field_named_like_the_mark_of_pydantic_for_keys_by_its_name() -> None:
    answer = Client().send(
        "POST", "/v1/namespaces/ns/jobs", {"jobs": [{**JOB, "name": "job"}], "[key]": None}
    )

    assert answer.pointers == ["/[key]"]
