from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sweephand.base import limits
from sweephand.base.errors import Violation
from sweephand.delivery.registry import targets
from sweephand.targets.http import http_target
from sweephand.targets.queues import EVERY_QUEUE
from sweephand.targets.registry import TARGET_TYPES, target_violations
from sweephand.targets.sqs import read_queue_url
from sweephand.targets.url import UrlError, read_url

HTTP = {"type": "http", "url": "https://example.com/hook"}
SQS = {"type": "sqs", "queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/name"}


def pointers(spec: object, *, has_data: bool = True, allow_insecure: bool = False) -> list[str]:
    found = target_violations(spec, has_data=has_data, allow_insecure=allow_insecure)
    assert all(each.detail.endswith(".") for each in found), "a sentence that says what would be valid"
    return [each.pointer for each in found]


@pytest.mark.parametrize(
    "spec",
    [
        HTTP,
        HTTP | {"method": "PUT", "headers": {"X-Team": "ops", "authorization": "Bearer é"}, "timeout": "60s"},
        HTTP | {"headers": {"content-type": "application/vnd.api+json", "user-agent": "mine"}},
        HTTP | {"url": "HTTPS://Example.COM:8443/a%20b?x[]=1&y={z}"},
        HTTP | {"url": "https://my_host.internal."},
        HTTP | {"url": "https://8.8.8.8/"},
        HTTP | {"url": "https://[2606:4700:4700::1111]:443/"},
        HTTP | {"timeout": "PT30S"},
        SQS,
        SQS | {"messageGroupId": "group!1"},
        SQS | {"queueUrl": "https://sqs.cn-north-1.amazonaws.com.cn/123456789012/name.fifo"},
        SQS | {"queueUrl": "https://sqs.us-gov-west-1.amazonaws.com/123456789012/name"},
        SQS | {"queueUrl": "https://sqs.eu-central-1.api.aws/123456789012/name"},
        SQS | {"queueUrl": "https://sqs-fips.us-east-1.amazonaws.com/123456789012/name"},
        SQS | {"queueUrl": "https://eu-west-1.queue.amazonaws.com/123456789012/name"},
        SQS | {"queueUrl": "https://sqs.eusc-de-east-1.amazonaws.eu/123456789012/name"},
    ],
)
def test_a_good_target_is_accepted(spec: dict[str, Any]) -> None:
    assert pointers(spec) == []


@pytest.mark.parametrize("spec", [None, "http", 5, [], [HTTP]])
def test_a_target_is_an_object(spec: object) -> None:
    assert pointers(spec) == ["/target"]


@pytest.mark.parametrize("kind", [None, "", "lambda", 5, ["http"], {}])
def test_an_unknown_type_is_told_which_there_are(kind: object) -> None:
    found = target_violations({"type": kind}, has_data=False, allow_insecure=False)
    assert found == [Violation("/target/type", "Give the target's type: http or sqs.")]


@pytest.mark.parametrize(("kind", "meant"), [("HTTP", "http"), ("https", "http"), ("sq", "sqs")])
def test_a_type_that_is_nearly_one_is_told_which_was_meant(kind: str, meant: str) -> None:
    (found,) = target_violations({"type": kind}, has_data=False, allow_insecure=False)
    assert found.detail == f"Did you mean {meant}? Give the target's type: http or sqs."


def test_a_field_that_the_type_does_not_take_is_refused() -> None:
    assert pointers(HTTP | {"queueUrl": "x", "a/b": 1}) == ["/target/queueUrl", "/target/a~1b"]


def test_each_bad_field_has_its_own_pointer() -> None:
    spec = {"type": "http", "url": "ftp://x", "method": "post", "headers": {"Host": "x"}, "timeout": "2m"}
    assert pointers(spec) == ["/target/url", "/target/method", "/target/headers/Host", "/target/timeout"]


def test_the_pointer_begins_where_the_target_stands_in_the_document() -> None:
    found = target_violations({"type": "sqs"}, has_data=False, allow_insecure=False, at="/jobs/4/target")
    assert [each.pointer for each in found] == ["/jobs/4/target/queueUrl"]


@pytest.mark.parametrize(
    "url",
    [
        None,
        5,
        "",
        "example.com/hook",
        "//example.com/hook",
        "https:/example.com",
        "https:example.com",
        "https://",
        "https:///hook",
        "http://example.com/hook",
        "ftp://example.com/hook",
        "file:///etc/passwd",
        "https://user@example.com/",
        "https://user:password@example.com/",
        "https://example.com@10.0.0.1/",
        "https://example.com/#fragment",
        "https://example.com:0/",
        "https://example.com:65536/",
        "https://example.com:/",
        "https://example.com:+80/",
        "https://example.com:80:80/",
        "https://exa mple.com/",
        "https://example.com/a b",
        "https://example.com\\@evil.example/",
        "https://example.com/\r\nhost: evil",
        "https://example.com/\x00",
        "https://münchen.example/",
        "https://example.com/ü",
        "https://-example.com/",
        "https://example..com/",
        "https://.example.com/",
        "https://" + "a" * 64 + ".example/",
        "https://" + "a." * 127 + "example/",
        "https://exam%70le.com/",
        "https://localhost:8080%2f@x/",
        "https://10.0.0.1/",
        "https://127.0.0.1/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://127.1/",
        "https://0177.0.0.1/",
        "https://1.2.3.4.5/",
        "https://256.1.1.1/",
        "https://169.254.169.254/latest/meta-data",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://[fe80::1%25eth0]/",
        "https://[2606:4700::1111%251]/",
        "https://[not-an-address]/",
        "https://[::1/",
        "https://::1/",
        "https://example.com/" + "a" * limits.URL_LENGTH_MAX,
    ],
)
def test_a_url_that_may_not_be_called_is_refused(url: object) -> None:
    assert pointers(HTTP | {"url": url}) == ["/target/url"]


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080/x", "http://localhost/x", "https://[::1]:8443"])
def test_an_insecure_stack_takes_http_and_loopback_too(url: str) -> None:
    assert pointers(HTTP | {"url": url}, allow_insecure=True) == []


