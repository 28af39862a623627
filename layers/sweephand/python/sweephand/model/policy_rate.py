"""When requests under a rate may leave: evenly spaced slots, which workers take up to a second ahead.

Slots lie 5% further apart than the rate alone asks for. A request leaves within 5% of `per` after its slot
begins, or not at all. So two requests that are `limit` slots apart leave at least `per` apart, and no window
of that length sees more than `limit` of them.
"""

from typing import Final, NamedTuple

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.model.policy import Rate

#: A worker takes the slots that begin within this. Those that it does not use are lost.
SLICE_MS: Final = SECOND_MS

_MS_IN_US: Final = 1_000

#: A twentieth of `per` is kept free in every `per`, and is how late a request may leave in its slot.
_SLACK: Final = 20


class RateBucket(NamedTuple):
    """The tokens of a policy: the slot of the next one, in µs, and who moved it there.

    While a wake mark stands, a work message for the next token is on its way. `mark_until` is when the mark
    ends by itself. A work message comes at `covered_until`, for those that were dropped and were handled less
    than the clock bound before that. Policies without a rate have this one too. `step_us` is how far the slot
    of the next token lies behind the last one that was taken. It is 0 if none was taken, or if a version took
    it that did not store this.
    """

    next_us: int = 0
    owner: str | None = None
    mark_until: Instant = 0
    mark_owner: str | None = None
    covered_until: Instant = 0
    step_us: int = 0

    def is_marked(self, now: Instant) -> bool:
        """Whether a wake mark stands."""
        return self.mark_until > now

    def next_of(self, rate: Rate) -> int:
        """The slot of the next token under a rate, in µs.

        Under another rate than before, it counts from the last slot that was taken. So a raised rate need not
        wait for a slot of the earlier one, which may be a day away.
        """
        return self.next_us - self.step_us + step_us_of(rate) if self.step_us else self.next_us


class Token(NamedTuple):
    """The right of one request to leave in its slot, from the one instant to the other."""

    opens_at: Instant
    closes_at: Instant

    def is_open(self, now: Instant) -> bool:
        """Whether the request may leave now."""
        return self.opens_at <= now <= self.closes_at

    def has_passed(self, now: Instant) -> bool:
        """Whether the request may not leave any more."""
        return self.closes_at < now


class Slots(NamedTuple):
    """Consecutive slots that one worker has taken: the first one, their distance, and how many."""

    first_us: int
    step_us: int
    late_us_max: int
    size: int

    def token(self, number: int) -> Token:
        """The token of that slot, from 0."""
        begins_us = self.first_us + number * self.step_us
        return Token(-(-begins_us // _MS_IN_US), (begins_us + self.late_us_max) // _MS_IN_US)


def step_us_of(rate: Rate) -> int:
    """The distance of two slots."""
    spread_us = rate.per_ms * _MS_IN_US * (_SLACK + 1)
    return -(-spread_us // (_SLACK * rate.limit))


def next_slots(
    bucket: RateBucket, rate: Rate, now: Instant, wanted: int, owner: str
) -> tuple[Slots, RateBucket] | None:
    """Up to `wanted` slots that begin within a second, and the bucket after they are taken.

    None if the next slot begins later.
    """
    step_us = step_us_of(rate)
    first_us = max(bucket.next_of(rate), now * _MS_IN_US)
    within_us = (now + SLICE_MS) * _MS_IN_US - first_us
    if within_us <= 0 or wanted <= 0:
        return None
    count = min(wanted, -(-within_us // step_us))
    slots = Slots(first_us, step_us, rate.per_ms * _MS_IN_US // _SLACK, count)
    return slots, bucket._replace(next_us=first_us + count * step_us, owner=owner, step_us=step_us)


def next_token_at(bucket: RateBucket, rate: Rate, now: Instant) -> Instant:
    """When the next slot of the bucket begins; `now` if it has begun."""
    return max(now, -(-bucket.next_of(rate) // _MS_IN_US))
