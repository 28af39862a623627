"""The turn of walks for triggers whose jobs have left: one walk of a missing policy's line at a time."""

from typing import Final, Literal

from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.base.timing import LINE_CLAIM_MS
from sweephand.model.policy import PARTITIONS_MAX, PRIORITIES, PolicyKey
from sweephand.model.policy_line import LineClaim, LinePlace
from sweephand.ports.clock import Clock
from sweephand.ports.flow import PolicyLines

#: Others may change the claim between the read and the write, so often in a row.
_TRIES_MAX: Final = 5

#: The owner of a claim whose walk was asked for one more. No id is that short.
_ASKED: Final = "asked"


class LeftTurn:
    """The turn of one walk. It is a claim of a partition that has no entries, behind the last one.

    While a walk has the turn, others can ask it for one more walk, by claiming over its claim. Then the walk
    finds another fence when it ends. If its function crashes before that, its work message comes again. So
    whoever has asked need not remember it, as long as that message is then handled for any job.
    """

    def __init__(self, key: PolicyKey, owner: str, *, lines: PolicyLines, clock: Clock) -> None:
        self._place = LinePlace(key, PRIORITIES[0], PARTITIONS_MAX)
        self._owner = owner
        self._lines = lines
        self._clock = clock
        self._fence = 0
        self._until: Instant = 0

    def begin(self, *, may_ask: bool, is_repeated: bool) -> Literal["walk", "asked", "later"]:
        """Take the turn, or ask whoever has it for one more walk if that will do; else come later.

        With `is_repeated`, the turn is taken whoever has it: that may be the caller's own earlier try, and
        others may have asked that one. StoreError: the message must come again.
        """
        for _ in range(_TRIES_MAX):
            seen, now = self._seen(), self._clock.now()
            if is_repeated or seen is None or not seen.is_held(now):
                claim = self._lines.claim(self._place, seen, self._owner, now + LINE_CLAIM_MS)
                if claim is not None:
                    self._fence, self._until = claim.fence, claim.until
                    return "walk"
            elif not may_ask:
                return "later"
            elif seen.owner == _ASKED or self._lines.claim(self._place, seen, _ASKED, seen.until):
                return "asked"
        if is_repeated:
            raise StoreError(f"the turn of {self._place.policy.name} keeps changing")
        return "later"

    def keep(self) -> None:
        """Extend the turn if half of its time is over. Whoever has asked for a walk stays remembered."""
        now = self._clock.now()
        if self._until - now >= LINE_CLAIM_MS // 2:
            return
        self._until = now + LINE_CLAIM_MS
        seen = self._own()
        if seen is not None:
            self._lines.renew(self._place, seen, self._until)

    def end(self) -> bool:
        """Give the turn back; return whether somebody may have asked for one more walk."""
        if self._lines.renew(self._place, LineClaim(None, 0, self._fence), 0):
            return False
        # Another walk may have taken the turn because its time was over. It gives that back itself.
        seen = self._own()
        if seen is not None:
            self._lines.renew(self._place, seen._replace(owner=None), 0)
        return True

    def _own(self) -> LineClaim | None:
        """The claim, if this walk still has the turn, and with what others have asked."""
        seen = self._seen()
        own = {(self._owner, self._fence), (_ASKED, self._fence + 1)}
        return seen if seen is not None and (seen.owner, seen.fence) in own else None

    def _seen(self) -> LineClaim | None:
        return self._lines.top(self._place, 0, 1).claim
