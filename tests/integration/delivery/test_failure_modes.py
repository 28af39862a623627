"""How each target fails: absent, denied, throttled, slow, too large, and with an answer that is lost.

The pages in docs/targets have these rows. Requests to AWS go to a consumer on the loopback, through boto3's
own clients and their repetitions.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import pytest
from tests.fakes.consumer import Connection, Consumer, attempt_of
from tests.fakes.doubles import HandClock
from tests.fakes.targets import EVENTBRIDGE, INSECURE, LAMBDA, SNS, SQS, STEPFUNCTIONS

from sweephand.delivery.adapter import AwsClients, Service, Stack, connect
from sweephand.delivery.checked_clients import SqsClients
from sweephand.delivery.registry import TargetsByType
from sweephand.model.attempt import Answer
from sweephand.model.definition import Payload
from sweephand.targets.registry import data_violations, default_target_types


class Mode(NamedTuple):
    """How a target answers, and what becomes of the attempt."""

    status: int
    code: str
    is_final: bool


#: What each service answers, by the type of the target and the way in which it fails.
MODES: Final[dict[str, dict[str, Mode]]] = {
    "http": {
        "absent": Mode(404, "", is_final=False),
        "denied": Mode(403, "", is_final=False),
        "throttled": Mode(429, "", is_final=False),
        "too large": Mode(413, "", is_final=True),
    },
    "sqs": {
        "absent": Mode(400, "com.amazonaws.sqs#QueueDoesNotExist", is_final=False),
        "denied": Mode(403, "AccessDenied", is_final=True),
        "throttled": Mode(400, "com.amazonaws.sqs#RequestThrottled", is_final=False),
        "too large": Mode(400, "InvalidParameterValue", is_final=False),
    },
    "lambda": {
        "absent": Mode(404, "ResourceNotFoundException", is_final=True),
        "denied": Mode(403, "AccessDeniedException", is_final=True),
        "throttled": Mode(429, "TooManyRequestsException", is_final=False),
        "too large": Mode(413, "RequestTooLargeException", is_final=True),
    },
    "sns": {
        "absent": Mode(404, "NotFound", is_final=True),
        "denied": Mode(403, "AuthorizationError", is_final=True),
        "throttled": Mode(429, "Throttled", is_final=False),
        "too large": Mode(400, "InvalidParameter", is_final=True),
    },
    "eventbridge": {
        "absent": Mode(400, "ResourceNotFoundException", is_final=True),
        "denied": Mode(400, "AccessDeniedException", is_final=True),
        "throttled": Mode(400, "ThrottlingException", is_final=False),
        "too large": Mode(400, "ValidationException", is_final=False),
    },
    "stepfunctions": {
        "absent": Mode(400, "StateMachineDoesNotExist", is_final=True),
        "denied": Mode(400, "AccessDeniedException", is_final=True),
        "throttled": Mode(400, "ThrottlingException", is_final=False),
        "too large": Mode(400, "ValidationException", is_final=True),
    },
}
SPECS: Final = {
    "sqs": SQS,
    "lambda": LAMBDA,
    "sns": SNS,
    "eventbridge": EVENTBRIDGE,
    "stepfunctions": STEPFUNCTIONS,
}
#: What each service answers to a request that it takes.
TAKEN: Final = {
    "http": b"ok",
    "sqs": b'{"MessageId": "m"}',
    "lambda": b"{}",
    "sns": b"<PublishResponse><PublishResult><MessageId>m</MessageId></PublishResult></PublishResponse>",
    "eventbridge": b'{"FailedEntryCount": 0, "Entries": [{"EventId": "e"}]}',
    "stepfunctions": b'{"executionArn": "a", "startDate": 0}',
}
#: The read time-out of each request to a service that does not answer.
SLOW_S: Final = 0.3
EVERY: Final = pytest.mark.parametrize("kind", sorted(MODES))


class Target(NamedTuple):
    """The consumer in the place of a target's service, and what is delivered to it."""

    consumer: Consumer
    deliver: Callable[[], Answer]


@pytest.fixture
def target_of(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Target]]:
    """Makes the target of a type whose service behaves so."""
    consumers: list[Consumer] = []
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "testing")
    monkeypatch.setattr("time.sleep", lambda _: None)  # boto3 waits before it repeats a request

    clients: list[Any] = []

    def make(kind: str, behave: Callable[[Connection], None], **fields: Any) -> Target:
        def client(service: Service) -> Any:
            is_slow = behave is silent and service.read_timeout_s > SLOW_S
            clients.append(connect(service._replace(read_timeout_s=SLOW_S) if is_slow else service))
            return clients[-1]

        consumer = Consumer(behave).__enter__()
        consumers.append(consumer)
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{consumer.port}")
        spec = SPECS[kind] if kind in SPECS else consumer.spec()
        stack = Stack(
            HandClock(),
            SqsClients(lambda region: client(Service("sqs", region))),
            AwsClients(client),
            INSECURE,
        )
        targets = TargetsByType(stack)
        return Target(consumer, lambda: targets.deliver(attempt_of({**spec, **fields})))

    yield make
    for each in clients:
        each.close()
    for consumer in consumers:
        consumer.__exit__(None, None, None)


