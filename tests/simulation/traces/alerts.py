"""The event of an alert, apart from the other events."""

from dataclasses import dataclass

from sweephand.base.instants import Instant


@dataclass(frozen=True, slots=True)
class Alerted:
    """An alert left for its consumer (`onAlert`), under an id of its own.

    It is about `missed` triggers of a revision, due from `first_due_at` to `last_due_at`.
    """

    at: Instant
    name: str
    uid: str
    rev: str
    alert_id: str
    attempt: int
    missed: int
    first_due_at: Instant
    last_due_at: Instant
