"""Which outcomes are failures, and how late Sweephand itself was."""

from dataclasses import replace
from pathlib import Path
from typing import get_args

import pytest
from tests.fakes.deliveries import due, handle
from tests.fakes.world import NOON, World

from sweephand.model.attempt import Answer
from sweephand.model.trigger import Redrive, TriggerMessage
from sweephand.runs.received import FAILURES, OutcomeName, outcome_of_failure, own_lateness_ms

OPERATIONS = Path(__file__).parents[3] / "docs" / "operations.md"
LATE = 700


def begun(**fields: object) -> TriggerMessage:
    """The message of an attempt that began LATE ms after its due time, ten seconds after noon."""
    message = due(World())
    return message._replace(first_attempt_at=message.trigger.at + LATE)._replace(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("outcome", get_args(OutcomeName))
def test_every_outcome_is_explained_to_operators(outcome: str) -> None:
    assert f"`{outcome}`" in OPERATIONS.read_text("utf-8")


def test_a_delivery_that_a_consumer_took_is_no_failure_and_one_that_it_refused_is_one() -> None:
    assert {name for name, value in FAILURES.items() if not value} == {
        "succeeded",
        "running",
        "unrecorded",
        "notified",
    }
    assert {name for name, value in FAILURES.items() if value} == {
        "retrying",
        "failed",
        "unnotified",
        "fault",
        "buried",
    }


def test_lateness_counts_from_the_due_time() -> None:
    assert own_lateness_ms(begun()) == LATE


def test_lateness_counts_from_the_arming_if_that_came_after_the_due_time() -> None:
    message = begun()
    armed = replace(message.trigger, armed_at=message.trigger.at + 600)
    assert own_lateness_ms(message._replace(trigger=armed)) == LATE - 600


@pytest.mark.parametrize("ahead_ms", [1, 45_000])
def test_an_arming_clock_that_is_ahead_makes_no_lateness_negative(ahead_ms: int) -> None:
    """CloudWatch computes no percentile of a minute with a negative value."""
    message = begun()
    armed = replace(message.trigger, armed_at=message.trigger.at + LATE + ahead_ms)
    assert own_lateness_ms(message._replace(trigger=armed)) == 0


@pytest.mark.parametrize(
    "fields",
    [{"attempt": 2}, {"is_owed": True}, {"redrive": Redrive(1, NOON)}, {"first_attempt_at": None}],
    ids=["a retry", "a trigger that had to wait", "a redrive", "no attempt"],
)
def test_a_trigger_that_is_late_for_another_reason_has_no_lateness(fields: dict[str, object]) -> None:
    assert own_lateness_ms(begun(**fields)) is None


def test_a_retry_does_not_count_the_lateness_of_its_first_attempt_again(world: World) -> None:
    message = due(world)
    world.clock.time += LATE
    world.consumers.answering = lambda _: Answer(succeeded=False, code=503)
    assert handle(world, message).lateness_ms == LATE
    [(at, retry)] = world.queue.waiting
    world.clock.time = at
    assert isinstance(retry, TriggerMessage)
    assert handle(world, retry).lateness_ms is None


def test_a_failed_attempt_leaves_its_run_retrying_or_failed() -> None:
    assert [outcome_of_failure(state) for state in ("retrying", "failed")] == ["retrying", "failed"]
    with pytest.raises(AssertionError, match="succeeded"):
        outcome_of_failure("succeeded")
