"""What the use cases ask of the world: one Protocol for each, with its promise.

Every implementation keeps the same promises and is held to them by one suite (tests/contract). Reads
are strongly consistent. A write that is refused changed nothing. The SDK retries by itself, so a
conditional write can be refused because it has already succeeded: every one carries a token of its
own, and an implementation that finds its own token in what is stored answers as if it had just
succeeded. StoreError means that it is not known whether the write happened.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from sweephand.base.instants import Instant
from sweephand.model.definition import StoredPayload as StoredPayload  # noqa: PLC0414 - as Page
from sweephand.model.job import Job, JobKey, Revision, RevisionName
from sweephand.model.page import Page as Page  # noqa: PLC0414 - said again: whoever has the ports has their values
from sweephand.model.run import Run, State
from sweephand.model.timer import (
    Cursor,
    Lease,
    StoredTimer,
    WheelState,
)
from sweephand.model.trigger import (
    DeadLetter,
    Sendable,
    Trigger,
    end_id,
)

if TYPE_CHECKING:
    # What only some functions store: tick and sweep start without it.
    from sweephand.model.api_key import Key
    from sweephand.model.change import Change
    from sweephand.model.line import StoredLine
    from sweephand.model.signing_secret import SigningSecrets


def always() -> bool:
    """A write or an attempt that nothing can call off."""
    return True


class Clock(Protocol):
    """The time of this machine."""

    def now(self) -> Instant:
        """The present instant."""
        ...

    def wait_until(self, instant: Instant) -> None:
        """Return at that instant or just after; at once if it is past."""
        ...


class Ids(Protocol):
    """What has to be unlike anything else, or unforeseeable."""

    def token(self) -> str:
        """16 characters of a-z and 0-9 that nobody else was given: uids, versions, owners."""
        ...

    def secret(self) -> str:
        """43 characters of A-Z, a-z and 0-9 that nobody can guess: 256 bits."""
        ...

    def fraction(self) -> float:
        """A random number from 0 up to but not including 1."""
        ...


class JobStore(Protocol):
    """Jobs, one item each. What is past its `expires_at` may still be answered: the reader looks."""

    def get(self, key: JobKey) -> Job | None:
        """The job of that key, or None."""
        ...

    def get_many(self, keys: Sequence[JobKey]) -> Mapping[JobKey, Job]:
        """The jobs of those keys (distinct, any number) that exist. A key left out does not exist."""
        ...

    def put(self, job: Job, replacing: str | None, in_time: Callable[[], bool] = always) -> bool:
        """Write the job if the stored version is `replacing` (None: if there is none); say whether it was.

        `in_time` is asked before each try leaves, the SDK's own retries included. Once it says no, no more
        leaves and StoreError is raised; an earlier try may have been applied.

        The token is `job.version`: a refusal that shows it is a success. So is one that shows `job.rev`
        ruling or among the earlier revisions, if this write brought that revision, whose name then ends
        in the version. A revision that the write only kept, as a pause does, proves nothing.
        """
        ...

    def delete(self, job: Job, in_time: Callable[[], bool] = always) -> bool:
        """Remove the job if it is in that version; nothing there is a success, another version is not.

        `in_time` is asked as by put().
        """
        ...

    def file(self, name: RevisionName, revision: Revision) -> None:
        """Keep an earlier revision for which its job has no room; filing it again is harmless.

        It stays for REVISION_RETENTION_MS after its end, whatever becomes of the job.
        """
        ...

    def filed(self, names: Sequence[RevisionName]) -> Mapping[RevisionName, Revision]:
        """Of those revisions (distinct, any number) the ones that were filed. One left out was not."""
        ...

    def page(self, namespace: str, prefix: str, after: str, limit: int) -> Page[Job]:
        """Up to `limit` jobs of a namespace by name: those that begin with `prefix` and come after `after`.

        `next` is the name to go on after, as long as there may be more.
        """
        ...


class ChangeStore(Protocol):
    """Changes of jobs, filed under the job's key for 90 days each; they outlive the job."""

    def put(self, key: JobKey, change: "Change") -> None:
        """File a change; filing it again is harmless."""
        ...

    def page(self, key: JobKey, before: str, limit: int) -> "Page[Change]":
        """Up to `limit` changes of a key, newest first, after the position `before` ("": newest)."""
        ...


class TimerStore(Protocol):
    """The wheel's timers. None is ever changed or removed here: cursors pass them, and they expire."""

    def put(self, timers: Sequence[StoredTimer]) -> None:
        """Write any number of timers with distinct (shard, sort key), each over itself if it is there.

        Returns when all are written; StoreError otherwise, and any of them may have been.
        """
        ...

    def page(self, shard: int, cursor: Cursor, before: Instant, limit: int) -> Sequence[StoredTimer]:
        """The next timers of a shard at the cursor, by sort key, all of one bucket, up to `limit`.

        They lie after the cursor (the one at `cursor.key` is among them if `cursor.within` is set), in
        a bucket that begins before `before`. Empty only if the shard has none such. A timer that cannot be
        read, since a newer version wrote it or it is damaged, is an UnreadTimer.
        """
        ...


