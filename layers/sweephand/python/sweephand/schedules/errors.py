"""What a schedule, a duration or a moment that cannot be read raises."""

from collections.abc import Sequence

from sweephand.base.errors import BadRequestError

#: How much of what was written a message repeats.
QUOTED_CHARS_MAX = 80


class ScheduleError(BadRequestError):
    """A text that cannot be read; the message quotes the part and says what was expected.

    The text does not know which field it came from: whoever does turns this into a Violation. `pointer` says
    where within a schedule of several parts (`/3`, `/hour`) the text stands; it is empty for a whole one.
    """

    def __init__(self, message: str, pointer: str = "") -> None:
        super().__init__(message)
        self.pointer = pointer


class SchedulePartsError(ScheduleError):
    """Several parts of a schedule that cannot be read."""

    def __init__(self, faults: Sequence[ScheduleError]) -> None:
        super().__init__("; ".join(str(each) for each in faults))
        self.faults = tuple(faults)


def quoted(text: str) -> str:
    """The text as a message repeats it: in quotes, escaped, at most QUOTED_CHARS_MAX characters of it."""
    shown = text if len(text) <= QUOTED_CHARS_MAX else text[:QUOTED_CHARS_MAX] + "…"
    return repr(shown)
