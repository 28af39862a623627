"""How a function that serves a gate finds entries, and leases them."""

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple

from sweephand.base.concurrency import Concurrently
from sweephand.base.instants import SECOND_MS, Instant
from sweephand.flow.gates import Gates
from sweephand.flow.held_slots import HeldSlots
from sweephand.model.gate import GateName
from sweephand.model.gate_line import Entry, entries_of
from sweephand.model.policy import PRIORITIES, Policy

#: Entries of a line that a function reads at once. Others may have leased the first ones.
ENTRIES_READ: Final = 60

#: Lines of other gates that a function reads when its own has nothing.
_OTHERS_READ: Final = 2

#: Which other gate's line has the older head is looked at so often. The own line is served unless the other
#: is older by more than this, too.
_COMPARE_MS: Final = SECOND_MS

#: A trigger with which so many functions have crashed is delivered alone: it may be the reason.
_ALONE_FROM_CRASHES: Final = 2


class Leased(NamedTuple):
    """Entries that were leased, each with its line, and whether the own line has more to lease.

    It `has_tried` also if other functions were first. If `is_alone`, nothing else may be leased until the one
    entry is over.
    """

    entries: Sequence[tuple[GateName, Entry]] = ()
    has_tried: bool = False
    has_more: bool = False
    is_alone: bool = False


class Leasing:
    """Leases entries for one turn. One thread at a time uses it."""

    def __init__(self, gates: Gates, slots: HeldSlots, hint: int | None, together: Concurrently) -> None:
        self._gates = gates
        self._slots = slots
        self._hint = hint
        self._together = together
        self._compare_at = gates.clock.now() + _COMPARE_MS

    def lease(self, policy: Policy, wanted: int, *, has_entries: bool, has_waiting: bool) -> Leased:
        """Lease entries with about so many triggers, of the own line or of another gate's.

        The function may have other entries in hand, and triggers that wait.
        """
        now, lines = self._gates.clock.now(), self._gates.lines
        top = lines.top(self._slots.name, ENTRIES_READ)
        own = top.takeable(now)
        found = [(self._slots.name, own)] if own else []
        if now >= self._compare_at or not (own or has_waiting):
            self._compare_at = now + _COMPARE_MS
            others = [(name, lines.top(name, ENTRIES_READ).takeable(now)) for name in self._others(policy)]
            found += [(name, entries) for name, entries in others if entries]
        if not found:
            return Leased()
        name, line = min(found, key=lambda each: self._age(*each))
        chosen, is_alone = _chosen(line, wanted, now, has_entries=has_entries)
        leased = self._together([partial(self._lease, name, entry, now) for entry in chosen])
        has_more = bool(own) and (len(chosen) < len(line) or top.has_more)
        entries = [(name, each) for each in leased if each is not None]
        return Leased(entries, len(chosen) > 0, has_more, is_alone and len(entries) > 0)

    def _age(self, name: GateName, entries: Sequence[Entry]) -> tuple[int, Instant]:
        """The place of the first entry among those of all lines. The own line has a second's advance."""
        first, is_own = entries[0], name == self._slots.name
        return PRIORITIES.index(first.priority), first.at - (_COMPARE_MS if is_own else 0)

    def _others(self, policy: Policy) -> Sequence[GateName]:
        """The gates whose lines are read besides: the one that the baton named, and random ones."""
        count, own = policy.gates, self._slots.name.number
        numbers = [int(self._gates.ids.fraction() * count) for _ in range(_OTHERS_READ)]
        if self._hint is not None:
            numbers, self._hint = [self._hint, *numbers], None
        return [self._slots.name._replace(number=each) for each in dict.fromkeys(numbers) if each != own]

    def _lease(self, name: GateName, entry: Entry, now: Instant) -> Entry | None:
        """The entry as it is leased; None if another function was first.

        If a function has crashed that had leased it, each of its triggers counts that, and stands alone from
        now on.
        """
        messages = entry.messages
        if entry.is_abandoned(now):
            first, *others = (each._replace(crashes=each.crashes + 1) for each in messages)
            messages = (first,)
            for each in others:
                [single] = entries_of([each], entry.priority, entry.token)
                self._gates.lines.put(name, single)
        leased = entry._replace(
            messages=messages,
            token=self._gates.ids.token(),
            owner=self._slots.token,
            until=self._slots.until,
        )
        return leased if self._gates.lines.replace(name, entry, leased) else None


def _chosen(
    entries: Sequence[Entry], wanted: int, now: Instant, *, has_entries: bool
) -> tuple[Sequence[Entry], bool]:
    """The first entries with about so many triggers; or one alone, and True.

    A trigger with which functions have crashed again and again is leased alone, and only where nothing else
    is in hand.
    """
    chosen: list[Entry] = []
    for entry in entries:
        if sum(len(each.messages) for each in chosen) >= wanted:
            break
        if entry.crashes + entry.is_abandoned(now) < _ALONE_FROM_CRASHES:
            chosen.append(entry)
        elif not (chosen or has_entries):
            return [entry], True
    return chosen, False
