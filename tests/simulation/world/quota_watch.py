"""Watches how many jobs a namespace stores, and how large their data is, whenever a job is written.

It shares with the code that counts jobs only the rule that says when a job has expired.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

from tests.simulation.workload.quotas import NONE, Quotas

from sweephand.base.instants import Instant
from sweephand.model.job import Job, JobKey


@dataclass(slots=True)
class QuotaWatch:
    """The jobs that are stored. `complaints` says where they were too many, or their data too large."""

    now: Callable[[], Instant]
    quotas: Quotas = NONE
    complaints: list[str] = field(default_factory=list)
    most: int = 0
    _stored: dict[JobKey, Job] = field(default_factory=dict)
    _deleted: set[str] = field(default_factory=set)
    _freed_twice: int = 0

    def job_changed(self, before: Job | None, after: Job | None) -> None:
        """A job's item was written or removed."""
        jobs_max, payload_bytes_max = self.quotas.jobs_max, self.quotas.payload_bytes_max
        if jobs_max is None:
            return
        if after is None:
            if before is not None:
                self._stored.pop(before.key, None)
                self._deleted.add(before.uid)
            return
        if before is None and after.uid in self._deleted:
            # The SDK has repeated a creation whose answer was lost, after a deletion had freed the place.
            self._deleted.remove(after.uid)
            self._freed_twice += 1
        self._stored[after.key] = after
        now = self.now()
        count = sum(not each.is_gone(now) for each in self._stored.values())
        self.most = max(self.most, count)
        allowed = jobs_max + self._freed_twice
        if (before is None or before.uid != after.uid) and count > allowed:
            self.complaints.append(f"{after.key.name}: {count} jobs are stored, and {allowed} are allowed")
        payload = after.definition.payload
        if payload_bytes_max is not None and payload is not None and payload.size > payload_bytes_max:
            what = f"{payload.size} bytes of data are stored, of {payload_bytes_max} allowed"
            self.complaints.append(f"{after.key.name}: {what}")

    def deleted_again(self) -> None:
        """A deletion met a job that was deleted already, and gives the job's place back once more.

        Docs say so (decision 048). The next count corrects that, which this watch does not see.
        """
        self._freed_twice += 1
