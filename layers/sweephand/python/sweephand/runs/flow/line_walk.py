"""Walking the line of a policy: reading entries ahead, and deleting what is settled."""

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from typing import Final

from sweephand.base.concurrency import Concurrently, parts
from sweephand.base.instants import Instant
from sweephand.base.timing import FAN_OUT_MS, LINE_AHEAD_MS, LINE_LOOK_MS
from sweephand.model.policy import PRIORITIES, Policy, PolicyKey, Priority
from sweephand.model.policy_line import LineEntry, LinePlace
from sweephand.ports.clock import Clock, Ids
from sweephand.ports.flow import PolicyLines
from sweephand.runs.flow.line_claims import READS_AT_ONCE, Found, LineClaims
from sweephand.runs.flow.line_share import LineShare, entries_to_share
from sweephand.runs.flow.line_taken import TakenEntry, TakenTrigger, nothing
from sweephand.runs.flow.pace import Pace
from sweephand.runs.received import LineWait
from sweephand.wheel.sending import LineUp

#: Calls in which a leaving worker replaces an entry of which something has begun. Several go side by side.
#: Three of them write triggers that have to wait, of which some entries have none.
_SPLIT_CALLS: Final = 7


class LineWalk:
    """What one worker walks of a policy's line. Several threads may take triggers and settle them.

    One thread at a time may read ahead. An entry is deleted once all of its triggers are settled, on the
    condition that it is as it was read. Its partition is released only after that. `before_delete` is called
    before the line forgets a trigger that was settled.
    """

    def __init__(
        self, key: PolicyKey, *, lines: PolicyLines, line_up: LineUp, clock: Clock, ids: Ids,
        concurrently: Concurrently, pace: Pace, before_delete: Callable[[], None] = nothing,
    ) -> None:  # fmt: skip
        self._lines = lines
        self._before_delete = before_delete
        self._line_up = line_up
        self._clock = clock
        self._concurrently = concurrently
        self._line_share = LineShare(lines=lines, clock=clock, concurrently=concurrently)
        self._pace = pace
        self._claims = LineClaims(
            key, lines=lines, clock=clock, ids=ids, concurrently=concurrently, pace=pace
        )
        self._entries: dict[tuple[LinePlace, str], TakenEntry] = {}
        self._settled: set[tuple[LinePlace, str, str]] = set()
        self._waiting: deque[TakenTrigger] = deque()
        self._over: deque[TakenEntry] = deque()
        self._has_left = False
        #: Whether triggers that had not begun stood in the line again when this worker left.
        self._gives_back = False
        self._lock = Lock()
        self._spare: list[LineEntry] = []
        self._elsewhere_at: Instant = 0
        self._higher_at: Instant = 0
        #: About how many triggers an entry holds in the partition that is walked.
        self._entry_size = 1

    def sees_more(self, enough: int) -> bool:
        """Whether another worker could help: more than `enough` triggers wait here, or more was seen."""
        return bool(self._spare) or self._sees_elsewhere or self.waiting > enough

    @property
    def busy_at(self) -> Instant:
        """When due work was last seen in a partition that another worker walks."""
        return self._claims.busy_at

    @property
    def has_newer(self) -> bool:
        """Whether the worker has seen due entries that only a newer version can read."""
        return self._claims.has_newer

    @property
    def _sees_elsewhere(self) -> bool:
        """Whether a partition with work that nobody walked was seen, so lately that it may still be so."""
        return self._clock.now() - self._elsewhere_at < FAN_OUT_MS

    @property
    def waiting(self) -> int:
        """How many triggers have been read and not begun."""
        return len(self._waiting)

    def next_at(self) -> Instant | None:
        """When the first trigger that was read may begin; None if there is none."""
        first = next(iter(tuple(self._waiting)), None)
        return None if first is None else first.message.not_before

    @property
    def calls_to_leave(self) -> int:
        """How many calls of stores leave() makes one after the other, about."""
        begun = sum(not each.is_untouched for each in tuple(self._entries.values()))
        return _SPLIT_CALLS * -(-begun // READS_AT_ONCE) + 2 * self.unclean + self._claims.count

    def take(self, admit: Callable[[], bool]) -> TakenTrigger | None:
        """The next trigger, if it is due and `admit` lets it begin; else None."""
        with self._lock:
            if not self._waiting or self._waiting[0].message.not_before > self._clock.now() or not admit():
                return None
            trigger = self._waiting.popleft()
            trigger.taken.begun.add(trigger.number)
            return trigger

    def give_back(self, trigger: TakenTrigger) -> None:
        """A trigger that was taken has not been begun. If the worker has left, it goes down the line.

        If another worker walks its partition now, its entry is there for that worker.
        """
        with self._lock:
            if trigger.taken.is_lost:
                return
            if not self._has_left:
                trigger.taken.begun.discard(trigger.number)
                self._waiting.appendleft(trigger)
                return
        message, entry = trigger.message, trigger.taken.entry
        self._line_up.put_down(trigger.taken.place, entry.part([message]))
        self.settle(trigger)

    def settle(self, trigger: TakenTrigger, wait: LineWait | None = None) -> None:
        """A trigger needs nothing more from its entry. After the last one, clean() deletes the entry.

        The trigger may have to wait, in this line or another. Before the entry is deleted, its triggers that
        wait are written together.
        """
        taken = trigger.taken
        with self._lock:
            if taken.left.pop(trigger.number, None) is not None:
                if wait is not None:
                    taken.waits.append(wait)
                if not taken.left:
                    self._over.append(taken)

    @property
    def unclean(self) -> int:
        """How many entries are settled and not deleted."""
        return len(self._over)

    def clean(self) -> bool:
        """Delete one entry that is settled. Returns whether there was one.

        If triggers of it have to wait, they are written first, together with those of other entries that are
        settled. These entries are deleted too.
        """
        with self._lock:
            settled = [self._over.popleft()] if self._over else []
            if settled and settled[0].waits:
                settled += [each for each in self._over if each.waits]
                self._over = deque(each for each in self._over if not each.waits)
        waits = [wait for each in settled for wait in each.waits]
        self._line_up.put_all(waits, "+".join(each.entry.token for each in settled))
        for taken in settled:
            taken.waits.clear()
        for taken in settled:
            self._delete(taken)
        return bool(settled)

    def renew(self) -> None:
        """Renew the claims of which half is over, and release what is not walked any more.

        What another worker walks now is not begun any more.
        """
        for place in self._claims.renew():
            self._lose(place)
        # A worker that reads on once in a minute would keep a partition of a higher priority until then.
        self._claims.release_all_but({place for place, _ in tuple(self._entries)} | {self._claims.current})

    def begin(self, policy: Policy, hint: tuple[int, int] | None) -> None:
        """Walk the partition of the hint in a work message, if it has due work and nobody walks it."""
        self._switch(self._claims.find_at(policy, hint))

    def read_ahead(self, policy: Policy, wanted: int, reads_on: Callable[[], bool]) -> bool:
        """Read entries until so many triggers wait here, or until no partition has a due one that is free.

        If nothing is due in the partition that is walked, a few others are read. If those have nothing
        either, the rest is read as long as `reads_on` says so, up to all of them. Returns whether any entry
        was read. `sees_more` then says whether another worker could help.
        """
        self._spare, self._elsewhere_at = [], 0
        # Other threads take triggers meanwhile, so the number that waits says nothing.
        was_read = self._read(wanted) or (self._claims.go_back() and self._read(wanted))
        if not was_read:
            # Nothing new is due in this partition. Its last triggers need not be over to begin another one.
            self._switch(self._claims.find(policy, reads_on))
            was_read = self._read(wanted)
        busy = {place for place, _ in tuple(self._entries)}
        if self.waiting and self._claims.current is not None:
            busy.add(self._claims.current)
        self._claims.release_all_but(busy)
        return was_read

    def read_higher(self, policy: Policy) -> None:
        """Look for work of a higher priority than that of the partition that is walked, now and then.

        If there is some, its triggers are the next ones to be taken.
        """
        now = self._clock.now()
        if now - self._higher_at >= LINE_LOOK_MS:
            self._higher_at = now
            if found := self._claims.find_higher(policy):
                self._switch(found)
                self._read(self.waiting + policy.holder_size)

    def share(self, policy: Policy, helpers: int, enough: int) -> int:
        """Let other workers find work. Returns how many of them will, up to `helpers`.

        If all work is in the partition that is walked here, a part of it moves to partitions that nobody
        walks. So does a part of what waits in this worker, if that is more than `enough`.
        """
        claims = self._claims
        place = claims.current
        if place is None:
            return 0
        free = claims.free(policy, place.priority)
        unclaimed = sum(bool(each.top.entries) for each in free)
        if unclaimed or self._sees_elsewhere:
            # Another priority may have work too, and so may partitions that were not read. It was seen once.
            self._elsewhere_at = 0
            return min(helpers, max(unclaimed, 1))
        homes = [each.place for each in free[:helpers]]
        given = self._give(place.priority, homes, policy.holder_size) if self.waiting > enough else 0
        return max(given, self._share_spare(policy, place, homes) if self._spare else 0)

    def _share_spare(self, policy: Policy, place: LinePlace, homes: Sequence[LinePlace]) -> int:
        """Move entries that this worker has not taken up. Returns how many of those partitions got any."""
        count = entries_to_share(self._spare, len(homes), policy.holder_size)
        taken = sum(each == place for each, _ in tuple(self._entries))
        top = self._lines.top(place, self._clock.now(), taken + count)
        entries = self._claims.with_crashes(place, top.entries)
        found = [each for each in entries if not self._is_known(place, each)][:count]
        self._spare = []
        return self._line_share.share(policy.holder_size, place, found, homes)

    def _give(self, priority: Priority, homes: Sequence[LinePlace], least: int) -> int:
        """Move triggers of that priority that wait here to those partitions, as many to each as stay.

        At least `least` stay. Their entry is deleted with the last of those that stay. A crash before that
        leaves duplicates.
        """
        with self._lock:
            mine = [each for each in self._waiting if each.taken.place.priority == priority]
            homes = homes[: max(0, len(mine) // least - 1)]
            moved = mine[len(mine) - len(mine) * len(homes) // (len(homes) + 1) :]
            gone = set(moved)
            self._waiting = deque(each for each in self._waiting if each not in gone)
        by_home = {home: moved[number :: len(homes)] for number, home in enumerate(homes)}
        portions = {
            home: ([each.message for each in given], given[0].taken.entry.token)
            for home, given in by_home.items()
        }
        self._line_share.put(portions, may_be_begun=any(each.taken.entry.may_be_begun for each in moved))
        for each in moved:
            self.settle(each)
        return len(homes)

    def leave(self, until: Instant) -> bool:
        """Give back what has not begun, and release every partition. Returns whether there was any of it.

        What is open stands in the line again from `until` on, when this worker has ended in any case. The
        threads that settle it delete it before. If a write fails, another call does the rest.
        """
        while self.clean():
            pass
        with self._lock:
            self._has_left = True
            self._waiting.clear()
            self._gives_back |= any(taken.unbegun for taken in self._entries.values())
            # The next worker takes up an untouched entry as soon as the partition is released.
            self._entries = {name: taken for name, taken in self._entries.items() if not taken.is_untouched}
            splits = [partial(self._split, taken, until) for taken in self._entries.values()]
        for some in parts(splits, READS_AT_ONCE):
            self._concurrently(some)
        self._claims.release_all_but(())
        return self._gives_back

    def unclaimed_from(self, policy: Policy, before: Instant, ends_at: Instant) -> Instant | None:
        """The time of the first entry that nobody walks: see LineClaims.unclaimed_from."""
        return self._claims.unclaimed_from(policy, before, ends_at)

    def _split(self, taken: TakenEntry, until: Instant) -> None:
        """Replace an entry by one of what has not begun, and one of what is open. Both are written first."""
        place, old = taken.place, taken.entry
        with self._lock:
            rest, still_open = taken.unbegun, taken.open
            waits = tuple(taken.waits)
        if rest:
            # If this worker crashes before it calls the next one, its own work message comes again.
            self._lines.put(place, old.part(rest))
        self._line_up.put_all(waits, old.token)
        with self._lock:
            # Not before, since nothing else keeps them if the write fails and the worker leaves once more.
            del taken.waits[: len(waits)]
        opened = old.begun(still_open.values(), until) if still_open else None
        if opened is not None:
            self._lines.put(place, opened)
        self._before_delete()
        self._lines.delete(place, old)
        with self._lock:
            self._entries.pop((place, old.sort_key), None)
            for number in tuple(taken.left):
                if number not in still_open:
                    del taken.left[number]
            taken.entry = opened or old
            if opened is not None and not taken.left:
                self._over.append(taken)

    def _delete(self, taken: TakenEntry) -> None:
        # If the entry has got another content meanwhile, it stays, and is read again.
        entry = taken.entry
        self._before_delete()
        self._pace.timed(lambda: self._lines.delete(taken.place, entry))
        with self._lock:
            self._settled.add((taken.place, entry.sort_key, entry.token))
            self._entries.pop((taken.place, entry.sort_key), None)

    def _read(self, wanted: int) -> bool:
        """Take up entries of the partition that is walked, until so many triggers wait here.

        Returns whether any was due.
        """
        place, now = self._claims.current, self._clock.now()
        if place is None:
            return False
        taken_here = sum(each == place for each, _ in tuple(self._entries))
        # One more shows whether another worker could help.
        limit = taken_here + max(1, (wanted - self.waiting) // self._entry_size) + 1
        top = self._pace.timed(lambda: self._lines.top(place, now + LINE_AHEAD_MS, limit))
        self._measure(top.entries)
        for entry in top.entries:
            if (place, entry.sort_key, entry.token) in self._settled:
                # It was read before it was deleted, or its writer has repeated itself.
                self._lines.delete(place, entry)
        entries = self._claims.with_crashes(place, top.entries)
        fresh = [each for each in entries if not self._is_known(place, each)]
        was_read = False
        for number, entry in enumerate(fresh):
            if self.waiting >= wanted:
                self._spare = fresh[number:]
                break
            was_read |= self._take_up(place, entry, now)
        return was_read

    def _measure(self, entries: Sequence[LineEntry]) -> None:
        """Note how large the entries are here, since a read returns whole entries."""
        if entries:
            self._entry_size = max(1, sum(len(each.messages) for each in entries) // len(entries))

    def _is_known(self, place: LinePlace, entry: LineEntry) -> bool:
        """Whether this worker has taken the entry up, or has settled it."""
        is_settled = (place, entry.sort_key, entry.token) in self._settled
        return is_settled or (place, entry.sort_key) in self._entries

    def _take_up(self, place: LinePlace, entry: LineEntry, now: Instant) -> bool:
        """Take the triggers of an entry that are due within a second. The others go down the line.

        Returns whether there were any.
        """
        due = [each for each in entry.messages if each.not_before <= now + LINE_AHEAD_MS]
        later = [each for each in entry.messages if each.not_before > now + LINE_AHEAD_MS]
        if later:
            self._line_up.put_down(place, entry.part(later))
        taken = TakenEntry(place, entry, due)
        with self._lock:
            self._entries[place, entry.sort_key] = taken
            self._waiting.extend(TakenTrigger(taken, number) for number in range(len(due)))
            if len({each.taken.place.priority for each in self._waiting}) > 1:
                by_rank = sorted(self._waiting, key=lambda each: PRIORITIES.index(each.taken.place.priority))
                self._waiting = deque(by_rank)
        if not due:
            self._delete(taken)
        return bool(due)

    def _switch(self, found: Sequence[Found]) -> None:
        """Walk the first of these partitions that no other worker claims first."""
        for number, each in enumerate(found):
            if self._claims.switch(each):
                self._elsewhere_at = self._clock.now() if number + 1 < len(found) else 0
                self._measure(each.top.entries)
                claim = each.top.claim
                if claim is not None and claim.was_abandoned(self._clock.now()):
                    self._line_share.count_crash(each.place, each.top.entries[0])
                return

    def _lose(self, place: LinePlace) -> None:
        """Another worker walks the partition now: begin nothing more of it, and leave its entries alone.

        If all triggers of an entry have begun here, the entry is still deleted with the last of them.
        """
        with self._lock:
            self._waiting = deque(each for each in self._waiting if each.taken.place != place)
            for name in [each for each in self._entries if each[0] == place]:
                self._entries.pop(name).is_lost = True
