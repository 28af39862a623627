"""The ports of flow control: policies, permits, lines, the queue of work messages, and namespaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sweephand.base.instants import Instant
    from sweephand.model.change import AdminChange
    from sweephand.model.counters import Allowance, Slots
    from sweephand.model.namespace import JobCount, NamespaceSettings
    from sweephand.model.page import Page
    from sweephand.model.policy import PermitHolder, Policy, PolicyKey, RateBucket
    from sweephand.model.policy_line import KeptEntries, LineClaim, LineCount, LineEntry, LinePlace, LineTop
    from sweephand.model.trigger import NewerMessage
    from sweephand.model.work_message import WorkMessage


class PolicyStore(Protocol):
    """The policies. The token is `version`. A policy that was deleted is stored with `deleted_at`."""

    def get(self, key: PolicyKey) -> Policy | None:
        """The policy of that key, deleted or not; None if there never was one, or it has expired."""
        ...

    def put(self, policy: Policy, replacing: str | None) -> bool:
        """Write it if the stored version is `replacing` (None: if there is none); return whether it did."""
        ...

    def page(self, namespace: str, after: str, limit: int, *, with_deleted: bool = False) -> Page[Policy]:
        """Up to `limit` policies of a namespace by name, after the name `after`.

        Those that were deleted are among them only `with_deleted`. The store examines `limit` policies, so a
        page can have fewer. `next` is the name after which the next page begins, as long as there may be
        more.
        """
        ...

    def keep(self, policy: Policy, until: Instant) -> bool:
        """Keep a policy that was deleted until that instant, if it is stored in this version.

        Returns whether it is.
        """
        ...


class PermitStore(Protocol):
    """The permits of policies: holders, and the tokens of a rate. They outlive their policy.

    The token of a holder is `owner`, which differs for every worker. An away entry has an id of its own, so
    that entering or removing it again changes nothing.
    """

    def holders(self, key: PolicyKey, group: int) -> Sequence[PermitHolder]:
        """All holders of that group by number, also those that were never taken."""
        ...

    def take(
        self, key: PolicyKey, seen: PermitHolder, owner: str, now: Instant, until: Instant
    ) -> PermitHolder | None:
        """Give the holder to `owner` until then, if it has no owner, or its owner's time ended before `now`.

        Away entries of `seen` that have ended by `now` are removed. Returns the holder as it then is, with
        away entries that were added since `seen` was read; None if it was not taken.
        """
        ...

    def holder(self, key: PolicyKey, slot: int) -> PermitHolder:
        """The holder of that number."""
        ...

    def enter(
        self, key: PolicyKey, slot: int, owner: str, away: Mapping[str, Instant], *, releasing: bool = False
    ) -> bool:
        """Enter permits as away if `owner` has the holder, and release the holder if so asked, in one write.

        Returns whether it was written. If not, another worker has the holder, or nobody has.
        """
        ...

    def announce(self, key: PolicyKey, slot: int, owner: str, until: Instant) -> None:
        """Store that `owner` has idle permits and looks for work until then, if it has the holder."""
        ...

    def remove(self, key: PolicyKey, slot: int, away: Sequence[str]) -> None:
        """Remove away entries, whoever has the holder. A missing entry is a success."""
        ...

    def bucket(self, key: PolicyKey) -> RateBucket:
        """The tokens of a policy's rate."""
        ...

    def move_bucket(self, key: PolicyKey, bucket: RateBucket, seen: RateBucket) -> bool:
        """Move the next token if nobody has since `seen` was read; return whether it did. Marks stay."""
        ...

    def mark(self, key: PolicyKey, now: Instant, until: Instant, owner: str) -> bool:
        """Set the wake mark until then if none stands at `now`, or this owner's; return whether it stands."""
        ...

    def clear_mark(self, key: PolicyKey) -> None:
        """Remove the wake mark, whoever set it."""
        ...

    def cover(self, key: PolicyKey, until: Instant) -> None:
        """Raise `covered_until` of the policy's bucket to that instant. A later one stays."""
        ...


class PolicyLines(Protocol):
    """The lines of policies. The token of an entry is its content, and that of a claim is its owner."""

    def put(self, place: LinePlace, entry: LineEntry) -> None:
        """Write an entry, over the one of the same time and name if there is one.

        It expires LINE_RETENTION after its time. If its time is past, that counts from now.
        """
        ...

    def top(self, place: LinePlace, before: Instant, limit: int) -> LineTop:
        """The claim of a partition, and its first entries with a time before `before`, up to `limit`.

        Entries that a newer version wrote are left out, and the top says so. If a hundred of them stand in a
        row, what is behind them may be left out too.
        """
        ...

    def page(self, place: LinePlace, after: str, limit: int) -> Sequence[LineEntry]:
        """Up to `limit` entries of a partition behind the sort key `after`, whatever their time.

        An empty `after` stands for the beginning. There may be fewer entries, and none only behind the last
        one. Raises NewerError if a newer version wrote one of them.
        """
        ...

    def count(self, place: LinePlace, before: Instant, limit: int) -> LineCount:
        """How many triggers the first entries with a time before `before` hold, up to `limit` entries."""
        ...

    def extend(
        self, place: LinePlace, after: str, before: Instant, until: Instant, limit: int
    ) -> KeptEntries:
        """Keep entries with a time before `before` until that instant.

        Looks at the first `limit` of them behind the sort key `after`, or at fewer. Leaves those alone that
        expire later than LINE_EXTENDED_AFTER before that instant anyway. An entry that is deleted or replaced
        meanwhile stays so. The payloads of an entry that a newer version wrote are not known.
        """
        ...

    def delete(self, place: LinePlace, entry: LineEntry) -> bool:
        """Remove the entry if it still has this content. A missing entry is a success."""
        ...

    def claim(self, place: LinePlace, seen: LineClaim | None, owner: str, until: Instant) -> LineClaim | None:
        """Claim the partition if its claim is still the one that was `seen`. None if another worker did.

        Who walks the partition has found that `seen` is not held. The result is LineClaim.after() of it.
        """
        ...

    def renew(self, place: LinePlace, claim: LineClaim, until: Instant) -> bool:
        """Extend a claim if its fence is unchanged. `owner` None releases it. Returns whether it did.

        `crashed_until` stays what it is.
        """
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


class WorkQueue(Protocol):
    """The queue of work messages. Like the delivery queue, it may deliver twice, and it loses none."""

    def send(self, message: WorkMessage | NewerMessage, delay_ms: int) -> None:
        """Send a work message with a delay of 0 to 900,000 ms, rounded down to seconds."""
        ...

    def acknowledge(self, receipt: str) -> None:
        """Remove a received message; if that fails, it comes again, which is harmless."""
        ...


class NamespaceStore(Protocol):
    """The settings of namespaces, and the counts of their jobs. The token of both is `version`."""

    def get(self, namespace: str) -> NamespaceSettings | None:
        """The settings of that namespace; None if none were written."""
        ...

    def put(self, settings: NamespaceSettings, replacing: str | None, change: AdminChange) -> bool:
        """Write them if the stored version is `replacing` (None: if there is none); return whether it did.

        The change is recorded in the trail of admins, together with the settings.
        """
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
