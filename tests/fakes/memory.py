"""The stores in memory. They keep the promises of ports.py, and tests/contract checks that they do."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from sweephand.base.concurrency import always
from sweephand.base.errors import StoreError
from sweephand.base.instants import Instant
from sweephand.base.timing import PAYLOAD_KEPT_MS
from sweephand.model.change import Change
from sweephand.model.definition import StoredPayload
from sweephand.model.job import Job, JobBrief, JobKey, Revision, RevisionName, is_result_of
from sweephand.model.line import StoredLine
from sweephand.model.page import Page
from sweephand.model.policy import PolicyKey
from sweephand.model.revisions import filed_until
from sweephand.model.run import (
    Flag,
    Run,
    State,
    WriteCondition,
    claim_condition,
    is_same_write,
    move_condition,
    record_condition,
    release_condition,
)
from sweephand.model.run_id import AFTER_UIDS, RunName, run_position
from sweephand.model.timer import Cursor, Heartbeat, Lease, WheelState
from sweephand.model.trigger import Trigger
from sweephand.ports.jobs import Wanted


def brief_of(job: Job) -> JobBrief:
    """The brief of a job."""
    definition = job.definition
    return JobBrief(job.key, job.uid, job.current, job.paused_at, definition.policy, definition.priority)


class MemoryJobs:
    """ports.JobStore."""

    def __init__(self) -> None:
        self._jobs: dict[JobKey, Job] = {}
        self._filed: dict[RevisionName, Revision] = {}
        self._kept_until: dict[JobKey, tuple[str, Instant]] = {}
        self._lock = threading.Lock()

    def get(self, key: JobKey) -> Job | None:
        return self._jobs.get(key)

    def get_many(self, keys: Sequence[JobKey], *, may_be_stale: bool = False) -> Mapping[JobKey, Job]:
        """The jobs as they are now: `may_be_stale` permits another answer and asks for none."""
        del may_be_stale
        assert len(set(keys)) == len(keys), "a batch read has one key twice"
        return {key: job for key in keys if (job := self._jobs.get(key)) is not None}

    def briefs(self, keys: Sequence[JobKey]) -> Mapping[JobKey, JobBrief]:
        """The jobs as they are now: the port permits a stale answer and asks for none."""
        assert len(set(keys)) == len(keys), "a batch read has one key twice"
        return {key: brief_of(job) for key in keys if (job := self._jobs.get(key)) is not None}

    def put(self, job: Job, replacing: str | None, in_time: Callable[[], bool] = always) -> bool:
        _check(in_time)
        with self._lock:
            stored = self._jobs.get(job.key)
            if (stored.version if stored else None) == replacing:
                self._jobs[job.key] = _without_large_payload(job)
                return True
            return stored is not None and is_result_of(stored, job)

    def delete(self, job: Job, in_time: Callable[[], bool] = always) -> bool:
        _check(in_time)
        with self._lock:
            stored = self._jobs.get(job.key)
            if stored is not None and stored.version != job.version:
                return False
            self._jobs.pop(job.key, None)
            return True

    def keep(self, key: JobKey, until: Instant) -> bool:
        with self._lock:
            job = self._jobs.get(key)
            if job is None or (removed_at := self._removed_at(job)) is None or removed_at >= until:
                return False
            self._kept_until[key] = (job.version, until)
            return True

    def expire(self, now: Instant) -> None:
        """Remove what DynamoDB removes by then."""
        with self._lock:
            for name in [each for each in self._filed if filed_until(self._filed[each]) <= now]:
                del self._filed[name]
            for key, job in list(self._jobs.items()):
                if (removed_at := self._removed_at(job)) is not None and removed_at <= now:
                    del self._jobs[key]

    def _removed_at(self, job: Job) -> Instant | None:
        # A write of the job gives its item a new end.
        version, until = self._kept_until.get(job.key, ("", 0))
        return until if version == job.version else job.removed_at

    def file(self, name: RevisionName, revision: Revision) -> None:
        self._filed[name] = revision

    def filed(self, names: Sequence[RevisionName]) -> Mapping[RevisionName, Revision]:
        assert len(set(names)) == len(names), "a batch read has one name twice"
        return {name: revision for name in names if (revision := self._filed.get(name)) is not None}

    def page(self, namespace: str, prefix: str, after: str, limit: int) -> Page[Job]:
        names = sorted(
            key.name
            for key in list(self._jobs)
            if key.namespace == namespace and key.name.startswith(prefix) and key.name > after
        )
        jobs = tuple(self._jobs[JobKey(namespace, name)] for name in names[:limit])
        return Page(jobs, names[limit - 1] if len(names) > limit else None)

    def search(self, namespace: str, prefix: str, after: str, limit: int, wanted: Wanted) -> Page[Job]:
        page = self.page(namespace, prefix, after, limit)
        found = tuple(job for job in page.items if wanted(job.key.name, job.definition.written))
        return Page(found, page.next)


def _check(in_time: Callable[[], bool]) -> None:
    if not in_time():
        raise StoreError("the write was too late, and was not sent")


def _without_large_payload(job: Job) -> Job:
    payload = job.definition.payload
    if payload is None or payload.is_inline:
        return job
    return replace(job, definition=replace(job.definition, payload=payload._replace(text=None)))


class MemoryChanges:
    """ports.ChangeStore."""

    def __init__(self) -> None:
        self._changes: dict[tuple[type, JobKey | PolicyKey], dict[str, Change]] = {}

    def put(self, key: JobKey | PolicyKey, change: Change) -> None:
        # As tuples, the key of a job and that of a policy can be equal.
        self._changes.setdefault((type(key), key), {})[change.position] = change

    def page(self, key: JobKey | PolicyKey, before: str, limit: int) -> Page[Change]:
        changes = self._changes.get((type(key), key), {})
        positions = sorted((each for each in list(changes) if not before or each < before), reverse=True)
        shown = tuple(changes[each] for each in positions[:limit])
        return Page(shown, shown[-1].position if len(positions) > limit else None)


class MemoryLeases:
    """ports.LeaseStore."""

    def __init__(self) -> None:
        self._leases: dict[int, Lease] = {}
        self._shards = 0
        self._heartbeat: Heartbeat | None = None
        self._lock = threading.Lock()

    def clear(self) -> None:
        """Lose everything."""
        with self._lock:
            self._leases.clear()
            self._shards, self._heartbeat = 0, None

    def state(self) -> WheelState:
        with self._lock:
            leases = tuple(self._leases[shard] for shard in sorted(self._leases))
            return WheelState(leases, self._shards, *(self._heartbeat or (None,)))

    def beat(self, heartbeat: Heartbeat) -> Heartbeat | None:
        before, self._heartbeat = self._heartbeat, heartbeat
        return before

    def raise_shards(self, count: int) -> int:
        with self._lock:
            for shard in range(count):
                self._leases.setdefault(shard, Lease(shard, Cursor()))
            self._shards = max(self._shards, count)
            return self._shards

    def claim(self, lease: Lease, owner: str, now: Instant, until: Instant) -> Lease | None:
        with self._lock:
            stored = self._leases.get(lease.shard)
            if stored is None:
                return None
            if stored.owner is not None and stored.lease_until >= now:
                return stored if stored.owner == owner else None
            judged_at = now if stored.judged_at is None else stored.judged_at
            claimed = stored._replace(
                owner=owner,
                lease_until=until,
                fence=stored.fence + 1,
                judged_at=judged_at,
                tries=stored.tries + 1,
            )
            self._leases[lease.shard] = claimed
            return claimed

    def commit(
        self, lease: Lease, cursor: Cursor, until: Instant, judged_at: Instant | None = None
    ) -> Lease | None:
        with self._lock:
            stored = self._leases.get(lease.shard)
            if stored is None or stored.fence != lease.fence:
                return None
            kept = stored.judged_at if judged_at is None else judged_at
            tries = stored.tries if cursor == lease.cursor else 0
            committed = stored._replace(cursor=cursor, lease_until=until, judged_at=kept, tries=tries)
            self._leases[lease.shard] = committed
            return committed

    def release(
        self,
        lease: Lease,
        found: int,
        now: Instant,
        *,
        cursor: Cursor | None = None,
        left_at: Instant | None = None,
        peak: int = 0,
    ) -> Lease | None:
        with self._lock:
            stored = self._leases.get(lease.shard)
            if stored is None or stored.fence != lease.fence:
                return None
            released = stored._replace(
                cursor=stored.cursor if cursor is None else cursor,
                owner=None,
                lease_until=0,
                found=found,
                swept_at=now,
                judged_at=None,
                tries=0,
                left_at=left_at,
                peak=peak,
            )
            self._leases[lease.shard] = released
            return released


class MemoryRuns:
    """ports.RunStore."""

    def __init__(self) -> None:
        self._runs: dict[tuple[JobKey, str, str], Run] = {}
        self._lock = threading.Lock()

    def claim(self, run: Run, now: Instant) -> Run | None:
        with self._lock:
            place = (run.key, run.run_id, run.uid)
            stored = self._runs.get(place)
            if claim_condition(run, now).grants(stored):
                self._runs[place] = run
                return None
            return None if stored is not None and is_same_write(stored, run) else stored

    def record(self, run: Run) -> bool:
        return self._is_written(run, record_condition(run))

    def move(self, run: Run, seen: Run) -> bool:
        return self._is_written(run, move_condition(run, seen))

    def _is_written(self, run: Run, asked: WriteCondition) -> bool:
        with self._lock:
            place = (run.key, run.run_id, run.uid)
            stored = self._runs.get(place)
            if asked.grants(stored):
                self._runs[place] = run
                return True
            return stored is not None and is_same_write(stored, run)

    def expire(self, now: Instant) -> None:
        """Remove what DynamoDB removes by then."""
        with self._lock:
            for place, run in list(self._runs.items()):
                if run.expires_at is not None and run.expires_at <= now:
                    del self._runs[place]

    def release(self, run: Run) -> bool:
        with self._lock:
            place = (run.key, run.run_id, run.uid)
            is_granted = release_condition(run).grants(self._runs.get(place))
            if is_granted:
                self._runs.pop(place, None)
            return is_granted

    def of(self, trigger: Trigger) -> Run | None:
        return self._runs.get((trigger.key, trigger.run_id, trigger.uid))

    def of_flags(self, flags: Sequence[Flag]) -> Sequence[Run]:
        found = (self._runs.get((each.key, str(each.run), each.uid)) for each in flags)
        return [run for run in found if run is not None]

    def get(self, key: JobKey, run_id: str) -> Run | None:
        found = [run for (job, name, _), run in self._runs.items() if (job, name) == (key, run_id)]
        return max(found, key=lambda run: (run.started_at or 0, run.uid), default=None)

    def page(
        self, key: JobKey, state: State | None, before: str, limit: int, *, with_batches: bool = True
    ) -> Page[Run]:
        with self._lock:
            of_key = [run for run in self._runs.values() if run.key == key]
        runs = {_position(run): run for run in of_key if with_batches or run.index == 0}
        positions = sorted((each for each in runs if not before or each < before), reverse=True)
        seen = positions[:limit]
        items = tuple(runs[each] for each in seen if state is None or runs[each].state == state)
        return Page(items, seen[-1] if len(positions) > limit else None)

    def newest(self, keys: Sequence[JobKey], limit: int) -> Sequence[Page[Run]]:
        return [self.page(each, None, "", limit, with_batches=False) for each in keys]

    def beside(
        self, key: JobKey, name: RunName, *, with_batches: bool = True
    ) -> tuple[Run | None, Run | None]:
        low = run_position(name, "")
        with self._lock:
            runs = [
                each for each in self._runs.values() if each.key == key and (with_batches or each.index == 0)
            ]
        before = [each for each in runs if _position(each) < low]
        after = [each for each in runs if _position(each) > low + AFTER_UIDS]
        return max(before, key=_position, default=None), min(after, key=_position, default=None)


def _position(run: Run) -> str:
    return run_position(RunName(run.due_at, run.index, run.demand), run.uid)


class MemoryLines:
    """ports.LineStore."""

    def __init__(self) -> None:
        self._lines: dict[JobKey, StoredLine] = {}
        self._lock = threading.Lock()

    def get(self, key: JobKey) -> StoredLine | None:
        return self._lines.get(key)

    def put(self, line: StoredLine, replacing: str | None) -> bool:
        with self._lock:
            stored = self._lines.get(line.key)
            if (stored.version if stored else None) == replacing:
                self._lines[line.key] = line
                return True
            return stored is not None and stored.version == line.version

    def expire(self, now: Instant) -> None:
        """Remove what DynamoDB removes by then."""
        with self._lock:
            for key, line in list(self._lines.items()):
                if line.expires_at is not None and line.expires_at <= now:
                    del self._lines[key]

    def delete(self, line: StoredLine) -> bool:
        with self._lock:
            stored = self._lines.get(line.key)
            if stored is not None and stored.version != line.version:
                return False
            self._lines.pop(line.key, None)
            return True


class MemoryPayloads:
    """ports.PayloadPlace.

    A discarded payload stays readable until `expire` acts as the bucket's lifecycle.
    """

    def __init__(self, now: Callable[[], Instant] = lambda: 0) -> None:
        self._payloads: dict[tuple[str, str], str] = {}
        self._now = now
        self.written_at: dict[tuple[str, str], Instant] = {}
        self.discarded: set[tuple[str, str]] = set()
        self._discarded_at: dict[tuple[str, str], Instant] = {}

    def put(self, uid: str, ref: str, text: str) -> None:
        self._payloads[uid, ref] = text
        self.written_at[uid, ref] = self._now()
        self.discarded.discard((uid, ref))

    def get(self, uid: str, ref: str) -> str | None:
        return self._payloads.get((uid, ref))

    def discard(self, uid: str, ref: str) -> bool:
        self.discarded.add((uid, ref))
        self._discarded_at[uid, ref] = self._now()
        return (uid, ref) in self._payloads

    def renew(self, uid: str, ref: str) -> bool:
        return self.is_discarded(uid, ref) and self.discard(uid, ref)

    def remove_old(self, now: Instant) -> None:
        """Remove the discarded payloads that the bucket's lifecycle has removed by then."""
        for place in [each for each in self.discarded if self._discarded_at[each] + PAYLOAD_KEPT_MS <= now]:
            self._payloads.pop(place, None)
            self.discarded.discard(place)

    def is_discarded(self, uid: str, ref: str) -> bool:
        return (uid, ref) in self.discarded and (uid, ref) in self._payloads

    def page(self, after: str, limit: int) -> Page[StoredPayload]:
        names = sorted(name for name in (f"{uid}/{ref}" for uid, ref in self._payloads) if name > after)
        items = []
        for name in names[:limit]:
            uid, _, ref = name.partition("/")
            items.append(StoredPayload(uid, ref, self.written_at.get((uid, ref), 0)))
        return Page(tuple(items), names[limit - 1] if len(names) > limit else None)

    def expire(self) -> None:
        for place in self.discarded:
            self._payloads.pop(place, None)
        self.discarded.clear()
