"""EventBridge Scheduler's three notations: `rate()`, `cron()` and `at()`.

Reference: AWS, "Schedule types in EventBridge Scheduler". The names are in lower case, and nothing stands
before the name or after the parentheses.
"""

import re
from collections.abc import Callable, Mapping
from typing import Final

from sweephand.schedules.errors import ScheduleError, quoted
from sweephand.schedules.notations.aws_at import parse_at
from sweephand.schedules.notations.aws_cron import parse_aws_cron
from sweephand.schedules.notations.aws_rate import parse_rate
from sweephand.schedules.timeline import Notation

# re compiles it when it is first used, so that importing this module stays cheap.
_WHOLE: Final = r"(rate|cron|at)\(([^()]*)\)"
_PARSERS: Final[Mapping[str, Callable[[str], Notation]]] = {
    "rate": parse_rate,
    "cron": parse_aws_cron,
    "at": parse_at,
}


def parse_aws(text: str) -> Notation:
    """The notation of `rate(5 minutes)`, `cron(0 10 ? * 6L 2027)` or `at(2027-03-01T09:00:00)`.

    Raises ScheduleError.
    """
    match = re.fullmatch(_WHOLE, text)
    if match is None:
        raise ScheduleError(
            f"{quoted(text)} is not EventBridge's notation; expected rate(...), cron(...) or at(...) "
            "in lower case, with nothing before, between or after"
        )
    return _PARSERS[match.group(1)](match.group(2))
