"""The stores of flow control in memory. tests/contract checks the promises."""

import threading
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter

from tests.fakes.memory_access import MemoryAdminChanges

from sweephand.base.errors import NewerError
from sweephand.base.instants import Instant
from sweephand.base.timing import LINE_EXTENDED_AFTER_MS, LINE_RETENTION_MS, POLICY_RETENTION_MS
from sweephand.model.change import AdminChange
from sweephand.model.counters import Allowance, Slots, are_left, next_slots, step_us_of
from sweephand.model.namespace import JobCount, NamespaceSettings
from sweephand.model.page import Page
from sweephand.model.policy import GROUP_SIZE, PermitHolder, Policy, PolicyKey, RateBucket
from sweephand.model.policy_line import (
    KeptEntries,
    LineClaim,
    LineCount,
    LineEntry,
    LinePlace,
    LineTop,
    entry_key,
)
from sweephand.model.trigger import NewerMessage
from sweephand.model.work_message import WorkMessage
from sweephand.ports.jobs import JobStore


class MemoryAllowances:
    """ports.AllowanceStore."""

    def __init__(self) -> None:
        self._allowances: dict[str, Allowance] = {}
        self._lock = threading.Lock()

    def get(self, bucket: str) -> Allowance | None:
        return self._allowances.get(bucket)

    def take(
        self, bucket: str, now: Instant, per_minute: int, count: int, before_us: int | None = None
    ) -> Slots:
        with self._lock:
            stored = self._allowances.get(bucket)
            slots = next_slots(stored, now, per_minute)
            if are_left(stored, slots, per_minute, before_us):
                return slots
            next_us = slots.first_us + count * step_us_of(per_minute)
            self._allowances[bucket] = Allowance(next_us, per_minute, slots.epoch)
            return slots


class MemoryPolicies:
    """ports.PolicyStore."""

    def __init__(self) -> None:
        self._policies: dict[PolicyKey, Policy] = {}
        self._kept_until: dict[PolicyKey, Instant] = {}
        self._lock = threading.Lock()

    def get(self, key: PolicyKey) -> Policy | None:
        return self._policies.get(key)

    def put(self, policy: Policy, replacing: str | None) -> bool:
        with self._lock:
            stored = self._policies.get(policy.key)
            if (stored.version if stored else None) == replacing:
                self._policies[policy.key] = policy
                self._kept_until[policy.key] = (policy.deleted_at or 0) + POLICY_RETENTION_MS
                return True
            return stored is not None and stored.version == policy.version

    def keep(self, policy: Policy, until: Instant) -> bool:
        with self._lock:
            if self._policies.get(policy.key) != policy:
                return False
            self._kept_until[policy.key] = until
            return True

    def expire(self, now: Instant) -> None:
        """Remove what DynamoDB removes by then."""
        with self._lock:
            for key in [each for each, policy in self._policies.items() if policy.deleted_at is not None]:
                if self._kept_until[key] <= now:
                    del self._policies[key]

    def page(self, namespace: str, after: str, limit: int, *, with_deleted: bool = False) -> Page[Policy]:
        names = sorted(
            key.name for key in list(self._policies) if key.namespace == namespace and key.name > after
        )
        seen = [self._policies[PolicyKey(namespace, name)] for name in names[:limit]]
        shown = tuple(each for each in seen if with_deleted or each.deleted_at is None)
        return Page(shown, names[limit - 1] if len(names) > limit else None)


