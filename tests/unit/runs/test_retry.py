"""Whether another attempt follows and when, and when a message that was put back comes again."""

from dataclasses import dataclass
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.acceptance import due_async
from tests.fakes.deliveries import change, due, handle, waiting
from tests.fakes.doubles import SkewedClock
from tests.fakes.world import NOON, World

from sweephand.base.instants import Instant
from sweephand.base.timing import API_LIMIT_MS, UNKNOWN_DELAY_MS
from sweephand.model.attempt import Answer
from sweephand.model.definition import RetryPolicy
from sweephand.runs.requeue import commit_awaited_until
from sweephand.runs.retry import GiveUp, RetryAt, after_failure, delay_after

DEFAULT = RetryPolicy()
FAILED = Answer(succeeded=False, code=503)
HOUR = 3_600_000


def decide(
    answer: Answer = FAILED,
    policy: RetryPolicy = DEFAULT,
    *,
    attempt: int = 1,
    after_ms: int = 0,
    fraction: float = 0.5,
) -> RetryAt | GiveUp:
    """What follows an attempt that failed so long after the first began, which was at noon."""
    return after_failure(
        policy, answer, attempt=attempt, first_attempt_at=NOON, now=NOON + after_ms, fraction=fraction
    )


@pytest.mark.parametrize(
    ("attempt", "least_ms", "most_ms"),
    [
        (1, 2_500, 4_997),
        (2, 10_000, 19_990),
        (3, 40_000, 79_960),
        (4, 160_000, 319_840),
        (7, 3 * HOUR - 560_000, 20_469_760),  # 5 s * 4^6 = 20,480 s
        (8, 3 * HOUR, 6 * HOUR - 10_800),  # over the maximum from here on
        (9, 3 * HOUR, 6 * HOUR - 10_800),
        (100, 3 * HOUR, 6 * HOUR - 10_800),
    ],
)
def test_delays_grow_by_the_multiplier_up_to_the_maximum_and_half_of_each_is_random(
    attempt: int, least_ms: int, most_ms: int
) -> None:
    assert delay_after(DEFAULT, attempt, 0) == least_ms
    assert delay_after(DEFAULT, attempt, 0.999) == most_ms
    assert delay_after(DEFAULT, attempt, 0.5) in range(least_ms + 1, most_ms)


def test_the_default_spreads_ten_attempts_over_about_fifteen_hours() -> None:
    total = sum(delay_after(DEFAULT, attempt, 0.5) for attempt in range(1, 10))
    assert 14 * HOUR < total < 16 * HOUR


@given(
    initial_ms=st.integers(0, 10**12),
    multiplier=st.floats(0.001, 1e308),
    most_ms=st.integers(0, 10**12),
    attempt=st.integers(1, 100),
    fraction=st.floats(0, 1, exclude_max=True),
)
def test_no_policy_makes_a_delay_that_is_no_number_or_exceeds_its_maximum(
    initial_ms: int, multiplier: float, most_ms: int, attempt: int, fraction: float
) -> None:
    policy = RetryPolicy(100, HOUR, initial_ms, multiplier, most_ms)
    assert 0 <= delay_after(policy, attempt, fraction) <= most_ms


def test_a_multiplier_of_one_keeps_delays_equal() -> None:
    policy = RetryPolicy(multiplier=1.0)
    delays = [delay_after(policy, attempt, 0.25) for attempt in range(1, 50)]
    assert all(one == other for one, other in pairwise(delays))


def test_no_attempt_follows_the_last_one_of_the_policy() -> None:
    assert isinstance(decide(attempt=9), RetryAt)
    given_up = decide(attempt=10)
    assert isinstance(given_up, GiveUp)
    assert given_up.reason == "Attempt 10 of 10 failed: Response 503."
    assert isinstance(decide(policy=RetryPolicy(attempts_max=1)), GiveUp)


def test_no_attempt_follows_a_final_answer() -> None:
    given_up = decide(Answer(succeeded=False, code=422, is_final=True))
    assert given_up == GiveUp("Response 422 is final: the consumer will not accept this request.")


def test_a_final_failure_without_a_response_gives_its_error_as_the_reason() -> None:
    given_up = decide(Answer(succeeded=False, error="The file is not there.", is_final=True), attempt=2)
    assert given_up == GiveUp("Attempt 2 failed for good: The file is not there.")


def test_an_answer_410_ends_the_trigger_and_marks_the_consumer_as_gone() -> None:
    given_up = decide(Answer(succeeded=False, code=410, is_final=True))
    assert given_up == GiveUp(
        "Response 410: the consumer is gone and wants no further trigger.", is_gone=True
    )


