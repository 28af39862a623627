"""The event of a call that writes many jobs: the answer for each of them."""

from dataclasses import dataclass

from sweephand.base.instants import Instant


@dataclass(frozen=True, slots=True)
class EntryAnswered:
    """The answer for one job of the call.

    The client sent the job under `name` with `data`, either of which may be missing. `is_valid` says whether
    the API has to accept the job. The answer has `told_name`, a status, and a revision or the `detail` of a
    problem.
    """

    name: str | None
    data: str | None
    is_valid: bool
    told_name: str | None
    status: int
    rev: str | None = None
    detail: str = ""

    @property
    def is_acknowledged(self) -> bool:
        """Whether the client was told that the job is written."""
        return self.status in (200, 201)

    @property
    def is_refused(self) -> bool:
        """Whether the client was told to change the job."""
        return 400 <= self.status < 500


@dataclass(frozen=True, slots=True)
class BulkWriteAnswered:
    """The answer to a call that writes many jobs. `process` served it from `asked_at` on.

    `written` are the revisions that the call wrote.
    """

    at: Instant
    process: str
    asked_at: Instant
    entries: tuple[EntryAnswered, ...]
    written: tuple[str, ...] = ()

    def told(self) -> str:
        """Return the line of a story."""
        answers = " ".join(f"{each.told_name}={each.rev or each.status}" for each in self.entries)
        return f"< client told of the bulk write that {self.process} served: {answers}"
