"""The ports of jobs, of their changes and of payloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from sweephand.base.concurrency import always

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sweephand.base.instants import Instant
    from sweephand.model.change import Change
    from sweephand.model.definition import StoredPayload
    from sweephand.model.job import Job, JobBrief, JobKey, Revision, RevisionName
    from sweephand.model.page import Page
    from sweephand.model.policy import PolicyKey


class Wanted(Protocol):
    """Says of a job whether a search wants it. Threads may ask at once."""

    def __call__(self, name: str, written: Mapping[str, Any], /) -> bool:
        """Whether it wants the job of that name, of which the user wrote that."""
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

    def keep(self, key: JobKey, until: Instant) -> bool:
        """Have the store remove the job at that instant, if it would earlier; return whether so.

        Nothing that a reader sees of the job changes. A job that was removed does not come back.
        """
        ...

    def page(self, namespace: str, prefix: str, after: str, limit: int) -> Page[Job]:
        """Up to `limit` jobs of a namespace, sorted by name, with that `prefix` and after the name `after`.

        `next` is the name after which the next page begins, as long as there may be more jobs.
        """
        ...

    def search(self, namespace: str, prefix: str, after: str, limit: int, wanted: Wanted) -> Page[Job]:
        """The `wanted` ones of the next jobs by name, of which the store looks at one at least.

        It looks at about as many as `limit`, and at fewer if they are large. `next` is the name up to which
        it has looked, as long as there may be more jobs.
        """
        ...


class ChangeStore(Protocol):
    """Changes of jobs and policies, filed under the key of each for 90 days. They outlive the job or policy.

    A job and a policy may have the same namespace and name. Their changes are kept apart.
    """

    def put(self, key: JobKey | PolicyKey, change: Change) -> None:
        """File a change; filing it again is harmless."""
        ...

    def page(self, key: JobKey | PolicyKey, before: str, limit: int) -> Page[Change]:
        """Up to `limit` changes of a key, newest first, after the position `before` ("": from the newest)."""
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
