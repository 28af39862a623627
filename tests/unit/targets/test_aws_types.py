"""The rules of the target types of AWS: their ARNs, what the stack lists, and the roles to assume."""

from typing import Any

import pytest
from tests.fakes.targets import (
    EVENTBRIDGE,
    EVERYTHING,
    LAMBDA,
    ROLE,
    SECURE,
    SNS,
    SQS,
    STEPFUNCTIONS,
    pointers,
)

from sweephand.base.errors import Violation
from sweephand.base.names import is_name
from sweephand.targets.aws_resource import external_id
from sweephand.targets.lambda_function import OWN_FUNCTIONS
from sweephand.targets.reach import NO_QUEUE, JobQueues, Reach
from sweephand.targets.registry import attempt_ms_max, target_violations

ARNS = [
    (LAMBDA, "functionArn", "TargetFunctionArns"),
    (SNS, "topicArn", "TargetTopicArns"),
    (EVENTBRIDGE, "busArn", "TargetBusArns"),
    (STEPFUNCTIONS, "stateMachineArn", "TargetStateMachineArns"),
]


def violations(spec: dict[str, Any], reach: Reach) -> list[Violation]:
    return target_violations(spec, has_data=True, reach=reach)


@pytest.mark.parametrize("spec", [LAMBDA, SNS, EVENTBRIDGE, STEPFUNCTIONS], ids=lambda each: each["type"])
def test_a_target_is_accepted_with_and_without_a_role(spec: dict[str, Any]) -> None:
    assert pointers(spec) == []
    assert pointers(spec | {"roleArn": ROLE}) == []


@pytest.mark.parametrize(("spec", "field", "parameter"), ARNS, ids=lambda each: str(each)[:12])
@pytest.mark.parametrize(
    "change",
    [
        lambda _: None,
        lambda _: 5,
        lambda _: "",
        lambda arn: arn.rpartition(":")[2],
        lambda arn: arn.replace("123456789012", "12345"),
        lambda arn: arn.replace("eu-west-1", ""),
        lambda arn: arn + " ",
        lambda arn: arn + "\n",
        lambda arn: arn + "*",
        lambda arn: arn.replace("arn:aws:", "arn:aws:x"),
        lambda arn: arn + "x" * 2_000,
    ],
)
def test_what_is_no_arn_of_the_resource_is_refused_with_an_example(
    spec: dict[str, Any], field: str, parameter: str, change: Any
) -> None:
    (found,) = violations(spec | {field: change(spec[field])}, SECURE)
    assert found.pointer == f"/target/{field}"
    assert f"for instance {spec[field]}." in found.detail
    assert parameter not in found.detail


@pytest.mark.parametrize(("spec", "field", "parameter"), ARNS, ids=lambda each: str(each)[:12])
def test_a_resource_that_the_stack_does_not_list_is_refused_by_the_parameter(
    spec: dict[str, Any], field: str, parameter: str
) -> None:
    others = {name: patterns for name, patterns in EVERYTHING.items() if name != parameter}
    (found,) = violations(spec, Reach(listed=others))
    assert (found.pointer, parameter in found.detail) == (f"/target/{field}", True)
    pattern = spec[field][:-2] + "*"
    assert violations(spec, Reach(listed={parameter: (pattern,)})) == []


@pytest.mark.parametrize(("spec", "field", "parameter"), ARNS, ids=lambda each: str(each)[:12])
def test_with_a_role_only_the_role_has_to_be_listed(spec: dict[str, Any], field: str, parameter: str) -> None:
    del field, parameter
    with_role = spec | {"roleArn": ROLE}
    assert violations(with_role, Reach(listed={"TargetRoleArns": (ROLE,)})) == []
    (found,) = violations(with_role, Reach(listed={"TargetRoleArns": (f"{ROLE}s",)}))
    assert found.pointer == "/target/roleArn"
    assert "TargetRoleArns" in found.detail


@pytest.mark.parametrize(
    "role", ["", 5, "deliveries", ROLE.replace("role/", "user/"), ROLE + " ", f"{ROLE}\n"]
)
def test_what_is_no_role_is_refused(role: object) -> None:
    (found,) = violations(SNS | {"roleArn": role}, SECURE)
    assert found.pointer == "/target/roleArn"


def test_a_queue_takes_a_role_too_and_the_stacks_own_queues_stay_refused() -> None:
    roles = {"TargetRoleArns": (ROLE,)}
    with_role = SQS | {"roleArn": ROLE}
    assert violations(with_role, Reach(listed=roles)) == []
    own = Reach(queues=JobQueues(own=(SQS["queueUrl"],)), listed=roles)
    (found,) = violations(with_role, own)
    assert found == Violation("/target/queueUrl", "Give a queue of yours: this one is the stack's own.")
    (found,) = violations(with_role, Reach())
    assert found.pointer == "/target/roleArn"


@pytest.mark.parametrize("qualifier", ["", ":prod", ":12", ":$LATEST"])
def test_a_function_may_have_a_qualifier(qualifier: str) -> None:
    assert pointers(LAMBDA | {"functionArn": LAMBDA["functionArn"] + qualifier}) == []


LONG = "sweephand-of-the-orders-team"


