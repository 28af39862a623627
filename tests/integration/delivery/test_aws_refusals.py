"""What a run says when AWS refuses a trigger, and what is tried again."""

from collections.abc import Iterator
from itertools import count
from typing import Any, Final

import pytest
from botocore.exceptions import EndpointConnectionError
from tests.fakes.aws import aws_error
from tests.fakes.consumer import Connection, Consumer, attempt_of
from tests.fakes.doubles import HandClock
from tests.fakes.sqs import mocked_sqs
from tests.fakes.targets import EVENTBRIDGE, LAMBDA, ROLE, SECURE, SNS, SQS, STEPFUNCTIONS

from sweephand.base.errors import StoreError
from sweephand.delivery.adapter import CLIENTS_MAX, AwsClients, Service, Stack, connect, session_name
from sweephand.delivery.checked_clients import SqsClients
from sweephand.delivery.registry import TargetsByType
from sweephand.model.attempt import Answer, Attempt
from sweephand.targets.reach import Reach

SPECS: Final = [LAMBDA, SNS, EVENTBRIDGE, STEPFUNCTIONS]


def named(spec: Any) -> str:
    return spec["type"] if isinstance(spec, dict) else str(spec)


class Refusing:
    """A client of any service that raises an error at every request."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, _: str) -> Any:
        return self._raise

    def _raise(self, **_: Any) -> Any:
        raise self._error


def deliver(attempt: Attempt, clients: AwsClients | None = None, reach: Reach = SECURE) -> Answer:
    stack = Stack(HandClock(), SqsClients(), clients or AwsClients(), reach)
    return TargetsByType(stack).deliver(attempt)


def refused(spec: dict[str, Any], error: Exception) -> Answer:
    answer = deliver(attempt_of(spec), AwsClients(lambda _: Refusing(error)))
    assert not answer.succeeded
    return answer


@pytest.mark.parametrize("spec", SPECS, ids=named)
def test_a_throttled_or_unreachable_service_is_tried_again(spec: dict[str, Any]) -> None:
    throttled = refused(spec, aws_error("ThrottlingException", "Invoke"))
    assert not throttled.is_final
    assert throttled.error is not None
    assert throttled.error.endswith("refused: ThrottlingException: because")
    unreachable = refused(spec, EndpointConnectionError(endpoint_url="https://x.example"))
    assert not unreachable.is_final
    assert unreachable.error is not None
    assert "did not answer: Could not connect" in unreachable.error


@pytest.mark.parametrize(
    ("spec", "parameter"),
    [
        (LAMBDA, "TargetFunctionArns"),
        (SNS, "TargetTopicArns"),
        (STEPFUNCTIONS, "TargetStateMachineArns"),
    ],
    ids=named,
)
@pytest.mark.parametrize("code", ["AccessDeniedException", "AuthorizationError"])
def test_a_denied_trigger_fails_for_good_and_names_the_parameter(
    spec: dict[str, Any], parameter: str, code: str
) -> None:
    answer = refused(spec, aws_error(code, "Invoke"))
    assert answer.is_final
    assert answer.error is not None
    assert parameter in answer.error
    assert "in another account has to allow" in answer.error
    by_role = refused(spec | {"roleArn": ROLE}, aws_error(code, "Invoke"))
    assert by_role.is_final
    assert by_role.error is not None
    assert by_role.error.startswith(f"The policy of {ROLE} has to allow deliveries to arn:aws:")


@pytest.mark.parametrize(
    ("code", "is_final"),
    [
        ("AccessDeniedException", True),
        ("NotAuthorizedForSourceException", True),
        ("MalformedDetail", True),
        ("InternalFailure", False),
        ("ThrottlingException", False),
    ],
)
def test_an_event_that_the_bus_did_not_take_is_a_failure(code: str, *, is_final: bool) -> None:
    class Events:
        def describe_event_bus(self, **_: Any) -> None:
            pass

        def put_events(self, **_: Any) -> dict[str, Any]:
            return {"FailedEntryCount": 1, "Entries": [{"ErrorCode": code, "ErrorMessage": "because"}]}

    answer = deliver(attempt_of(EVENTBRIDGE), AwsClients(lambda _: Events()))
    assert (answer.succeeded, answer.is_final) == (False, is_final)
    assert answer.error is not None
    assert f"EventBridge refused: {code}: because" in answer.error


@pytest.mark.parametrize("spec", SPECS, ids=named)
def test_what_the_stack_does_not_list_any_more_fails_for_good_and_nothing_is_sent(
    spec: dict[str, Any],
) -> None:
    clients = AwsClients(lambda _: pytest.fail("no client is made for it"))
    for made, parameter in ((spec, "Arns"), (spec | {"roleArn": ROLE}, "TargetRoleArns")):
        answer = deliver(attempt_of(made), clients, Reach())
        assert answer.is_final
        assert answer.error is not None
        assert parameter in answer.error


@pytest.mark.parametrize("role", [{}, {"roleArn": ROLE}], ids=["listed", "role"])
def test_a_trigger_for_a_function_of_the_stack_itself_fails_for_good_and_nothing_is_sent(
    role: dict[str, str],
) -> None:
    clients = AwsClients(lambda _: pytest.fail("no client is made for it"))
    arn = "arn:aws:lambda:eu-west-1:123456789012:function:sweephand-AdminKeyFunction-1A2B3C4D5E6F:live"
    answer = deliver(
        attempt_of(LAMBDA | {"functionArn": arn} | role), clients, SECURE._replace(stack_name="sweephand")
    )
    assert answer.is_final
    assert answer.error == "Give a Lambda function of yours: this one is the stack's own."


@pytest.mark.parametrize("spec", [*SPECS, SQS], ids=named)
def test_a_request_is_not_begun_without_time_for_it(spec: dict[str, Any]) -> None:
    clients = AwsClients(lambda _: pytest.fail("no client is made for it"))
    for made, within_ms in ((spec, 34_999), (spec | {"roleArn": ROLE}, 44_999)):
        assert deliver(attempt_of(made)._replace(within_ms=within_ms), clients).was_withdrawn


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> Iterator[Consumer]:
    """An AWS on the loopback that takes every request."""
    with Consumer(_taking) as engine:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "testing")
        monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{engine.port}")
        yield engine


def _taking(connection: Connection) -> None:
    while connection.request():
        connection.answer("202 Accepted", b"{}", "content-type: application/json")


def _silent(connection: Connection) -> None:
    connection.request()
    connection.hang()


def test_preflight_runs_when_the_connection_stands(engine: Consumer) -> None:
    assert deliver(attempt_of(LAMBDA)).succeeded
    assert deliver(attempt_of(LAMBDA)._replace(may_send=lambda: False)).was_withdrawn

    def unknown() -> bool:
        raise StoreError("the job cannot be read")

    with pytest.raises(StoreError, match="cannot be read"):
        deliver(attempt_of(LAMBDA)._replace(may_send=unknown))
    assert len(engine.requests) == 1


def test_a_function_that_does_not_answer_in_time_is_a_failed_attempt_and_is_invoked_once(
    engine: Consumer, monkeypatch: pytest.MonkeyPatch
) -> None:
    del engine
    with Consumer(_silent) as slow:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{slow.port}")
        spec = LAMBDA | {"invocation": "sync", "timeout": "0.2s"}
        answer = deliver(attempt_of(spec))
        assert (answer.succeeded, answer.is_final) == (False, False)
        assert answer.error is not None
        assert answer.error.startswith("Lambda did not answer: Read timeout")
        assert len(slow.requests) == 1


def test_a_role_is_assumed_with_the_namespaces_external_id(monkeypatch: pytest.MonkeyPatch) -> None:
    with mocked_sqs(monkeypatch) as sqs:
        asked: list[dict[str, Any]] = []
        url = sqs.queue("work")

        def kept(service: Service) -> Any:
            assert service.role is not None
            asked.append({"id": service.role.external_id, "session": service.role.session_name})
            return connect(service)

        spec = SQS | {"queueUrl": url, "roleArn": ROLE}
        answer = deliver(attempt_of(spec), AwsClients(kept))
        assert answer == Answer(succeeded=True)
        assert asked == [{"id": "sweephand/team", "session": "sweephand-team"}]
        assert len(sqs.messages(url)) == 1


def test_a_role_that_may_not_be_assumed_is_a_final_failure_that_says_what_to_change() -> None:
    answer = refused(SNS | {"roleArn": ROLE}, aws_error("AccessDenied", "AssumeRole"))
    assert answer.is_final
    assert answer.error == (
        f"The deliveries may not assume {ROLE}: have the stack's operator name it in TargetRoleArns, and "
        "have its trust policy allow the external id sweephand/team. STS refused: AccessDenied: because"
    )
    assert not refused(SNS | {"roleArn": ROLE}, aws_error("Throttling", "AssumeRole")).is_final


@pytest.mark.parametrize("namespace", ["team", "a:b~c", "n" * 128, "a+b=c"])
def test_a_session_has_a_name_that_iam_takes(namespace: str) -> None:
    name = session_name(namespace)
    assert 2 <= len(name) <= 64
    assert not set(name) - set("abcdefghijklmnopqrstuvwxyz_+=,.@-")


def test_clients_that_were_not_used_for_long_are_dropped() -> None:
    numbers = count(1)
    clients = AwsClients(lambda _: next(numbers))
    services = [Service("sns", f"eu-west-{number}") for number in range(CLIENTS_MAX + 1)]
    for service in services:
        clients.client(service)
    assert clients.client(services[1]) == 2
    assert clients.client(services[0]) == CLIENTS_MAX + 2
    assert clients.client(services[2]) == CLIENTS_MAX + 3
