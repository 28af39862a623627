"""The rules of the target type `http`, and of the placeholders in its headers."""

from typing import Any

import pytest
from tests.fakes.targets import HTTP, SECURE, pointers

from sweephand.base import limits
from sweephand.model.job import JobKey
from sweephand.model.trigger import BatchPlace, Trigger
from sweephand.targets.http import http_target
from sweephand.targets.http_headers import filled, placeholder_problem
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
        (
            "Traceparent",
            "Send it as a header of the request that writes the job: each attempt gets a context of its own.",
        ),
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


NOON = 1_795_262_400_000
TRIGGER = Trigger(
    JobKey("ns", "job"), "u" * 16, "1-a", NOON, 7, NOON, index=4_711, batch=BatchPlace(50_000, 60_000, 5_653)
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/mails/{{index}}", "/mails/4711"),
        ("/{{index}}/{{index}}?try={{attempt}}", "/4711/4711?try=3"),
        ("?due={{due}}", "?due=2026-11-21T12:00:00.000Z"),
        ("/plain/{index}/{ {index} }", "/plain/{index}/{ {index} }"),
        ("/{{unknown}}", "/{{unknown}}"),
        ("{{{index}}}", "{4711}"),
        ("", ""),
    ],
)
def test_placeholders_are_replaced_and_nothing_else_is(text: str, expected: str) -> None:
    assert filled(text, TRIGGER, 3) == expected


@pytest.mark.parametrize(
    "text",
    [
        "{{index}}",
        "{{due}}-{{attempt}}",
        "{index}",
        "{{{index}}}",
        "{{{due}}{",
        '{"a": {"b": 1}}',
        "?filter=%7B%22a%22:%7B%22b%22:1%7D%7D",
        "{%20}",
    ],
)
def test_known_placeholders_and_other_braces_are_accepted(text: str) -> None:
    assert placeholder_problem(text) is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{{indx}}", "There is no placeholder {{indx}}. Did you mean index?"),
        ("{{}}", "There is no placeholder {{}}."),
        ("{{ index }}", "There is no placeholder {{ index }}. Did you mean index?"),
        ("{{index}}{{sequence}}", "There is no placeholder {{sequence}}."),
    ],
)
def test_an_unknown_placeholder_is_refused_with_those_that_there_are(text: str, said: str) -> None:
    problem = placeholder_problem(text)
    assert problem is not None
    assert problem.startswith(said)
    assert problem.endswith("The placeholders are: {{attempt}}, {{due}}, {{index}}.")


@pytest.mark.parametrize(
    ("text", "found", "meant"),
    [
        ("/%7B%7Bindex%7D%7D", "%7B%7Bindex%7D%7D", "index"),
        ("/%7b%7Bdue%7D%7d", "%7b%7Bdue%7D%7d", "due"),
        ("/{{index}}/%7B%7B%20attempt%20%7D%7D", "%7B%7B%20attempt%20%7D%7D", "attempt"),
        ("/{{index", "{{", "index"),
        ("/{{index}", "{{", "index"),
        ("/index}}", "index}}", "index"),
        ("/{attempt}}", "{attempt}}", "attempt"),
        ("{{due}}-{{", "{{", "index"),
        ("%7B{due}}", "%7B{due}}", "due"),
    ],
)
def test_what_is_left_of_a_placeholder_is_refused_with_the_way_to_write_it(
    text: str, found: str, meant: str
) -> None:
    problem = placeholder_problem(text)
    assert problem is not None
    assert problem.startswith(
        f"{found} is no placeholder. Write it as {{{{{meant}}}}}, without spaces and not "
    )


@pytest.mark.parametrize("text", ["/%7B%7Bindex%7D%7D", "/{{", "/}}", "/{{index}}}}"])
def test_a_stored_target_with_a_leftover_is_sent_as_it_was_written(text: str) -> None:
    assert filled(text, TRIGGER, 3) == text.replace("{{index}}", "4711")


@pytest.mark.parametrize(
    ("target", "at"),
    [
        ({"url": "https://example.com/{{indx}}"}, ["/target/url"]),
        ({"url": "https://example.com/?q={{now}}"}, ["/target/url"]),
        ({"url": "https://{{index}}.example.com/"}, ["/target/url"]),
        ({"url": "https://example.com:{{index}}/"}, ["/target/url"]),
        ({"url": "https://example.com/%7B%7Bindex%7D%7D"}, ["/target/url"]),
        ({"headers": {"x-mail": "{{indx}}"}}, ["/target/headers/x-mail"]),
        ({"headers": {"x-mail": "{{index}"}}, ["/target/headers/x-mail"]),
        ({"headers": {"x-mail": "{{index}} of {{due}}"}}, []),
        ({"url": "https://example.com/{{index}}?due={{due}}&try={{attempt}}"}, []),
    ],
)
def test_a_target_has_placeholders_in_path_query_and_header_values_only(
    target: dict[str, object], at: list[str]
) -> None:
    assert pointers(HTTP | target) == at
