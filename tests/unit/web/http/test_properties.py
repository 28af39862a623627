"""For any request, the answer is one that OpenAPI describes and no 5xx, and data comes back unchanged."""

import json
from decimal import Decimal
from typing import Any

import simplejson
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.http_events import JOB, TARGET, Client
from tests.unit.web.strategies import ANYTHING, JOBS, NEARLY_JOBS, NUMBERS, SOME


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
