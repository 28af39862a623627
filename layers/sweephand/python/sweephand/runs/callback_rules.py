"""The rule of a callback: the size of its result."""

from sweephand.base.errors import Violation
from sweephand.base.limits import RESULT_BYTES_MAX


def result_violations(text: str) -> list[Violation]:
    """The violation of a result that is too large, as compact JSON; empty if it can be kept."""
    size = len(text.encode())
    if size <= RESULT_BYTES_MAX:
        return []
    most = f"Give at most {RESULT_BYTES_MAX} (resultBytesMax)."
    return [Violation("/result", f"Has {size} bytes as compact JSON. {most}")]
