"""Checks of how long after its first attempt a trigger is still attempted."""

from collections.abc import Iterator
from typing import Final

from tests.simulation.oracle.lives import Life, told
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.trace import RunStored

#: The default of `maxAge`.
_AGE_DEFAULT_MS: Final = 24 * 3_600_000

_UNITS_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000}

#: A retry may begin a minute after `maxAge`.
GRACE_MS: Final = 60_000

#: The clocks of the simulator differ by up to this.
CLOCKS_MS: Final = 60_000

#: The connection of an attempt takes up to its time-out.
CONNECTION_MS: Final = 60_000

#: The reason of a run whose next attempt came too late.
TOO_LATE: Final = "could not be made within retry.maxAge"


def no_retry_is_older_than_it_may_be(tale: Tale) -> Iterator[str]:
    """No retry leaves later than `maxAge` allows. A redrive begins a new age, so those are left out."""
    for trigger_id, requests in tale.requests_of.items():
        if trigger_id in tale.redriven_from:
            continue
        first_at = requests[0].at
        for request in requests:
            if request.attempt == 1:
                # A copy of the message, or the function after a crash, may have made the attempt that failed.
                first_at = request.at
                continue
            age_ms_max = max(_ages_ms(tale.lives[request.uid], request.at), default=0)
            if request.at > first_at + age_ms_max + GRACE_MS + CLOCKS_MS + CONNECTION_MS:
                yield (
                    f"{request.name}: attempt {request.attempt} of {trigger_id} left at {told(request.at)}, "
                    f"and its first one at {told(first_at)}: maxAge is {age_ms_max / 1_000:g} s"
                )


def only_what_is_too_old_is_given_up_for_it(tale: Tale) -> Iterator[str]:
    """No run fails because of `maxAge` before that is over. A redrive begins a new age."""
    for (uid, run_id), stored in tale.runs_of.items():
        trigger_id = f"{uid}-{run_id}"
        for each in stored:
            if not is_given_up_for_its_age(each) or trigger_id in tale.redriven_from:
                continue
            seen = [*tale.requests_of.get(trigger_id, ()), *tale.conclusions_of.get(trigger_id, ()), *stored]
            first_at = min(event.at for event in seen)
            age_ms = min(_ages_ms(tale.lives[uid], each.at), default=0)
            if each.at < first_at + age_ms + GRACE_MS - CLOCKS_MS:
                yield (
                    f"{each.name}: {trigger_id} was given up for its age at {told(each.at)}, and began at "
                    f"{told(first_at)}: maxAge is {age_ms / 1_000:g} s"
                )


def is_given_up_for_its_age(stored: RunStored) -> bool:
    """Return whether a run has failed because its next attempt came too late to be made."""
    return stored.state == "failed" and TOO_LATE in (stored.reason or "")


def _ages_ms(life: Life, at: int) -> list[int]:
    """Return the `maxAge` of every definition that the job had by then. A read may be a moment old."""
    written = [each.definition.get("retry") or {} for each in life.writes if each.at <= at]
    return [_ms(each["maxAge"]) if "maxAge" in each else _AGE_DEFAULT_MS for each in written]


def _ms(duration: str) -> int:
    return int(duration[:-1]) * _UNITS_MS[duration[-1]]
