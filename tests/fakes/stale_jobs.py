"""Jobs in memory of which reads that may be stale show something else than is stored."""

from collections.abc import Mapping, Sequence

from tests.fakes.memory import MemoryJobs, brief_of

from sweephand.model.job import Job, JobBrief, JobKey


class StaleJobs(MemoryJobs):
    """Jobs of which reads that may be stale show what `stale` says.

    `strong` has the keys read strongly, and `brief` the number of keys of each read of briefs.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stale: dict[JobKey, Job | None] = {}
        self.strong: list[JobKey] = []
        self.brief: list[int] = []

    def briefs(self, keys: Sequence[JobKey]) -> Mapping[JobKey, JobBrief]:
        self.brief.append(len(keys))
        return {key: brief_of(job) for key, job in self.get_many(keys, may_be_stale=True).items()}

    def get_many(self, keys: Sequence[JobKey], *, may_be_stale: bool = False) -> Mapping[JobKey, Job]:
        found = super().get_many(keys)
        if not may_be_stale:
            self.strong += keys
            return found
        read = {**found, **{key: job for key, job in self.stale.items() if key in keys}}
        return {key: job for key, job in read.items() if job is not None}
