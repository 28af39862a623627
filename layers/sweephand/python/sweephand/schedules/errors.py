"""Errors for a schedule, a duration or a point in time that cannot be read."""

from collections.abc import Sequence

from sweephand.base.errors import BadRequestError

#: How much of what was written a message repeats.
QUOTED_CHARS_MAX = 80


class ScheduleError(BadRequestError):
    """A text that cannot be read; the message quotes the wrong part and says what was expected.

    The parser does not know in which field of a request the text stood. Its caller does, and makes a
    Violation of this error. `pointer` is the place of the text in a schedule of several parts (`/3`,
    `/hour`). It is empty for a schedule that is one text.
    """

    def __init__(self, message: str, pointer: str = "") -> None:
        super().__init__(message)
        self.pointer = pointer


class SchedulePartsError(ScheduleError):
    """Several parts of one schedule cannot be read."""

    def __init__(self, faults: Sequence[ScheduleError]) -> None:
        super().__init__("; ".join(str(each) for each in faults))
        self.faults = tuple(faults)


def quoted(text: str) -> str:
    """The text as a message repeats it: in quotes, escaped, at most QUOTED_CHARS_MAX characters of it."""
    excerpt = text if len(text) <= QUOTED_CHARS_MAX else text[:QUOTED_CHARS_MAX] + "…"
    return repr(excerpt)
