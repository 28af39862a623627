"""The stores of flow control in memory. tests/contract checks the promises."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from operator import itemgetter

from tests.fakes.memory_access import MemoryAdminChanges

from sweephand.base.instants import Instant
from sweephand.model.change import AdminChange
from sweephand.model.counters import Allowance, Slots, are_left, next_slots, step_us_of
from sweephand.model.gate import Changed, Gate, GateChange, GateName, Holder, WaitingGate
from sweephand.model.gate_line import Entry, LineCount, LineTop
from sweephand.model.gate_message import GateMessage
from sweephand.model.namespace import JobCount, NamespaceSettings
from sweephand.model.page import Page
from sweephand.model.policy import Policy, PolicyKey
from sweephand.model.trigger import NewerMessage
from sweephand.model.window import Windows
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
        self._lock = threading.Lock()

    def get(self, key: PolicyKey) -> Policy | None:
        return self._policies.get(key)

    def put(self, policy: Policy, replacing: str | None, *, seen: Policy | None = None) -> bool:
        with self._lock:
            stored = self._policies.get(policy.key)
            is_seen = seen is None or (stored is not None and stored.probe == seen.probe)
            if (stored.version if stored else None) == replacing and is_seen:
                self._policies[policy.key] = policy
                return True
            return stored is not None and stored.version == policy.version

    def page(self, namespace: str, after: str, limit: int, *, with_deleted: bool = False) -> Page[Policy]:
        names = sorted(
            key.name for key in list(self._policies) if key.namespace == namespace and key.name > after
        )
        seen = [self._policies[PolicyKey(namespace, name)] for name in names[:limit]]
        shown = tuple(each for each in seen if with_deleted or each.deleted_at is None)
        return Page(shown, names[limit - 1] if len(names) > limit else None)

    def count_failure(self, key: PolicyKey, now: Instant) -> Policy | None:
        with self._lock:
            stored = self._policies.get(key)
            if stored is None or stored.breaker is None or stored.probe is not None:
                return None
            since = now if stored.failing_since is None else stored.failing_since
            counted = replace(stored, failed=stored.failed + 1, failing_since=since)
            self._policies[key] = counted
            return counted

    def forget_failures(self, key: PolicyKey) -> None:
        with self._lock:
            if (stored := self._policies.get(key)) is not None:
                self._policies[key] = replace(stored, failed=0, failing_since=None)

    def open_breaker(self, key: PolicyKey, probe: str, at: Instant, now: Instant) -> bool:
        with self._lock:
            stored = self._policies.get(key)
            if stored is None or stored.breaker is None or stored.probe is not None:
                return stored is not None and stored.probe == probe
            self._policies[key] = replace(
                stored, failed=0, failing_since=None, broken_at=now, probe=probe, probe_at=at
            )
            return True

    def next_probe(self, key: PolicyKey, probe: str, at: Instant, *, replacing: str) -> bool:
        with self._lock:
            stored = self._policies.get(key)
            if stored is None or stored.probe != replacing:
                return stored is not None and stored.probe == probe
            self._policies[key] = replace(stored, probe=probe, probe_at=at)
            return True

    def close_breaker(self, key: PolicyKey) -> None:
        with self._lock:
            if (stored := self._policies.get(key)) is not None:
                self._policies[key] = replace(stored, broken_at=None, probe=None, probe_at=None)


def applied(change: GateChange, gate: Gate) -> Gate | None:
    """The gate after the change; None if something does not hold that the change expects."""
    if not _may_be_made(change, gate):
        return None
    swapped = {token: each.becomes for token, each in change.holders.items()}
    holders = {token: each for token, each in {**gate.holders, **swapped}.items() if isinstance(each, Holder)}
    guard = change.guard.becomes if change.guard is not None else gate.guard or change.guard_if_absent
    assert guard is None or isinstance(guard, str), "a guard is an id"
    return Gate(
        gate.used + change.added,
        holders,
        guard,
        gate.queues if change.queues is None else change.queues,
        None if change.removes_baton else change.baton or gate.baton,
        gate.last_us if change.taking is None else change.taking.last_us_after(gate.last_us),
    )


def _may_be_made(change: GateChange, gate: Gate) -> bool:
    taking = change.taking
    return (
        all(gate.holders.get(token) == each.was for token, each in change.holders.items())
        and (change.guard is None or gate.guard == change.guard.was)
        and (change.used_max is None or gate.used <= change.used_max)
        and not (change.yields and gate.queues)
        and (taking is None or taking.last_min_us <= gate.last_us <= taking.last_max_us)
        and (change.baton is None or gate.baton is None or change.replaces_baton)
    )


class MemoryGates:
    """ports.GateStore."""

    def __init__(self) -> None:
        self._gates: dict[GateName, Gate] = {}
        self._waiting: dict[tuple[PolicyKey, str], WaitingGate] = {}
        self._lock = threading.Lock()

    def get(self, name: GateName) -> Gate:
        return self._gates.get(name, Gate())

    def change(self, name: GateName, change: GateChange) -> Changed:
        with self._lock:
            stored = self.get(name)
            changed = applied(change, stored)
            if changed is None:
                return Changed(stored, change.is_made(stored))
            self._gates[name] = changed
            return Changed(changed, is_made=True)

    def enlist(self, waiting: WaitingGate) -> None:
        with self._lock:
            self._waiting[waiting.name.policy, waiting.place] = waiting

    def delist(self, waiting: WaitingGate) -> None:
        with self._lock:
            if self._waiting.get((waiting.name.policy, waiting.place)) == waiting:
                del self._waiting[waiting.name.policy, waiting.place]

    def waiting(self, key: PolicyKey, after: str, limit: int) -> Page[WaitingGate]:
        with self._lock:
            places = sorted(place for policy, place in self._waiting if policy == key and place > after)
            items = tuple(self._waiting[key, each] for each in places[:limit])
        return Page(items, places[limit - 1] if len(places) > limit else None)

    def clear(self) -> None:
        """Lose everything."""
        with self._lock:
            self._gates.clear()
            self._waiting.clear()

    def everything(self) -> Mapping[GateName, Gate]:
        """All gates, for the assertions of a test."""
        return dict(self._gates)


class MemoryGateLines:
    """ports.GateLines."""

    def __init__(self) -> None:
        self._entries: dict[GateName, dict[str, Entry]] = {}
        #: The names of entries that a newer version has written, as a test says.
        self.newer: set[str] = set()
        self._lock = threading.Lock()

    def clear(self) -> None:
        """Lose everything."""
        with self._lock:
            self._entries.clear()

    def put(self, name: GateName, entry: Entry) -> None:
        with self._lock:
            self._entries.setdefault(name, {}).setdefault(entry.sort_key, entry)

    def top(self, name: GateName, limit: int, after: str | None = None) -> LineTop:
        with self._lock:
            entries = self._entries.get(name)
            if not entries:
                # Most reads of a line find nothing.
                return LineTop(())
            keys = sorted(key for key in entries if after is None or key > after)
            found = [entries[key] for key in keys[:limit]]
            readable = [each for each in found if each.name not in self.newer]
            return LineTop(readable, len(keys) > limit, len(readable) < len(found))

    def replace(self, name: GateName, seen: Entry, entry: Entry | None) -> bool:
        with self._lock:
            entries = self._entries.setdefault(name, {})
            stored = entries.get(seen.sort_key)
            if stored is None:
                return entry is None
            if stored.token != seen.token:
                return entry is not None and stored.token == entry.token
            if entry is None:
                del entries[seen.sort_key]
            else:
                entries[seen.sort_key] = entry
            return True

    def count(self, name: GateName, limit: int) -> LineCount:
        with self._lock:
            every = sorted(self._entries.get(name, {}).items())
        counted = [entry for _, entry in every[:limit]]
        first_at = min((each.at for each in counted), default=None)
        return LineCount(sum(len(each.messages) for each in counted), first_at, len(every) <= limit)

    def everything(self) -> list[tuple[GateName, Entry]]:
        """All entries, for the assertions of a test."""
        with self._lock:
            return [
                (name, each) for name, found in self._entries.items() for _, each in sorted(found.items())
            ]


class FlowBox:
    """ports.FlowQueue: it keeps each message with its delay in ms, in the order of sending.

    `waiting` has those that nobody has taken, each with the instant from which it can be received.
    """

    def __init__(self, now: Callable[[], Instant] = lambda: 0) -> None:
        self._now = now
        self.waiting: list[tuple[Instant, GateMessage | NewerMessage]] = []
        self.sent: list[tuple[GateMessage | NewerMessage, int]] = []
        self.acknowledged: list[str] = []

    def send(self, message: GateMessage | NewerMessage, delay_ms: int) -> None:
        self.sent.append((message, delay_ms))
        self.waiting.append((self._now() + delay_ms // 1_000 * 1_000, message))

    def take(self) -> GateMessage | NewerMessage | None:
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
        self._windows: dict[str, Windows] = {}
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

    def with_windows(self, namespace: str) -> tuple[NamespaceSettings | None, Windows | None]:
        return self._settings.get(namespace), self._windows.get(namespace)

    def windows(self, namespace: str) -> Windows | None:
        return self._windows.get(namespace)

    def put_windows(self, windows: Windows, replacing: str | None, change: AdminChange) -> bool:
        with self._lock:
            stored = self._windows.get(windows.namespace)
            if (stored.version if stored else None) == replacing:
                self._windows[windows.namespace] = windows
                self._trail.add(change)
                return True
            return stored is not None and stored.version == windows.version

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
            more = stored._replace(
                version=version, used=stored.used + count, since_mark=stored.since_mark + count
            )
            self._counts[namespace] = more
            return more

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
