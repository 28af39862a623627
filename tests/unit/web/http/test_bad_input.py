"""Bad input is refused with its status and JSON pointers, and nothing is stored."""

import json
from time import process_time
from typing import Any

import pytest
from tests.fakes.http_events import JOB, TARGET, Client, event_of

from sweephand.base.limits import (
    BODY_BYTES_MAX,
    DATA_BYTES_MAX,
    DEFINITION_BYTES_MAX,
    FIELD_VALUES_MAX,
    JSON_DEPTH_MAX,
    PAGE_ITEMS_MAX,
)
from sweephand.targets.reach import EVERY_QUEUE

PUT = "/v1/namespaces/ns/jobs/job"


def with_target(**fields: object) -> dict[str, object]:
    return {**JOB, "target": {**TARGET, **fields}}


INVALID: list[tuple[Any, list[str]]] = [
    ({}, ["/target"]),
    ([], [""]),
    ("x", [""]),
    (7, [""]),
    ({"target": TARGET, "repeats": 1}, ["/repeats"]),
    ({"target": TARGET, "jitter": "5m"}, ["/jitter"]),
    ({"target": TARGET, "dst": {"gap": "skip"}}, ["/dst"]),
    ({"target": TARGET, "catchup": {"mode": "all"}}, ["/catchup"]),
    ({"target": TARGET, "deleteAfterCompletion": True}, ["/deleteAfterCompletion"]),
    ({"target": TARGET, "catchup": {}, "repeats": 5}, ["/catchup", "/repeats"]),
    ({"target": TARGET, "onDemand": True}, ["/onDemand"]),
    ({"target": TARGET, "schedule": 5, "jitter": "5m"}, ["/schedule"]),
    ({"schedule": "@every 1h"}, ["/target"]),
    ({**JOB, "target": None}, ["/target"]),
    ({**JOB, "target": 1}, ["/target"]),
    ({**JOB, "target": []}, ["/target"]),
    ({**JOB, "target": {}}, ["/target/type"]),
    ({**JOB, "target": {"type": "kafka"}}, ["/target/type"]),
    ({**JOB, "target": {"type": "http"}}, ["/target/url"]),
    (with_target(url="http://a.example"), ["/target/url"]),
    (with_target(url="ftp://a.example"), ["/target/url"]),
    (with_target(url="https://127.0.0.1/"), ["/target/url"]),
    (with_target(url=7), ["/target/url"]),
    (with_target(method="TRACE"), ["/target/method"]),
    (with_target(timeout="61s"), ["/target/timeout"]),
    (with_target(headers={"host": "x"}), ["/target/headers/host"]),
    (with_target(headers={"a/b": "x"}), ["/target/headers/a~1b"]),
    (with_target(colour="red"), ["/target/colour"]),
    (with_target(colour="red", timeout=0, url=None), ["/target/colour", "/target/url", "/target/timeout"]),
    ({**JOB, "target": {"type": "sqs", "queueUrl": "https://a.example"}}, ["/target/queueUrl"]),
    ({**JOB, "schedule": "whenever"}, ["/schedule"]),
    ({**JOB, "schedule": ""}, ["/schedule"]),
    ({**JOB, "schedule": 5}, ["/schedule"]),
    ({**JOB, "schedule": "* " * 200}, ["/schedule"]),
    ({**JOB, "schedule": "0 0 30 2 *"}, ["/schedule"]),
    ({**JOB, "timezone": "Europe/Atlantis"}, ["/timezone"]),
    ({**JOB, "timezone": "../etc/passwd"}, ["/timezone"]),
    ({**JOB, "dueTime": "2020-01-01T00:00:00Z"}, ["/dueTime"]),
    ({**JOB, "dueTime": "soon"}, ["/dueTime"]),
    ({"target": TARGET, "dueTime": "9999-12-31T23:59:59.9999Z"}, ["/dueTime"]),
    ({**JOB, "ttl": "never"}, ["/ttl"]),
    ({**JOB, "repeats": 0}, ["/repeats"]),
    ({**JOB, "repeats": 1.5}, ["/repeats"]),
    ({**JOB, "repeats": True}, ["/repeats"]),
    ({**JOB, "repeats": "3"}, ["/repeats"]),
    ({**JOB, "repeats": 10**40}, ["/repeats"]),
    ({**JOB, "dst": "skip"}, ["/dst"]),
    ({**JOB, "dst": {"gap": "leap"}}, ["/dst/gap"]),
    ({**JOB, "dst": {"overlap": "SECOND", "gap": 1}}, ["/dst/gap", "/dst/overlap"]),
    ({**JOB, "dst": {"overlaps": "both"}}, ["/dst/overlaps"]),
    ({**JOB, "jitter": 300}, ["/jitter"]),
    ({**JOB, "jitter": "soon"}, ["/jitter"]),
    ({**JOB, "jitter": "0s"}, ["/jitter"]),
    ({**JOB, "jitter": "-5m"}, ["/jitter"]),
    ({**JOB, "jitter": "P1M"}, ["/jitter"]),
    ({**JOB, "jitter": "86400.001s"}, ["/jitter"]),
    ({**JOB, "retry": 3}, ["/retry"]),
    ({**JOB, "retry": {"maxAttempts": 0}}, ["/retry/maxAttempts"]),
    ({**JOB, "retry": {"maxAttempts": 187}}, ["/retry/maxAttempts"]),
    ({**JOB, "retry": {"maxAge": "31d"}}, ["/retry/maxAge"]),
    ({**JOB, "retry": {"maxAge": 60}}, ["/retry/maxAge"]),
    ({**JOB, "retry": {"initialDelay": "-1s", "maxDelay": "x"}}, ["/retry/initialDelay", "/retry/maxDelay"]),
    ({**JOB, "retry": {"multiplier": 0.5}}, ["/retry/multiplier"]),
    ({**JOB, "retry": {"multiplier": 1e300}}, ["/retry/multiplier"]),
    ({**JOB, "retry": {"tries": 3}}, ["/retry/tries"]),
    ({**JOB, "deadLetterQueue": "https://a.example/"}, ["/deadLetterQueue"]),
    ({**JOB, "history": "all"}, ["/history"]),
    ({**JOB, "historyRetention": "366d"}, ["/historyRetention"]),
    ({**JOB, "retention": "P1M"}, ["/retention"]),
    ({**JOB, "labels": {"a": 1}}, ["/labels/a"]),
    ({**JOB, "labels": {"a/b~": 1}}, ["/labels/a~1b~0"]),
    ({**JOB, "labels": {"a:b": "c"}}, ["/labels/a:b"]),
    ({**JOB, "labels": {"": "c"}}, ["/labels/"]),
    ({**JOB, "labels": {str(number): "" for number in range(21)}}, ["/labels"]),
    ({**JOB, "labels": {"a": "x" * 129}}, ["/labels/a"]),
    ({**JOB, "description": "x" * 513}, ["/description"]),
    ({**JOB, "dueTimes": "10s"}, ["/dueTimes"]),
    ({**JOB, "due_time": "10s"}, ["/due_time"]),
    ({**JOB, "name": "job"}, ["/name"]),
    ({**JOB, "a/b": 1, "~": 2}, ["/a~1b", "/~0"]),
    ({**JOB, "policy": "a mailer"}, ["/policy"]),
    ({**JOB, "policy": ".."}, ["/policy"]),
    ({**JOB, "policy": 7}, ["/policy"]),
    ({**JOB, "priority": "urgent"}, ["/priority"]),
    ({**JOB, "priority": 1}, ["/priority"]),
    ({**JOB, "overlap": "queue"}, ["/overlap"]),
    ({**JOB, "overlap": True}, ["/overlap"]),
    ({**JOB, "waitLimit": 0}, ["/waitLimit"]),
    ({**JOB, "waitLimit": 1_001}, ["/waitLimit"]),
    ({**JOB, "catchup": "latest"}, ["/catchup"]),
    ({**JOB, "catchup": {"mode": "newest"}}, ["/catchup/mode"]),
    ({**JOB, "catchup": {"window": "15d"}}, ["/catchup/window"]),
    ({**JOB, "catchup": {"window": "0s"}}, ["/catchup/window"]),
    ({**JOB, "catchup": {"window": "119999ms"}}, ["/catchup/window"]),
    ({**JOB, "catchup": {"window": 3600}}, ["/catchup/window"]),
    ({**JOB, "catchup": {"window": "P1M", "modes": "all"}}, ["/catchup/modes", "/catchup/window"]),
    (
        {"schedule": "x", "timezone": 1, "target": {}, "retry": {"maxAttempts": 0, "maxAge": "y"}, "zz": 1},
        ["/timezone", "/retry/maxAttempts", "/zz", "/target/type", "/retry/maxAge", "/schedule"],
    ),
]


