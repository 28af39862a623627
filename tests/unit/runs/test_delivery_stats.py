"""What deliveries counted: which outcomes are failures, how late Sweephand was, and by how many writes."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.contract.builders import policy
from tests.fakes.acceptance import ACCEPTED
from tests.fakes.deliveries import FAILED, due, handle
from tests.fakes.faults import calls_of, failing
from tests.fakes.world import NOON, World

from sweephand.base.errors import ConflictError
from sweephand.base.instants import HOUR_MS, MINUTE_MS
from sweephand.base.timing import BULK_TIME_LIMIT_MS, STATS_RESERVE_MS
from sweephand.model.attempt import Answer
from sweephand.model.counters import Stats
from sweephand.model.policy import PolicyKey
from sweephand.model.trigger import Redrive, TriggerMessage
from sweephand.runs.delivery_stats import StatsSpan
from sweephand.runs.received import FAILURES, OutcomeName, outcome_of_failure, own_lateness_ms

DONE = Answer(succeeded=True, code=204)


def counting() -> World:
    world = World()
    world.counts_deliveries = True
    return world


def counted(world: World, namespace: str = "ns") -> dict[int, Stats]:
    """The counts by the minute from noon on in which they were counted."""
    found = world.stats.minutes(namespace, NOON - HOUR_MS, NOON + 48 * HOUR_MS)
    return {(minute - NOON) // MINUTE_MS: stats for minute, stats in found.items()}


def outcomes(world: World) -> Counter[Any]:
    return sum((stats.outcomes for stats in counted(world).values()), Counter())


def test_each_call_counts_once_in_the_minute_in_which_it_ends() -> None:
    world = counting()
    for name, due_time in (("a", "10s"), ("b", "10s"), ("c", "70s")):
        world.put(name, dueTime=due_time)
    world.run_until(NOON + 2 * MINUTE_MS)
    first = Stats(Counter({"succeeded": 2}), Counter({10: 2}))
    assert counted(world) == {0: first, 1: Stats(Counter({"succeeded": 1}), Counter({10: 1}))}


def test_many_triggers_of_a_call_are_one_write() -> None:
    world = counting()
    for number in range(9):
        world.put(f"job-{number}", dueTime="10s")
    world.clock.time = NOON + 10_000
    batch = world.queue.take()
    assert len(batch) > 1
    calls = calls_of(world, lambda: world.deliver(batch))
    assert sum("stats.add" in each for each in calls) == 2, "announced before the call and after it"
    assert counted(world)[0].outcomes["succeeded"] == len(batch)


def test_retries_failures_and_skips_are_counted_as_what_they_are() -> None:
    world = counting()
    world.consumers.answering = lambda attempt: FAILED if attempt.number < 3 else DONE
    world.put(dueTime="10s")
    world.run_until(NOON + HOUR_MS)
    assert outcomes(world) == Counter(retrying=2, succeeded=1)
    # Only a first attempt has a lateness.
    assert sum((stats.lateness for stats in counted(world).values()), Counter()) == Counter({10: 1})
    world.consumers.answering = lambda _: FAILED._replace(is_final=True)
    world.put("final", dueTime="10s")
    world.run_until(NOON + 2 * HOUR_MS)
    assert outcomes(world) == Counter(retrying=2, succeeded=1, failed=1)


def test_a_skipped_trigger_and_an_accepted_one_are_counted() -> None:
    world = counting()
    world.consumers.answering = lambda _: ACCEPTED
    world.put(schedule="@every 10s", overlap="skip", completion="async", repeats=3)
    world.run_until(NOON + MINUTE_MS)
    assert outcomes(world) == Counter(running=1, skipped=2)


def test_lateness_is_counted_by_its_class() -> None:
    world = counting()
    world.put(dueTime="10s")
    world.clock.time = NOON + 10_160
    world.run_until(NOON + MINUTE_MS)
    assert counted(world)[0].lateness == Counter({200: 1})


def test_a_fault_of_sweephand_is_counted_as_a_fault() -> None:
    world = counting()
    world.put(dueTime="10s")
    failing(world, "consumers.deliver", times=1)
    world.clock.time = NOON + 10_000
    world.deliver(world.queue.take())
    assert outcomes(world) == Counter(faults=1)


def test_triggers_under_a_policy_are_counted_without_their_lateness() -> None:
    world = counting()
    world.flow_functions_max = 4
    assert world.policies.put(replace(policy(5), key=PolicyKey("ns", "mailer")), None)
    for name in ("a", "b"):
        world.put(name, dueTime="20s", policy="mailer")
    world.run_until(NOON + 2 * MINUTE_MS)
    assert outcomes(world) == Counter(succeeded=2)
    assert not any(stats.lateness for stats in counted(world).values())


def test_a_failing_write_disturbs_no_delivery() -> None:
    world = counting()
    world.put(schedule="@every 10s", repeats=5)
    failing(world, "stats.add")
    world.run_until(NOON + 2 * MINUTE_MS)
    assert len(world.consumers.times) == 5
    assert not world.queue.buried
    assert counted(world) == {}


def test_a_call_that_nearly_ran_out_of_time_counts_nothing() -> None:
    world = counting()
    world.put(dueTime="10s")
    world.clock.time = NOON + 10_000
    deliveries = world.deliveries()
    now = world.delivery_clock.now()
    handled = deliveries.intake.handle(world.queue.take(), deadline=now + 90_000)
    stats = deliveries.stats
    assert stats is not None
    assert stats.count(handled, "call", now + STATS_RESERVE_MS) is not None
    assert counted(world) == {}
    assert stats.count(handled, "call", now + STATS_RESERVE_MS + 1) is None
    assert outcomes(world) == Counter(succeeded=1)


def test_a_stack_that_does_not_count_writes_nothing_and_has_nothing_to_read(world: World) -> None:
    world.put(dueTime="10s")
    world.run_until(NOON + MINUTE_MS)
    assert world.consumers.times
    assert counted(world) == {}
    reader = world.api().stats
    with pytest.raises(ConflictError, match="parameter Stats"):
        reader.read("ns", StatsSpan(NOON, NOON + HOUR_MS, MINUTE_MS), NOON)


def test_a_reading_that_takes_too_long_goes_on_where_it_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    world = counting()
    one = Stats(Counter({"succeeded": 1}), Counter())
    for minute in range(0, 600, 10):
        world.stats.add(NOON + minute * MINUTE_MS, 0, {"ns": one}, lambda: True)
    reader = world.api().stats
    minutes = world.stats.minutes

    def slow(*asked: Any) -> Any:
        world.clock.time += BULK_TIME_LIMIT_MS // 2
        return minutes(*asked)

    span = StatsSpan(NOON, NOON + 10 * HOUR_MS, 30 * MINUTE_MS)
    whole = reader.read("ns", span, span.since)
    assert [stats.outcomes["succeeded"] for _, stats in whole.steps] == [3] * 20
    monkeypatch.setattr(world.stats, "minutes", slow)
    reached, found = span.since, list[tuple[int, Stats]]()
    for _ in range(5):
        part = reader.read("ns", span, reached)
        found += part.steps
        assert (part.reached is None) == (reached == NOON + 8 * HOUR_MS)
        reached = part.reached or reached
    assert found == whole.steps


MONITORING = Path(__file__).parents[3] / "docs" / "monitoring.md"
LATE = 700


def begun(**fields: object) -> TriggerMessage:
    """The message of an attempt that began LATE ms after its due time, ten seconds after noon."""
    message = due(World())
    return message._replace(first_attempt_at=message.trigger.at + LATE)._replace(**fields)  # type: ignore[arg-type]


@pytest.mark.parametrize("outcome", get_args(OutcomeName))
def test_every_outcome_is_explained_to_operators(outcome: str) -> None:
    assert f"`{outcome}`" in MONITORING.read_text("utf-8")


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
    armed = message.trigger._replace(armed_at=message.trigger.at + 600)
    assert own_lateness_ms(message._replace(trigger=armed)) == LATE - 600


@pytest.mark.parametrize("ahead_ms", [1, 45_000])
def test_an_arming_clock_that_is_ahead_makes_no_lateness_negative(ahead_ms: int) -> None:
    """CloudWatch computes no percentile of a minute with a negative value."""
    message = begun()
    armed = message.trigger._replace(armed_at=message.trigger.at + LATE + ahead_ms)
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