@pytest.mark.parametrize(
    ("after_ms", "is_tried"),
    [(0, True), (24 * HOUR - 3_750, True), (24 * HOUR - 3_749, False), (25 * HOUR, False)],
)
def test_no_attempt_is_made_after_the_age_of_the_policy(after_ms: int, *, is_tried: bool) -> None:
    decision = decide(after_ms=after_ms)
    if is_tried:
        assert decision == RetryAt(NOON + after_ms + 3_750)
    else:
        assert isinstance(decision, GiveUp)
        assert "maxAge" in decision.reason


@pytest.mark.parametrize(
    ("asked_ms", "at_ms"),
    [
        (None, 3_750),
        (1_000, 3_750),
        (3_751, 3_751),
        (60_000, 60_000),
        (24 * HOUR, 24 * HOUR),
        (-5_000, 3_750),
    ],
)
def test_a_consumer_that_asks_for_a_later_instant_gets_it(asked_ms: int | None, at_ms: int) -> None:
    asked_at = None if asked_ms is None else NOON + asked_ms
    answer = Answer(succeeded=False, code=429, retry_after_at=asked_at)
    assert decide(answer) == RetryAt(NOON + at_ms)


def test_a_consumer_that_asks_for_an_instant_beyond_the_age_gets_a_last_attempt_when_it_is_reached() -> None:
    asked = Answer(succeeded=False, code=429, retry_after_at=NOON + 25 * HOUR)
    assert decide(asked) == RetryAt(NOON + 24 * HOUR)
    assert isinstance(decide(asked, attempt=2, after_ms=24 * HOUR), GiveUp)
    assert isinstance(decide(asked, attempt=10), GiveUp)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(succeeded=False, code=500), "Response 500."),
        (Answer(succeeded=False), "No response."),
        (Answer(succeeded=False, error="The connection was refused."), "The connection was refused."),
        (
            Answer(succeeded=False, code=302, error="Redirects are not followed"),
            "Redirects are not followed.",
        ),
    ],
)
def test_the_reason_names_the_failure_of_the_last_attempt(answer: Answer, said: str) -> None:
    given_up = decide(answer, attempt=10)
    assert isinstance(given_up, GiveUp)
    assert given_up.reason.endswith(said)


@dataclass
class RunningClock(SkewedClock):
    """A clock by which a millisecond passes each time that it is looked at."""

    def now(self) -> Instant:
        self.true.time += 1
        return super().now()


def running() -> World:
    world = World()
    world.delivery_clock = RunningClock(world.clock)
    return world


def comes_in_ms(world: World) -> int:
    ((at, _),) = waiting(world)
    return NOON + at - world.clock.time


def test_an_attempt_whose_predecessor_is_not_over_checks_it_every_second() -> None:
    world = running()
    _, message = due_async(world)
    handle(world, message)
    world.queue.waiting.clear()
    assert handle(world, message._replace(attempt=2)).name == "overtaken"
    assert comes_in_ms(world) > 990


def test_a_trigger_that_a_new_pause_holds_is_judged_again_a_second_later() -> None:
    world = running()
    message = due(world)
    change(world, paused_at=world.clock.time + 60_000)
    assert handle(world, message).name == "held"
    assert comes_in_ms(world) > 990


def test_a_message_that_is_a_second_early_is_not_delayed_beyond_its_due_time() -> None:
    world = running()
    message = due(world)
    world.clock.time = message.not_before - 1_002
    assert handle(world, message).name == "early"
    assert world.clock.time + comes_in_ms(world) <= message.not_before


@pytest.mark.parametrize(
    ("age_ms", "delay_ms"),
    [
        (-60_000, UNKNOWN_DELAY_MS),
        (0, UNKNOWN_DELAY_MS),
        (API_LIMIT_MS - 1, UNKNOWN_DELAY_MS),
        (26_000, 13_000),
        (100_000, 50_000),
    ],
)
def test_a_message_waits_longer_for_a_commit_that_can_hardly_come_any_more(
    age_ms: int, delay_ms: int
) -> None:
    now = NOON + age_ms
    assert commit_awaited_until(NOON, now) == now + delay_ms


def test_a_message_that_is_received_twice_each_time_does_not_multiply_much(world: World) -> None:
    message = due(world)
    world.delete()
    world.clock.time = NOON
    handled = 0
    while waiting(world) or not handled:
        at = min((at for at, _ in waiting(world)), default=0)
        world.clock.time = NOON + at
        world.queue.waiting.clear()
        handle(world, message)
        handled += 1
    # Each of these receives may double the copies.
    assert handled <= 20
