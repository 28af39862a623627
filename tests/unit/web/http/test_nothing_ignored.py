"""The API honours or refuses each part of a request, and its answer to any request is one of OpenAPI."""

import json
from decimal import Decimal
from typing import Any

import pytest
import simplejson
from hypothesis import given
from hypothesis import strategies as st
from tests.contract.builders import policy
from tests.fakes.http_events import JOB, TARGET, Client
from tests.fakes.world import World
from tests.unit.web.strategies import ANYTHING, JOBS, NEARLY_JOBS, NUMBERS, SOME

from sweephand.model.policy import PolicyKey
from sweephand.web.http.operation import Operation
from sweephand.web.operations import OPERATIONS

JOB_URL = "/v1/namespaces/ns/jobs/job"
RUN = "1795262410000-0"


def url_of(operation: Operation) -> str:
    values = {"namespace": "ns", "name": "job", "policy": "mailer", "secret": "token", "id": "abc"}
    values["window"] = "freeze"
    values |= {"calendar": "fr", "runId": RUN, "batchId": RUN[:-2], "asset": "app.0.js"}
    return operation.path.format(**values)


WITHOUT_BODY = [each for each in OPERATIONS if each.accepts is None]
WRITES = [each for each in OPERATIONS if each.method != "GET"]


@pytest.mark.parametrize("operation", WITHOUT_BODY, ids=lambda each: each.name)
@pytest.mark.parametrize("text", ['{"reason": "x"}', "null", "[]", "reason=x"])
def test_an_operation_that_takes_no_body_refuses_one(client: Client, operation: Operation, text: str) -> None:
    client.put()
    refused = client.send(operation.method, url_of(operation), text=text)
    assert (refused.status, refused.pointers) == (422, [""])
    assert "takes no body" in refused.json["errors"][0]["detail"]


@pytest.mark.parametrize("text", ["{}", " { } ", "", b"{}", b"\n"])
def test_an_empty_object_counts_as_no_body(client: Client, text: str | bytes) -> None:
    client.put()
    headers = {"content-type": "application/x-www-form-urlencoded"}
    assert client.send("DELETE", JOB_URL, text=text, headers=headers).status == 204


def test_an_operation_that_takes_no_body_refuses_a_body_that_is_too_large_or_no_text(client: Client) -> None:
    client.put()
    assert client.send("DELETE", JOB_URL, text="x" * 1_100_000).status == 413
    assert client.send("DELETE", JOB_URL, text=b"\xff").status == 400
    assert client.get().status == 200


@pytest.mark.parametrize("operation", WRITES, ids=lambda each: each.name)
@pytest.mark.parametrize(("header", "value"), [("If-Match", '"x"'), ("If-None-Match", "*")])
def test_an_operation_that_knows_no_preconditions_refuses_their_headers(
    world: World, operation: Operation, header: str, value: str
) -> None:
    world.flow_functions_max = 5
    world.policies.put(policy(key=PolicyKey("ns", "mailer")), None)
    client = Client(world)
    client.put()
    client.send("PUT", "/v1/namespaces/ns", {"limits": {}})
    client.send("PUT", "/v1/namespaces/ns/calendars/fr", {})
    client.send("PUT", "/v1/namespaces/ns/windows/freeze", {"schedule": "@daily", "duration": "1h"})
    example = next(iter(operation.accepts.examples.values())) if operation.accepts else None
    answer = client.send(operation.method, url_of(operation), example, headers={header: value})
    if header in operation.headers:
        assert answer.status == 412
    else:
        assert (answer.status, answer.pointers) == (422, [f"/{header}"])


@pytest.mark.parametrize(
    ("field", "value", "other", "right"),
    [
        ("waitLimit", 5, "overlap", "wait"),
        ("heartbeatTimeout", "1m", "completion", "async"),
        ("maxRunTime", "1h", "completion", "async"),
    ],
)
def test_a_field_without_effect_is_refused_and_a_stored_one_can_be_patched(
    client: Client, field: str, value: object, other: str, right: str
) -> None:
    refused = client.put(job={**JOB, field: value})
    assert (refused.status, refused.pointers) == (422, [f"/{field}"])
    assert f"{other}: {right}" in refused.json["errors"][0]["detail"]
    assert client.put(job={**JOB, field: value, other: right}).status == 201
    assert client.put(job={**JOB, field: None}).status == 200
    assert client.put(job={**JOB, field: value, other: right}).status == 200

    def patch(body: Any) -> Any:
        return client.send("PATCH", JOB_URL, body)

    # Without the other the field stays, without effect, for as long as no request writes it.
    assert patch({other: None}).status == 200
    assert patch({"description": "as before"}).status == 200
    again = patch({field: value})
    assert (again.status, again.pointers) == (422, [f"/{field}"])
    assert patch({field: value, other: right}).status == 200
    assert patch({field: None, other: None}).status == 200


