"""Whether and when a failed attempt is followed by another; what to do is returned, never done."""

from typing import NamedTuple

from sweephand.base.instants import Instant
from sweephand.model.definition import RetryPolicy
from sweephand.ports import Answer


class Retry(NamedTuple):
    """Try again, not before that instant."""

    at: Instant


class GiveUp(NamedTuple):
    """No further attempt, and why, in a sentence; if it `is_gone`, the consumer wants no other trigger."""

    reason: str
    is_gone: bool = False


#: 410 Gone (RFC 9110, 15.5.11): the consumer is not there any more, and will not be again.
GONE = 410


def after_failure(
    policy: RetryPolicy,
    answer: Answer,
    *,
    attempt: int,
    first_attempt_at: Instant,
    now: Instant,
    fraction: float,
) -> Retry | GiveUp:
    """What follows the failure of that attempt (1 is the first of its round) at `now`.

    Delays grow from the initial one by the multiplier up to the maximum; half of each is random, by
    `fraction` (0 up to 1), so that consumers that failed together are not tried together. A later
    instant that the consumer asked for (Retry-After; RFC 9110, 10.2.3) wins, but the policy's age bounds it:
    if it lies beyond, the last attempt is made when the age is reached. If the policy's own delay ends
    beyond the age, no attempt follows.
    """
    if answer.code == GONE:
        return GiveUp("Response 410: the consumer is gone and wants no further trigger.", is_gone=True)
    if answer.is_final and answer.code is None:
        return GiveUp(f"Attempt {attempt} failed for good: {said_of(answer)}.")
    if answer.is_final:
        return GiveUp(f"{said_of(answer)} is final: the consumer will not accept this request.")
    if attempt >= policy.attempts_max:
        return GiveUp(f"Attempt {attempt} of {policy.attempts_max} failed: {said_of(answer)}.")
    last_at = first_attempt_at + policy.age_max_ms
    earliest_at = now + delay_after(policy, attempt, fraction)
    if earliest_at > last_at:
        return GiveUp(f"Attempt {attempt} failed and the next would be past retry.maxAge: {said_of(answer)}.")
    return Retry(max(earliest_at, min(answer.retry_after_at or 0, last_at)))


def delay_after(policy: RetryPolicy, attempt: int, fraction: float) -> int:
    """The delay in ms after that attempt: half of it fixed, half random."""
    # Multiplying stops at the maximum: a hundred attempts times a large multiplier would overflow.
    delay = float(policy.initial_delay_ms)
    for _ in range(attempt - 1):
        if delay >= policy.delay_max_ms or policy.multiplier == 1:
            break
        delay *= policy.multiplier
    delay = min(delay, policy.delay_max_ms)
    return int(delay / 2 + delay / 2 * fraction)


def said_of(answer: Answer) -> str:
    """What went wrong with an attempt, as part of a sentence."""
    if answer.error is not None:
        return answer.error.rstrip(".")
    return f"Response {answer.code}" if answer.code is not None else "No response"
