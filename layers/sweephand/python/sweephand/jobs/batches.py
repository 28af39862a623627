"""Which batches a job may have: its window against the schedule's period, and the fields beside it."""

from collections.abc import Mapping
from itertools import islice, pairwise
from typing import Any, Final

from sweephand.base.errors import InvalidError, Violation
from sweephand.base.instants import rfc3339
from sweephand.schedules import Series, duration_text

#: How many occurrences are compared with the window. A list has at most 100, and a daily job a year of them.
#: If two later ones lie closer together, the batch between them is shortened (Series.window_ms_of).
_COMPARED_MAX: Final = 400

#: Fields that a job with a batch cannot have yet, except with one value: the value, and why.
_WITHOUT: Final[Mapping[str, tuple[object, str]]] = {
    "overlap": (
        "allow",
        "The triggers of a batch run beside each other. Leave overlap out, or leave batch out.",
    ),
    "alertAfter": (
        None,
        "Not supported with batch yet. Leave it out: onComplete tells of a batch that has ended.",
    ),
    "deleteAfterCompletion": (
        False,
        "Not supported with batch yet. Leave it out: retention says how long a completed job is kept.",
    ),
}


def batch_violations(sound: Mapping[str, Any]) -> list[Violation]:
    """The fields that a job with a batch cannot have; empty for any other job."""
    if "batch" not in sound:
        return []
    return [
        Violation(f"/{name}", why)
        for name, (allowed, why) in _WITHOUT.items()
        if name in sound and sound[name] != allowed
    ]


def check_window(series: Series) -> None:
    """Raise InvalidError unless the batch's window is shorter than the time between two occurrences.

    That is the shortest time among the first 400 occurrences. A job with a single occurrence may have any
    window.
    """
    window_ms = 0 if series.batch is None else series.batch.window_ms
    if not window_ms:
        return
    for one, other in pairwise(islice(series.occurrences(0), _COMPARED_MAX)):
        apart_ms = other.due_at - one.due_at
        if apart_ms <= window_ms:
            apart = duration_text(apart_ms)
            detail = (
                f"It must be shorter than the time between two occurrences. {rfc3339(other.due_at)} comes "
                f"{apart} after {rfc3339(one.due_at)}; give less than {apart}."
            )
            raise InvalidError([Violation("/batch/window", detail)])
