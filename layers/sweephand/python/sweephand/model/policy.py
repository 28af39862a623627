"""What a flow policy is, how its limit is divided over gates, and when requests under its rate may leave.

A policy puts the triggers of many jobs under one limit.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple, Self

from sweephand.base.instants import SECOND_MS, Instant
from sweephand.base.limits import POLICY_CONCURRENT_MAX
from sweephand.base.timing import TOKEN_READY_MS
from sweephand.model.change import Change
from sweephand.model.gate import MS_IN_US, GateName, Taking, gates_of, share_of
from sweephand.model.policy_names import PRIORITIES as PRIORITIES  # noqa: PLC0414 - users of Policy need these
from sweephand.model.policy_names import PermitName as PermitName  # noqa: PLC0414 - same
from sweephand.model.policy_names import PolicyKey as PolicyKey  # noqa: PLC0414 - same
from sweephand.model.policy_names import Priority as Priority  # noqa: PLC0414 - same

#: A bucket gives out so many tokens a second at most. A higher rate has several, with shares that are filled
#: one after the other, as the shares of gates are. Gates of a policy that limits only its rate do the same.
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
        return len(buckets_of(self.rate))

    def bucket(self, number: int) -> Rate | None:
        """The rate of the bucket of that number; None if there is none."""
        buckets = () if self.rate is None else buckets_of(self.rate)
        return buckets[number] if number < len(buckets) else None

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


#: A function takes the slots that begin within this. Those that it does not use are lost.
SLICE_US: Final = SECOND_MS * MS_IN_US

#: A twentieth of `per` is kept free in every `per`, and is how late a request may leave in its slot.
_SLACK: Final = 20


def step_us_of(rate: Rate) -> int:
    """The distance of two slots."""
    spread_us = rate.per_ms * MS_IN_US * (_SLACK + 1)
    return -(-spread_us // (_SLACK * rate.limit))


def buckets_of(rate: Rate) -> Sequence[Rate]:
    """The rate of each bucket. The sum is the whole rate, and no share shrinks when the rate grows."""
    largest = max(1, RATE_OF_GATE_MAX * rate.per_ms // SECOND_MS)
    begins = range(0, rate.limit, largest)
    return [Rate(min(largest, rate.limit - begin), rate.per_ms) for begin in begins]


def taking(
    last_us: int, rate: Rate, now: Instant, wanted: int, due_at: Instant | None, *, is_busy: bool = False
) -> Taking | None:
    """How to take up to `wanted` tokens whose slots begin within a second, and none before `due_at`.

    `last_us` is the slot of the bucket's last token when it was seen, in µs. It may be later by now. If the
    bucket `is_busy`, others are expected to have taken tokens since then. A write that expects too much is
    refused, and shows the bucket. Slots follow each other, also if the rate has changed. After a second
    without a token, a trigger that has waited gets its first one for when it can be ready. None if the next
    slot begins later.
    """
    step_us, late_us = step_us_of(rate), rate.per_ms * MS_IN_US // _SLACK
    from_us = max(now, due_at or 0) * MS_IN_US
    until_us = from_us + SLICE_US
    next_us = max(last_us + step_us, from_us if is_busy else 0)
    ready_us = from_us if due_at is not None else (now + TOKEN_READY_MS) * MS_IN_US - late_us
    is_quiet = from_us < ready_us and next_us < from_us - SLICE_US
    first_us = ready_us if is_quiet else max(next_us, from_us)
    count = min(wanted, -((first_us - until_us) // step_us))
    if count <= 0:
        return None
    if next_us >= from_us:
        return Taking(count, step_us, late_us, from_us - step_us, until_us - count * step_us - 1, None)
    latest_us = from_us - step_us - 1 - (SLICE_US if is_quiet else 0)
    return Taking(count, step_us, late_us, 0, latest_us, first_us)


def next_slot_at(last_us: int, rate: Rate, now: Instant) -> Instant:
    """When the next slot of a bucket begins; `now` if it has begun."""
    return max(now, -(-(last_us + step_us_of(rate)) // MS_IN_US))
