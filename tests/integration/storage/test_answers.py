"""The answers of DynamoDB show throttled requests and the skew of this process's clock."""

from collections.abc import Iterator

import pytest
from tests.contract.builders import NOON, timer
from tests.fakes.doubles import HandClock
from tests.fakes.engines import Dynamo
from tests.fakes.wire import cut_off, dated, idle, refused, without_waiting

from sweephand.base.errors import StoreError
from sweephand.storage.connect import Answers, Seen

TRIES = 4


@pytest.fixture
def clock() -> HandClock:
    return HandClock(NOON + 250)


@pytest.fixture
def answers(on_moto: Dynamo, clock: HandClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Answers]:
    """What is seen in the answers to the client, whose clock is right."""
    without_waiting(monkeypatch)
    answers = Answers(clock.now)
    answers.watch(on_moto.client.meta.events)
    with dated(on_moto.client, lambda: NOON + 250):
        yield answers


@pytest.mark.parametrize(
    "code", ["ProvisionedThroughputExceededException", "ThrottlingException", "RequestLimitExceeded"]
)
def test_every_throttled_try_of_a_request_counts(on_moto: Dynamo, answers: Answers, code: str) -> None:
    with refused(on_moto.client, "Query", code), pytest.raises(StoreError):
        on_moto.stores().leases.state()
    assert answers.take().throttled == TRIES


def test_a_batch_that_is_done_only_in_part_counts_as_throttled(on_moto: Dynamo, answers: Answers) -> None:
    with idle(on_moto.client, "BatchWriteItem"), pytest.raises(StoreError):
        on_moto.stores().timers.put([timer()])
    assert answers.take().throttled > 1


@pytest.mark.parametrize("code", ["ValidationException", "AccessDeniedException"])
def test_a_request_that_is_refused_for_another_reason_is_not_throttled(
    on_moto: Dynamo, answers: Answers, code: str
) -> None:
    with refused(on_moto.client, "Query", code), pytest.raises(StoreError):
        on_moto.stores().leases.state()
    assert answers.take() == Seen()


def test_what_was_seen_is_told_once(on_moto: Dynamo, answers: Answers) -> None:
    with refused(on_moto.client, "Query", "ThrottlingException"), pytest.raises(StoreError):
        on_moto.stores().leases.state()
    answers.take()
    assert answers.take() == Seen()


def test_a_request_without_an_answer_shows_nothing(on_moto: Dynamo, answers: Answers) -> None:
    with cut_off(on_moto.client, "Query"), pytest.raises(StoreError):
        on_moto.stores().leases.state()
    assert answers.take() == Seen()


@pytest.mark.parametrize(
    ("ahead_ms", "skew_ms"),
    [(0, 0), (700, 0), (-250, 0), (1_000, 251), (7_000, 6_251), (-1_250, -1_000), (-7_250, -7_000)],
)
def test_a_clock_that_differs_shows_as_skew_by_as_much_as_whole_seconds_prove(
    on_moto: Dynamo, answers: Answers, clock: HandClock, ahead_ms: int, skew_ms: int
) -> None:
    clock.time += ahead_ms
    on_moto.stores().leases.state()
    assert answers.take().skew_ms == skew_ms


def test_one_slow_answer_is_no_skew(on_moto: Dynamo, answers: Answers, clock: HandClock) -> None:
    on_moto.stores().leases.state()
    clock.time += 20_000
    on_moto.stores().leases.state()
    assert answers.take().skew_ms == 0


def test_a_date_that_cannot_be_read_shows_nothing(
    on_moto: Dynamo, answers: Answers, clock: HandClock
) -> None:
    def before_parse(response_dict: dict[str, dict[str, str]], **_: object) -> None:
        response_dict["headers"]["date"] = "yesterday"

    on_moto.client.meta.events.register_last("before-parse.dynamodb", before_parse)
    clock.time += 20_000
    on_moto.stores().leases.state()
    assert answers.take() == Seen()
