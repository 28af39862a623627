"""ports.Targets for every target type: the outcome of an attempt is an answer, never an error."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import pytest
from tests.fakes.consumer import Consumer, attempt_of
from tests.fakes.doubles import HandClock
from tests.fakes.sqs import mocked_sqs
from tests.fakes.targets import INSECURE

from sweephand.delivery.registry import targets
from sweephand.delivery.sqs_clients import SqsClients
from sweephand.ports import Targets
from sweephand.targets.registry import target_types


@dataclass
class Case:
    """A stack's targets, one that takes what it is given, and one that is not there."""

    targets: Targets
    good: dict[str, Any]
    absent: dict[str, Any]


@pytest.fixture(params=sorted(target_types()))
def case(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Case]:
    with mocked_sqs(monkeypatch) as sqs, Consumer() as consumer:
        good = {
            "http": consumer.spec(),
            "sqs": {"type": "sqs", "queueUrl": sqs.queue("work")},
        }
        absent = {
            "http": {"type": "http", "url": "http://127.0.0.1:1/"},
            "sqs": {"type": "sqs", "queueUrl": "https://sqs.eu-west-1.amazonaws.com/123456789012/nowhere"},
        }
        stack = targets(HandClock(), sqs.clients, INSECURE)
        yield Case(stack, good[request.param], absent[request.param])


def test_an_attempt_that_the_consumer_accepts_succeeds(case: Case) -> None:
    answer = case.targets.deliver(attempt_of(case.good))
    assert (answer.succeeded, answer.error) == (True, None)


@pytest.mark.parametrize("body", [b"null", b'""', b"{}", b'"' + b"x" * 262_142 + b'"'], ids=len)
def test_every_target_type_accepts_any_data(case: Case, body: bytes) -> None:
    assert case.targets.deliver(attempt_of(case.good, body)).succeeded


def test_a_missing_consumer_is_a_failure_with_a_reason_that_is_not_final(case: Case) -> None:
    answer = case.targets.deliver(attempt_of(case.absent))
    assert (answer.succeeded, answer.is_final, bool(answer.error)) == (False, False, True)


def test_ten_threads_may_deliver_at_once(case: Case) -> None:
    attempts = [attempt_of(case.good), attempt_of(case.absent)] * 10
    with ThreadPoolExecutor(10) as threads:
        answers = list(threads.map(case.targets.deliver, attempts))
    assert [answer.succeeded for answer in answers] == [True, False] * 10


@pytest.mark.parametrize("spec", [{}, {"type": None}, {"type": "lambda"}, {"type": ["http"]}])
def test_an_unknown_target_type_is_a_failure_that_names_the_known_types(spec: dict[str, Any]) -> None:
    answer = targets(HandClock(), SqsClients(), INSECURE).deliver(attempt_of(spec))
    assert answer.error is not None
    assert answer.error.endswith("The types are http and sqs.")
