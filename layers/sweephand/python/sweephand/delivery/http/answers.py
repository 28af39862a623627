"""What a consumer's response means: success, a failure to retry (and when), or a final failure."""

import re
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final

from sweephand.base.instants import (
    INSTANT_MAX,
    SECOND_MS,
    Instant,
    from_datetime,
)
from sweephand.model.attempt import ANSWER_BYTES_KEPT
from sweephand.ports import Answer

#: With 400, 413 and 422 the request itself is at fault. With 410 the consumer is gone for good.
FINAL_CODES: Final = frozenset({400, 410, 413, 422})

_SECONDS: Final = r"([0-9]+)(\.[0-9]+)?"
#: More digits than the seconds until the last instant have.
_DIGITS_MAX: Final = 12


def answer_to(code: int, body: bytes, retry_after: str | None, now: Instant) -> Answer:
    """The answer that a response with that status is. Only 2xx is success; redirects are failures."""
    text = body[:ANSWER_BYTES_KEPT].decode(errors="replace")
    if code // 100 == 2:  # noqa: PLR2004 - the class of status that means success (RFC 9110, 15.3)
        return Answer(succeeded=True, code=code, text=text)
    return Answer(
        succeeded=False,
        code=code,
        text=text,
        retry_after_at=retry_after_at(retry_after, now),
        is_final=code in FINAL_CODES,
    )


def retry_after_at(header: str | None, now: Instant) -> Instant | None:
    """The instant that a Retry-After header asks for (RFC 9110, 10.2.3); None if it asks for none.

    Some consumers send seconds with a fraction. They count as the next whole second. An instant beyond the
    calendar is its last one.
    """
    if header is None:
        return None
    written = header.strip()
    if found := re.fullmatch(_SECONDS, written):
        digits, fraction = found.groups(default="")
        if len(digits.lstrip("0")) > _DIGITS_MAX:
            return INSTANT_MAX
        seconds = int(digits) + (fraction.strip(".0") != "")
        return min(now + seconds * SECOND_MS, INSTANT_MAX)
    try:
        moment = parsedate_to_datetime(written)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    if moment.tzinfo is None:
        # The obsolete asctime form names no zone. It is in UTC (RFC 9110, 5.6.7).
        return from_datetime(moment.replace(tzinfo=UTC))
    return from_datetime(moment)
