"""Patches over HTTP: the API merges a patch into the stored job and validates the whole result."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.http_events import JOB, TARGET, Answered, Client
from tests.unit.web.strategies import ANYTHING, JOBS, SOME

from sweephand.web.routes.jobs import apply_merge_patch

URL = "/v1/namespaces/ns/jobs/job"

WHOLE: dict[str, Any] = {
    **JOB,
    "target": {**TARGET, "headers": {"x-team": "ops"}, "timeout": "10s"},
    "data": {"a": {"b": 1, "c": None}},
    "retry": {"maxAttempts": 3, "maxAge": "1h"},
    "labels": {"team": "ops", "tier": "a"},
    "description": "Nightly backup",
}


def patched(client: Client, patch: Any, **options: Any) -> Answered:
    return client.send("PATCH", URL, patch, **options)


@pytest.mark.parametrize(
    ("patch", "expected"),
    [
        ({"description": "x"}, {"description": "x"}),
        ({"labels": {"tier": None, "new": "n"}}, {"labels": {"team": "ops", "new": "n"}}),
        ({"retry": {"maxAttempts": 5}}, {"retry": {"maxAttempts": 5, "maxAge": "1h"}}),
        ({"retry": {"maxAge": None}}, {"retry": {"maxAttempts": 3}}),
        ({"target": {"type": "http", "url": "https://a.example"}},) * 2,
        ({"target": {**TARGET, "headers": None}}, {"target": TARGET}),
        ({"data": {"a": None}},) * 2,
        ({"data": [1.0, "x"]},) * 2,
        ({"schedule": "@every 2h"},) * 2,
    ],
)
def test_a_patch_keeps_fields_that_it_leaves_out_and_replaces_some_fields_whole(
    client: Client, patch: dict[str, Any], expected: dict[str, Any]
) -> None:
    before = client.put(job=WHOLE)
    answer = patched(client, patch)
    assert answer.status == 200
    assert answer.etag != before.etag
    shown = client.get().json
    assert {name: shown[name] for name in WHOLE} == {**WHOLE, **expected}


@pytest.mark.parametrize("name", ["data", "retry", "labels", "description"])
def test_null_in_a_patch_removes_a_field(client: Client, name: str) -> None:
    client.put(job=WHOLE)
    assert patched(client, {name: None}).status == 200
    shown = client.get().json
    assert name not in shown
    assert {other: shown[other] for other in WHOLE if other != name} == {
        other: value for other, value in WHOLE.items() if other != name
    }


@pytest.mark.parametrize(
    ("field", "pointer"),
    [
        ({"retry": {"maxAttemps": None}}, "/retry/maxAttemps"),
        ({"retry": {"maxAttempts": 4, "maxAttemps": None}}, "/retry/maxAttemps"),
        ({"target": {**TARGET, "methd": None}}, "/target/methd"),
        ({"schedule": {"hour": 3, "minut": None}}, "/schedule/minut"),
    ],
)
def test_null_in_an_object_removes_no_field_that_it_never_has(
    client: Client, field: dict[str, Any], pointer: str
) -> None:
    client.put(job=WHOLE)
    for answer in (patched(client, field), client.put("other", {**WHOLE, **field})):
        [error] = answer.json["errors"]
        assert (answer.status, error["pointer"]) == (422, pointer)


def test_null_removes_no_field_that_no_job_has(client: Client) -> None:
    client.put(job=WHOLE)
    for answer in (patched(client, {"timezon": None}), client.put("other", {**WHOLE, "timezon": None})):
        [error] = answer.json["errors"]
        assert (answer.status, error["pointer"]) == (422, "/timezon")
        assert "Did you mean timezone?" in error["detail"]


@pytest.mark.parametrize("text", ["1.10", "1e400", "123456789012345678901234567890"])
def test_numbers_of_data_stay_as_they_were_written(client: Client, text: str) -> None:
    client.put(job=WHOLE)
    assert client.send("PATCH", URL, text=f'{{"data": {text}}}').status == 200
    assert f'"data":{text}' in str(client.get().text)


@pytest.mark.parametrize(
    ("patch", "pointers"),
    [
        ({"target": None}, ["/target"]),
        ({"target": {"type": "http"}}, ["/target/url"]),
        ({"target": {"type": "http", "url": "https://a.example", "method": "GET"}}, ["/target/method"]),
        ({"schedule": None, "repeats": 3}, ["/repeats"]),
        ({"schedule": None, "catchup": {"mode": "all"}}, ["/catchup"]),
        ({"schedule": None, "deleteAfterCompletion": True}, ["/deleteAfterCompletion"]),
        ({"schedule": "@nonsense"}, ["/schedule"]),
        ({"timezone": "Mars/Olympus"}, ["/timezone"]),
        ({"repeats": 0}, ["/repeats"]),
        ({"labels": {"a:b": "c"}}, ["/labels/a:b"]),
        ({"labels": 7}, ["/labels"]),
        ({"retry": {"maxAttempts": 0, "tries": 2}}, ["/retry/maxAttempts", "/retry/tries"]),
        ({"colour": "red", "ttl": "1x"}, ["/colour", "/ttl"]),
        ({"name": "other"}, ["/name"]),
        ({"dueTime": "2020-01-01T00:00:00Z"}, ["/dueTime"]),
        ([], [""]),
        (7, [""]),
    ],
)
def test_an_invalid_patch_is_refused_by_its_field_and_changes_nothing(
    client: Client, patch: Any, pointers: list[str]
) -> None:
    before = client.put(job=WHOLE)
    refused = patched(client, patch)
    assert (refused.status, refused.pointers) == (422, pointers)
    assert client.get().etag == before.etag


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/merge-patch+json", 200),
        ("application/json", 200),
        ("application/merge-patch+json; charset=utf-8", 200),
        ("application/json-patch+json", 415),
        ("application/vnd.api+json", 415),
        ("text/plain", 415),
    ],
)
def test_a_patch_is_a_merge_patch_and_no_other_kind(client: Client, kind: str, status: int) -> None:
    client.put()
    assert patched(client, {"repeats": 2}, headers={"content-type": kind}).status == status


def test_a_patch_with_data_over_the_limit_is_refused_as_a_put_is(client: Client) -> None:
    client.put()
    assert patched(client, {"data": "x" * 262_144}).status == 413


@SOME
@given(patch=JOBS | ANYTHING)
def test_no_patch_gets_an_answer_5xx_and_an_accepted_patch_changes_nothing_when_it_is_repeated(
    patch: Any,
) -> None:
    client = Client()
    client.put(job=WHOLE)
    answer = client.send("PATCH", URL, text=json.dumps(patch))
    assert answer.status in (200, 422)
    if answer.status == 200:
        assert client.get().status == 200
        assert patched(client, patch).etag == answer.etag


VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)


@given(target=VALUES, patch=VALUES)
def test_a_merge_patch_does_what_rfc_7396_says(target: Any, patch: Any) -> None:
    found = apply_merge_patch(target, patch)
    assert apply_merge_patch(found, patch) == found
    if not isinstance(patch, dict):
        assert found == patch
        return
    before = target if isinstance(target, dict) else {}
    assert found.keys() == {*before, *patch} - {name for name, value in patch.items() if value is None}
    assert all(found[name] == before[name] for name in found.keys() - patch.keys())


@pytest.mark.parametrize(
    ("target", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        (["a", "b"], ["c", "d"], ["c", "d"]),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_a_merge_patch_gives_the_results_of_the_table_of_rfc_7396(
    target: Any, patch: Any, result: Any
) -> None:
    assert apply_merge_patch(target, patch) == result
