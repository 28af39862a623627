"""Checks of the limits on triggers a minute: no more triggers leave than the limit allows."""

from collections.abc import Iterator
from typing import Final

from tests.simulation.oracle.lives import told
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.trace import LimitSet, Requested

_MINUTE_MS: Final = 60_000

#: A minute may use its whole allowance in its first second, so one more minute than has passed may be used
#: up. Clocks differ by up to a minute here, so another one may be.
SPARE_MINUTES: Final = 2


def no_more_triggers_leave_than_allowed(tale: Tale) -> Iterator[str]:
    """From the setting of a limit to the next, no more triggers leave than the limit allows for that time."""
    settings = tale.of(LimitSet)
    for number, setting in enumerate(settings):
        until = settings[number + 1].at if number + 1 < len(settings) else tale.ends_at
        first = {each.trigger_id: each for each in reversed(tale.of(Requested)) if each.attempt == 1}
        leaving = sorted(each.at for each in first.values() if setting.at <= each.at < until)
        for count, at in enumerate(leaving, start=1):
            minutes = (at - setting.at) / _MINUTE_MS + SPARE_MINUTES
            if count > setting.per_minute * minutes:
                what = f"{count} triggers left from {told(setting.at)} to {told(at)}"
                yield f"{what}, and {setting.per_minute} a minute are allowed"
                break