def answering(mode: Mode, kind: str) -> Callable[[Connection], None]:
    """Answers every request with the error of a mode, in the form of the service."""
    if kind == "sns":
        body = f"<ErrorResponse><Error><Code>{mode.code}</Code><Message>no</Message></Error></ErrorResponse>"
    else:
        body = json.dumps({"__type": mode.code, "message": "no"})

    def behave(connection: Connection) -> None:
        while connection.request():
            connection.answer(f"{mode.status} Error", body.encode(), f"x-amzn-errortype: {mode.code}")

    return behave


def losing_the_first(kind: str) -> Callable[[Connection], None]:
    """Takes each request, and loses the answer to the first one that is more than a question."""
    lost: list[bool] = []

    def behave(connection: Connection) -> None:
        while (request := connection.request()) is not None:
            is_question = "DescribeEventBus" in request.headers.get("x-amz-target", "")
            if not lost and not is_question:
                lost.append(True)
                connection.reset()
                return
            connection.answer("200 OK", b"{}" if is_question else TAKEN[kind])

    return behave


def silent(connection: Connection) -> None:
    connection.request()
    connection.hang()


@EVERY
@pytest.mark.parametrize("mode", ["absent", "denied", "throttled", "too large"])
def test_a_refusal_is_a_failure_that_names_its_cause(
    target_of: Callable[..., Target], kind: str, mode: str
) -> None:
    expected = MODES[kind][mode]
    answer = target_of(kind, answering(expected, kind)).deliver()
    assert (answer.succeeded, answer.is_final) == (False, expected.is_final)
    if kind == "http":
        assert answer.code == expected.status
    else:
        assert expected.code.rpartition("#")[2] in str(answer.error)


@EVERY
def test_an_answer_that_is_lost_is_asked_for_again_with_the_same_identity(
    target_of: Callable[..., Target], kind: str
) -> None:
    target = target_of(kind, losing_the_first(kind))
    answer = target.deliver()
    if kind == "http":
        # The run's own retry sends the request again, under the same webhook-id.
        assert (answer.succeeded, answer.is_final) == (False, False)
        answer = target.deliver()
    assert (answer.succeeded, answer.error) == (True, None)
    requests = [each for each in target.consumer.requests if b'{"Name"' not in each.body]
    assert len(requests) == 2
    assert requests[0].body == requests[1].body
    if kind == "http":
        assert requests[0].headers["webhook-id"] == requests[1].headers["webhook-id"]


def test_a_function_that_is_waited_for_is_not_invoked_again_when_its_answer_is_lost(
    target_of: Callable[..., Target],
) -> None:
    target = target_of("lambda", losing_the_first("lambda"), invocation="sync")
    answer = target.deliver()
    assert (answer.succeeded, answer.is_final, len(target.consumer.requests)) == (False, False, 1)


@pytest.mark.parametrize("kind", ["http", "lambda"])
def test_a_target_that_is_too_slow_costs_its_timeout(target_of: Callable[..., Target], kind: str) -> None:
    fields = {"timeout": "0.3s"} if kind == "http" else {"invocation": "sync", "timeout": "0.3s"}
    answer = target_of(kind, silent, **fields).deliver()
    assert (answer.succeeded, answer.is_final) == (False, False)
    assert answer.error is not None


@pytest.mark.parametrize("kind", sorted(SPECS))
def test_a_slow_service_of_aws_is_tried_again(target_of: Callable[..., Target], kind: str) -> None:
    answer = target_of(kind, silent).deliver()
    assert (answer.succeeded, answer.is_final) == (False, False)
    assert answer.error is not None
    assert "did not answer" in answer.error


@EVERY
def test_data_that_the_target_cannot_take_is_refused_when_the_job_is_written(kind: str) -> None:
    target_type = default_target_types()[kind]
    most = target_type.data_bytes_max
    assert data_violations({"type": kind}, Payload.of("1" * most), {}) == []
    (found,) = data_violations({"type": kind}, Payload.of("1" * (most + 1)), {})
    assert found.pointer == "/data"
    assert target_type.data_limit in found.detail


def test_invocations_share_a_connection(target_of: Callable[..., Target]) -> None:
    def behave(connection: Connection) -> None:
        while connection.request():
            connection.answer("202 Accepted")

    target = target_of("lambda", behave)
    assert [target.deliver().code for _ in range(3)] == [202] * 3
    assert target.consumer.accepted == 1


def test_every_target_is_in_the_matrix() -> None:
    assert set(MODES) == set(default_target_types())
