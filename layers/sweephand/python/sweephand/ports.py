"""The ports: one Protocol for each outside thing that the use cases need, with its promises.

Every implementation keeps the same promises, and one suite checks all of them (tests/contract). Reads are
strongly consistent. A refused write has changed nothing. The SDK retries by itself, so a store may refuse a
conditional write because an earlier try of it succeeded. For this, every such write carries its own token. If
an implementation finds that token in the stored item, it answers that the write succeeded. After a StoreError
it is unknown whether the write was applied.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from sweephand.base.instants import Instant

# The values of the ports are imported from here too, by all who use a port.
from sweephand.model.attempt import Answer as Answer  # noqa: PLC0414
from sweephand.model.attempt import Attempt as Attempt  # noqa: PLC0414
from sweephand.model.attempt import always as always  # noqa: PLC0414
from sweephand.model.definition import StoredPayload as StoredPayload  # noqa: PLC0414
from sweephand.model.job import Job, JobBrief, JobKey, Revision, RevisionName
from sweephand.model.page import Page as Page  # noqa: PLC0414
from sweephand.model.policy_names import PolicyKey
from sweephand.model.trigger import DeadLetter, Sendable, Trigger

if TYPE_CHECKING:
    # Only some functions store these values. The others start without them.
    from sweephand.model.change import Change
    from sweephand.model.flag import Flag
    from sweephand.model.line import StoredLine
    from sweephand.model.run import Run, State
    from sweephand.model.timer import Cursor, Heartbeat, Lease, OccurrenceTimer, StoredTimer, WheelState


class Clock(Protocol):
    """The clock of this machine."""

    def now(self) -> Instant:
        """The present instant."""
        ...

    def wait_until(self, instant: Instant) -> None:
        """Return at that instant or just after it; return at once if it is past."""
        ...


class Ids(Protocol):
    """The source of ids that must be unique, and of secrets that nobody can guess."""

    def token(self) -> str:
        """16 characters of a-z and 0-9 that no other caller gets: for uids, versions, owners."""
        ...

    def secret(self) -> str:
        """43 characters of A-Z, a-z and 0-9 that nobody can guess: 256 random bits."""
        ...

    def fraction(self) -> float:
        """A random number from 0 up to, but not including, 1."""
        ...


class JobStore(Protocol):
    """Jobs, one item each. It may still return a job past its `expires_at`, so the reader must check."""

    def get(self, key: JobKey) -> Job | None:
        """The job of that key, or None."""
        ...

    def get_many(self, keys: Sequence[JobKey], *, may_be_stale: bool = False) -> Mapping[JobKey, Job]:
        """The jobs of those keys (distinct, any number) that exist; a key without a job is left out.

        With `may_be_stale`, any of them may be as it was before writes that have already been acknowledged.
        Such a read costs half as much.
        """
        ...

    def briefs(self, keys: Sequence[JobKey]) -> Mapping[JobKey, JobBrief]:
        """The briefs of those jobs (distinct keys, any number) that exist; the others are left out.

        Any of them may be as it was before writes that have already been acknowledged.
        """
        ...

    def put(self, job: Job, replacing: str | None, in_time: Callable[[], bool] = always) -> bool:
        """Write the job if the stored version is `replacing` (None: if there is none); return whether it did.

        `in_time` is called before each try is sent, the SDK's own retries included. Once it returns False, no
        more tries are sent and StoreError is raised. An earlier try may have been applied.

        The token is `job.version`: if a refusal shows it, the write succeeded. The write also succeeded if
        the refusal shows `job.rev` as the present or an earlier revision, and this write made that revision.
        Then the revision's name ends in the version. A revision that the write only keeps, as a pause does,
        proves nothing.
        """
        ...

    def delete(self, job: Job, in_time: Callable[[], bool] = always) -> bool:
        """Remove the job if it is in that version. A missing job is a success, and another version is not.

        `in_time` is called as by put().
        """
        ...

    def file(self, name: RevisionName, revision: Revision) -> None:
        """Keep an earlier revision that does not fit into its job; filing it again is harmless.

        It stays for REVISION_RETENTION_MS after its end, even if the job is deleted.
        """
        ...

    def filed(self, names: Sequence[RevisionName]) -> Mapping[RevisionName, Revision]:
        """Those of the revisions (distinct, any number) that were filed; the others are left out."""
        ...

    def page(self, namespace: str, prefix: str, after: str, limit: int) -> Page[Job]:
        """Up to `limit` jobs of a namespace, sorted by name, with that `prefix` and after the name `after`.

        `next` is the name after which the next page begins, as long as there may be more jobs.
        """
        ...


class ChangeStore(Protocol):
    """Changes of jobs and policies, filed under the key of each for 90 days. They outlive the job or policy.

    A job and a policy may have the same namespace and name. Their changes are kept apart.
    """

    def put(self, key: JobKey | PolicyKey, change: "Change") -> None:
        """File a change; filing it again is harmless."""
        ...

    def page(self, key: JobKey | PolicyKey, before: str, limit: int) -> "Page[Change]":
        """Up to `limit` changes of a key, newest first, after the position `before` ("": from the newest)."""
        ...


class TimerStore(Protocol):
    """The wheel's timers. None is changed or removed here: cursors pass them, and they expire."""

    def put(self, timers: "Sequence[StoredTimer]") -> None:
        """Write any number of timers with distinct (shard, sort key). A timer that exists is written again.

        Returns when all are written. After a StoreError, any of them may be written.
        """
        ...

    def page(self, shard: int, cursor: "Cursor", before: Instant, limit: int) -> "Sequence[StoredTimer]":
        """The next timers of a shard at the cursor, sorted by key, all of one bucket, up to `limit`.

        They lie after the cursor, in a bucket that begins before `before`. If the item at `cursor.key` is
        only partly done, it is among them. `limit` counts a pack as one. The page is empty only if the shard
        has no such timer. A timer that a newer version wrote, or that is damaged, is returned as an
        UnreadTimer.
        """
        ...

    def missing(self, timers: "Sequence[OccurrenceTimer]") -> "Sequence[OccurrenceTimer]":
        """Those of the timers (distinct keys, none put off) that are not stored, in their order.

        A timer is stored if its bucket holds a timer of the same job, revision and first trigger, alone or
        in a pack. A pack that cannot be read may hold any timer of its bucket, so none of that bucket is
        missing.
        """
        ...


