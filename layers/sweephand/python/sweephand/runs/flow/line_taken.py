"""The entries of a line that one worker has taken up, and their triggers."""

from collections.abc import Sequence

from sweephand.model.policy_line import LineEntry, LinePlace
from sweephand.model.trigger import TriggerMessage
from sweephand.runs.received import LineWait


class TakenEntry:
    """An entry that a worker has taken up, and which of its triggers are not settled yet."""

    def __init__(self, place: LinePlace, entry: LineEntry, due: Sequence[TriggerMessage]) -> None:
        self.place = place
        self.entry = entry
        #: The triggers that are not settled, by a number of their own.
        self.left = dict(enumerate(due))
        #: The numbers of those that a thread of this worker has begun.
        self.begun: set[int] = set()
        #: Those that were settled and have to wait in a line, this one or another.
        self.waits: list[LineWait] = []
        #: Whether another worker walks the partition now. What has not begun here belongs to that worker.
        self.is_lost = False

    @property
    def unbegun(self) -> list[TriggerMessage]:
        """The triggers that nobody has begun."""
        return [message for number, message in self.left.items() if number not in self.begun]

    @property
    def open(self) -> dict[int, TriggerMessage]:
        """The triggers that threads of this worker handle now, or whose handling has failed."""
        return {number: message for number, message in self.left.items() if number in self.begun}

    @property
    def is_untouched(self) -> bool:
        """Whether the whole entry is as it was read, and nothing of it has begun."""
        return not self.begun and len(self.left) == len(self.entry.messages)


class TakenTrigger:
    """A trigger that a worker has taken up, of an entry."""

    def __init__(self, taken: TakenEntry, number: int) -> None:
        self.taken = taken
        self.number = number

    @property
    def message(self) -> TriggerMessage:
        """The trigger. It must not be settled yet."""
        return self.taken.left[self.number]


def nothing() -> None:
    """What has to be done before an entry is deleted, where that is nothing."""
