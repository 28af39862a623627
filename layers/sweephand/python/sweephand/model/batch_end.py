"""How the runs of a batch have ended, and what the notification of a batch's end says."""

from typing import Literal, NamedTuple


class Counts(NamedTuple):
    """How many runs of a batch ended in which way. Those that were skipped count as cancelled."""

    succeeded: int = 0
    failed: int = 0
    cancelled: int = 0

    @property
    def over(self) -> int:
        """How many runs are over."""
        return self.succeeded + self.failed + self.cancelled


class BatchEnd(NamedTuple):
    """The end of a batch of `total` triggers. `overran`: as BatchHead has it."""

    total: int
    counts: Counts
    overran: bool

    @property
    def state(self) -> Literal["succeeded", "failed"]:
        """`succeeded` if every run has."""
        return "succeeded" if self.counts.succeeded == self.total else "failed"