@pytest.mark.parametrize(("job", "pointers"), INVALID)
def test_an_invalid_job_names_every_field_and_is_not_stored(job: Any, pointers: list[str]) -> None:
    client = Client()
    refused = client.put(job=job)
    assert (refused.status, refused.pointers) == (422, pointers)
    assert refused.headers["content-type"] == "application/problem+json"
    assert all(each["detail"].strip().endswith((".", ")", "?")) for each in refused.json["errors"])
    assert client.world.jobs.page("ns", "", "", 1).items == ()
    assert client.world.queue.waiting == []
    assert client.world.timers.everything() == []


@pytest.mark.parametrize(
    ("job", "pointers"), [each for each in INVALID if isinstance(each[0], dict) and "name" not in each[0]]
)
def test_a_bulk_call_refuses_an_invalid_job_with_the_same_pointers_as_a_put(
    client: Client, job: Any, pointers: list[str]
) -> None:
    jobs = [{"name": "a", **JOB}, {**job, "name": "b"}, {"name": "c", **JOB}]
    results = client.send("POST", "/v1/namespaces/ns/jobs", {"jobs": jobs}).json["results"]
    assert [each["status"] for each in results] == [201, 422, 201]
    assert [each["pointer"] for each in results[1]["problem"]["errors"]] == pointers


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{",
        "{'a': 1}",
        '{"a": NaN}',
        '{"a": -Infinity}',
        '{"a": 01}',
        '{"a": 1,}',
        '{"a": "\\ud800"}',
        '{"a": "\\udc00\\ud800"}',
        '{"\\udfff": 1}',
        '{"a": "\t"}',
        '{"schedule": "@daily", "schedule": "@hourly"}',
        '{"data": {"a": 1, "b": 2, "a": 3}}',
        "[" * 60_000,
        '{"data":' * 8_000,
        '{"data": ' + "[" * JSON_DEPTH_MAX + "]" * JSON_DEPTH_MAX + "}",
        '{"data": ' + '{"a":' * 5_000 + "1" + "}" * 5_001,
        b"\xff\xfe{\x00}\x00",
        b'{"a": "\xc3"}',
        b"",
    ],
)
@pytest.mark.parametrize(
    ("method", "url"),
    [
        ("PUT", PUT),
        ("POST", "/v1/namespaces/ns/jobs"),
        ("POST", "/v1/occurrences"),
        ("POST", "/v1/keys"),
    ],
)
def test_a_body_that_is_not_json_is_400(method: str, url: str, text: str | bytes) -> None:
    refused = Client().send(method, url, text=text)
    assert refused.status == 400
    assert refused.json["type"] == "urn:sweephand:problem:malformed"