class LeaseStore(Protocol):
    """The shards' leases, their number, and tick's heartbeat. `fence` and `owner` are the token."""

    def state(self) -> WheelState:
        """All of it, in one read."""
        ...

    def beat(self, now: Instant) -> None:
        """Write tick's heartbeat."""
        ...

    def raise_shards(self, count: int) -> int:
        """Have at least `count` shards, each with a lease before it is counted; return how many there are.

        Never lowers the number, never touches a lease that exists.
        """
        ...

    def claim(self, lease: Lease, owner: str, now: Instant, until: Instant) -> Lease | None:
        """Take the shard for `owner` if nobody holds it (no owner, or a lease that ended before `now`).

        Returns the lease as it then stands, cursor included, its fence one higher; None if it is held. Its
        `judged_at` is `now` unless one who held it before died and left one. Its `tries` are one more.
        """
        ...

    def commit(
        self, lease: Lease, cursor: Cursor, until: Instant, judged_at: Instant | None = None
    ) -> Lease | None:
        """Move the cursor and renew the lease, if its fence is still this one; None if somebody took over.

        `judged_at` is what is kept from then on; None leaves it as it is. A cursor that moves makes
        `tries` 0.
        """
        ...

    def release(self, lease: Lease, found: int, now: Instant, *, left_at: Instant | None = None) -> None:
        """Give the shard up and say what was found and when, if its fence is still this one.

        `left_at` is when the first timer is due that is left undone. No `judged_at` is left; `tries` are 0.
        """
        ...


class RunStore(Protocol):
    """Runs, one item each; what may follow what is said by model/run_states.py alone.

    Tokens: `owner`, unlike for every handling of a message, with the attempt; of a move, `version`.
    """

    def claim(self, run: Run, now: Instant) -> Run | None:
        """Write a `claimed` run if it is granted: None if it is, else the stored run that refuses it.

        Granted if nothing is stored; if what is stored is at an earlier attempt, `claimed` or `retrying`
        (that the next one was sent shows that it failed); if it is this attempt, `claimed`, and its
        `claimed_until` is not after `now`: its holder died, and has the `token` of this one, which stays
        with the attempt; or if it is `failed` with the attempt before
        and the claim is of the first attempt of a redrive.
        """
        ...

    def record(self, run: Run) -> bool:
        """Write what became of an attempt; say whether it was.

        Written if nothing is stored, or if this attempt is claimed by `run.owner`, or by whomever if `run`
        has no `claimed_until`: it needed no claim, so its job has changed since. A claim that somebody else
        has changed (it has a `version` that is not `run.version`) refuses it.
        """
        ...

    def move(self, run: Run, seen: Run) -> bool:
        """Change a run that was read, by its consumer's word, a deadline's or a person's; say whether it was.

        Written if the stored run is in the state and attempt of `seen`, by its owner and in its version.
        """
        ...

    def release(self, run: Run) -> bool:
        """Remove the record of a first attempt that was claimed and not made; say whether it is gone.

        Removed if the stored run is `claimed` by `run.owner` for this attempt, in the version of `run`.
        Nothing there is a success.
        """
        ...

    def of(self, trigger: Trigger) -> Run | None:
        """The run of that trigger, or None."""
        ...

    def get(self, key: JobKey, run_id: str) -> Run | None:
        """The newest run of that name, of this job or an earlier one of its key; None if there is none."""
        ...

    def page(self, key: JobKey, state: State | None, before: str, limit: int) -> Page[Run]:
        """Up to `limit` runs of a job's key, newest due time first, after the position `before` ("": newest).

        With `state`, those in it among the `limit` that were looked at.
        """
        ...


class LineStore(Protocol):
    """The lines of jobs whose runs take turns, one item each. Token: `version`."""

    def get(self, key: JobKey) -> "StoredLine | None":
        """The line of the job of that key, or of an earlier one of its name; None if there is none."""
        ...

    def put(self, stored: "StoredLine", replacing: str | None) -> bool:
        """Write it if the stored version is `replacing` (None: if there is none); say whether it was."""
        ...

    def delete(self, stored: "StoredLine") -> bool:
        """Remove it if it is in that version; nothing there is a success, another version is not."""
        ...


