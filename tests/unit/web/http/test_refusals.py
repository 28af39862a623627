"""A refusal says what would be right, in words that fit every request, and suggests similar names."""

import json
import re
from typing import Any

import pytest
from tests.fakes.faults import failing
from tests.fakes.http_events import JOB, TARGET, Answered, Client
from tests.fakes.world import NOON, World

JOBS = "/v1/namespaces/ns/jobs"


def told(job: Any, **options: Any) -> dict[str, str]:
    """The detail of each violation of a refused job, by its field."""
    refused = Client().put(job=job, **options)
    assert refused.status == 422
    return {each["pointer"]: each["detail"] for each in refused.json["errors"]}


def test_the_refusal_of_a_read_does_not_say_that_nothing_was_changed() -> None:
    assert Client().send("GET", f"{JOBS}?limit=0").json["detail"] == "1 field cannot be accepted."


@pytest.mark.parametrize(
    ("name", "meant"),
    [("Schedule", "schedule"), ("due_time", "dueTime"), ("MAX-RUN-TIME", "maxRunTime")],
)
def test_a_field_in_another_spelling_is_refused_with_the_right_spelling(name: str, meant: str) -> None:
    said = told({**JOB, name: "x"})[f"/{name}"]
    assert said.startswith(
        f"There is no such field here. Did you mean {meant}? The fields are: alertAfter, batch, "
    )


def test_a_job_that_is_written_back_as_it_was_shown_is_refused_with_the_fields_to_leave_out() -> None:
    client = Client()
    client.put()
    client.world.run_until(NOON + 3_700_000)
    shown = client.get().json
    refused = client.put(job=shown)
    assert {each["detail"] for each in refused.json["errors"]} == {"Sweephand sets this field. Leave it out."}
    left_out = set(refused.pointers)
    assert {"/namespace", "/name", "/rev", "/state", "/nextRun", "/lastRun", "/owner"} < left_out
    written = {name: value for name, value in shown.items() if f"/{name}" not in left_out}
    assert client.put(job=written).status == 200


def test_a_refusal_lists_the_only_field_of_a_body_that_has_one_field(client: Client) -> None:
    client.put()
    refused = client.send("POST", f"{JOBS}/job/resume", {"why": "x"})
    assert refused.json["errors"][0]["detail"] == "There is no such field here. The fields are: catchup."


def test_an_empty_value_that_must_not_be_empty_is_refused_as_empty() -> None:
    assert told({**JOB, "labels": {"": "x"}}) == {"/labels/": "Must not be empty."}
    refused = Client().send("POST", JOBS, {"jobs": []})
    assert refused.json["errors"][0]["detail"].startswith("Must not be empty. 1 to 100 jobs")


def test_a_refusal_writes_a_whole_number_as_a_bound_without_decimals() -> None:
    assert told({**JOB, "retry": {"multiplier": 0.5}})["/retry/multiplier"].startswith("Must be at least 1. ")


def test_a_refused_header_has_the_pointer_of_its_own_spelling() -> None:
    job = {**JOB, "target": {**TARGET, "headers": {"Webhook-ID": "x"}}}
    assert told(job)["/target/headers/Webhook-ID"].startswith("The header webhook-id is set by Sweephand")


@pytest.mark.parametrize("queue", [None, "", "orders", 7])
def test_a_missing_queue_is_refused_with_an_example(queue: Any) -> None:
    job = {**JOB, "target": {"type": "sqs", "queueUrl": queue}}
    assert "https://sqs." in told(job)["/target/queueUrl"]


def test_an_empty_prefix_is_refused_as_no_filter() -> None:
    refused = Client().send("POST", "/v1/namespaces/ns/pause", {"prefix": ""})
    assert [each["detail"] for each in refused.json["errors"]] == [
        "Select the jobs: give a prefix, or labels."
    ]


@pytest.mark.parametrize(
    ("method", "path"), [("PUT", f"{JOBS}/job"), ("PATCH", f"{JOBS}/job"), ("POST", f"{JOBS}/job/backfill")]
)
def test_a_missing_body_is_400_even_without_a_content_type(method: str, path: str) -> None:
    refused = Client().send(method, path)
    assert (refused.status, refused.json["detail"]) == (400, "The body is empty. Give a JSON object.")


def test_if_match_star_on_a_missing_job_says_that_there_is_none() -> None:
    refused = Client().put(headers={"if-match": "*"})
    assert (refused.status, refused.json["detail"]) == (
        412,
        "There is no job job, and If-Match asks for one.",
    )


def test_a_503_names_the_requests_that_make_new_triggers_when_they_are_repeated(client: Client) -> None:
    client.put()
    failing(client.world, "queue.send")
    refused = client.send("POST", f"{JOBS}/job/trigger")
    assert refused.status == 503
    assert refused.json["detail"].endswith("Only a trigger or a backfill then makes new triggers.")


def test_a_503_to_a_get_speaks_of_no_change(client: Client) -> None:
    client.put()
    failing(client.world, "jobs.get")
    refused = client.get()
    assert (refused.status, refused.json["detail"]) == (
        503,
        "A store did not answer. You can safely send the request again.",
    )


@pytest.mark.parametrize(
    ("path", "body", "most"),
    [
        ("policies/mailer", {"rate": {"limit": 1, "per": "25h"}}, "1d (policyRatePerDaysMax)"),
        ("jobs/job", {**JOB, "retry": {"maxAge": "31d"}}, "30d (retryDaysMax)"),
        ("jobs/job", {**JOB, "batch": {"count": 2, "window": "8d"}}, "7d (batchWindowDaysMax)"),
    ],
)
def test_a_duration_that_is_too_long_is_refused_with_the_name_of_the_limit(
    world: World, path: str, body: Any, most: str
) -> None:
    world.flow_functions_max = 2
    refused = Client(world).send("PUT", f"/v1/namespaces/ns/{path}", body)
    assert refused.status == 422
    assert f"Give at most {most}." in [each["detail"] for each in refused.json["errors"]]


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
