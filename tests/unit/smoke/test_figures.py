"""The conclusions of the checks from deliveries, log lines and billed time."""

from collections.abc import Sequence
from typing import Any

from infra.local.queue import Message
from infra.smoke.account import cost_table as table
from infra.smoke.lateness import Punctuality, fill_of, judge
from infra.smoke.outage import gaps

DUE = "2027-01-01T00:00:00.000Z"
DUE_MS = 1_798_761_600_000


def message(job: str, late_ms: int) -> Message:
    return Message("null", {"job": job, "id": f"id of {job}", "due": DUE}, {}, DUE_MS + late_ms)


def herd(late_ms: Sequence[int]) -> tuple[list[str], list[Message]]:
    names = [f"job-{number}" for number in range(len(late_ms))]
    return names, [message(name, late) for name, late in zip(names, late_ms, strict=True)]


def test_lateness_is_from_the_due_time_to_when_sqs_took_the_message() -> None:
    assert message("any", 250).sent_at - message("any", 250).due_at == 250


def test_a_herd_that_arrived_whole_has_lost_nothing() -> None:
    found = judge(*herd(range(100)))
    assert found == Punctuality(lost=0, early=0, twice=0, p50_ms=50, p99_ms=99, max_ms=99)


def test_missing_triggers_are_lost_and_duplicates_are_counted() -> None:
    names, messages = herd([10, 20, 30])
    found = judge(names, [messages[0], messages[0], messages[1]])
    assert (found.lost, found.twice) == (1, 1)


def test_a_herd_of_which_nothing_came_is_lost_whole() -> None:
    names, _ = herd([0, 0])
    assert judge(names, []).lost == 2


def test_a_trigger_is_early_only_beyond_the_difference_of_clocks() -> None:
    assert judge(*herd([-50, 5])).early == 0
    assert judge(*herd([-500, 5])).early == 1


def test_the_fill_of_a_call_is_the_number_of_outcomes_that_its_log_line_has() -> None:
    lines: list[dict[str, Any]] = [
        {"message": "delivered", "succeeded": 7, "retrying": 2, "lateness_ms": 800, "cold_start": True},
        {"message": "delivered", "lateness_ms": None},
    ]
    assert fill_of(lines) == [9]


def test_a_due_time_that_is_missing_between_others_is_a_gap() -> None:
    assert gaps([0, 10, 20, 40, 50, 50], 10) == [30]
    assert gaps([], 10) == []


def test_a_bill_shows_each_service_and_the_sum_of_each_day() -> None:
    def group(service: str, dollars: str) -> dict[str, object]:
        return {"Keys": [service], "Metrics": {"UnblendedCost": {"Amount": dollars}}}

    day = {
        "TimePeriod": {"Start": "2027-01-01"},
        "Groups": [group("AWS Lambda", "0.1"), group("SQS", "0.02")],
    }
    assert table([day]).splitlines() == [
        "2027-01-01    0.100000  AWS Lambda",
        "2027-01-01    0.020000  SQS",
        "2027-01-01    0.120000  in all",
    ]
    assert "activated" in table([{"TimePeriod": {"Start": "2027-01-01"}, "Groups": []}])
