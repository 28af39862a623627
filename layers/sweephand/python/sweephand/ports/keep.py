"""The ports through which tick keeps what waits while the stack is switched off, each with its promise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sweephand.base.instants import Instant
    from sweephand.model.definition import StoredPayload
    from sweephand.model.job import JobKey
    from sweephand.model.keep_round import EndingTimers, KeepRound, Renewed
    from sweephand.model.page import Page
    from sweephand.model.timer import Cursor


class KeptTimers(Protocol):
    """The wheel's timers, of which only the end may change. ports.TimerStore is the same store."""

    def ending(
        self, shard: int, cursor: Cursor, before: Instant, ending_before: Instant, limit: int
    ) -> EndingTimers:
        """Those of the next `limit` timers of a shard at the cursor that expire before `ending_before`.

        The timers lie after the cursor, in a bucket that begins before `before`. If the item at `cursor.key`
        is only partly done, it is among them. No timer is read, so those of newer versions and damaged ones
        are among them.
        """
        ...

    def keep(self, shard: int, key: str, until: Instant) -> bool:
        """Have the timer of that sort key expire at that instant, if it would earlier; return whether so.

        A timer that was removed does not come back.
        """
        ...


class KeptJobs(Protocol):
    """Jobs, of which only the end may change. ports.JobStore is the same store."""

    def keep(self, key: JobKey, until: Instant) -> bool:
        """Have the store remove the job at that instant, if it would earlier; return whether so.

        Nothing that a reader sees of the job changes. A job that was removed does not come back.
        """
        ...

    def keep_filed(self, key: JobKey, ending_before: Instant, until: Instant, limit: int) -> int:
        """Have filed revisions of a job, or of earlier jobs of its name, expire at that instant.

        Up to `limit` of those are kept that would expire before `ending_before`. Returns how many that were.
        After a call that returns `limit`, another one goes on.
        """
        ...


class KeptPayloads(Protocol):
    """A place of payloads over 2 KB. ports.PayloadPlace is the same store."""

    def page(self, after: str, limit: int) -> Page[StoredPayload]:
        """As ports.PayloadPlace promises."""
        ...

    def renew(self, uid: str, ref: str) -> bool:
        """As ports.PayloadStore promises."""
        ...


class KeptQueues(Protocol):
    """The queues in which messages of the stack wait. No message is read, so newer versions' are kept too."""

    def names(self) -> Sequence[str]:
        """The names of the queues, always in the same order."""
        ...

    def renew(self, name: str, young_from: Instant, delay_ms: int) -> Renewed:
        """Receive some messages of a queue, send each again as it is with that delay, and remove the old one.

        A message is removed only when its copy has been accepted. So a crash leaves two of it, and loses
        none. Messages that were sent at `young_from` or later are counted as young. Without any message,
        the queue was found empty. StoreError: any of the messages may be there twice.
        """
        ...


class KeepRoundStore(Protocol):
    """The round that keeps what waits. The token is `version`."""

    def get(self) -> KeepRound | None:
        """The round as it was last written; None before the first one."""
        ...

    def put(self, written: KeepRound, replacing: str | None) -> bool:
        """Write it if the stored version is `replacing` (None: if there is none); return whether it did."""
        ...