class MemoryPermits:
    """ports.PermitStore."""

    def __init__(self) -> None:
        self._holders: dict[tuple[PolicyKey, int], PermitHolder] = {}
        self._buckets: dict[PolicyKey, RateBucket] = {}
        self._lock = threading.Lock()

    def holders(self, key: PolicyKey, group: int) -> Sequence[PermitHolder]:
        return [self.holder(key, group * GROUP_SIZE + each) for each in range(GROUP_SIZE)]

    def holder(self, key: PolicyKey, slot: int) -> PermitHolder:
        return self._holders.get((key, slot)) or PermitHolder(slot)

    def take(
        self, key: PolicyKey, seen: PermitHolder, owner: str, now: Instant, until: Instant
    ) -> PermitHolder | None:
        with self._lock:
            stored = self.holder(key, seen.slot)
            if stored.owner is not None and stored.until >= now:
                return stored if stored.owner == owner else None
            over = {each for each, ends_at in seen.away.items() if ends_at <= now}
            away = {each: ends_at for each, ends_at in stored.away.items() if each not in over}
            self._holders[key, seen.slot] = taken = PermitHolder(seen.slot, owner, until, away)
            return taken

    def enter(
        self, key: PolicyKey, slot: int, owner: str, away: Mapping[str, Instant], *, releasing: bool = False
    ) -> bool:
        with self._lock:
            stored = self.holder(key, slot)
            if not away and not releasing:
                return True
            if stored.owner != owner:
                is_repeated = releasing and stored.owner is None and (key, slot) in self._holders
                return is_repeated and all(stored.away.get(each) == at for each, at in away.items())
            entered = stored._replace(away={**stored.away, **away})
            released = entered._replace(owner=None, until=0, idle_until=0)
            self._holders[key, slot] = released if releasing else entered
            return True

    def announce(self, key: PolicyKey, slot: int, owner: str, until: Instant) -> None:
        with self._lock:
            stored = self.holder(key, slot)
            if stored.owner == owner:
                self._holders[key, slot] = stored._replace(idle_until=until)

    def remove(self, key: PolicyKey, slot: int, away: Sequence[str]) -> None:
        with self._lock:
            stored = self.holder(key, slot)
            left = {each: at for each, at in stored.away.items() if each not in away}
            if (key, slot) in self._holders:
                self._holders[key, slot] = stored._replace(away=left)

    def bucket(self, key: PolicyKey) -> RateBucket:
        return self._buckets.get(key, RateBucket())

    def move_bucket(self, key: PolicyKey, bucket: RateBucket, seen: RateBucket) -> bool:
        with self._lock:
            stored = self.bucket(key)
            if (stored.next_us, stored.owner) == (seen.next_us, seen.owner):
                self._buckets[key] = stored._replace(
                    next_us=bucket.next_us, owner=bucket.owner, step_us=bucket.step_us
                )
                return True
            return (stored.next_us, stored.owner) == (bucket.next_us, bucket.owner)

    def mark(self, key: PolicyKey, now: Instant, until: Instant, owner: str) -> bool:
        with self._lock:
            stored = self.bucket(key)
            if stored.is_marked(now):
                return stored.mark_owner == owner
            self._buckets[key] = stored._replace(mark_until=until, mark_owner=owner)
            return True

    def clear_mark(self, key: PolicyKey) -> None:
        with self._lock:
            if key in self._buckets:
                self._buckets[key] = self._buckets[key]._replace(mark_until=0, mark_owner=None)

    def cover(self, key: PolicyKey, until: Instant) -> None:
        with self._lock:
            stored = self.bucket(key)
            self._buckets[key] = stored._replace(covered_until=max(until, stored.covered_until))


class MemoryPolicyLines:
    """ports.PolicyLines. `now` is the clock of those who write entries."""

    def __init__(self, now: Callable[[], Instant] = lambda: 0) -> None:
        self._now = now
        self._entries: dict[LinePlace, dict[str, LineEntry]] = {}
        self._claims: dict[LinePlace, LineClaim] = {}
        self._kept_until: dict[tuple[LinePlace, str], Instant] = {}
        #: The tokens of entries that a newer version has written, as a test says.
        self.newer: set[str] = set()
        self._lock = threading.Lock()

    def expire(self, now: Instant) -> None:
        """Remove what DynamoDB removes by then."""
        with self._lock:
            for place, entries in self._entries.items():
                for key in [each for each in entries if self._kept_until[place, each] <= now]:
                    del entries[key]

    def extend(
        self, place: LinePlace, after: str, before: Instant, until: Instant, limit: int
    ) -> KeptEntries:
        with self._lock:
            entries, end = self._entries.get(place, {}), entry_key(before, "")
            early = sorted(key for key in entries if after < key < end)
            seen, ending = early[:limit], until - LINE_EXTENDED_AFTER_MS
            kept = [key for key in seen if self._kept_until[place, key] < ending]
            self._kept_until.update({(place, key): until for key in kept})
            payloads = [each for key in kept for each in entries[key].payloads]
            return KeptEntries(len(kept), payloads, seen[-1] if len(early) > limit else None)

    def clear(self) -> None:
        """Lose everything."""
        with self._lock:
            self._entries.clear()
            self._claims.clear()

    def put(self, place: LinePlace, entry: LineEntry) -> None:
        with self._lock:
            self._entries.setdefault(place, {})[entry.sort_key] = entry
            self._kept_until[place, entry.sort_key] = max(entry.at, self._now()) + LINE_RETENTION_MS

    def top(self, place: LinePlace, before: Instant, limit: int) -> LineTop:
        with self._lock:
            entries = self._entries.get(place)
            if not entries:
                # Most reads of a line find nothing.
                return LineTop(self._claims.get(place), ())
            end = entry_key(before, "")
            in_time = [entries[key] for key in sorted(entries) if key < end]
            first = [each for each in in_time if each.token not in self.newer][:limit]
            seen = in_time if len(first) < limit else in_time[: in_time.index(first[-1])]
            has_newer = any(each.token in self.newer for each in seen)
            return LineTop(self._claims.get(place), tuple(first), has_newer)

    def page(self, place: LinePlace, after: str, limit: int) -> Sequence[LineEntry]:
        with self._lock:
            entries = self._entries.get(place, {})
            found = tuple(entries[key] for key in sorted(key for key in entries if key > after)[:limit])
            if any(each.token in self.newer for each in found):
                raise NewerError("A newer version wrote an entry of this page.")
            return found

    def count(self, place: LinePlace, before: Instant, limit: int) -> LineCount:
        with self._lock:
            found = self._entries.get(place, {})
            entries = [found[key] for key in sorted(found) if key < entry_key(before, "")][: limit + 1]
        some = entries[:limit]
        triggers = sum(len(each.messages) for each in some)
        return LineCount(triggers, some[0].at if some else None, len(entries) <= limit)

    def delete(self, place: LinePlace, entry: LineEntry) -> bool:
        with self._lock:
            entries = self._entries.get(place, {})
            stored = entries.get(entry.sort_key)
            if stored is not None and stored.token != entry.token:
                return False
            entries.pop(entry.sort_key, None)
            return True

    def claim(self, place: LinePlace, seen: LineClaim | None, owner: str, until: Instant) -> LineClaim | None:
        with self._lock:
            claim = LineClaim.after(seen, owner, until)
            stored = self._claims.get(place)
            if (stored.fence if stored else None) == (seen.fence if seen else None):
                self._claims[place] = claim
                return claim
            return claim if stored == claim else None

    def renew(self, place: LinePlace, claim: LineClaim, until: Instant) -> bool:
        with self._lock:
            stored = self._claims.get(place)
            if stored is None or stored.fence != claim.fence:
                return False
            self._claims[place] = claim._replace(until=until)
            return True

    def everything(self) -> list[tuple[LinePlace, LineEntry]]:
        """All entries, for the assertions of a test."""
        with self._lock:
            return [
                (place, each) for place, found in self._entries.items() for _, each in sorted(found.items())
            ]


