"""The rounds that keep what waits: tick goes through everything that would expire while the stack is off."""

from collections.abc import Callable

from sweephand.base.errors import NotKeptError
from sweephand.base.instants import Instant, rfc3339
from sweephand.base.timing import (
    AUDIT_STEP_MAX_MS,
    KEEP_ENDING_MS,
    KEEP_FIRST_MS,
    KEEP_ROUND_MS,
    KEEP_STEP_MS,
    KEEP_WARNING_MS,
    TIMER_RETENTION_MS,
)
from sweephand.model.keep_round import KEEP_BEGINNING, KEEP_PARTS, KeepPlace, KeepRound, Kept
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.keep import KeepRoundStore
from sweephand.runs.keep.jobs import JobKeeper
from sweephand.runs.keep.messages import MessageKeeper
from sweephand.runs.keep.payloads import PayloadKeeper
from sweephand.runs.keep.policies import PolicyKeeper
from sweephand.runs.keep.timers import TimerKeeper


class KeepRounds:
    """Takes the steps of a round. Of two ticks at once, one takes the step.

    Whatever a step does may be done twice, and while functions work: it moves the ends of items that exist,
    and sends messages before it removes them. So a step may crash anywhere, and the stack may be switched on.
    """

    def __init__(
        self,
        *,
        timers: TimerKeeper,
        messages: MessageKeeper,
        policies: PolicyKeeper,
        jobs: JobKeeper,
        payloads: PayloadKeeper,
        rounds: KeepRoundStore,
        clock: Clock,
        ids: Ids,
    ) -> None:
        self._timers = timers
        self._messages = messages
        self._policies = policies
        self._jobs = jobs
        self._payloads = payloads
        self._rounds = rounds
        self._clock = clock
        self._ids = ids

    def step(self, off_since: Instant) -> Kept | None:
        """Keep the next part of what waits in a stack that is off since `off_since`.

        A step takes little more than KEEP_STEP_MS. None if no round is due, or if another step is at work. If
        a step fails or crashes, a later one repeats it. StoreError: the step failed.
        """
        stored, now = self._rounds.get(), self._clock.now()
        if stored is not None and stored.held_until > now:
            return None
        begun = _begun(stored, off_since, now)
        if begun is None or begun.place is None:
            return None
        held = begun._replace(held_until=now + AUDIT_STEP_MAX_MS, version=self._ids.token())
        if not self._rounds.put(held, None if stored is None else stored.version):
            return None
        until, kept = now + KEEP_STEP_MS, Kept()
        place: KeepPlace | None = begun.place
        while place is not None and self._clock.now() < until:
            place = self._keep(place, begun.began_at, off_since, kept, lambda: self._clock.now() >= until)
        kept.is_over = place is None
        done = held._replace(place=place, held_until=0, version=self._ids.token())
        # If this write is refused, the step took too long, and another step has begun.
        self._rounds.put(done._replace(done_at=begun.began_at) if place is None else done, held.version)
        return kept

    def check(self, off_since: Instant) -> None:
        """Raise NotKeptError if what waits will soon expire, because rounds do not get done in time."""
        stored, now = self._rounds.get(), self._clock.now()
        done_at = None if stored is None else stored.done_at
        if done_at is None or done_at < off_since:
            kept_until = off_since + TIMER_RETENTION_MS
        else:
            kept_until = done_at + KEEP_ENDING_MS
        if now >= kept_until - KEEP_WARNING_MS:
            raise NotKeptError(
                f"The stack has been switched off since {rfc3339(off_since)}, and tick has not kept in time "
                f"what waits. From {rfc3339(kept_until)} on, triggers that fell due while the stack was off "
                "may be lost. Find out from tick's log why, or set the parameter Enabled to true."
            )

    def _keep(
        self,
        place: KeepPlace,
        began_at: Instant,
        off_since: Instant,
        kept: Kept,
        is_over: Callable[[], bool],
    ) -> KeepPlace | None:
        """Keep things of one part; return where to go on, or None at the end of the last part."""
        match place.part:
            case "timers":
                reached = self._timers.keep(place, kept, is_over)
            case "messages":
                reached = self._messages.keep(place, began_at, kept, is_over)
            case "policies":
                reached = self._policies.keep(place, kept, is_over)
            case "jobs":
                reached = self._jobs.keep(place, off_since, kept, is_over)
            case "payloads":
                reached = self._payloads.keep(place, kept, is_over)
        if reached is not None:
            return reached
        following = KEEP_PARTS.index(place.part) + 1
        return KeepPlace(KEEP_PARTS[following]) if following < len(KEEP_PARTS) else None


def _begun(stored: KeepRound | None, off_since: Instant, now: Instant) -> KeepRound | None:
    """The round that is under way, or a new one if it is due; None if there is none.

    A round of an earlier time off says nothing about what waits now, and is not gone on with.
    """
    if stored is None or stored.began_at < off_since:
        return KeepRound(now, KEEP_BEGINNING, 0, "") if now - off_since >= KEEP_FIRST_MS else None
    if stored.place is None and now - stored.began_at >= KEEP_ROUND_MS:
        return stored._replace(began_at=now, place=KEEP_BEGINNING)
    return stored
