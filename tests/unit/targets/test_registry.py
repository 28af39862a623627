"""The rules of every target type: which targets are accepted, and how the others are refused."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.doubles import HandClock
from tests.fakes.targets import HTTP, INSECURE, SECURE, SQS, pointers

from sweephand.base.errors import Violation
from sweephand.delivery.checked_clients import SqsClients
from sweephand.delivery.registry import targets
from sweephand.targets.registry import default_target_types, target_violations, with_hidden_values

KNOWN = "http, sqs, lambda, sns, eventbridge, stepfunctions or default"


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


@pytest.mark.parametrize("kind", [None, "", "pigeon", 5, ["http"], {}])
def test_an_unknown_type_is_refused_with_the_known_types(kind: object) -> None:
    found = target_violations({"type": kind}, has_data=False, reach=SECURE)
    assert found == [Violation("/target/type", f"Give the target's type: {KNOWN}.")]


@pytest.mark.parametrize(("kind", "meant"), [("HTTP", "http"), ("https", "http"), ("sq", "sqs")])
def test_a_misspelt_type_is_refused_with_a_suggestion(kind: str, meant: str) -> None:
    (found,) = target_violations({"type": kind}, has_data=False, reach=SECURE)
    assert found.detail == f"Did you mean {meant}? Give the target's type: {KNOWN}."


def test_a_field_that_the_type_does_not_take_is_refused() -> None:
    assert pointers(HTTP | {"queueUrl": "x", "a/b": 1}) == ["/target/queueUrl", "/target/a~1b"]


def test_each_bad_field_has_its_own_pointer() -> None:
    spec = {"type": "http", "url": "ftp://x", "method": "post", "headers": {"Host": "x"}, "timeout": "2m"}
    assert pointers(spec) == ["/target/url", "/target/method", "/target/headers/Host", "/target/timeout"]


def test_a_pointer_begins_with_the_place_of_the_target_in_the_document() -> None:
    found = target_violations({"type": "sqs"}, has_data=False, reach=SECURE, at="/jobs/4/target")
    assert [each.pointer for each in found] == ["/jobs/4/target/queueUrl"]


def test_every_type_that_is_accepted_can_be_delivered_to() -> None:
    stack = targets(HandClock(), SqsClients(), SECURE)
    assert [name for name in default_target_types() if stack.adapter(name) is None] == []


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
    for violation in target_violations({"type": kind, **fields}, has_data=True, reach=INSECURE):
        assert violation.pointer.startswith("/target/")


def test_the_secret_values_of_a_target_are_hidden_and_their_names_are_not() -> None:
    target = {**HTTP, "headers": {"authorization": "Bearer x"}, "timeout": "5s"}
    assert with_hidden_values(target, "-") == {**target, "headers": {"authorization": "-"}}
    assert with_hidden_values(SQS, "-") == SQS


def test_every_value_in_an_object_of_an_unknown_target_type_is_hidden() -> None:
    target = {"type": "newer", "place": "x", "tokens": {"a": "secret"}}
    assert with_hidden_values(target, "-") == {"type": "newer", "place": "x", "tokens": {"a": "-"}}