@pytest.mark.parametrize(
    ("name", "stack", "is_own"),
    [
        *((f"sweephand-{each}Function-1A2B3C4D5E6F", "sweephand", True) for each in OWN_FUNCTIONS),
        ("sweephand-AdminKeyFunction-1A2B3C4D5E6F:live", "sweephand", True),
        ("sweephand-AdminKeyFunction-1A2B3C4D5E6F:12", "sweephand", True),
        ("sweephand-AdminKeyFunction-1A2B3C4D5E6F:$LATEST", "sweephand", True),
        (f"{LONG[:25]}-AuthorizerFunction-1A2B3C4D5E6F", LONG, True),
        (f"{LONG}-TickFunction-1A2B3C4D5E6F", LONG, True),
        ("sweephand-ApiFunction-1A2B3C4D5E6F", LONG, False),
        ("sweephand-ApiFunction-1A2B3C4D5E6F", "", False),
        ("sweephand-orders-ApiFunction-1A2B3C4D5E6F", "sweephand", False),
        ("sweephand-OrdersFunction-1A2B3C4D5E6F", "sweephand", False),
        ("sweephand-ApiFunction", "sweephand", False),
        ("orders-ApiFunction-1A2B3C4D5E6F", "sweephand", False),
    ],
)
@pytest.mark.parametrize("role", [{}, {"roleArn": ROLE}], ids=["listed", "role"])
@pytest.mark.parametrize("place", ["eu-west-1:123456789012", "us-east-1:999999999999"])
def test_no_job_names_a_function_of_the_stack_itself(
    name: str, stack: str, role: dict[str, Any], place: str, *, is_own: bool
) -> None:
    spec = LAMBDA | {"functionArn": f"arn:aws:lambda:{place}:function:{name}"} | role
    detail = "Give a Lambda function of yours: this one is the stack's own."
    refused = [Violation("/target/functionArn", detail)]
    assert violations(spec, SECURE._replace(stack_name=stack)) == (refused if is_own else [])


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"invocation": "later"}, "/target/invocation"),
        ({"invocation": 1}, "/target/invocation"),
        ({"timeout": "5s"}, "/target/timeout"),
        ({"invocation": "async", "timeout": "5s"}, "/target/timeout"),
        ({"invocation": "sync", "timeout": "0s"}, "/target/timeout"),
        ({"invocation": "sync", "timeout": "61s"}, "/target/timeout"),
        ({"invocation": "sync", "timeout": 5}, "/target/timeout"),
        ({"invocation": "sync", "timeout": "soon"}, "/target/timeout"),
        ({"url": "https://example.com"}, "/target/url"),
    ],
)
def test_a_function_is_waited_for_only_if_it_is_invoked_so(fields: dict[str, Any], pointer: str) -> None:
    assert pointers(LAMBDA | fields) == [pointer]


def test_how_long_an_attempt_takes_at_most_includes_assuming_a_role() -> None:
    waited = LAMBDA | {"invocation": "sync"}
    assert [attempt_ms_max(each) for each in (LAMBDA, waited, waited | {"timeout": "60s"})] == [
        45_000,
        15_000,
        60_000,
    ]
    assert [attempt_ms_max(each | {"roleArn": ROLE}) for each in (SQS, SNS, waited)] == [
        55_000,
        55_000,
        25_000,
    ]


@pytest.mark.parametrize("group", ["", "a b", "g" * 129, 5, "é"])
def test_a_message_group_is_what_sns_takes(group: object) -> None:
    fifo = SNS | {"topicArn": f"{SNS['topicArn']}.fifo"}
    assert pointers(fifo | {"messageGroupId": group}) == ["/target/messageGroupId"]
    assert pointers(fifo | {"messageGroupId": "mine"}) == []
    assert pointers(SNS | {"messageGroupId": "mine"}) == ["/target/messageGroupId"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"detailType": "Order due", "source": "orders"}, []),
        ({"detailType": ""}, ["/target/detailType"]),
        ({"detailType": "d" * 129}, ["/target/detailType"]),
        ({"source": 5}, ["/target/source"]),
        ({"source": "a\nb"}, ["/target/source"]),
        ({"source": "aws.events"}, ["/target/source"]),
        ({"source": "AWS.events"}, ["/target/source"]),
    ],
)
def test_an_event_has_a_type_and_a_source_that_eventbridge_takes(
    fields: dict[str, Any], expected: list[str]
) -> None:
    assert pointers(EVENTBRIDGE | fields) == expected


def test_each_namespace_has_an_external_id_of_its_own() -> None:
    names = ["a", "a~b", "a-b", "a.b", "a:b", "a@b", "a+b=", "~", "~~", "A"]
    assert all(map(is_name, names))
    assert len({external_id(name) for name in names}) == len(names)
    assert external_id("a~b") == "sweephand/a/b"


@pytest.mark.parametrize("group", ["", "a b", "g" * 129, 5, "é"])
def test_a_message_group_is_what_sqs_takes(group: object) -> None:
    assert pointers(SQS | {"messageGroupId": group}) == ["/target/messageGroupId"]


def test_a_queue_that_the_stack_does_not_list_is_refused_at_its_field() -> None:
    reach = SECURE._replace(queues=NO_QUEUE)
    (found,) = target_violations(SQS, has_data=True, reach=reach, at="/onComplete")
    assert found.pointer == "/onComplete/queueUrl"
    assert "TargetQueueArns" in found.detail
