"""The permit of one request, as the code that delivers a trigger uses it."""

from sweephand.base.instants import Instant
from sweephand.model.policy import PermitName, PolicyKey
from sweephand.runs.flow.permits import Permits


class Permit:
    """The right to make one request under a policy. One thread uses it.

    `may_be_begun` says that a worker that has ended may have begun the same attempt.
    """

    def __init__(self, permits: Permits, request: str, *, may_be_begun: bool = False) -> None:
        self._permits = permits
        self._request = request
        self.may_be_begun = may_be_begun
        #: Whether the request could not leave: its token's time had passed, or the holder had been released.
        self.was_refused = False

    @property
    def key(self) -> PolicyKey:
        """The policy."""
        return self._permits.key

    @property
    def name(self) -> PermitName:
        """Its name, by which others can free it once it is kept for an asynchronous run."""
        return self._permits.name(self._request)

    @property
    def has_token(self) -> bool:
        """Whether its policy has a rate, of which the request uses one token."""
        return self._permits.has_token(self._request)

    @property
    def leaves_at(self) -> Instant:
        """When the request may leave as far as the rate goes: now, or when its token's slot begins."""
        return self._permits.leaves_at(self._request)

    def wait(self) -> None:
        """Return when the request may leave as far as the rate goes."""
        self._permits.await_token(self._request)

    def may_leave(self) -> bool:
        """Whether the request may leave at this moment. Once it may not, it never may."""
        self.was_refused = self.was_refused or not self._permits.may_leave(self._request)
        return not self.was_refused

    def keep(self, until: Instant) -> bool:
        """Keep the permit in use until then, even if this function crashes.

        Returns whether it is kept. If not, the request must not leave.
        """
        is_kept = self._permits.keep(self._request, until)
        self.was_refused = self.was_refused or not is_kept
        return is_kept

    def free(self) -> None:
        """Keep the permit no longer than the request is open."""
        self._permits.free_kept(self._request)
