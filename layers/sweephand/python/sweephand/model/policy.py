"""What a flow policy is, how its limit is divided over gates, and when requests under its rate may leave.

A policy puts the triggers of many jobs under one limit.
"""

from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Self

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.limits import POLICY_CONCURRENT_MAX
from sweephand.model.change import Change
from sweephand.model.gate import GateName, gates_of, share_of
from sweephand.model.policy_names import PRIORITIES as PRIORITIES  # noqa: PLC0414 - users of Policy need these
from sweephand.model.policy_names import PermitName as PermitName  # noqa: PLC0414 - same
from sweephand.model.policy_names import PolicyKey as PolicyKey  # noqa: PLC0414 - same
from sweephand.model.policy_names import Priority as Priority  # noqa: PLC0414 - same

#: A gate of a policy that limits only its rate serves so many requests a second.
RATE_OF_GATE_MAX: Final = 300


class Rate(NamedTuple):
    """At most `limit` requests leave within any `per_ms`, which is a second at least."""

    limit: int
    per_ms: int


class Breaker(NamedTuple):
    """When the triggers of a policy wait because its consumer is out of order.

    The breaker opens after so many `failures` in a row. Then one probe leaves after each `probe_after_ms`.
    """

    failures: int
    probe_after_ms: int


@dataclass(frozen=True, slots=True)
class Policy:
    """A stored policy. `version` changes with every write, and `change` is the write that made it.

    A policy that was deleted is closed: it keeps its item with `deleted_at`, and its limit, as long as a job
    may name it. A paused policy keeps its limit, and no gate has a share of it. With `by`, each value has the
    whole limit by itself: `label:` and the name of a label, `host`, or `job`.

    `failed` counts the failures in a row since `failing_since`. The breaker is open if the policy has a next
    `probe`: that is its id. Then no gate has a share of the limit, and probes leave alone. The counts and the
    probe change without a new version.
    """

    key: PolicyKey
    version: str
    concurrent_max: int | None
    rate: Rate | None
    created_at: Instant
    updated_at: Instant
    deleted_at: Instant | None = None
    paused_at: Instant | None = None
    pause_reason: str | None = None
    change: Change | None = None
    by: str | None = None
    breaker: Breaker | None = None
    failed: int = 0
    failing_since: Instant | None = None
    broken_at: Instant | None = None
    probe: str | None = None
    probe_at: Instant | None = None

    @property
    def is_stopped(self) -> bool:
        """Whether nothing leaves: the policy is paused, or its breaker is open."""
        return self.paused_at is not None or self.probe is not None

    @property
    def probed(self) -> Self:
        """The policy as a probe sees it: its limit, as if the breaker were closed."""
        return replace(self, probe=None)

    @property
    def slots(self) -> int:
        """The slots of the policy; the most that any policy can have, if only its rate is limited."""
        return POLICY_CONCURRENT_MAX if self.concurrent_max is None else self.concurrent_max

    @property
    def gates(self) -> int:
        """How many gates have a share of the limit."""
        if self.concurrent_max is not None:
            return gates_of(self.concurrent_max)
        assert self.rate is not None, "a policy without any limit cannot be written"
        return -(-self.rate.limit * SECOND_MS // (self.rate.per_ms * RATE_OF_GATE_MAX))

    def share(self, number: int) -> int:
        """The slots that the gate of that number may give out now: none if the policy is stopped."""
        return 0 if self.is_stopped else self.share_of_limit(number)

    def share_of_limit(self, number: int) -> int:
        """The share of the limit that the gate has, stopped or not. See share_of() on other limits."""
        if self.concurrent_max is not None:
            return share_of(self.concurrent_max, number)
        return self.slots if number < self.gates else 0

    def has(self, gate: GateName) -> bool:
        """Whether the gate is one of those that `by` divides the policy into. Another one has no share."""
        return gate.key is None if self.by is None else (gate.key or "").startswith(f"{self.by}:")

    def share_at(self, gate: GateName) -> int:
        """The slots of a gate of the policy."""
        return self.share(gate.number) if self.has(gate) else 0


#: A worker takes the slots that begin within this. Those that it does not use are lost.
SLICE_MS: Final = SECOND_MS

_MS_IN_US: Final = 1_000

#: A twentieth of `per` is kept free in every `per`, and is how late a request may leave in its slot.
_SLACK: Final = 20


class RateBucket(NamedTuple):
    """The tokens of a policy: the slot of the next one, in µs, and who moved it there.

    `step_us` is how far the slot of the next token lies behind the last one that was taken. It is 0 if none
    was taken.
    """

    next_us: int = 0
    owner: str | None = None
    step_us: int = 0

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


def next_slot_at(bucket: RateBucket, rate: Rate, now: Instant) -> Instant:
    """When the next slot of the bucket begins; `now` if it has begun."""
    return max(now, -(-bucket.next_of(rate) // _MS_IN_US))