class LeaseStore(Protocol):
    """The shards' leases, their number, and tick's heartbeat. `fence` and `owner` are the token."""

    def state(self) -> "WheelState":
        """All of it, from one read."""
        ...

    def beat(self, heartbeat: "Heartbeat") -> "Heartbeat | None":
        """Write tick's heartbeat. Returns the one before, if there is one.

        If the SDK has repeated the write, it may return the heartbeat that was just written.
        """
        ...

    def raise_shards(self, count: int) -> int:
        """Make sure that there are at least `count` shards; return how many there are.

        A shard gets its lease before it counts. The number is never lowered, and no existing lease is
        changed.
        """
        ...

    def claim(self, lease: "Lease", owner: str, now: Instant, until: Instant) -> "Lease | None":
        """Claim the shard for `owner` if it is free: it has no owner, or its lease ended before `now`.

        Returns the lease as it then is, cursor included, with a fence that is one higher; None if it is held.
        Its `judged_at` is `now`, unless a crashed holder left one. Its `tries` are one more.
        """
        ...

    def commit(
        self, lease: "Lease", cursor: "Cursor", until: Instant, judged_at: Instant | None = None
    ) -> "Lease | None":
        """Move the cursor and renew the lease if its fence is unchanged; None if another owner took over.

        `judged_at` is stored; None keeps the stored one. A cursor that moves sets `tries` to 0.
        """
        ...

    def release(
        self,
        lease: "Lease",
        found: int,
        now: Instant,
        *,
        cursor: "Cursor | None" = None,
        left_at: Instant | None = None,
        peak: int = 0,
    ) -> "Lease | None":
        """Release the shard if its fence is unchanged; None if another owner took over.

        The same write moves the cursor, if there is one, and stores how much was found, and when. `left_at`
        is the due time of the first timer left, and `peak` the most triggers of one second. `judged_at` is
        removed, and `tries` become 0. Returns the lease as it then is.
        """
        ...


class RunStore(Protocol):
    """Runs, one item each. Only model/run_states.py says which state may follow which.

    The tokens are `owner`, which differs for every handling of a message, with the attempt; and `version` for
    a move.
    """

    def claim(self, run: "Run", now: Instant) -> "Run | None":
        """Write a `claimed` run if it is granted. Returns None if so, or else the stored run that refuses it.

        It is granted in each of these cases:

        - No run is stored.
        - The stored run is at an earlier attempt, `claimed` or `retrying`. The message of a later attempt
          proves that the earlier one failed.
        - The stored run is at this attempt, `claimed`, and its `claimed_until` is not after `now`. Its holder
          has crashed. Its `token` must equal that of this claim, since an attempt keeps its token.
        - The stored run is `failed` at the attempt before, and this is the first attempt of a redrive.
        """
        ...

    def record(self, run: "Run") -> bool:
        """Write the outcome of an attempt; return whether it was written.

        It is written if no run is stored, or if `run.owner` has claimed this attempt. If `run` has no
        `claimed_until`, any owner may have claimed it: the attempt needed no claim, so its job has changed
        since. A claim that another writer has changed refuses the write. It then has a `version` that is not
        `run.version`.
        """
        ...

    def move(self, run: "Run", seen: "Run") -> bool:
        """Change a run that was read: after a consumer's callback, a passed deadline or a user's request.

        It is written if the stored run has the state, attempt, owner and version of `seen`. Returns whether
        it was.
        """
        ...

    def release(self, run: "Run") -> bool:
        """Remove the record of a first attempt that was claimed and not made; return whether it is gone.

        It is removed if the stored run is `claimed` by `run.owner` at this attempt, in the version of `run`.
        A missing run is a success.
        """
        ...

    def of(self, trigger: Trigger) -> "Run | None":
        """The run of that trigger, or None."""
        ...

    def get(self, key: JobKey, run_id: str) -> "Run | None":
        """The newest run of that name, of this job or an earlier job of its key; None if there is none."""
        ...

    def of_flags(self, flags: "Sequence[Flag]") -> "Sequence[Run]":
        """The runs that these flags (distinct, any number) name, in any order; those without a record not."""
        ...

    def page(
        self, key: JobKey, state: "State | None", before: str, limit: int, *, with_batches: bool = True
    ) -> "Page[Run]":
        """Up to `limit` runs of a key, newest due time first, after `before` ("": from the newest).

        With `state`, the store examines `limit` runs and returns those in that state. Without `with_batches`,
        it reads only runs with index 0, from one partition. A job that never had a batch has no others.
        """
        ...


