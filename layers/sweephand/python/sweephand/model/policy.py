"""What a flow policy is, which of its permits are free, and when requests under its rate may leave.

A policy puts the triggers of many jobs under one limit. Its permits lie in numbered holders. A worker takes a
holder as a whole, for longer than its function can run (decision 043).
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Final, NamedTuple

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.limits import POLICY_CONCURRENT_MAX
from sweephand.model.change import Change
from sweephand.model.policy_names import PRIORITIES as PRIORITIES  # noqa: PLC0414 - users of Policy need these
from sweephand.model.policy_names import PermitName as PermitName  # noqa: PLC0414 - same
from sweephand.model.policy_names import PolicyKey as PolicyKey  # noqa: PLC0414 - same
from sweephand.model.policy_names import Priority as Priority  # noqa: PLC0414 - same

#: A holder has at most this many permits. So many permits at most stand idle after a crash.
HOLDER_SIZE_MAX: Final = 10

#: A policy is created with at least this many holders, if its limit allows. A crash then stops about a
#: quarter of it at most. After a change of its limit, it can be more.
HOLDERS_MIN: Final = 4

#: Holders of one group share a partition of the table, and are read together.
GROUP_SIZE: Final = 16

#: The bounds of the partitions of a priority. A worker reads each before it leaves.
PARTITIONS_MIN: Final = 4
PARTITIONS_MAX: Final = 256

#: A policy that limits only its rate has partitions for as many requests as leave in this time.
RATE_OPEN_MS: Final = 10 * SECOND_MS


class Rate(NamedTuple):
    """At most `limit` requests leave within any `per_ms`, which is a second at least."""

    limit: int
    per_ms: int


@dataclass(frozen=True, slots=True)
class Policy:
    """A stored policy. `version` changes with every write.

    `holder_size` is set when the policy is created and never changes. Holders of another size would count
    permits that are in use a second time. `partitions` is only ever raised. A policy that was deleted keeps
    its item, with `deleted_at`, for as long as one of its permits may be in use. `change` is the write that
    made this version.
    """

    key: PolicyKey
    version: str
    concurrent_max: int | None
    rate: Rate | None
    holder_size: int
    partitions: int
    created_at: Instant
    updated_at: Instant
    deleted_at: Instant | None = None
    change: Change | None = None

    @property
    def permits(self) -> int:
        """The permits of the policy; the most that any policy can have, if only its rate is limited."""
        return POLICY_CONCURRENT_MAX if self.concurrent_max is None else self.concurrent_max

    @property
    def holders(self) -> int:
        """The number of holders under today's limit. They are numbered from 0."""
        return -(-self.permits // self.holder_size)

    @property
    def groups(self) -> int:
        """The number of groups in which those holders lie."""
        return -(-self.holders // GROUP_SIZE)

    def share(self, slot: int) -> int:
        """The permits of a holder under today's limit: none of a holder beyond it, or if it is deleted."""
        if self.deleted_at is not None:
            return 0
        return max(0, min(self.holder_size, self.permits - slot * self.holder_size))


def holder_size_of(permits: int) -> int:
    """The size of the holders of a policy that is created with so many permits."""
    return min(HOLDER_SIZE_MAX, -(-permits // HOLDERS_MIN))


def workers_max_of(functions: int) -> int:
    """How many workers a policy may have at once in a stack with so many flow functions; 0 if it has none.

    One function is left, so that a policy with a backlog does not keep all others waiting.
    """
    return min(functions, max(1, functions - 1))


def partitions_of(permits: int, holder_size: int, rate: Rate | None = None) -> int:
    """How many partitions each priority of the line of such a policy needs: two for each worker.

    A worker reads all of them before it leaves, so a slow rate must not have many.
    """
    if rate is not None:
        permits = min(permits, -(-rate.limit * RATE_OPEN_MS // rate.per_ms))
    holders = -(-permits // holder_size)
    return max(PARTITIONS_MIN, min(PARTITIONS_MAX, 2 * holders))


class PermitHolder(NamedTuple):
    """A holder as stored. A holder that was never taken has neither an owner nor away entries.

    `owner` holds it until `until` at the latest. Each entry of `away` is a permit in use, until that instant
    at the latest, by no worker that has the holder now: an asynchronous run, or a request that its worker
    left open. Until `idle_until`, the owner has idle permits and looks for work.
    """

    slot: int
    owner: str | None = None
    until: Instant = 0
    away: Mapping[str, Instant] = {}
    idle_until: Instant = 0

    def is_owned(self, now: Instant) -> bool:
        """Whether a worker has the holder, or had it when it crashed."""
        return self.owner is not None and self.until >= now

    def is_takeable(self, policy: Policy, now: Instant) -> bool:
        """Whether a worker may take the holder, and would find a free permit in it."""
        return not self.is_owned(now) and self.free(policy, now) > 0

    def is_idle(self, now: Instant) -> bool:
        """Whether the worker that has the holder would find work that is shared with it."""
        return self.owner is not None and self.idle_until > now

    def free(self, policy: Policy, now: Instant, own: AbstractSet[str] = frozenset()) -> int:
        """How many requests whoever has taken the holder may have open.

        The away entries named in `own` are among these requests. After a limit is lowered, that can be fewer
        than are open.
        """
        return max(0, policy.share(self.slot) - len(self.in_use(now) - own))

    def in_use(self, now: Instant) -> frozenset[str]:
        """The away entries that have not ended."""
        return frozenset(each for each, until in self.away.items() if until > now)


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