def test_a_body_that_is_not_base64_is_400(client: Client) -> None:
    event = event_of("PUT", PUT, body="@@@", headers={"content-type": "application/json"})
    assert client.handler({**event, "isBase64Encoded": True}, None)["statusCode"] == 400


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("application/json", 201),
        ("Application/JSON; charset=UTF-8", 201),
        ("application/vnd.sweephand+json", 201),
        ("text/plain", 415),
        ("application/x-www-form-urlencoded", 415),
        ("application/json; charset=utf-16", 415),
        ("", 415),
        (";;;", 415),
        ("\u00e9", 415),
    ],
)
def test_a_content_type_other_than_json_is_415(content_type: str, status: int) -> None:
    assert Client().put(headers={"content-type": content_type}).status == status


def test_a_body_without_a_content_type_is_415_even_if_it_is_too_large(client: Client) -> None:
    event = event_of("PUT", PUT, body="x" * (BODY_BYTES_MAX + 1))
    assert client.handler(event, None)["statusCode"] == 415


@pytest.mark.parametrize("url", [PUT, "/v1/namespaces/ns/jobs"])
def test_a_body_over_the_limit_is_413(client: Client, url: str) -> None:
    body = "\u00e9" * (BODY_BYTES_MAX // 2 + 1)
    refused = client.send("PUT" if url == PUT else "POST", url, text=json.dumps(body, ensure_ascii=False))
    assert refused.status == 413
    assert str(BODY_BYTES_MAX) in refused.json["detail"]
    assert client.send("PUT", PUT, text=b" " * (BODY_BYTES_MAX + 1)).status == 413


def test_data_over_the_limit_is_413_and_at_the_limit_is_not(client: Client) -> None:
    assert client.put(job={**JOB, "data": "x" * (DATA_BYTES_MAX - 2)}).status == 201
    refused = client.put(job={**JOB, "data": "x" * (DATA_BYTES_MAX - 1)})
    assert (refused.status, refused.pointers) == (413, ["/data"])
    many = client.send(
        "POST", "/v1/namespaces/ns/jobs", {"jobs": [{**JOB, "name": "a", "data": "x" * DATA_BYTES_MAX}]}
    )
    assert many.json["results"][0]["status"] == 413


def test_insecure_targets_are_taken_where_the_stack_allows_them() -> None:
    client = Client(allow_insecure_targets=True)
    job = {**JOB, "target": {"type": "http", "url": "http://127.0.0.1:8080/hook"}}
    assert client.put(job=job).status == 201


def test_no_job_may_name_a_queue_of_the_stack_itself() -> None:
    own = "https://sqs.eu-west-1.amazonaws.com/123456789012/delivery"
    older = "https://eu-west-1.queue.amazonaws.com/123456789012/delivery"
    client = Client(queues=EVERY_QUEUE._replace(own=(own,)))
    for url in (own, older):
        target = {"type": "sqs", "queueUrl": url}
        refused = client.put(job={**JOB, "target": target, "deadLetterQueue": url})
        assert refused.status == 422
        assert [error["pointer"] for error in refused.json["errors"]] == [
            "/target/queueUrl",
            "/deadLetterQueue",
        ]


def test_a_name_that_stands_twice_is_found_in_a_body_of_any_size_at_once() -> None:
    # What is compared with everything else would keep the function busy until its limit.
    names = ",".join(f'"{number}":0' for number in range(90_000))
    began_s = process_time()
    refused = Client().send("PUT", PUT, text=f'{{{names},"89999":0}}')
    assert refused.status == 400
    assert process_time() - began_s < 5


def test_an_answer_names_no_more_fields_than_fit_into_it() -> None:
    unknown = {f"unknown{number}": 0 for number in range(900)}
    refused = Client().put(job={"target": TARGET, **unknown})
    assert refused.status == 422
    assert len(refused.json["errors"]) == 50
    assert refused.json["detail"] == "More than 50 fields cannot be accepted. The first 50 are named."


def test_a_job_has_a_bounded_number_of_values_besides_its_data() -> None:
    values = [0] * FIELD_VALUES_MAX
    refused = Client().put(job={**JOB, "labels": {"a": values}, "data": values * 2})
    assert (refused.status, refused.pointers) == (422, [""])
    assert "fieldValuesMax" in refused.json["errors"][0]["detail"]
    assert Client().put(job={**JOB, "data": values * 2}).status == 201


def padded(length: int) -> dict[str, object]:
    """A job with as many quotation marks, which take the most room of all characters."""
    labels = {f"{number:02d}" + '"' * 126: '"' * 128 for number in range(11)}
    return {**with_target(headers={"x-pad": '"' * length}), "labels": labels}


def test_a_page_of_the_largest_jobs_fits_into_an_answer(client: Client) -> None:
    room = (DEFINITION_BYTES_MAX - len(json.dumps(padded(0), separators=(",", ":")))) // 2
    refused = client.put(job=padded(room + 1))
    assert (refused.status, refused.pointers) == (422, [""])
    assert "definitionBytesMax" in refused.json["errors"][0]["detail"]
    for number in range(PAGE_ITEMS_MAX):
        assert client.send("PUT", f"/v1/namespaces/ns/jobs/{number:0128d}", padded(room)).status == 201
    answer = client.handler(event_of("GET", f"/v1/namespaces/ns/jobs?limit={PAGE_ITEMS_MAX}"), None)
    assert len(json.dumps(answer, ensure_ascii=False).encode()) < 6_000_000


@pytest.mark.parametrize("schedule", ['{"minute": 1e999}', '{"hour": -1e999}', "[1e999]", "1e999"])
def test_a_number_beyond_the_range_of_a_double_is_refused_in_a_schedule(schedule: str) -> None:
    text = f'{{"schedule": {schedule}, "target": {{"type": "http", "url": "https://a.example"}}}}'
    refused = Client().put(job=None, text=text)
    assert refused.status == 422
    assert all(each.startswith("/schedule") for each in refused.pointers)
