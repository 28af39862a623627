"""How an explanation says times, spans and failures, for a person who reads it at night."""

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Instant, rfc3339
from sweephand.model.change import SWEEPHAND, Change
from sweephand.model.run import Run

_UNITS = ((DAY_MS, "d"), (HOUR_MS, "h"), (MINUTE_MS, "min"), (SECOND_MS, "s"))


def time(instant: Instant) -> str:
    """An instant in UTC, without milliseconds if it has none."""
    return rfc3339(instant).replace(".000Z", "Z")


def wall(wall_s: int) -> str:
    """A local time without an offset."""
    return time(wall_s * SECOND_MS).removesuffix("Z")


def span(ms: int) -> str:
    """A length of time in its two largest units, rounded down: `1 h 5 min`."""
    parts = []
    for unit_ms, name in _UNITS:
        count, ms = divmod(ms, unit_ms)
        if count:
            parts.append(f"{count} {name}")
    return " ".join(parts[:2]) or f"{ms} ms"


def by(change: Change) -> str:
    """Who made a change: the id of a key, or Sweephand itself."""
    return "by Sweephand itself" if change.who == SWEEPHAND else f"with the key {change.who}"


def reason_of(change: Change) -> str:
    """The reason of a change, as the end of a sentence."""
    return f": {change.reason.rstrip('.')}." if change.reason else "."


def answer_of(run: Run) -> str:
    """What the consumer answered to the latest attempt, or why there was no answer: a sentence."""
    failure = run.last_failure
    reason = (failure.reason if failure is not None else None) or run.reason
    if reason:
        return reason if reason.endswith(".") else f"{reason}."
    return f"The consumer answered {run.response_code}." if run.response_code else "There was no answer."


def attempts(count: int) -> str:
    """A number of attempts."""
    return "1 attempt" if count == 1 else f"{count} attempts"
