"""What a schedule, a duration or a moment that cannot be read raises."""

from sweephand.errors import BadRequestError

#: How much of what was written a message repeats.
QUOTED_CHARS_MAX = 80


class ScheduleError(BadRequestError):
    """A text that cannot be read; the message quotes the part and says what was expected.

    The text does not know which field it came from: whoever does turns this into a Violation.
    """


def quoted(text: str) -> str:
    """The text as a message repeats it: in quotes, escaped, at most QUOTED_CHARS_MAX characters of it."""
    shown = text if len(text) <= QUOTED_CHARS_MAX else text[:QUOTED_CHARS_MAX] + "…"
    return repr(shown)
