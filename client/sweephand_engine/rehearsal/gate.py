"""The limits of flow policies in a rehearsal: which request waits, and when the next one leaves."""

from collections.abc import Callable
from heapq import heappop, heappush

from sweephand.base.instants import Instant
from sweephand.base.timing import POLICY_AGE_MAX_MS
from sweephand.model.attempt import Answer
from sweephand.model.gate import MS_IN_US
from sweephand.model.policy import Policy, buckets_of, next_slot_at, step_us_of
from sweephand.model.policy_names import PRIORITIES
from sweephand_engine.rehearsal.runs import RunPlay
from sweephand_engine.rehearsal.timeline import Timeline


class Gate:
    """A policy, or one key of it. A stack divides the limit over gates. A rehearsal has one gate for it.

    A run that leaves gets a slot, until its attempt or its asynchronous run is over.
    """

    def __init__(self, policy: Policy, timeline: Timeline, leaves: Callable[[RunPlay], None]) -> None:
        self.policy = policy
        self.left = 0
        self.waiting_max = 0
        self.opened = 0
        self._timeline = timeline
        self._leaves = leaves
        self._waiting: list[tuple[int, Instant, int, RunPlay]] = []
        self._order = 0
        self._open = 0
        self._buckets = [] if policy.rate is None else [(each, 0) for each in buckets_of(policy.rate)]
        self._wakes_at: Instant | None = None
        self._failed = 0
        self._failing_since: Instant | None = None
        #: When the next probe of an open breaker leaves; None while it is closed.
        self._probe_at: Instant | None = None

    def enter(self, run: RunPlay) -> None:
        """Let a run leave when it is its turn: by priority, then by due time."""
        breaker, now = self.policy.breaker, self._timeline.now
        if breaker is not None and self._probe_at is not None and self._probe_at < now:
            # Nothing waited at the last probes. This run leaves with the next one.
            self._probe_at += -(-(now - self._probe_at) // breaker.probe_after_ms) * breaker.probe_after_ms
        self._order += 1
        priority = PRIORITIES.index(run.of.job.definition.priority)
        heappush(self._waiting, (priority, run.message.trigger.at, self._order, run))
        self._wake(now)

    def free(self, run: RunPlay) -> None:
        """Take back the slot of a run."""
        run.gate = None
        self._open -= 1
        if run.is_probe:
            run.is_probe = False
            self._probe_later()
        self._wake(self._timeline.now)

    def answered(self, run: RunPlay, answer: Answer) -> bool:
        """Count an answer for the breaker. Returns whether it was a probe in vain."""
        breaker, now = self.policy.breaker, self._timeline.now
        if breaker is None:
            return False
        if not answer.is_outage:
            self._failed, self._failing_since = 0, None
            if run.is_probe:
                run.is_probe, self._probe_at = False, None
            return False
        if run.is_probe or self._probe_at is not None:
            return run.is_probe
        self._failed += 1
        self._failing_since = now if self._failing_since is None else self._failing_since
        if self._failed >= breaker.failures and now - self._failing_since >= POLICY_AGE_MAX_MS:
            self.opened += 1
            self._probe_later()
        return False

    def _probe_later(self) -> None:
        assert self.policy.breaker is not None, "only a breaker has probes"
        self._probe_at = self._timeline.now + self.policy.breaker.probe_after_ms
        self._wake(self._probe_at)

    def _wake(self, at: Instant) -> None:
        """Look again at an instant who may leave. One look is planned at a time, the earliest."""
        if self._wakes_at is None or at < self._wakes_at:
            self._wakes_at = at
            self._timeline.at(at, self._serve)

    def _serve(self) -> None:
        now = self._timeline.now
        if self._wakes_at is None or self._wakes_at > now:
            # An earlier look was planned after this one, and has taken its place.
            return
        self._wakes_at = None
        while self._waiting and self.policy.paused_at is None and self._free() > 0:
            at = self._leaves_at(now)
            if at > now:
                self._wake(at)
                break
            self._take(now)
            run = heappop(self._waiting)[-1]
            self._open += 1
            self.left += 1
            run.gate, run.is_probe = self, self._probe_at is not None
            if run.is_probe:
                # The next probe follows the answer to this one.
                self._probe_at = self._timeline.until
            self._leaves(run)
        self.waiting_max = max(self.waiting_max, len(self._waiting))

    def _free(self) -> int:
        return self.policy.slots - self._open

    def _leaves_at(self, now: Instant) -> Instant:
        """When the next request may leave, by the rate and by the breaker."""
        at = min((next_slot_at(last_us, rate, now) for rate, last_us in self._buckets), default=now)
        return at if self._probe_at is None else max(at, self._probe_at)

    def _take(self, now: Instant) -> None:
        """Use a slot of the bucket that has one."""
        for number, (rate, last_us) in enumerate(self._buckets):
            if next_slot_at(last_us, rate, now) <= now:
                self._buckets[number] = rate, max(last_us + step_us_of(rate), now * MS_IN_US)
                return
