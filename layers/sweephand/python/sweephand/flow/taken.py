"""The entries that one function has leased, and their triggers."""

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

from sweephand.model.gate import GateName
from sweephand.model.gate_line import Entry
from sweephand.model.trigger import LineWait, TriggerMessage


class TakenEntry:
    """An entry of a line that a function has leased, and which of its triggers are not settled yet."""

    def __init__(self, line: GateName, entry: Entry) -> None:
        self.line = line
        self.entry = entry
        #: The triggers that are not settled, by a number of their own.
        self.left = dict(enumerate(entry.messages))
        #: The numbers of those that a thread of this function has begun.
        self.begun: set[int] = set()
        #: Those that were settled and have to wait in a line, this one or another, and are not written there.
        self.waits: list[LineWait] = []
        #: Whether a thread writes its parts now. Nobody may delete it meanwhile.
        self.is_split = False

    @property
    def unbegun(self) -> Sequence[TriggerMessage]:
        """The triggers that nobody has begun."""
        return [message for number, message in self.left.items() if number not in self.begun]

    def move_waits(self) -> Sequence[LineWait]:
        """Those that are to be written where they have to wait. The entry forgets them."""
        waits, self.waits = self.waits, []
        return waits


class TakenTrigger(NamedTuple):
    """A trigger of an entry that was leased. It must not be settled yet."""

    taken: TakenEntry
    number: int

    @property
    def message(self) -> TriggerMessage:
        """The trigger."""
        return self.taken.left[self.number]


class TakenEntries:
    """All entries that one function has leased and not deleted. The caller holds a lock."""

    def __init__(self) -> None:
        self._entries: list[TakenEntry] = []
        self.waiting: deque[TakenTrigger] = deque()
        self.over: deque[TakenEntry] = deque()

    def __len__(self) -> int:
        """How many entries it has that are not over."""
        return len(self._entries)

    def add(self, line: GateName, entry: Entry) -> None:
        """Add an entry. Its triggers wait here, in the order of all entries of a line."""
        taken = TakenEntry(line, entry)
        self._entries.append(taken)
        triggers = [*self.waiting, *(TakenTrigger(taken, number) for number in taken.left)]
        # Sorting keeps the order of the triggers of one entry.
        self.waiting = deque(sorted(triggers, key=lambda each: each.taken.entry.sort_key))

    def begin(self) -> TakenTrigger:
        """The next trigger that waits."""
        trigger = self.waiting.popleft()
        trigger.taken.begun.add(trigger.number)
        return trigger

    def give_back(self, trigger: TakenTrigger) -> None:
        """A trigger that was begun waits again."""
        trigger.taken.begun.discard(trigger.number)
        self.waiting.appendleft(trigger)

    def settle(self, trigger: TakenTrigger, wait: LineWait | None) -> None:
        """A trigger needs nothing more from its entry, or waits elsewhere. After the last one, it is over."""
        taken = trigger.taken
        del taken.left[trigger.number]
        if wait is not None:
            taken.waits.append(wait)
        if not (taken.left or taken.is_split):
            self._entries.remove(taken)
            self.over.append(taken)

    def shrunk(self, taken: TakenEntry, entry: Entry) -> None:
        """The entry is stored as that one now, which holds what was open."""
        taken.entry, taken.is_split = entry, False
        if not taken.left:
            self._entries.remove(taken)
            self.over.append(taken)

    def stop(self) -> Sequence["LeftEntry"]:
        """Begin nothing more. Returns the entries of which something has not begun.

        That is not of this function any more. It goes back into the line.
        """
        self.waiting.clear()
        left = [LeftEntry(each, each.unbegun, len(each.unbegun) < len(each.left)) for each in self._entries]
        left = [each for each in left if each.rest]
        for taken, _, is_open in left:
            taken.left = {number: each for number, each in taken.left.items() if number in taken.begun}
            taken.is_split = is_open
            if not is_open:
                self._entries.remove(taken)
        return left


class LeftEntry(NamedTuple):
    """An entry of which `rest` has not begun. Others of its triggers are open, if `is_open`."""

    taken: TakenEntry
    rest: Sequence[TriggerMessage]
    is_open: bool
