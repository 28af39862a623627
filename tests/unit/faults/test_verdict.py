"""What came is judged by what was owed, and what came twice by the faults."""

from infra.bench.consumer import Arrival
from infra.faults.load import Key, Promise
from infra.faults.verdict import Verdict, by_kind, came_after_deletion, judged

A, B = Key("a", 1_000), Key("b", 1_000)
OWED = {A: Promise(1_000, 500), B: Promise(1_000, 500)}


def arrival(key: Key, arrived_at: int, attempt: int = 1) -> Arrival:
    return Arrival(key.job, 1, key.due_at, arrived_at, key.index, attempt)


def verdict(*arrivals: Arrival, faults_at: tuple[int, ...] = (), is_retried: bool = False) -> Verdict:
    return judged(OWED, arrivals, faults_at, is_retried=is_retried)


def test_what_did_not_come_is_lost_and_named() -> None:
    found = verdict(arrival(A, 1_100))

    assert (found.lost, found.punctuality.lost, found.is_good) == ([B], 1, False)


def test_all_that_was_owed_and_came_once_in_time_is_good() -> None:
    found = verdict(arrival(A, 1_100), arrival(B, 1_000), arrival(Key("c", 1), 0))

    assert (found.is_good, found.punctuality.max_ms) == (True, 100)


def test_what_came_before_its_due_time_is_early() -> None:
    found = verdict(arrival(A, 999), arrival(B, 1_000))

    assert (found.punctuality.early, found.is_good) == (1, False)


def test_a_second_delivery_is_explained_by_a_fault_after_the_trigger_may_have_been_sent() -> None:
    came = (arrival(A, 1_100), arrival(B, 1_100), arrival(A, 3_000))

    explained = [verdict(*came, faults_at=(at,)).is_good for at in (499, 500, 3_000, 3_001)]

    assert explained == [False, True, True, False]
    assert verdict(*came, faults_at=(500,)).punctuality.twice == 1


def test_attempts_that_the_consumer_failed_are_no_deliveries_but_may_be_early() -> None:
    came = (arrival(A, 900, 1), arrival(A, 1_500, 2), arrival(A, 2_000, 3), arrival(B, 1_500, 2))

    found = verdict(*came, is_retried=True)

    assert (found.lost, found.punctuality.early, found.punctuality.twice) == ([B], 1, 0)
    assert found.punctuality.max_ms == 1_000


def test_a_request_over_a_second_after_its_jobs_deletion_is_counted() -> None:
    came = [arrival(Key("a", 5_000), at) for at in (1_000, 3_000, 3_001)]

    assert came_after_deletion({"a": 1_000}, came) == 1


def test_faults_are_counted_by_their_kinds() -> None:
    assert by_kind([("sqs", "slow"), ("dynamodb", "slow"), ("sqs", "slow")]) == [
        {"service": "dynamodb", "fault": "slow", "calls": 1},
        {"service": "sqs", "fault": "slow", "calls": 2},
    ]
