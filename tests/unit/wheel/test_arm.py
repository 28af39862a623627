"""Arming: which triggers of a revision go straight to the queue, and which timer promises the rest."""

from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.faults import calls_of, killed_at
from tests.fakes.world import NOON, World

from sweephand.model.definition import CatchUpPolicy
from sweephand.model.job import JobKey
from sweephand.model.trigger import Message, RangeMessage, TriggerMessage
from sweephand.schedules import Occurrence, Series
from sweephand.wheel.arm import RANGE_PARTS, Armable, Arming, arm, delay_of, split_range

WINDOW = 300_000


def armable(schedule: str | None = "@every 10s", due_at: int | None = None, **bounds: Any) -> Armable:
    series = Series(schedule, "UTC", NOON, due_at, **bounds)
    return Armable(JobKey("ns", "job"), "u" * 16, "1-a", 3, series, CatchUpPolicy())


def armed(source: Armable, *, after: int = NOON - 1, singles_max: int = 1_000) -> Arming:
    return arm(source, after=after, now=NOON, singles_max=singles_max)


def dues(messages: tuple[Message, ...]) -> list[int]:
    assert all(isinstance(each, TriggerMessage) for each in messages)
    return [each.trigger.due_at - NOON for each in messages if isinstance(each, TriggerMessage)]


@pytest.mark.parametrize(
    ("due_ms", "direct"), [(0, True), (1, True), (WINDOW, True), (WINDOW + 1, False), (86_400_000, False)]
)
def test_a_one_off_within_five_minutes_is_a_message_and_beyond_a_timer(due_ms: int, *, direct: bool) -> None:
    arming = armed(armable(None, NOON + due_ms))
    assert dues(arming.messages) == ([due_ms] if direct else [])
    if direct:
        assert arming.timers == ()
    else:
        (timer,) = arming.timers
        assert timer.first == Occurrence(NOON + due_ms, 1)
        assert timer.shard == 3
        assert timer.armed_at == NOON


def test_a_series_has_messages_up_to_the_end_of_the_window_and_a_timer_for_the_first_beyond() -> None:
    arming = armed(armable("@every 60s"))
    assert dues(arming.messages) == [60_000, 120_000, 180_000, 240_000, 300_000]
    (timer,) = arming.timers
    assert timer.first == Occurrence(NOON + 360_000, 6)
    assert [each.trigger.sequence for each in arming.messages if isinstance(each, TriggerMessage)] == [
        1,
        2,
        3,
        4,
        5,
    ]


def test_an_occurrence_up_to_the_beginning_is_not_armed() -> None:
    arming = armed(armable("@every 60s"), after=NOON + 60_000)
    assert dues(arming.messages) == [120_000, 180_000, 240_000, 300_000]


def test_a_series_that_ends_within_the_window_needs_no_timer() -> None:
    arming = armed(armable("@every 60s", repeats=5))
    assert len(arming.messages) == 5
    assert arming.timers == ()


def test_a_trigger_waits_in_the_queue_until_it_is_due_and_a_range_not_at_all() -> None:
    (message,) = armed(armable(None, NOON + 30_000)).messages
    assert delay_of(message, NOON) == 30_000
    assert delay_of(message, NOON + 12_345) == 17_655
    assert delay_of(message, NOON + 31_000) == 0
    (span,) = armed(armable("@every 1s"), singles_max=10).messages
    assert delay_of(span, NOON) == 0


def test_many_triggers_are_armed_as_one_range() -> None:
    assert len(armed(armable("@every 30s"), singles_max=10).messages) == 10
    arming = armed(armable("@every 20s"), singles_max=10)
    (span,) = arming.messages
    assert isinstance(span, RangeMessage)
    assert (span.first.due_at - NOON, span.until - NOON) == (20_000, 300_000)
    (timer,) = arming.timers
    assert timer.first.due_at == NOON + 320_000


@given(period_s=st.integers(1, 30), singles_max=st.integers(1, 40))
def test_a_range_splits_into_exactly_its_triggers(period_s: int, singles_max: int) -> None:
    source = armable(f"@every {period_s}s")
    whole = armed(source).messages
    parts = list(armed(source, singles_max=singles_max).messages)
    singles: list[TriggerMessage] = []
    while parts:
        part = parts.pop()
        if isinstance(part, RangeMessage):
            halves = list(split_range(part))
            assert len(halves) <= RANGE_PARTS
            assert halves != [part], "it splits for ever"
            parts += halves
        else:
            assert isinstance(part, TriggerMessage)
            singles.append(part)
    assert sorted(singles, key=lambda each: each.not_before) == list(whole)


@pytest.mark.parametrize("schedule", ["@every 1s", "* * * * * *"])
def test_years_of_seconds_are_armed_and_split_without_enumeration(schedule: str) -> None:
    year_ms = 365 * 86_400_000
    arming = arm(armable(schedule), after=NOON, now=NOON + year_ms)
    (span,) = arming.messages
    assert isinstance(span, RangeMessage)
    assert (span.first.sequence, span.until - NOON) == (1, year_ms + WINDOW)
    parts = [part for part in split_range(span) if isinstance(part, RangeMessage)]
    assert len(parts) == RANGE_PARTS
    assert parts[0].first == span.first
    assert parts[-1].until == span.until
    for before, part in pairwise(parts):
        assert (part.first.due_at, part.first.sequence) == (
            before.until + 1_000,
            (before.until - NOON) // 1_000 + 1,
        )
    (timer,) = arming.timers
    assert timer.first == Occurrence(span.until + 1_000, (year_ms + WINDOW) // 1_000 + 1)


def spread(world: World) -> None:
    """Put a span of 30 triggers into the queue, as arming would if there were more of them."""
    world.put(schedule="@every 10s")
    job = world.stored()
    source = Armable(job.key, job.uid, job.rev, job.shard, job.series, CatchUpPolicy())
    world.queue.waiting.clear()
    (span,) = arm(source, after=NOON, now=NOON, singles_max=20).messages
    world.queue.send([(span, 0)])


def test_a_delivery_function_that_is_killed_while_splitting_loses_none_of_the_range() -> None:
    trial = World()
    spread(trial)
    calls = calls_of(trial, lambda: trial.run_until(NOON + 300, ticking=False))
    for number in range(len(calls)):
        world = World()
        spread(world)
        killed_at(world, number, lambda: world.run_until(NOON + 300, ticking=False))  # noqa: B023 - called within this turn
        world.queue.reappear()
        world.run_until(NOON + 301_000, ticking=False)
        assert world.consumers.dues == set(range(NOON + 10_000, NOON + 300_001, 10_000)), calls[number]


def test_the_delivery_function_splits_a_range_until_each_trigger_is_delivered_once(world: World) -> None:
    spread(world)
    world.run_until(NOON + 301_000, ticking=False)
    assert set(Counter(world.consumers.ids).values()) == {1}
    assert len(world.consumers.ids) == 30


def test_every_part_of_a_range_carries_the_fields_of_its_revision() -> None:
    (span,) = armed(armable("@every 1s"), singles_max=10).messages
    assert isinstance(span, RangeMessage)
    for part in split_range(span._replace(armed_at=NOON - 5)):
        assert isinstance(part, RangeMessage)
        assert (part.uid, part.rev, part.armed_at, part.key) == (span.uid, span.rev, NOON - 5, span.key)
