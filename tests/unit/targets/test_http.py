"""The rules of the target type `http`."""

from typing import Any

import pytest
from tests.fakes.targets import HTTP, SECURE, pointers

from sweephand.base import limits
from sweephand.targets.http import http_target
from sweephand.targets.registry import target_violations


@pytest.mark.parametrize(
    "name",
    [
        "Host",
        "content-length",
        "Content-Encoding",
        "TRANSFER-ENCODING",
        "connection",
        "te",
        "trailer",
        "upgrade",
        "expect",
        "keep-alive",
        "accept-encoding",
        "webhook-id",
        "Webhook-Anything",
        "sweephand-run-token",
        "Proxy-Authorization",
        "Proxy",
        "sweephand_job",
        "Sweephand.Run",
        "webhook_id",
        "WEBHOOK*signature",
        "transfer_encoding",
        "proxy_authorization",
        "",
        "two words",
        "new\r\nline",
        "na:me",
        "naïve",
    ],
)
def test_a_header_that_is_not_the_jobs_to_set_is_refused(name: str) -> None:
    assert pointers(HTTP | {"headers": {name: "x"}}) == [f"/target/headers/{name}"]


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("Host", "The header host is set by Sweephand or by the connection: leave it out."),
        ("Proxy", "Leave this header out: many servers would send their own requests through that proxy."),
        (
            "Webhook_Id",
            "Use another name: many servers take webhook_id for webhook-id, which is not the job's to set.",
        ),
    ],
)
def test_a_refused_header_says_why(name: str, detail: str) -> None:
    target = HTTP | {"headers": {name: "x"}}
    (violation,) = target_violations(target, has_data=False, reach=SECURE)
    assert violation.detail == detail


def test_headers_with_marks_in_their_names_are_the_job_s() -> None:
    headers = {"x_team": "ops", "x.team": "ops", "sweephands": "1", "my-webhook-id": "1", "proxied": "no"}
    target = HTTP | {"headers": headers}
    assert pointers(target) == []
    assert http_target(target, allow_insecure=False).headers == headers


def test_a_job_that_was_written_before_a_header_was_refused_is_delivered_without_it() -> None:
    headers = {
        "X-Team": "ops",
        "Sweephand_Job": "other",
        "webhook_id": "forged",
        "Proxy": "http://evil.example",
    }
    assert http_target(HTTP | {"headers": headers}, allow_insecure=False).headers == {"x-team": "ops"}


@pytest.mark.parametrize("value", ["a\r\nb", "a\nb", "a\rb", "a\x00b", "\x7f", "€", 5, None, {}, ["x"]])
def test_a_header_value_is_one_line_of_latin_1(value: object) -> None:
    assert pointers(HTTP | {"headers": {"x-a": value}}) == ["/target/headers/x-a"]


def test_headers_have_their_limits() -> None:
    many = {f"x-{number}": "" for number in range(limits.HEADERS_MAX + 1)}
    assert pointers(HTTP | {"headers": many}) == ["/target/headers"]
    assert pointers(HTTP | {"headers": {"x": "a" * limits.HEADER_BYTES_MAX}}) == ["/target/headers"]
    assert pointers(HTTP | {"headers": {"x": "a" * (limits.HEADER_BYTES_MAX - 1)}}) == []
    assert pointers(HTTP | {"headers": {"x-a": "1", "X-A": "2"}}) == ["/target/headers/X-A"]
    assert pointers(HTTP | {"headers": ["x"]}) == ["/target/headers"]


@pytest.mark.parametrize("timeout", ["0s", "61s", "P1M", "", "soon", "-1s", 15, "1d"])
def test_a_timeout_is_a_duration_within_its_limit(timeout: object) -> None:
    assert pointers(HTTP | {"timeout": timeout}) == ["/target/timeout"]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_data_needs_a_method_that_carries_it(method: str) -> None:
    assert pointers(HTTP | {"method": method}, has_data=True) == ["/target/method"]
    assert pointers(HTTP | {"method": method}, has_data=False) == []


@pytest.mark.parametrize("method", ["HEAD", "CONNECT", "TRACE", "get", "POST ", "", None, ["POST"], {}])
def test_a_method_that_hands_no_work_over_is_refused(method: object) -> None:
    assert pointers(HTTP | {"method": method}) == ["/target/method"]


@pytest.mark.parametrize("form", ["json", "cloudevents", "cloudevents-binary"])
def test_a_format_is_accepted_with_headers_of_the_job(form: str) -> None:
    assert pointers(HTTP | {"format": form, "headers": {"x-team": "ops"}}) == []


@pytest.mark.parametrize("form", ["", "cloudevent", "CloudEvents", 1, ["json"]])
def test_another_format_is_refused(form: object) -> None:
    assert pointers(HTTP | {"format": form}) == ["/target/format"]


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_an_event_needs_a_body(method: str) -> None:
    spec = HTTP | {"format": "cloudevents", "method": method}
    assert pointers(spec, has_data=False) == ["/target/format"]
    assert pointers(spec | {"format": "json"}, has_data=False) == []


@pytest.mark.parametrize("form", ["cloudevents", "cloudevents-binary"])
@pytest.mark.parametrize("name", ["Content-Type", "ce-id", "CE-Source"])
def test_the_headers_of_an_event_are_not_the_jobs(form: str, name: str) -> None:
    headers = {name: "x", "x-team": "ops"}
    assert pointers(HTTP | {"format": form, "headers": headers}) == [f"/target/headers/{name}"]
    assert pointers(HTTP | {"headers": headers}) == []
    target = http_target(HTTP | {"format": form, "headers": headers}, allow_insecure=False)
    assert target.headers == {"x-team": "ops"}


@pytest.mark.parametrize("headers", [5, [], None])
def test_headers_that_are_none_are_judged_once(headers: Any) -> None:
    found = pointers(HTTP | {"format": "cloudevents", "headers": headers})
    assert found == ["/target/headers"]