class WorkBox:
    """ports.WorkQueue: it keeps each work message with its delay in ms, in the order of sending.

    `waiting` has those that nobody has taken, each with the instant from which it can be received.
    """

    def __init__(self, now: Callable[[], Instant] = lambda: 0) -> None:
        self._now = now
        self.waiting: list[tuple[Instant, WorkMessage | NewerMessage]] = []
        self.sent: list[tuple[WorkMessage | NewerMessage, int]] = []
        self.acknowledged: list[str] = []

    def send(self, message: WorkMessage | NewerMessage, delay_ms: int) -> None:
        self.sent.append((message, delay_ms))
        self.waiting.append((self._now() + delay_ms // 1_000 * 1_000, message))

    def take(self) -> WorkMessage | NewerMessage | None:
        """A message that can be received now, if there is one."""
        coming = min(self.waiting, key=itemgetter(0), default=None)
        if coming is None or coming[0] > self._now():
            return None
        self.waiting.remove(coming)
        return coming[1]

    def acknowledge(self, receipt: str) -> None:
        self.acknowledged.append(receipt)


class MemoryNamespaces:
    """ports.NamespaceStore. It counts the jobs of a store in memory."""

    def __init__(self, jobs: JobStore, trail: MemoryAdminChanges | None = None) -> None:
        self._trail = trail or MemoryAdminChanges()
        self._jobs = jobs
        self._settings: dict[str, NamespaceSettings] = {}
        self._counts: dict[str, JobCount] = {}
        self._listed: set[str] = set()
        self._lock = threading.Lock()

    def get(self, namespace: str) -> NamespaceSettings | None:
        return self._settings.get(namespace)

    def put(self, settings: NamespaceSettings, replacing: str | None, change: AdminChange) -> bool:
        with self._lock:
            stored = self._settings.get(settings.namespace)
            if (stored.version if stored else None) == replacing:
                self._settings[settings.namespace] = settings
                self._trail.add(change)
                return True
            return stored is not None and stored.version == settings.version

    def job_count(self, namespace: str) -> JobCount | None:
        return self._counts.get(namespace)

    def put_job_count(self, namespace: str, count: JobCount, replacing: str | None) -> bool:
        with self._lock:
            stored = self._counts.get(namespace)
            if (stored.version if stored else None) == replacing:
                self._counts[namespace] = count
                return True
            return stored is not None and stored.version == count.version

    def add_jobs(self, namespace: str, count: int, jobs_max: int, version: str) -> JobCount | None:
        with self._lock:
            stored = self._counts.get(namespace)
            if stored is None or stored.used > jobs_max - count:
                return None
            self._counts[namespace] = stored.with_more(count, version)
            return self._counts[namespace]

    def enlist(self, namespace: str) -> None:
        self._listed.add(namespace)

    def page(self, after: str, limit: int) -> Page[str]:
        names = sorted(each for each in self._listed if each > after)
        return Page(tuple(names[:limit]), names[limit - 1] if len(names) > limit else None)

    def stored_jobs(self, namespace: str, now: Instant, besides: int | None = None) -> int:
        found, after = 0, ""
        while True:
            page = self._jobs.page(namespace, "", after, 1_000)
            found += sum(
                not job.is_gone(now) and (besides is None or job.counted_in != besides) for job in page.items
            )
            if page.next is None:
                return found
            after = page.next