def test_a_wait_limit_beside_overlap_waitlatest_is_refused() -> None:
    refused = Client().put(job={**JOB, "overlap": "waitLatest", "waitLimit": 5})
    assert (refused.status, refused.pointers) == (422, ["/waitLimit"])


@pytest.mark.parametrize(
    ("method", "url", "status"),
    [
        # The gateway decodes a path before it hands it on: an encoded slash parts a path as any other does.
        ("GET", "/v1/namespaces/ns/jobs/a%2Fb", 404),
        ("PUT", "/v1/namespaces/ns/jobs/a%2Fb", 404),
        ("GET", "/v1/namespaces/ns%2Fjobs%2Fjob", 200),
        ("GET", "/v1/namespaces/ns/jobs/job%2Foccurrences", 200),
        ("POST", "/v1/namespaces/ns/jobs/job%2Fpause", 200),
        ("GET", "/v1/namespaces/ns/jobs/job%252F", 422),
    ],
)
def test_an_encoded_slash_in_a_path_is_a_slash(client: Client, method: str, url: str, status: int) -> None:
    client.put()
    assert client.send(method, url, JOB if method == "PUT" else None).status == status


@SOME
@given(job=JOBS | NEARLY_JOBS | ANYTHING)
def test_no_json_document_as_a_job_gets_an_answer_5xx(job: Any) -> None:
    client = Client()
    answer = client.put(job=None, text=json.dumps(job))
    assert answer.status in (201, 422)
    if answer.status == 201:
        shown = client.get()
        assert shown.status == 200
        assert client.put(job=job).etag == shown.etag


@SOME
@given(body=ANYTHING | st.fixed_dictionaries({"jobs": st.lists(JOBS | NEARLY_JOBS | ANYTHING)}))
def test_no_json_document_as_a_bulk_call_gets_an_answer_5xx(body: Any) -> None:
    answer = Client().send("POST", "/v1/namespaces/ns/jobs", text=json.dumps(body))
    assert answer.status in (200, 422)
    if answer.status == 200:
        assert {each["status"] for each in answer.json["results"]} <= {201, 422}


@SOME
@given(text=st.text() | st.binary())
def test_no_text_as_a_body_gets_an_answer_5xx(text: str | bytes) -> None:
    for method, url in (
        ("PUT", "/v1/namespaces/ns/jobs/job"),
        ("POST", "/v1/occurrences"),
        ("POST", "/v1/keys"),
    ):
        assert Client().send(method, url, text=text).status in (400, 422)


@SOME
@given(method=st.sampled_from(["GET", "PUT", "POST", "DELETE", "PATCH"]), path=st.text(), query=st.text())
def test_no_url_gets_an_answer_5xx(method: str, path: str, query: str) -> None:
    client = Client()
    event_path = path.replace("?", "").encode("utf-8", "replace").decode()
    for url in (
        f"/{event_path}",
        f"/v1/namespaces/{event_path}/jobs",
        f"/v1/namespaces/ns/jobs/{event_path}",
    ):
        assert client.send(method, f"{url}?{query}").status < 500
    assert client.send("GET", f"/v1/namespaces/ns/jobs?cursor={query}").status in (200, 422)


@SOME
@given(data=ANYTHING)
def test_the_api_shows_the_data_of_a_job_as_it_was_written(data: Any) -> None:
    client = Client()
    assert client.put(job={**JOB, "data": data}).status == 201
    shown = client.get().text
    assert json.loads(str(shown))["data"] == data


@SOME
@given(number=NUMBERS)
def test_a_number_in_the_data_of_a_job_keeps_every_digit(number: str) -> None:
    client = Client()
    text = f'{{"data": [{number}], "schedule": "@daily", "target": {json.dumps(TARGET)}}}'
    assert client.send("PUT", "/v1/namespaces/ns/jobs/job", text=text).status == 201
    assert f'"data":[{number}]' in str(client.get().text)
    (found,) = simplejson.loads(str(client.get().text), parse_float=Decimal, parse_int=Decimal)["data"]
    assert found == Decimal(number)