@pytest.mark.parametrize("url", ["http://10.0.0.1/", "http://169.254.169.254/", "ftp://localhost/"])
def test_an_insecure_stack_takes_nothing_else(url: str) -> None:
    assert pointers(HTTP | {"url": url}, allow_insecure=True) == ["/target/url"]


def test_a_url_is_read_into_what_is_connected_to_and_what_is_asked_for() -> None:
    assert read_url("https://Example.com?q=1", allow_insecure=False) == ("https", "example.com", 443, "/?q=1")
    assert read_url("http://[::1]:81/a/b", allow_insecure=True) == ("http", "::1", 81, "/a/b")


@pytest.mark.parametrize(
    ("url", "authority"),
    [
        ("https://Example.com/", "example.com"),
        ("https://example.com.:443/", "example.com"),
        ("https://example.com:8443/", "example.com:8443"),
        ("http://example.com:443/", "example.com:443"),
        ("http://[::1]/", "[::1]"),
        ("http://[::1]:81/", "[::1]:81"),
    ],
)
def test_a_request_names_its_host_and_a_port_that_is_not_the_schemes_own(url: str, authority: str) -> None:
    assert read_url(url, allow_insecure=True).authority == authority


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
    (violation,) = target_violations(target, has_data=False, allow_insecure=False)
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


@pytest.mark.parametrize(
    "value", ["a\r\nb", "a\nb", "a\rb", "a\x00b", "\x7f", "€", 5, None, {"secretRef": "x"}]
)
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


@pytest.mark.parametrize(
    "url",
    [
        None,
        "name",
        "arn:aws:sqs:eu-west-1:123456789012:name",
        "http://sqs.eu-west-1.amazonaws.com/123456789012/name",
        "https://sqs.eu-west-1.amazonaws.com:444/123456789012/name",
        "https://sqs.eu-west-1.amazonaws.com/12345/name",
        "https://sqs.eu-west-1.amazonaws.com/123456789012/",
        "https://sqs.eu-west-1.amazonaws.com/123456789012/name/more",
        "https://sqs.eu-west-1.amazonaws.com/123456789012/name?Action=DeleteQueue",
        "https://sqs.eu-west-1.amazonaws.com/123456789012/" + "n" * 81,
        "https://sqs.eu-west-1.amazonaws.com/123456789012/" + "n" * 76 + ".fifo",
        "https://sqs.eu-west-1.amazonaws.com.evil.example/123456789012/name",
        "https://evil.example/123456789012/name",
        "https://127.0.0.1:4566/000000000000/name",
    ],
)
def test_a_queue_url_that_is_not_aws_s_is_refused(url: object) -> None:
    assert pointers(SQS | {"queueUrl": url}) == ["/target/queueUrl"]


def test_an_insecure_stack_takes_a_local_engines_queue_and_aws_s_own_as_strictly_as_ever() -> None:
    local = "http://127.0.0.1:4566/000000000000/name"
    assert read_queue_url(local, allow_insecure=True) == (local, None)
    assert read_queue_url(SQS["queueUrl"], allow_insecure=True).region == "eu-west-1"
    with pytest.raises(UrlError):
        read_queue_url("https://sqs.eu-west-1.amazonaws.com/x/name", allow_insecure=True)


@pytest.mark.parametrize("group", ["", "a b", "g" * 129, 5, "é"])
def test_a_message_group_is_what_sqs_takes(group: object) -> None:
    assert pointers(SQS | {"messageGroupId": group}) == ["/target/messageGroupId"]


def test_every_type_that_is_accepted_can_be_delivered_to() -> None:
    delivered = targets(None, None, allow_insecure=False, queues=EVERY_QUEUE)  # type: ignore[arg-type] # nothing is delivered
    assert set(delivered._by_type) == set(TARGET_TYPES)


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)


@given(
    kind=st.sampled_from(["http", "sqs"]) | ANY_JSON,
    fields=st.dictionaries(
        st.sampled_from(["url", "method", "headers", "timeout", "queueUrl", "messageGroupId"]), ANY_JSON
    ),
)
def test_no_target_makes_the_validation_fail(kind: object, fields: dict[str, Any]) -> None:
    for violation in target_violations({"type": kind, **fields}, has_data=True, allow_insecure=True):
        assert violation.pointer.startswith("/target/")
