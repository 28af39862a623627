"""The rules of a callback: the length of its reason, and the size of its result."""

from typing import Final

from sweephand.base.errors import Violation
from sweephand.base.field_bounds import TextBounds
from sweephand.base.limits import REASON_LENGTH_MAX, RESULT_BYTES_MAX

#: The reason of a failed attempt.
FAILURE_REASON: Final = TextBounds(
    REASON_LENGTH_MAX, f"Why, for people: up to {REASON_LENGTH_MAX} characters."
)


def result_violations(text: str) -> list[Violation]:
    """The violation of a result that is too large, as compact JSON; empty if it can be kept."""
    size = len(text.encode())
    if size <= RESULT_BYTES_MAX:
        return []
    most = f"Give at most {RESULT_BYTES_MAX} (resultBytesMax)."
    return [Violation("/result", f"Has {size} bytes as compact JSON. {most}")]
