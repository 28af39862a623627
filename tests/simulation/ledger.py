"""What the jobs of a simulation owe by the series that their writes stored, and what was delivered of it."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from tests.simulation.trace import Buried, Deleted, Event, Requested

from sweephand.instants import Instant
from sweephand.jobs.job import Job

#: How long before a request leaves its job may have been read (promise 3).
READ_AGE_MS = 1_000


@dataclass
class Ledger:
    """Every version of every job, with the true time of its commit.

    A revision owes what its series has in `since < due <= until`, as the versions of its job say. A first
    attempt may be made of what was owed when its job was read; of a deleted job, nothing.
    """

    jobs: Sequence[tuple[Instant, Job]]
    events: Sequence[Event]
    echo_ends_at: Instant
    complaints: list[str] = field(default_factory=list)

    def check(self, through: Instant) -> list[str]:
        """What is not right of what was due up to then."""
        versions: dict[str, list[tuple[Instant, Job]]] = {}
        for at, job in self.jobs:
            versions.setdefault(job.uid, []).append((at, job))
        deleted_at = {each.uid: each.at for each in self.events if isinstance(each, Deleted)}
        requests = [each for each in self.events if isinstance(each, Requested)]
        accounted = {each.trigger_id for each in requests}
        accounted |= {each.trigger_id for each in self.events if isinstance(each, Buried) and each.trigger_id}
        for request in requests:
            self._check_request(request, versions[request.uid], deleted_at.get(request.uid))
        for uid, written in versions.items():
            if uid not in deleted_at:
                for due_at in sorted(_owed([job for _, job in written], through)):
                    if f"{uid}-{due_at}-0" not in accounted:
                        self.complaints.append(f"lost: {uid}-{due_at}-0 of {written[0][1].key.name}")
        first = Counter(
            each.trigger_id
            for each in requests
            if each.attempt == 1 and self.echo_ends_at < each.due_at <= through
        )
        self.complaints += [f"doubled: {each} came {n} times" for each, n in first.items() if n > 1]
        return self.complaints

    def _check_request(
        self, request: Requested, versions: Sequence[tuple[Instant, Job]], deleted_at: Instant | None
    ) -> None:
        if request.clock_at < request.due_at:
            self.complaints.append(f"early: {request.trigger_id}")
        if deleted_at is not None and request.at > deleted_at + READ_AGE_MS:
            self.complaints.append(f"deleted: {request.trigger_id} left after its job was gone")
        if request.attempt == 1 and not _was_owed(request, versions):
            self.complaints.append(f"not owed: {request.trigger_id}")


def _owed(versions: Sequence[Job], through: Instant) -> set[Instant]:
    untils = [latter.earlier[-1].until if latter.earlier else None for _, latter in pairwise(versions)]
    owed: set[Instant] = set()
    for version, until in zip(versions, [*untils, through], strict=True):
        end = through if until is None else min(until, through)
        for each in version.series.occurrences(version.current.since):
            if each.due_at > end:
                break
            owed.add(each.due_at)
    return owed


def _was_owed(request: Requested, versions: Sequence[tuple[Instant, Job]]) -> bool:
    at = request.at
    for number, (begun_at, version) in enumerate(versions):
        ended_at = versions[number + 1][0] if number + 1 < len(versions) else at
        revision = version.revision(request.rev)
        if begun_at > at or ended_at < at - READ_AGE_MS or revision is None:
            continue
        made_by = next(job for _, job in versions if job.rev == request.rev)
        coming = made_by.series.next_after(request.due_at - 1)
        until = request.due_at if revision.until is None else revision.until
        if revision.since < request.due_at <= until and coming and coming.due_at == request.due_at:
            return True
    return False
