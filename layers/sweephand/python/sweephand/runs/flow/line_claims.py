"""The partitions of a line that one worker walks: finding, claiming, renewing and releasing them."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Final, NamedTuple

from sweephand.base.concurrency import Concurrently, parts
from sweephand.base.instants import Instant
from sweephand.base.timing import LINE_AHEAD_MS, LINE_CLAIM_MS
from sweephand.model.policy import PRIORITIES, Policy, PolicyKey, Priority
from sweephand.model.policy_line import LineClaim, LineEntry, LinePlace, LineTop
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.flow import PolicyLines
from sweephand.runs.flow.pace import Pace

#: Partitions that a worker reads at once.
READS_AT_ONCE: Final = 16

#: Partitions of each priority that a worker reads before it reads all of them.
SAMPLE_READS: Final = 5

#: Partitions of each higher priority that a worker reads while it walks one. There are twice as many
#: partitions as workers. So if all workers look, each partition is read about three times a second.
HIGHER_READS: Final = 2


class Found(NamedTuple):
    """A partition that is claimed by nobody, and what was read of it."""

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
        #: The one that was walked before it. It may have work of a lower priority left.
        self._former: LinePlace | None = None
        #: When this worker last saw due work in a partition that another worker walks.
        self.busy_at: Instant = 0
        #: Whether this worker has seen due entries that only a newer version can read.
        self.has_newer = False

    @property
    def count(self) -> int:
        """How many partitions this worker has claimed."""
        return len(self._claims)

    def find(self, policy: Policy, reads_on: Callable[[], bool]) -> Sequence[Found]:
        """Partitions that have due work and are claimed by nobody, all of the highest priority that has any.

        A few random partitions of each priority are read. If nothing is found, others are read as long as
        `reads_on` says so, which is asked before each read of a few together. Those that are returned were
        read together. The one whose first entry is due first comes first.
        """
        first, count = self._random(policy), policy.partitions
        found = self._find_among(self._places(policy, PRIORITIES, first, min(SAMPLE_READS, count)))
        if found:
            return found
        for priority in PRIORITIES:
            rest = self._places(policy, [priority], first + SAMPLE_READS, max(0, count - SAMPLE_READS))
            for some in parts(rest, READS_AT_ONCE):
                if not reads_on():
                    return ()
                if found := self._find_among(some):
                    return found
        return ()

    def find_at(self, policy: Policy, hint: tuple[int, int] | None) -> Sequence[Found]:
        """The partition of the hint in a work message, if it has due work and is claimed by nobody."""
        if hint is None or hint[0] >= len(PRIORITIES) or hint[1] >= policy.partitions:
            return ()
        return self._find_among([LinePlace(self._key, PRIORITIES[hint[0]], hint[1])])

    def find_higher(self, policy: Policy) -> Sequence[Found]:
        """Partitions of a higher priority than that of the one that is walked, of a few that are read."""
        if self.current is None or self.current.priority == PRIORITIES[0]:
            return ()
        higher = PRIORITIES[: PRIORITIES.index(self.current.priority)]
        count = min(HIGHER_READS, policy.partitions)
        return self._find_among(self._places(policy, higher, self._random(policy), count))

    def free(self, policy: Policy, priority: Priority) -> Sequence[Found]:
        """Partitions of that priority that nobody walks, with or without due work, of those read at once."""
        count = min(READS_AT_ONCE, policy.partitions)
        tops = self.tops(self._places(policy, [priority], self._random(policy), count), self._clock.now())
        return [Found(*each) for each in tops if self.is_free(*each)]

    def _find_among(self, places: Sequence[LinePlace]) -> Sequence[Found]:
        now = self._clock.now()
        due = [Found(*each) for each in self.tops(places, now + LINE_AHEAD_MS) if each[1].entries]
        of_others = [each for each in due if each.place not in self._claims]
        found = [each for each in of_others if self.is_free(*each)]
        if len(found) < len(of_others):
            self.busy_at = now
        highest = min((_rank(each.place) for each in found), default=0)
        return sorted(
            (each for each in found if _rank(each.place) == highest), key=lambda each: each.top.entries[0].at
        )

    def unclaimed_from(self, policy: Policy, before: Instant, ends_at: Instant) -> Instant | None:
        """The time of the first entry before that instant in a partition that nobody walks; None if none.

        If stores are too slow to read all partitions by `ends_at`, it is the present instant.
        """
        found: list[Instant] = []
        slowest_ms = 0
        places = self._places(policy, PRIORITIES, self._random(policy), policy.partitions)
        for some in parts(places, READS_AT_ONCE):
            began_at = self._clock.now()
            if began_at + 2 * slowest_ms > ends_at:
                return began_at
            tops = self.tops(some, before)
            found += [top.entries[0].at for place, top in tops if top.entries and self.is_free(place, top)]
            slowest_ms = max(slowest_ms, self._clock.now() - began_at)
        return min(found, default=None)

    def switch(self, found: Found) -> bool:
        """Claim a partition that was found, and walk it from now on. False if another worker was first."""
        until = self._clock.now() + LINE_CLAIM_MS
        claim = self._lines.claim(found.place, found.top.claim, self._owner, until)
        if claim is None:
            return False
        self._claims[found.place] = claim
        self._former, self.current = self.current, found.place
        return True

    def go_back(self) -> bool:
        """Walk the partition again that was walked before this one. False if its claim was given up."""
        if self._former is None or self._former not in self._claims:
            return False
        self._former, self.current = None, self._former
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

    def with_crashes(self, place: LinePlace, entries: Sequence[LineEntry]) -> Sequence[LineEntry]:
        """Those entries of a partition. Each that a crashed worker may have begun says so."""
        claim = self._claims.get(place)
        if claim is None:
            return entries
        return [each._replace(may_be_begun=True) if claim.may_have_begun(each) else each for each in entries]

    def is_free(self, place: LinePlace, top: LineTop) -> bool:
        """Whether nobody walks a partition, by what was read of it: neither this worker nor another one."""
        is_held = top.claim is not None and top.claim.is_held(self._clock.now())
        return place not in self._claims and not is_held

    def _places(
        self, policy: Policy, priorities: Sequence[Priority], first: int, count: int
    ) -> Sequence[LinePlace]:
        """So many partitions of each priority, from that one on."""
        numbers = [(first + each) % policy.partitions for each in range(count)]
        return [LinePlace(self._key, priority, number) for priority in priorities for number in numbers]

    def _random(self, policy: Policy) -> int:
        return int(self._ids.fraction() * policy.partitions)

    def tops(self, places: Sequence[LinePlace], before: Instant) -> Iterator[tuple[LinePlace, LineTop]]:
        """The claim and the first entry before that instant of each of those partitions."""

        def read(place: LinePlace) -> tuple[LinePlace, LineTop]:
            return place, self._pace.timed(lambda: self._lines.top(place, before, 1))

        for some in parts(places, READS_AT_ONCE):
            found = self._concurrently([lambda place=place: read(place) for place in some])  # type: ignore[misc]
            self.has_newer |= any(top.has_newer for _, top in found)
            yield from found


def _rank(place: LinePlace) -> int:
    return PRIORITIES.index(place.priority)
