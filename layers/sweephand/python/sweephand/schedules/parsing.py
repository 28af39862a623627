"""Which form a schedule is written in.

A form is one module with a parser; it is recognised here by how its text begins, so that a text that cannot
be read is refused by the form it was meant in, and a form that is not known yet is named as such.
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from sweephand.limits import SCHEDULE_LENGTH_MAX
from sweephand.schedules.cron import MACROS, parse_cron
from sweephand.schedules.errors import ScheduleError, quoted
from sweephand.schedules.every import PREFIX as EVERY
from sweephand.schedules.every import parse_every
from sweephand.schedules.timeline import Form

# Left for re to compile and keep when they are first used: importing this must be cheap.
_ZONE_PREFIX: Final = r"(?:CRON_TZ|TZ)=([^ \t]*)[ \t]*"
_UNDERSTOOD: Final = (
    "cron with five fields (30 2 * * MON-FRI) or six (seconds first), "
    f"a macro ({', '.join(MACROS)}), or @every with a Go duration (@every 1h30m)"
)
_NOT_YET: Final = (
    (r"(?i:rate|cron|at)\s*\(", "EventBridge's notation"),
    (r"R[0-9]*(?:/|\Z)", "an ISO 8601 repetition"),
    (r"\{", "cron by named fields"),
    (r"\[", "a list of instants"),
)


class Parsed(NamedTuple):
    """A schedule that has been read, and the zone that its `CRON_TZ=` or `TZ=` prefix names."""

    form: Form
    zone_name: str | None


@lru_cache(maxsize=4096)
def parse_schedule(text: str) -> Parsed:
    """The form of a schedule; kept per text, so that reading it again costs nothing. Raises ScheduleError.

    The prefix's zone is not looked up here.
    """
    if len(text) > SCHEDULE_LENGTH_MAX:
        raise ScheduleError(
            f"{quoted(text)} is too long; expected a schedule of at most {SCHEDULE_LENGTH_MAX} characters"
        )
    alien = next((each for each in text if each != "\t" and not " " <= each <= "~"), None)
    if alien is not None:
        raise ScheduleError(
            f"{quoted(alien)} in {quoted(text)} belongs to no schedule; expected {_UNDERSTOOD}"
        )
    rest = text.strip(" \t")
    prefix = re.match(_ZONE_PREFIX, rest)
    if prefix is None:
        return Parsed(_parse_form(rest), None)
    if not prefix.group(1):
        raise ScheduleError(
            f"{quoted(prefix.group())} names no zone; expected one, such as CRON_TZ=Europe/Riga"
        )
    return Parsed(_parse_form(rest[prefix.end() :]), prefix.group(1))


def _parse_form(text: str) -> Form:
    if not text:
        raise ScheduleError(f"an empty schedule; expected {_UNDERSTOOD}")
    if text.startswith("@"):
        return _parse_descriptor(text)
    for pattern, title in _NOT_YET:
        if re.match(pattern, text):
            raise ScheduleError(f"{quoted(text)} is {title}, which is not understood; expected {_UNDERSTOOD}")
    return parse_cron(text)


def _parse_descriptor(text: str) -> Form:
    word = text.split(maxsplit=1)[0]
    if word == EVERY:
        return parse_every(text)
    expression = MACROS.get(text)
    if expression is None:
        raise ScheduleError(
            f"{quoted(text)} is no macro; expected one of {', '.join(MACROS)}, or @every 1h30m"
        )
    return parse_cron(expression)
