"""What a worker may begin with the permits of a policy that it has taken."""

from threading import Lock

from sweephand.base.instants import Instant
from sweephand.base.timing import CLOCK_SKEW_MAX_MS, POLICY_AGE_MAX_MS
from sweephand.model.policy import PermitHolder, PermitName, Policy, Token
from sweephand.ports.clock import Clock
from sweephand.ports.flow import PermitStore, PolicyStore
from sweephand.runs.flow.tokens import Tokens


class Permits:
    """The permits that one worker has taken: those of one holder, and tokens of the rate.

    Several threads may share one object. Whoever begins a request must first be admitted, must ask again when
    the request leaves, and must say when it is over.
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
        self._tokens = Tokens(policy.key, permits=permits, owner=owner, clock=clock)
        self._open: dict[str, Token | None] = {}
        #: The tokens of open requests that have not left.
        self._unused: dict[str, Token] = {}
        #: The asynchronous runs that this worker has entered as away, by their requests.
        self._kept: dict[str, Instant] = {}
        #: Those of them that are stored, so that a later read of the holder shows whether they go on.
        self._entered: set[str] = set()
        self._lock = Lock()
        self.key = policy.key
        self.until = holder.until
        self.slot = holder.slot

    @property
    def policy(self) -> Policy | None:
        """The policy by the latest read; None if it is missing or was deleted."""
        return self._policy

    @property
    def are_lost(self) -> bool:
        """Whether nothing can be begun and nothing is open, so that the worker has no use for the holder."""
        return not self._open and self.free() <= 0

    @property
    def last(self) -> bool:
        """Whether the holder lasts for longer than any two clocks may differ."""
        return self._clock.now() < self.until - CLOCK_SKEW_MAX_MS

    @property
    def is_busy(self) -> bool:
        """Whether a request is open."""
        return bool(self._open)

    def free(self) -> int:
        """How many more requests may be begun now, as far as the limit of concurrency goes."""
        policy = self._policy
        if policy is None:
            return 0
        now = self._clock.now()
        kept = {request for request, until in tuple(self._kept.items()) if until > now}
        return policy.share(self._holder.slot) - len(self._holder.in_use(now) | kept | set(self._open))

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
        # A run whose entry is being written may be missing in what is read.
        entered = tuple(self._entered)
        if self._holder.away or self._kept:
            self._holder = self._permits.holder(self.key, self._holder.slot)
            with self._lock:
                for request in entered:
                    if request not in self._holder.away:
                        self._kept.pop(request, None)
                        self._entered.discard(request)
        self._read_at = now
        return True

    def admit(self, request: str) -> bool:
        """Whether a request may be begun now. If so, it uses a permit, and a token if there is a rate.

        The request may be prepared a bit before the slot of its token begins.
        """
        with self._lock:
            policy, token = self._policy, None
            is_fresh = self._clock.now() - self._read_at < POLICY_AGE_MAX_MS
            if policy is None or not is_fresh or self.free() <= 0:
                return False
            if policy.rate is not None and (token := self._tokens.take()) is None:
                return False
            self._open[request] = token
            if token is not None:
                self._unused[request] = token
            return True

    def has_token(self, request: str) -> bool:
        """Whether an open request uses a token of the rate."""
        return self._open.get(request) is not None

    def leaves_at(self, request: str) -> Instant:
        """When the slot of the request's token begins; now if it has begun, or if there is no rate."""
        token, now = self._open.get(request), self._clock.now()
        return now if token is None else max(now, token.opens_at)

    def await_token(self, request: str) -> None:
        """Return when the slot of the request's token begins, or at once if it has none."""
        self._clock.wait_until(self.leaves_at(request))

    def may_leave(self, request: str) -> bool:
        """Whether an admitted request may leave at this moment: its slot is open, and the holder lasts.

        If not, it must not leave any more, and another request has to be admitted in its place.
        """
        now = self._clock.now()
        token = self._open.get(request)
        may_leave = request in self._open and self.last and (token is None or token.is_open(now))
        if may_leave:
            self._unused.pop(request, None)
        return may_leave

    def name(self, request: str) -> PermitName:
        """The name of a request's permit, by which others can free it once it is kept."""
        return PermitName(self.key.name, self._holder.slot, request)

    def announce(self, until: Instant) -> None:
        """Let other workers know that permits are idle here until then, so that they share work."""
        self._permits.announce(self.key, self._holder.slot, self._owner, until)

    def keep(self, request: str, until: Instant) -> bool:
        """Enter a request as away until then, so that its permit is in use after its answer, by whomever.

        False if the holder is not this worker's any more. Then the request must not leave.
        """
        with self._lock:
            # It counts from before the write, since the answer to the write may be lost.
            self._kept[request] = until
        is_entered = self._permits.enter(self.key, self._holder.slot, self._owner, {request: until})
        if is_entered:
            with self._lock:
                self._entered.add(request)
        return is_entered

    def free_kept(self, request: str) -> None:
        """The permit of a request is not kept any more. It is free once the request is over."""
        with self._lock:
            self._entered.discard(request)
            if self._kept.pop(request, None) is None:
                return
        self._permits.remove(self.key, self._holder.slot, [request])

    def end(self, request: str) -> None:
        """A request is over, and its permit is free if it is not kept.

        If it never left, because its trigger has to wait or is not owed, the next request uses its token.
        """
        with self._lock:
            self._open.pop(request, None)
            if (token := self._unused.pop(request, None)) is not None:
                self._tokens.give_back(token)

    def token_at(self) -> Instant | None:
        """When the next token that the worker has taken may be used; None if it has none."""
        return self._tokens.next_at()

    def take_tokens(self, wanted: int) -> Instant | None:
        """Take up to `wanted` tokens for the next second, if the policy has a rate and none are left here.

        Returns None, or the instant of the next token if there is none within a second.
        """
        policy = self._policy
        if policy is None or policy.rate is None or wanted <= 0:
            return None
        return self._tokens.take_more(policy.rate, wanted)

    def release(self) -> None:
        """Release the holder. Requests that are open are away until the holder's life is over.

        Nothing can be admitted any more. A kept request stays away for as long as it was kept.
        """
        with self._lock:
            self._policy = None
            left_open = {request: self._kept.get(request, self.until) for request in self._open}
        self._permits.enter(self.key, self._holder.slot, self._owner, left_open, releasing=True)
        # Those that ended meanwhile did not know that they were away.
        with self._lock:
            over = [each for each in left_open if each not in self._open and each not in self._kept]
            self._holder = self._holder._replace(owner=None)
        self._permits.remove(self.key, self._holder.slot, over)

    def end_away(self, request: str) -> None:
        """A request is over that may be away because its worker has released the holder."""
        self.end(request)
        if self._holder.owner is None and request not in self._kept:
            self._permits.remove(self.key, self._holder.slot, [request])
