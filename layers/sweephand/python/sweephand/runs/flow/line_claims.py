"""The partitions of a line that one worker walks: finding, claiming, renewing and releasing them."""

from collections.abc import Collection, Iterator, Sequence
from typing import Final, NamedTuple

from sweephand.base.concurrency import Concurrently, parts
from sweephand.base.instants import Instant
from sweephand.base.timing import LINE_AHEAD_MS, LINE_CLAIM_MS
from sweephand.flow_ports import PolicyLines
from sweephand.model.policy import PRIORITIES, Policy, PolicyKey, Priority
from sweephand.model.policy_line import LineClaim, LinePlace, LineTop
from sweephand.ports import Clock, Ids
from sweephand.runs.flow.pace import Pace

#: Partitions that a worker reads at once.
READS_AT_ONCE: Final = 16

#: Partitions of each higher priority that a worker reads before it takes up more entries.
HIGHER_READS: Final = 8


class Found(NamedTuple):
    """A partition that has due work and is claimed by nobody, and what was read of it."""

    place: LinePlace
    top: LineTop


class LineClaims:
    """The claims of one worker. One thread at a time may use them."""

    def __init__(
        self,
        key: PolicyKey,
        *,
        lines: PolicyLines,
        clock: Clock,
        ids: Ids,
        concurrently: Concurrently,
        pace: Pace,
    ) -> None:
        self._key = key
        self._lines = lines
        self._clock = clock
        self._ids = ids
        self._concurrently = concurrently
        self._pace = pace
        self._owner = ids.token()
        self._claims: dict[LinePlace, LineClaim] = {}
        #: The partition that is walked now. Of the others that are claimed, some entries are open.
        self.current: LinePlace | None = None

    @property
    def count(self) -> int:
        """How many partitions this worker has claimed."""
        return len(self._claims)

    def find(self, policy: Policy, priorities: Sequence[Priority], count: int) -> Sequence[Found]:
        """Partitions of the highest of these priorities that have due work and are claimed by nobody.

        Up to `count` partitions of each priority are read. These are those that were read together, the one
        whose first entry is due first before the others.
        """
        for priority in priorities:
            for some in parts(self.places(policy, [priority], count), READS_AT_ONCE):
                now = self._clock.now()
                found = [
                    Found(place, top)
                    for place, top in self.tops(some, now + LINE_AHEAD_MS)
                    if top.entries and self.is_free(place, top)
                ]
                if found:
                    return sorted(found, key=lambda each: each.top.entries[0].at)
        return ()

    def find_higher(self, policy: Policy) -> Sequence[Found]:
        """Partitions of a higher priority than that of the one that is walked, of a few that are read."""
        if self.current is None:
            return ()
        return self.find(policy, PRIORITIES[: PRIORITIES.index(self.current.priority)], HIGHER_READS)

    def switch(self, found: Found) -> bool:
        """Claim a partition that was found, and walk it from now on. False if another worker was first."""
        until = self._clock.now() + LINE_CLAIM_MS
        claim = self._lines.claim(found.place, found.top.claim, self._owner, until)
        if claim is None:
            return False
        self._claims[found.place] = claim
        self.current = found.place
        return True

    def renew(self) -> Sequence[LinePlace]:
        """Renew each claim of which half is over. Returns the partitions that other workers walk now."""
        now = self._clock.now()
        lost = []
        for place, claim in tuple(self._claims.items()):
            if claim.until - now < LINE_CLAIM_MS // 2:
                until = now + LINE_CLAIM_MS
                if self._lines.renew(place, claim, until):
                    self._claims[place] = claim._replace(until=until)
                else:
                    self._claims.pop(place)
                    lost.append(place)
        if self.current in lost:
            self.current = None
        return lost

    def release_all_but(self, busy: Collection[LinePlace | None]) -> None:
        """Release the partitions that are not among these."""
        for place in tuple(self._claims):
            if place not in busy:
                claim = self._claims.pop(place)
                self._lines.renew(place, claim._replace(owner=None), 0)
                if self.current == place:
                    self.current = None

    def is_free(self, place: LinePlace, top: LineTop) -> bool:
        """Whether nobody walks a partition, by what was read of it: neither this worker nor another one."""
        is_held = top.claim is not None and top.claim.is_held(self._clock.now())
        return place not in self._claims and not is_held

    def places(self, policy: Policy, priorities: Sequence[Priority], count: int) -> Sequence[LinePlace]:
        """So many partitions of each priority, from a random one on."""
        first = int(self._ids.fraction() * policy.partitions)
        numbers = [(first + each) % policy.partitions for each in range(min(count, policy.partitions))]
        return [LinePlace(self._key, priority, number) for priority in priorities for number in numbers]

    def tops(self, places: Sequence[LinePlace], before: Instant) -> Iterator[tuple[LinePlace, LineTop]]:
        """The claim and the first entry before that instant of each of those partitions."""

        def read(place: LinePlace) -> tuple[LinePlace, LineTop]:
            return place, self._pace.timed(lambda: self._lines.top(place, before, 1))

        for some in parts(places, READS_AT_ONCE):
            yield from self._concurrently([lambda place=place: read(place) for place in some])  # type: ignore[misc]
