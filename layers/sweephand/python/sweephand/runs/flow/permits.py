"""Taking the permits of a policy, and what a worker may begin with those that it has taken."""

from threading import Lock
from typing import Final

from sweephand.base.instants import Instant
from sweephand.base.timing import HOLDER_MS, POLICY_AGE_MAX_MS
from sweephand.flow_ports import PermitStore, PolicyStore
from sweephand.model.policy import PermitHolder, Policy
from sweephand.model.policy_rate import Slots, next_slots, next_token_at
from sweephand.ports import Clock, Ids

#: How often a worker tries again to take tokens that another worker took first.
_TRIES_MAX: Final = 5


class Permits:
    """The permits that one worker has taken: those of one holder, and tokens of the rate.

    Several threads may share one object. Whoever begins a request must first be admitted, and must say when
    the request is over.
    """

    def __init__(
        self,
        policy: Policy,
        holder: PermitHolder,
        owner: str,
        *,
        policies: PolicyStore,
        permits: PermitStore,
        clock: Clock,
    ) -> None:
        self._policies = policies
        self._permits = permits
        self._clock = clock
        self._owner = owner
        self._policy: Policy | None = policy
        self._holder = holder
        self._read_at = clock.now()
        self._open: set[str] = set()
        self._slots: Slots | None = None
        self._next_slot = 0
        self._lock = Lock()
        self.key = policy.key
        self.until = holder.until

    @property
    def policy(self) -> Policy | None:
        """The policy by the latest read; None if it is missing or was deleted."""
        return self._policy

    @property
    def are_lost(self) -> bool:
        """Whether nothing can be begun and nothing is open, so that the worker has no use for the holder."""
        return not self._open and self.free() <= 0

    @property
    def is_busy(self) -> bool:
        """Whether a request is open."""
        return bool(self._open)

    def free(self) -> int:
        """How many more requests may be begun now, as far as the limit of concurrency goes."""
        if self._policy is None:
            return 0
        now = self._clock.now()
        return self._holder.free(self._policy, now, own=self._open) - len(self._open)

    def look(self) -> bool:
        """Read the policy, and the holder if others may remove its away entries, if it is time for that.

        Returns whether it did. Nothing is admitted on a read that is more than a second old. An idle thread
        reads a bit before, so that the others need not wait for it.
        """
        now = self._clock.now()
        if now - self._read_at < POLICY_AGE_MAX_MS * 3 // 4:
            return False
        policy = self._policies.get(self.key)
        self._policy = None if policy is None or policy.deleted_at is not None else policy
        if self._holder.away:
            self._holder = self._permits.holder(self.key, self._holder.slot)
        self._read_at = now
        return True

    def admit(self, request: str) -> bool:
        """Whether a request may leave now. If so, it uses a permit, and a token if there is a rate."""
        with self._lock:
            is_fresh = self._clock.now() - self._read_at < POLICY_AGE_MAX_MS
            if not is_fresh or self.free() <= 0 or not self._has_token():
                return False
            self._next_slot += 1
            self._open.add(request)
            return True

    def end(self, request: str) -> None:
        """A request is over, and its permit is free."""
        with self._lock:
            self._open.discard(request)

    def _has_token(self) -> bool:
        if self._policy is None or self._policy.rate is None:
            return self._policy is not None
        now = self._clock.now()
        slots = self._slots
        if slots is None:
            return False
        while self._next_slot < slots.size and not slots.is_open(self._next_slot, now):
            if slots.opens_at(self._next_slot) > now:
                return False
            self._next_slot += 1
        return self._next_slot < slots.size

    def token_at(self) -> Instant | None:
        """When the next token that the worker has taken may be used; None if it has none."""
        slots = self._slots
        if slots is None or self._next_slot >= slots.size:
            return None
        return slots.opens_at(self._next_slot)

    def take_tokens(self, wanted: int) -> Instant | None:
        """Take up to `wanted` tokens for the next second, if the policy has a rate and none are left here.

        Returns None, or the instant of the next token if there is none within a second.
        """
        policy = self._policy
        if policy is None or policy.rate is None or wanted <= 0:
            return None
        has_token, token_at = self._has_token(), self.token_at()
        if has_token or (token_at is not None and token_at > self._clock.now()):
            return None
        for _ in range(_TRIES_MAX):
            seen, now = self._permits.bucket(self.key), self._clock.now()
            taken = next_slots(seen, policy.rate, now, wanted, self._owner)
            if taken is None:
                return next_token_at(seen, now)
            slots, bucket = taken
            if self._permits.move_bucket(self.key, bucket, seen):
                with self._lock:
                    self._slots, self._next_slot = slots, 0
                return None
        return None

    def release(self) -> None:
        """Release the holder. Requests that are open are away until the holder's life is over.

        Nothing can be admitted any more.
        """
        with self._lock:
            self._policy = None
            left_open = dict.fromkeys(self._open, self.until)
        self._permits.enter(self.key, self._holder.slot, self._owner, left_open, releasing=True)
        # Those that ended meanwhile did not know that they were away.
        with self._lock:
            over = [each for each in left_open if each not in self._open]
            self._holder = self._holder._replace(owner=None)
        self._permits.remove(self.key, self._holder.slot, over)

    def end_away(self, request: str) -> None:
        """A request is over that may be away because its worker has released the holder."""
        self.end(request)
        if self._holder.owner is None:
            self._permits.remove(self.key, self._holder.slot, [request])


def take_permits(
    policy: Policy, *, policies: PolicyStore, permits: PermitStore, clock: Clock, ids: Ids
) -> Permits | None:
    """Take a holder of the policy with at least one free permit; None if there is none.

    The search begins at a random place, so that workers that begin together do not meet at one holder.
    """
    owner = ids.token()
    first_group = int(ids.fraction() * policy.groups)
    for number in range(policy.groups):
        group = permits.holders(policy.key, (first_group + number) % policy.groups)
        first = int(ids.fraction() * len(group))
        for seen in (*group[first:], *group[:first]):
            now = clock.now()
            if not seen.is_takeable(policy, now):
                continue
            taken = permits.take(policy.key, seen, owner, now, now + HOLDER_MS)
            if taken is None:
                continue
            held = Permits(policy, taken, owner, policies=policies, permits=permits, clock=clock)
            if held.free() > 0:
                return held
            # Its last worker left requests open since the holder was read.
            held.release()
    return None
