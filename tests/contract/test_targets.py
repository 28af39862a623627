"""ports.Targets for every target type: the outcome of an attempt is an answer, never an error."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from tests.fakes.aws import Aws
from tests.fakes.consumer import Consumer, attempt_of
from tests.fakes.doubles import HandClock
from tests.fakes.sqs import mocked_sqs
from tests.fakes.targets import EVENTBRIDGE, INSECURE, LAMBDA, SNS, STEPFUNCTIONS

from sweephand.delivery.adapter import Stack
from sweephand.delivery.checked_clients import SqsClients
from sweephand.delivery.registry import TargetsByType, targets
from sweephand.ports.queue import Targets
from sweephand.targets.registry import default_target_types


@dataclass
class Case:
    """A stack's targets, one that takes what it is given, and one that is not there."""

    targets: Targets
    good: dict[str, Any]
    absent: dict[str, Any]

    @property
    def is_final_if_absent(self) -> bool:
        """Whether nobody but its owner can mend a missing target. A queue or an endpoint may come back."""
        return self.good["type"] not in ("http", "sqs")


@pytest.fixture(params=sorted(default_target_types()))
def case(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Case]:
    with mocked_sqs(monkeypatch) as sqs, Consumer() as consumer:
        aws = Aws()
        good = {
            "http": consumer.spec(),
            "sqs": {"type": "sqs", "queueUrl": sqs.queue("work")},
            "lambda": LAMBDA,
            "sns": {"type": "sns", "topicArn": aws.topic("orders")},
            "eventbridge": {"type": "eventbridge", "busArn": aws.bus("orders")},
            "stepfunctions": {"type": "stepfunctions", "stateMachineArn": aws.state_machine("orders")},
        }
        absent = {
            "http": {"type": "http", "url": "http://127.0.0.1:1/"},
            "sqs": {"type": "sqs", "queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/nowhere"},
            "lambda": LAMBDA | {"functionArn": f"{LAMBDA['functionArn']}-gone"},
            "sns": SNS | {"topicArn": f"{SNS['topicArn']}-gone"},
            "eventbridge": EVENTBRIDGE | {"busArn": f"{EVENTBRIDGE['busArn']}-gone"},
            "stepfunctions": STEPFUNCTIONS | {"stateMachineArn": f"{STEPFUNCTIONS['stateMachineArn']}-gone"},
        }
        stack = TargetsByType(Stack(HandClock(), sqs.clients, aws.clients, INSECURE))
        yield Case(stack, good[request.param], absent[request.param])


def test_an_attempt_that_the_consumer_accepts_succeeds(case: Case) -> None:
    answer = case.targets.deliver(attempt_of(case.good))
    assert (answer.succeeded, answer.error) == (True, None)


@pytest.mark.parametrize("body", [b"null", b'""', b"{}", b"[]", b"1"], ids=str)
def test_every_target_type_accepts_any_data(case: Case, body: bytes) -> None:
    assert case.targets.deliver(attempt_of(case.good, body)).succeeded


def test_every_target_type_accepts_the_most_data_that_it_allows(case: Case) -> None:
    most = default_target_types()[case.good["type"]].data_bytes_max
    assert case.targets.deliver(attempt_of(case.good, b'"' + b"x" * (most - 2) + b'"')).succeeded


def test_a_missing_consumer_is_a_failure_with_a_reason(case: Case) -> None:
    answer = case.targets.deliver(attempt_of(case.absent))
    assert (answer.succeeded, answer.is_final) == (False, case.is_final_if_absent)
    assert answer.error


def test_ten_threads_may_deliver_at_once(case: Case) -> None:
    attempts = [attempt_of(case.good), attempt_of(case.absent)] * 10
    with ThreadPoolExecutor(10) as threads:
        answers = list(threads.map(case.targets.deliver, attempts))
    assert [answer.succeeded for answer in answers] == [True, False] * 10


@pytest.mark.parametrize("spec", [{}, {"type": None}, {"type": "pigeon"}, {"type": ["http"]}])
def test_an_unknown_target_type_is_a_failure_that_names_the_known_types(spec: dict[str, Any]) -> None:
    answer = targets(HandClock(), SqsClients(), INSECURE).deliver(attempt_of(spec))
    assert answer.error is not None
    known = "http, sqs, lambda, sns, eventbridge, stepfunctions, default"
    assert answer.error.endswith(f"The types are: {known}.")