class LineStore(Protocol):
    """The lines of jobs whose runs take turns, one item each. The token is `version`."""

    def get(self, key: JobKey) -> "StoredLine | None":
        """The line of the job of that key, or of an earlier job of its name; None if there is none."""
        ...

    def put(self, stored: "StoredLine", replacing: str | None) -> bool:
        """Write it if the stored version is `replacing` (None: if there is none); return whether it did."""
        ...

    def delete(self, stored: "StoredLine") -> bool:
        """Remove it if it is in that version. A missing line is a success, and another version is not."""
        ...


class Queue(Protocol):
    """The delivery queue. It may deliver messages twice and in any order, and it loses none."""

    def send(self, messages: Sequence[tuple[Sendable, int]]) -> None:
        """Send any number of messages, each with a delay in ms (0 to 900,000, rounded down to seconds).

        Refused entries are sent again. Returns when the queue has accepted every message. After a StoreError,
        it may have accepted any of them.
        """
        ...

    def acknowledge(self, receipts: Sequence[str]) -> None:
        """Remove received messages from the queue; if that fails, they come again, which is harmless."""
        ...

    def bury(self, dead_letters: Sequence[tuple[DeadLetter, str | None]]) -> None:
        """Send dead letters, each to the queue of that URL (None: the stack's own), as send() does."""
        ...


class PayloadStore(Protocol):
    """`data` over 2 KB. Each payload is written once for its uid and ref, and never changed."""

    def put(self, uid: str, ref: str, text: str) -> None:
        """Keep a payload; writing it again is harmless."""
        ...

    def get(self, uid: str, ref: str) -> str | None:
        """The payload, or None if it is not there (any more)."""
        ...

    def discard(self, uid: str, ref: str) -> bool:
        """Let it expire after PAYLOAD_KEPT_MS; return whether it was there. It can be read until then."""
        ...

    def renew(self, uid: str, ref: str) -> bool:
        """Let a discarded payload expire PAYLOAD_KEPT_MS after now; return whether anything was written.

        Other payloads stay as they are, and one that was removed does not come back.
        """
        ...


class PayloadPlace(PayloadStore, Protocol):
    """A store that holds payloads itself, and lists them for the audit."""

    def is_discarded(self, uid: str, ref: str) -> bool:
        """Whether the payload is about to expire; False if it is not there."""
        ...

    def page(self, after: str, limit: int) -> Page[StoredPayload]:
        """Up to `limit` payloads, sorted by name, after the position `after` ("": from the first).

        `next` is the position after which the next page begins, as long as there may be more. Discarded
        payloads are included until they expire.
        """
        ...


class Targets(Protocol):
    """The consumers' side: one module for each target type, behind one registry."""

    def deliver(self, attempt: Attempt) -> Answer:
        """Make the request within its timeout and return what came of it. A failing consumer raises no error.

        If `may_send` returns False, the unused connection is kept for the next attempt. `may_send` is not
        called if no connection is made.
        """
        ...


class Sweepers(Protocol):
    """The other sweep invocations."""

    def start(self, first_shards: Sequence[int]) -> None:
        """Begin one sweep at each of those shards, without waiting for any of them."""
        ...


class DeliveryFunctions(Protocol):
    """The functions that deliver. Lambda starts them for messages; this port starts them in advance."""

    def wake(self, count: int) -> None:
        """Have that many delivery functions run at once for a moment, without waiting for any of them.

        Lambda takes idle functions first, and starts others for the rest. A wake-up delivers nothing.
        StoreError: fewer were woken.
        """
        ...