class Queue(Protocol):
    """The delivery queue. It may deliver twice and in any order, and loses nothing."""

    def send(self, messages: Sequence[tuple[Sendable, int]]) -> None:
        """Send any number of messages, each with a delay in ms (0 to 900,000, rounded down to seconds).

        Returns when every one was accepted; single refused entries are sent again. StoreError
        otherwise, and any of them may have been accepted.
        """
        ...

    def acknowledge(self, receipts: Sequence[str]) -> None:
        """Remove received messages from the queue; one that fails comes again, which is harmless."""
        ...

    def bury(self, dead_letters: Sequence[tuple[DeadLetter, str | None]]) -> None:
        """Send dead letters, each to the queue of that URL (None: the stack's own), with the same promise."""
        ...


class PayloadStore(Protocol):
    """`data` over 2 KB. Written once for each uid and ref, never changed."""

    def put(self, uid: str, ref: str, text: str) -> None:
        """Keep a payload; writing it again is harmless."""
        ...

    def get(self, uid: str, ref: str) -> str | None:
        """The payload, or None if it is not there (any more)."""
        ...

    def discard(self, uid: str, ref: str) -> None:
        """Let it expire in two weeks; until then it can be read, since a delivery may be about to."""
        ...

    def is_discarded(self, uid: str, ref: str) -> bool:
        """Whether it expires; False if it is not there."""
        ...

    def page(self, after: str, limit: int) -> Page[StoredPayload]:
        """Up to `limit` payloads in the order of their names, after the position `after` ("": the first).

        `next` is the position to go on after, as long as there may be more. What expires is among them.
        """
        ...


class Attempt(NamedTuple):
    """One request to a consumer.

    `spec` is the job's target, `body` the payload's bytes (JSON; `null` for a job without data),
    `secrets` the namespace's active signing secrets, newest first. `sent_at` is what the signature and
    its timestamp are made of. `may_send` is asked when the connection stands, since that can take seconds:
    if it says no, nothing is sent. It may raise StoreError. `run_token` is what the consumer may report with.
    With `ended_after` it is no trigger that is handed over but the notice that its run ended after so many
    attempts. One that `must_be_new` is no repetition of an earlier attempt: a queue that drops what it has
    taken before must take it. `within_ms` is how long connecting and the request may take together, if that
    is less than the target's own time-out: the attempt may have spent the rest on connections before.
    """

    trigger: Trigger
    number: int
    spec: Mapping[str, Any]
    body: bytes
    secrets: tuple[str, ...]
    sent_at: Instant
    may_send: Callable[[], bool] = always
    run_token: str | None = None
    ended_after: int | None = None
    must_be_new: bool = False
    within_ms: int | None = None

    @property
    def id(self) -> str:
        """What a consumer deduplicates by: the trigger's id, or that of its end after so many attempts."""
        return self.trigger.id if self.ended_after is None else end_id(self.trigger, self.ended_after)


class Answer(NamedTuple):
    """What came of an attempt.

    `code` is the HTTP status, None where none was received or the target has none; `text` the first 512
    bytes of the response, decoded leniently; `error` a sentence where there was no usable response.
    `retry_after_at` is what the consumer asked for. `was_withdrawn`: the attempt was not wanted any more
    when it could have begun, and nothing was sent.
    """

    succeeded: bool
    code: int | None = None
    text: str | None = None
    error: str | None = None
    retry_after_at: Instant | None = None
    is_final: bool = False
    was_withdrawn: bool = False


class Targets(Protocol):
    """The consumers' ends, one module for each type behind one registry."""

    def deliver(self, attempt: Attempt) -> Answer:
        """Make the request within its time-out and say what came of it; a consumer's failure is no error.

        A connection over which nothing was sent, since the attempt was not wanted any more, is kept for the
        next attempt. `may_send` is not asked if no connection came about.
        """
        ...


class SecretStore(Protocol):
    """The namespaces' signing secrets. Token: `version`."""

    def get(self, namespace: str) -> "SigningSecrets | None":
        """The secrets of a namespace, or None before its first."""
        ...

    def put(self, secrets: "SigningSecrets", replacing: str | None) -> bool:
        """Write them if the stored version is `replacing` (None: if there are none); say whether it was."""
        ...


class KeyStore(Protocol):
    """The API keys. An expired one may still be answered: the reader looks."""

    def get(self, key_id: str) -> "Key | None":
        """The key of that id, or None."""
        ...

    def put(self, key: "Key") -> None:
        """Write a new key; its id is random and taken by no other."""
        ...

    def delete(self, key_id: str) -> bool:
        """Remove a key; say whether there was one."""
        ...

    def page(self, namespace: str | None, after: str, limit: int) -> "Page[Key]":
        """Up to `limit` keys by id after `after`: of one namespace, or of all (None).

        With `namespace`, those of it among the `limit` that were looked at.
        """
        ...


class Sweepers(Protocol):
    """The other sweep invocations."""

    def start(self, first_shards: Sequence[int]) -> None:
        """Begin one sweep for each of those shards to start from, without waiting for any."""
        ...
