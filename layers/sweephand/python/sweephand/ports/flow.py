"""The ports of flow control: policies, their gates and lines, the queue of both, and namespaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from sweephand.base.instants import Instant
    from sweephand.model.change import AdminChange
    from sweephand.model.counters import Allowance, Slots
    from sweephand.model.gate import Changed, Gate, GateChange, GateName, WaitingGate
    from sweephand.model.gate_line import Entry, LineCount, LineTop
    from sweephand.model.gate_message import GateMessage
    from sweephand.model.namespace import JobCount, NamespaceSettings
    from sweephand.model.page import Page
    from sweephand.model.policy import Policy, PolicyKey
    from sweephand.model.trigger import NewerMessage
    from sweephand.model.window import Windows


class PolicyStore(Protocol):
    """The policies. The token is `version`. A policy that was deleted stays stored, with `deleted_at`."""

    def get(self, key: PolicyKey) -> Policy | None:
        """The policy of that key, deleted or not; None if there never was one."""
        ...

    def put(self, policy: Policy, replacing: str | None, *, seen: Policy | None = None) -> bool:
        """Write it if the stored version is `replacing` (None: if there is none); return whether it did.

        If `seen` is the policy as it was read, its next probe must be the same too.
        """
        ...

    def page(self, namespace: str, after: str, limit: int, *, with_deleted: bool = False) -> Page[Policy]:
        """Up to `limit` policies of a namespace by name, after the name `after`.

        Those that were deleted are among them only `with_deleted`. The store examines `limit` policies, so a
        page can have fewer. `next` is the name after which the next page begins, as long as there may be
        more.
        """
        ...

    # The breaker. These writes keep the version.

    def count_failure(self, key: PolicyKey, now: Instant) -> Policy | None:
        """Count one more failure in a row, the first of which sets `failing_since`.

        Returns the policy after that. None if it has no breaker, or an open one: nothing was counted. A write
        that the SDK repeats may count twice.
        """
        ...

    def forget_failures(self, key: PolicyKey) -> None:
        """Count failures anew from 0. An open breaker stays open."""
        ...

    def open_breaker(self, key: PolicyKey, probe: str, at: Instant, now: Instant) -> bool:
        """Store the first probe, unless there is one. Returns whether it is stored."""
        ...

    def next_probe(self, key: PolicyKey, probe: str, at: Instant, *, replacing: str) -> bool:
        """Store the next probe in the place of another one. Returns whether it is stored."""
        ...

    def close_breaker(self, key: PolicyKey) -> None:
        """Remove the probe, so that the breaker is closed."""
        ...


class GateStore(Protocol):
    """The gates of policies, which also give out the tokens of their rates. They outlive their policy.

    Those of a key are removed some weeks after their last write. Entries and the list of what waits stay.
    """

    def get(self, name: GateName) -> Gate:
        """The gate of that name; an empty one if it was never written."""
        ...

    def change(self, name: GateName, change: GateChange) -> Changed:
        """Make a change if all holds that it expects.

        Returns the gate after it, or as it stands if the change was refused. A change that was made before
        counts as made.
        """
        ...

    def enlist(self, waiting: WaitingGate) -> None:
        """Write a gate of a key into the list of those that wait, in the place of its former guard."""
        ...

    def delist(self, waiting: WaitingGate) -> None:
        """Remove a gate from that list, unless it stands there with another guard."""
        ...

    def waiting(self, key: PolicyKey, after: str, limit: int) -> Page[WaitingGate]:
        """Up to `limit` gates of the list, those first that have waited longest, behind the place `after`.

        It is read strongly. `next` is the place of the last one.
        """
        ...


class GateLines(Protocol):
    """The lines of gates. The token of an entry is another one after each write. No entry expires."""

    def put(self, name: GateName, entry: Entry) -> None:
        """Write an entry, unless one of its priority, time and name is there."""
        ...

    def top(self, name: GateName, limit: int, after: str | None = None) -> LineTop:
        """The first entries, at most `limit`; of those behind the sort key `after` if one is given."""
        ...

    def replace(self, name: GateName, seen: Entry, entry: Entry | None) -> bool:
        """Write `entry` in the place of `seen`, or delete that, if nobody has written it since.

        Returns whether it did. An entry that is gone counts as deleted.
        """
        ...

    def count(self, name: GateName, limit: int) -> LineCount:
        """How many triggers stand in the first entries, at most `limit` entries."""
        ...


class AllowanceStore(Protocol):
    """How many triggers a minute the stack and each namespace may deliver: slots that are taken in order.

    A write that the SDK repeats may take slots twice. They are then lost, and no slot is given twice.
    """

    def get(self, bucket: str) -> Allowance | None:
        """The next free slot of an allowance, and its limit; None if nobody has taken a slot for 14 days."""
        ...

    def take(
        self, bucket: str, now: Instant, per_minute: int, count: int, before_us: int | None = None
    ) -> Slots:
        """Take `count` consecutive slots of an allowance.

        If the first one lies at `before_us` or later, none is taken, unless the limit has just changed. The
        answer is the same.

        The slots lie step_us_of(per_minute) apart. They begin where next_slots() says. Two callers never get
        the same slot in one epoch. In any epoch, no slot of the present minute or before is given twice.
        """
        ...


class FlowQueue(Protocol):
    """The queue of messages about gates. Like the delivery queue, it may deliver twice, and it loses none."""

    def send(self, message: GateMessage | NewerMessage, delay_ms: int) -> None:
        """Send a message with a delay of 0 to 900,000 ms, rounded down to seconds."""
        ...

    def acknowledge(self, receipt: str) -> None:
        """Remove a received message; if that fails, it comes again, which is harmless."""
        ...


class NamespaceStore(Protocol):
    """The settings and windows of namespaces, and the counts of their jobs. The token is `version`."""

    def get(self, namespace: str) -> NamespaceSettings | None:
        """The settings of that namespace; None if none were written."""
        ...

    def put(self, settings: NamespaceSettings, replacing: str | None, change: AdminChange) -> bool:
        """Write them if the stored version is `replacing` (None: if there is none); return whether it did.

        The change is recorded in the trail of admins, together with the settings.
        """
        ...

    def with_windows(self, namespace: str) -> tuple[NamespaceSettings | None, Windows | None]:
        """The settings and the windows of that namespace, in one read; None for what was never written."""
        ...

    def windows(self, namespace: str) -> Windows | None:
        """The windows of that namespace; None if there never was one."""
        ...

    def put_windows(self, windows: Windows, replacing: str | None, change: AdminChange) -> bool:
        """Write them and the change, as put() does."""
        ...

    def job_count(self, namespace: str) -> JobCount | None:
        """The count of that namespace's jobs; None if they were never counted."""
        ...

    def put_job_count(self, namespace: str, count: JobCount, replacing: str | None) -> bool:
        """Write it if the stored version is `replacing` (None: if there is none); return whether it did."""
        ...

    def add_jobs(self, namespace: str, count: int, jobs_max: int, version: str) -> JobCount | None:
        """Count so many more jobs if `jobs_max` has room for all of them, and return the count after that.

        None if it has not, or if the jobs were never counted. A call that is repeated may count them twice.
        """
        ...

    def enlist(self, namespace: str) -> None:
        """Add the namespace to those that page() lists. Adding it again is harmless. None is ever removed."""
        ...

    def page(self, after: str, limit: int) -> Page[str]:
        """Up to `limit` listed namespaces in the order of their names, after the name `after`."""
        ...

    def stored_jobs(self, namespace: str, now: Instant, besides: int | None = None) -> int:
        """How many jobs of that namespace are stored and have not expired. It reads all of them.

        Jobs that took their places in the generation `besides` do not count (JobCount). Each other job that
        is stored from before the call until after it counts. Any other job may count.
        """
        ...
