"""Reading the calls of the delivery function from its log."""

import json
from typing import Any

from infra.calculator.local_stack import Call, calls_of


def event(stream: str, message: str, at: int = 1_000) -> dict[str, Any]:
    return {"logStreamName": stream, "timestamp": at, "message": message}


def delivered(stream: str, **counts: int) -> dict[str, Any]:
    return event(stream, json.dumps({"message": "delivered", "lateness_ms": 900, **counts}))


def report(stream: str, billed_ms: float) -> dict[str, Any]:
    return event(
        stream,
        f"REPORT RequestId: x\tDuration: 1 ms\tBilled Duration: {billed_ms} ms\tMemory Size: 256 MB",
        1_200,
    )


def test_a_call_has_the_triggers_of_all_its_outcomes_and_its_billed_time() -> None:
    events = [event("a", "START RequestId: x"), delivered("a", succeeded=7, retrying=1), report("a", 412.5)]
    assert list(calls_of(events)) == [Call(1_200, 8, 412.5)]


def test_a_reader_of_the_log_tells_the_calls_of_two_functions_apart_by_their_streams() -> None:
    events = [delivered("a", succeeded=1), delivered("b", succeeded=2), report("b", 20), report("a", 10)]
    assert [(each.triggers, each.billed_ms) for each in calls_of(events)] == [(1, 10), (2, 20)]


def test_a_wake_up_does_not_count_as_a_call_that_delivered() -> None:
    events = [event("a", json.dumps({"message": "woken"})), report("a", 100)]
    assert list(calls_of(events)) == []


def test_a_call_whose_end_is_not_logged_yet_is_left_out() -> None:
    assert list(calls_of([delivered("a", succeeded=1)])) == []
