"""Whether and when another attempt follows a failed one. The decision is returned and not carried out."""

from typing import NamedTuple

from sweephand.base.instants import Instant
from sweephand.base.timing import MAX_AGE_GRACE_MS
from sweephand.model.attempt import Answer
from sweephand.model.definition import RetryPolicy
from sweephand.model.trigger import Failure, TriggerMessage


class RetryAt(NamedTuple):
    """Make another attempt, not before that instant."""

    at: Instant


class GiveUp(NamedTuple):
    """Make no other attempt; `reason` is a sentence.

    If it `is_gone`, the consumer wants no other trigger either.
    """

    reason: str
    is_gone: bool = False


#: 410 Gone (RFC 9110, 15.5.11): the consumer is gone for good.
GONE = 410


def after_failure(
    policy: RetryPolicy,
    answer: Answer,
    *,
    attempt: int,
    first_attempt_at: Instant,
    now: Instant,
    fraction: float,
    attempts_before: int = 0,
) -> RetryAt | GiveUp:
    """What follows the failure of that attempt at `now`. Attempt 1 is the first of its round.

    `attempts_before` are those of earlier rounds, which redrives ended.

    Delays grow from the initial delay by the multiplier, up to the maximum. Half of each delay is random, by
    `fraction` (0 up to but not including 1), so that consumers that failed together are not called together.

    If the consumer asked for a later instant (Retry-After; RFC 9110, 10.2.3), that instant counts instead. If
    it lies beyond the policy's maximum age, the last attempt is made when that age is reached. If the
    policy's own delay ends beyond the maximum age, no attempt follows.
    """
    number = attempts_before + attempt
    if answer.code == GONE:
        return GiveUp("Response 410: the consumer is gone and wants no further trigger.", is_gone=True)
    if answer.is_final and answer.code is None:
        return GiveUp(f"Attempt {number} failed for good: {failure_text(answer)}.")
    if answer.is_final:
        return GiveUp(f"{failure_text(answer)} is final: the consumer will not accept this request.")
    if attempt >= policy.attempts_max:
        failed = f" failed, and the redrive allowed {attempt}" if attempts_before else f" of {attempt} failed"
        return GiveUp(f"Attempt {number}{failed}: {failure_text(answer)}.")
    last_at = first_attempt_at + policy.age_max_ms
    earliest_at = now + delay_after(policy, attempt, fraction)
    if earliest_at > last_at:
        return GiveUp(
            f"Attempt {number} failed, and the next one would exceed retry.maxAge: {failure_text(answer)}."
        )
    return RetryAt(max(earliest_at, min(answer.retry_after_at or 0, last_at)))


def aged_from(message: TriggerMessage) -> Instant | None:
    """From when on the policy counts the age of a round; None before its first attempt.

    The time for which windows have held its retries does not count.
    """
    return None if message.first_attempt_at is None else message.first_attempt_at + message.held_ms


def is_too_late(policy: RetryPolicy, first_attempt_at: Instant | None, now: Instant) -> bool:
    """Whether an attempt that would begin now must not be made, because the policy's maximum age is over.

    A retry can come long after the instant for which it was planned: after a pause, a wait in a line, or an
    outage. `first_attempt_at` is when the first attempt of the round began, as aged_from() has it. It is None
    for that attempt itself, which is owed however late it is.
    """
    return first_attempt_at is not None and now > first_attempt_at + policy.age_max_ms + MAX_AGE_GRACE_MS


def too_late(attempt: int, last_failure: Failure | None) -> GiveUp:
    """The decision about an attempt that must not be made. `last_failure` is that of the attempt before."""
    before = "" if last_failure is None else f" The failure before it: {last_failure.reason}"
    return GiveUp(f"Attempt {attempt} could not be made within retry.maxAge of the first one.{before}")


def delay_after(policy: RetryPolicy, attempt: int, fraction: float) -> int:
    """The delay after that attempt, in milliseconds: half of it is fixed, half random."""
    # The loop stops at the maximum, since the multiplication would overflow for a hundred attempts.
    delay = float(policy.initial_delay_ms)
    for _ in range(attempt - 1):
        if delay >= policy.delay_max_ms or policy.multiplier == 1:
            break
        delay *= policy.multiplier
    delay = min(delay, policy.delay_max_ms)
    return int(delay / 2 + delay / 2 * fraction)


def failure_text(answer: Answer) -> str:
    """Why an attempt failed, as the beginning of a sentence without its full stop."""
    if answer.error is not None:
        return answer.error.rstrip(".")
    return f"Response {answer.code}" if answer.code is not None else "No response"
