"""The bounds of a job's fields, each by itself. The HTTPS API describes them from this table too."""

from collections.abc import Collection, Mapping
from typing import Any, Final

from sweephand.base.errors import Violation, pointer
from sweephand.base.field_bounds import NumberBounds, TextBounds
from sweephand.base.limits import (
    BATCH_COUNT_MAX,
    DESCRIPTION_LENGTH_MAX,
    JITTER_S_MAX,
    REPEATS_MAX,
    RETRY_ATTEMPTS_MAX,
    RETRY_MULTIPLIER_MAX,
    URL_LENGTH_MAX,
    WAIT_LIMIT_DEFAULT,
    WAIT_LIMIT_MAX,
)
from sweephand.jobs.labels import label_bounds_violations
from sweephand.model.definition import RETRY_DEFAULT
from sweephand.schedules.durations import DURATION_CHARS_MAX

TIMEZONE: Final = TextBounds(64, "An IANA time zone such as Europe/Paris; UTC by default.")
DUE_TIME: Final = TextBounds(
    DURATION_CHARS_MAX,
    "When a one-off fires, or the earliest due time of a recurring job: RFC 3339 with an offset, or a "
    "duration from now (10s, PT2H).",
)
TTL: Final = TextBounds(
    DURATION_CHARS_MAX,
    "The latest due time: RFC 3339 with an offset, or a duration from dueTime. Without dueTime, from now.",
)
REPEATS: Final = NumberBounds(
    1,
    REPEATS_MAX,
    f"How many occurrences the series has in all; a whole number from 1 to {REPEATS_MAX}.",
)
JITTER: Final = TextBounds(
    DURATION_CHARS_MAX,
    "Delays the whole series by one offset within this window, so that jobs of the same schedule do not "
    "fire at once. A job always has the same offset, which is made from its namespace and name. A duration "
    f"of more than 0, at most {JITTER_S_MAX} s.",
)
MAX_ATTEMPTS: Final = NumberBounds(
    1,
    RETRY_ATTEMPTS_MAX,
    f"A whole number from 1 to {RETRY_ATTEMPTS_MAX}; {RETRY_DEFAULT.attempts_max} by default.",
)
MULTIPLIER: Final = NumberBounds(
    1,
    RETRY_MULTIPLIER_MAX,
    f"The factor from each delay to the next; a number from 1 to {RETRY_MULTIPLIER_MAX}, "
    f"{RETRY_DEFAULT.multiplier:g} by default.",
)
DEAD_LETTER_QUEUE: Final = TextBounds(
    URL_LENGTH_MAX,
    "The URL of the SQS queue for triggers that Sweephand has given up; by default the stack's own.",
)
WAIT_LIMIT: Final = NumberBounds(
    1,
    WAIT_LIMIT_MAX,
    "With `overlap: wait`: how many triggers may wait for a run. Sweephand skips any further trigger. "
    f"A whole number from 1 to {WAIT_LIMIT_MAX}, {WAIT_LIMIT_DEFAULT} by default.",
)
BATCH_COUNT: Final = NumberBounds(
    1,
    BATCH_COUNT_MAX,
    f"How many triggers each occurrence has; a whole number from 1 to {BATCH_COUNT_MAX}.",
)
#: A text for people: the description of a job or of a key, and the reason of a pause.
DESCRIPTION: Final = TextBounds(
    DESCRIPTION_LENGTH_MAX, f"For people: up to {DESCRIPTION_LENGTH_MAX} characters."
)

#: The bounds of each field by its place in a job. labels.py has those of the labels.
BOUNDS: Final[Mapping[tuple[str, ...], NumberBounds | TextBounds]] = {
    ("timezone",): TIMEZONE,
    ("dueTime",): DUE_TIME,
    ("ttl",): TTL,
    ("repeats",): REPEATS,
    ("jitter",): JITTER,
    ("retry", "maxAttempts"): MAX_ATTEMPTS,
    ("retry", "multiplier"): MULTIPLIER,
    ("deadLetterQueue",): DEAD_LETTER_QUEUE,
    ("waitLimit",): WAIT_LIMIT,
    ("batch", "count"): BATCH_COUNT,
    ("description",): DESCRIPTION,
}

#: The JSON pointers of each of these fields and of the fields around it, the outermost first.
_POINTERS: Final = {
    path: tuple(pointer(*path[:depth]) for depth in range(1, len(path) + 1)) for path in BOUNDS
}


def bounds_violations(written: Mapping[str, Any], refused: Collection[Violation] = ()) -> list[Violation]:
    """The fields of a job or of a schedule that are out of their bounds; empty if there are none.

    `refused` are the violations that the caller has found. A value that they name is not judged again, so
    that the result for its own result is empty.
    """
    places_refused = {each.pointer for each in refused}
    found: list[Violation] = []
    for path, bounds in BOUNDS.items():
        pointers = _POINTERS[path]
        if path[0] in written and places_refused.isdisjoint(pointers):
            found += bounds.violations(pointers[-1], value_at(written, path))
    return found + label_bounds_violations(written.get("labels"), refused)


def value_at(written: Mapping[str, Any], path: Collection[str]) -> Any:
    """The value at a place in a document; None if there is none."""
    value: Any = written
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
