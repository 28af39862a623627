"""The rules of the target types `job` and `default`."""

from typing import Any

import pytest
from tests.fakes.targets import HTTP, SECURE, SQS, pointers

from sweephand.targets.default import resolved, takes
from sweephand.targets.registry import (
    attempt_ms_max,
    end_target_types,
    target_types,
    target_violations,
    triggered_job,
    triggers_job,
)

ENDS = ("succeeded", "failed", "skipped", "cancelled")


def end_pointers(spec: dict[str, Any]) -> list[str]:
    types = end_target_types()
    found = target_violations(spec, has_data=True, reach=SECURE, at="/onComplete", types=types)
    return [each.pointer for each in found]


@pytest.mark.parametrize("when", [{}, {"when": "succeeded"}, {"when": "failed"}, {"when": "always"}])
def test_a_target_job_names_a_job_and_may_say_after_which_ends(when: dict[str, Any]) -> None:
    assert end_pointers({"type": "job", "name": "next", **when}) == []


@pytest.mark.parametrize("name", [None, 5, "", ".", "..", "a b", "a/b", "a\n", "x" * 129])
def test_a_name_that_no_job_can_have_is_refused(name: object) -> None:
    assert end_pointers({"type": "job", "name": name}) == ["/onComplete/name"]


@pytest.mark.parametrize("when", [None, 5, "", "later", ["failed"]])
def test_an_end_that_there_is_not_is_refused(when: object) -> None:
    assert end_pointers({"type": "job", "name": "next", "when": when}) == ["/onComplete/when"]


def test_a_target_job_follows_ends_and_takes_no_triggers_of_a_schedule() -> None:
    assert "job" in end_target_types()
    assert "job" not in target_types()


@pytest.mark.parametrize(
    ("when", "states"),
    [
        ({}, ["succeeded"]),
        ({"when": "succeeded"}, ["succeeded"]),
        ({"when": "failed"}, ["failed"]),
        ({"when": "always"}, ["succeeded", "failed", "skipped", "cancelled"]),
    ],
)
def test_a_target_job_is_triggered_after_the_ends_that_it_names(
    when: dict[str, Any], states: list[str]
) -> None:
    spec = {"type": "job", "name": "next", **when}
    assert triggers_job(spec)
    assert [state for state in ENDS if triggered_job(spec, state) == "next"] == states
    assert {triggered_job(spec, state) for state in ENDS} <= {"next", None}


@pytest.mark.parametrize("spec", [HTTP, SQS, {"type": "newer", "name": "next"}])
def test_a_target_of_another_type_triggers_no_job(spec: dict[str, Any]) -> None:
    assert not triggers_job(spec)
    assert triggered_job(spec, "succeeded") is None


def test_a_target_job_takes_no_time_since_no_request_is_made() -> None:
    assert attempt_ms_max({"type": "job", "name": "next"}) == 0


BASE = {"type": "http", "url": "https://a.example/v1/", "method": "PUT", "headers": {"X-Team": "ops"}}


@pytest.mark.parametrize(
    ("base", "path", "url"),
    [
        ("https://a.example", "/x", "https://a.example/x"),
        ("https://a.example/", "/x", "https://a.example/x"),
        ("https://a.example/v1", "/x/{{index}}?y=1", "https://a.example/v1/x/{{index}}?y=1"),
        ("https://a.example/v1?code=s", "/x", "https://a.example/v1/x?code=s"),
        ("https://a.example?code=s", "/x?y=1", "https://a.example/x?y=1&code=s"),
        ("https://a.example/v1", "/", "https://a.example/v1/"),
        ("https://a.example/v1", "//b.example/x", "https://a.example/v1//b.example/x"),
        ("https://a.example", "/@b.example", "https://a.example/@b.example"),
    ],
)
def test_a_path_is_appended_to_the_url_of_the_default(base: str, path: str, url: str) -> None:
    assert resolved({**BASE, "url": base}, {"type": "default", "path": path})["url"] == url


def test_without_fields_it_stands_for_the_default_itself() -> None:
    assert resolved(BASE, {"type": "default"}) == BASE
    queue = {"type": "sqs", "queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/q"}
    assert resolved(queue, {"type": "default"}) == queue


def test_fields_of_the_job_replace_those_of_the_default_and_headers_are_merged() -> None:
    own = {"type": "default", "method": "POST", "timeout": "3s", "headers": {"x-team": "dev", "x-a": "1"}}
    assert resolved(BASE, own) == {
        "type": "http",
        "url": "https://a.example/v1/",
        "method": "POST",
        "timeout": "3s",
        "headers": {"x-team": "dev", "x-a": "1"},
    }
    assert resolved(BASE, {"type": "default", "headers": {"x-a": "1"}})["headers"] == {
        "X-Team": "ops",
        "x-a": "1",
    }


def test_a_default_of_another_type_takes_no_fields() -> None:
    found = takes({"type": "sqs"}, {"type": "default", "path": "/x", "timeout": "3s"})
    assert [each.pointer for each in found] == ["/path", "/timeout"]
    assert "defaultTarget is of type sqs" in found[0].detail
    assert takes({"type": "sqs"}, {"type": "default"}) == []
    assert takes(BASE, {"type": "default", "path": "/x"}) == []


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, []),
        ({"path": "/reminders/{{index}}?x=%20"}, []),
        ({"path": "/a..b/.c/..."}, []),
        ({"path": "reminders"}, ["/target/path"]),
        ({"path": ""}, ["/target/path"]),
        ({"path": 5}, ["/target/path"]),
        ({"path": "/a/../b"}, ["/target/path"]),
        ({"path": "/a/%2E%2e"}, ["/target/path"]),
        ({"path": "/./a"}, ["/target/path"]),
        ({"path": "/..%2f8/x"}, ["/target/path"]),
        ({"path": "/a%2F%2e%2E%2F8"}, ["/target/path"]),
        ({"path": "/%252e%252e/"}, ["/target/path"]),
        ({"path": "/%25252e%25252e%25252f"}, ["/target/path"]),
        ({"path": "/..;/"}, ["/target/path"]),
        ({"path": "/..;a=b/x"}, ["/target/path"]),
        ({"path": "/%2e%2e%3b/x"}, ["/target/path"]),
        ({"path": "/..%5c"}, ["/target/path"]),
        ({"path": "/a/..%255Cx"}, ["/target/path"]),
        ({"path": "/..%00/x"}, ["/target/path"]),
        ({"path": "/..%20/x"}, ["/target/path"]),
        ({"path": "/..%3f/x"}, ["/target/path"]),
        ({"path": "/a%2Fb/c;v=1/%252e%252ea/...%20?x=../%2e%2e/"}, []),
        ({"path": "/a#b"}, ["/target/path"]),
        ({"path": "/a b"}, ["/target/path"]),
        ({"path": "/a\\b"}, ["/target/path"]),
        ({"path": "/{{idx}}"}, ["/target/path"]),
        ({"path": "/" + "a" * 2_048}, ["/target/path"]),
        ({"url": "https://a.example"}, ["/target/url"]),
        ({"method": "FETCH"}, ["/target/method"]),
        ({"headers": {"host": "x"}}, ["/target/headers/host"]),
        ({"timeout": "2m"}, ["/target/timeout"]),
        ({"format": "xml"}, ["/target/format"]),
    ],
)
def test_its_fields_have_the_rules_of_http(fields: dict[str, Any], expected: list[str]) -> None:
    assert pointers({"type": "default", **fields}) == expected
