"""The lists of parameters between CloudFormation and the environment of a function."""

import json
import random
from collections.abc import Iterator
from typing import Any, Final

import pytest
from tests.fakes.functions import function
from tests.fakes.receiver import Receiver

from sweephand.runtime.lists import (
    DIGEST_LENGTH,
    PACKED_LENGTH_MAX,
    ListsTooLongError,
    attributes_of,
    digest,
    pack,
    unpack,
)
from sweephand.runtime.settings import Settings, SettingsError

PROPERTIES: Final[dict[str, Any]] = {
    "ServiceToken": "arn:aws:lambda:eu-west-1:123456789012:function:lists:live",
    "ServiceTimeout": "60",
    "Targets": {
        "TARGET_QUEUE_ARNS": "arn:aws:sqs:eu-west-1:123456789012:a",
        "ALLOWED_TARGET_HOSTS": "a.example",
    },
    "Network": ["subnet-1", "sg-1"],
    "PayloadTables": ["", ""],
}

WORDS: Final = (
    "orders",
    "billing",
    "invoices",
    "mail",
    "search",
    "index",
    "report",
    "user",
    "account",
    "stock",
)


def queues(count: int) -> str:
    """So many ARNs of queues with names such as people give."""
    rng = random.Random(count)  # noqa: S311 - names
    names = ("-".join(rng.sample(WORDS, 3)) for _ in range(count))
    return ",".join(f"arn:aws:sqs:eu-central-1:123456789012:{each}" for each in names)


def test_what_is_packed_is_unpacked() -> None:
    assert unpack(pack(PROPERTIES["Targets"])) == PROPERTIES["Targets"]


def test_a_function_reads_packed_lists_as_if_they_were_variables() -> None:
    packed = Settings.read({"TARGETS": pack(PROPERTIES["Targets"]), "SHARD_COUNT": "3"})
    assert packed == Settings.read({**PROPERTIES["Targets"], "SHARD_COUNT": "3"})
    assert packed.target_queue_arns == ("arn:aws:sqs:eu-west-1:123456789012:a",)


@pytest.mark.parametrize("text", ["x", "eA==", "eJw="])
def test_a_text_that_nobody_packed_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="TARGETS must be what the stack's resource Lists returns"):
        Settings.read({"TARGETS": text})


def test_a_hundred_and_fifty_queues_fit_and_the_longest_parameter_does() -> None:
    """CloudFormation takes 4,096 bytes for a parameter, and a stack has six lists of ARNs."""
    assert len(pack({"TARGET_QUEUE_ARNS": queues(150)})) <= PACKED_LENGTH_MAX
    assert len(pack({"TARGET_QUEUE_ARNS": queues(80)[:4_096]})) <= PACKED_LENGTH_MAX


def test_lists_that_do_not_fit_are_refused_with_what_to_do() -> None:
    with pytest.raises(ListsTooLongError, match=r"have room for 1600\. Use patterns"):
        pack({"TARGET_QUEUE_ARNS": queues(400)})


def test_a_digest_is_short_and_another_one_for_another_value() -> None:
    digests = {digest(each) for each in ("", "a", ["a"], {"a": ""}, ["", "a"], ["a", ""])}
    assert len(digests) == 6
    assert {len(each) for each in digests} == {DIGEST_LENGTH}


def test_the_resource_has_the_packed_targets_and_a_digest_of_each_property_of_the_template() -> None:
    attributes = attributes_of(PROPERTIES)
    assert attributes.keys() == {"Targets", "TargetsDigest", "NetworkDigest", "PayloadTablesDigest"}
    assert unpack(attributes["Targets"]) == PROPERTIES["Targets"]
    moved = attributes_of({**PROPERTIES, "Network": ["subnet-2", "sg-1"]})
    changed = {name for name, each in moved.items() if each != attributes[name]}
    assert changed == {"NetworkDigest"}, "no other version is published"


@pytest.fixture
def receiver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    """Where a local CloudFormation waits for the answer."""
    with Receiver() as receiver:
        monkeypatch.setenv("AWS_ENDPOINT_URL", receiver.url(""))
        yield receiver


def request(receiver: Receiver, **changes: Any) -> dict[str, Any]:
    """CloudFormation's request for the custom resource."""
    return {
        "RequestType": "Update",
        "ResponseURL": receiver.url("/answer"),
        "StackId": "arn:aws:cloudformation:eu-west-1:123456789012:stack/sweephand/1",
        "RequestId": "one",
        "LogicalResourceId": "Lists",
        "PhysicalResourceId": "Lists",
        "ResourceProperties": PROPERTIES,
        **changes,
    }


def answered(receiver: Receiver, **changes: Any) -> Any:
    """What the function tells CloudFormation."""
    function("lists").handler(request(receiver, **changes), None)
    [delivery] = receiver.deliveries()
    assert len(delivery.body) <= 4_096, "CloudFormation refuses more"
    return json.loads(delivery.body)


def test_cloudformation_gets_the_attributes(receiver: Receiver) -> None:
    answer = answered(receiver)
    assert (answer["Status"], answer["Data"]) == ("SUCCESS", attributes_of(PROPERTIES))
    assert answer["PhysicalResourceId"] == "Lists", "another id would remove the resource"


def test_a_list_that_the_functions_could_not_read_fails_the_deployment(receiver: Receiver) -> None:
    wrong = {**PROPERTIES, "Targets": {"DENIED_TARGET_CIDRS": "10.0.0.1/8"}}
    answer = answered(receiver, ResourceProperties=wrong)
    assert answer["Status"] == "FAILED"
    assert "DENIED_TARGET_CIDRS must be a list of networks" in answer["Reason"]


def test_an_answer_about_a_long_list_is_short_enough_for_cloudformation(receiver: Receiver) -> None:
    wrong = {**PROPERTIES, "Targets": {"TARGET_QUEUE_ARNS": "x" * 4_096}}
    answer = answered(receiver, ResourceProperties=wrong)
    assert answer["Reason"].startswith("TARGET_QUEUE_ARNS must be a list of ARNs")


def test_a_stack_can_be_deleted_whatever_its_lists_are(receiver: Receiver) -> None:
    answer = answered(receiver, RequestType="Delete", ResourceProperties={})
    assert answer["Status"] == "SUCCESS"
