"""A refusal says what would be right, in words that fit every request."""

from typing import Any

import pytest
from tests.fakes.faults import failing
from tests.fakes.http_events import JOB, TARGET, Client
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
    refused = client.send("POST", f"{JOBS}/job/pause", {"why": "x"})
    assert refused.json["errors"][0]["detail"] == "There is no such field here. The fields are: reason."


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
