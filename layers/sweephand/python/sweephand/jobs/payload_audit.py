"""Which payloads no job refers to any more: looked for a page at a time, all through the store."""

from typing import Final, NamedTuple, Protocol

from sweephand.base.instants import Instant
from sweephand.base.timing import PAYLOAD_GRACE_MS
from sweephand.model.job import Job, JobKey
from sweephand.ports import Clock, JobStore, PayloadStore

#: Payloads that one step looks at.
AUDITED_MAX: Final = 1_000


class Audited(NamedTuple):
    """What a step of the audit did: how many payloads it looked at, and how many it let go of."""

    examined: int
    discarded: int


class AuditStore(Protocol):
    """How far the audit of payloads has come."""

    def reached(self) -> str:
        """The position after which the next step goes on ("": from the first payload)."""
        ...

    def reach(self, position: str) -> None:
        """Have the next step go on after that position; of two steps at once the last to say so rules."""
        ...


class PayloadAudit:
    """Lets go of what nobody else does: the data of jobs that DynamoDB removed, and of writes that failed.

    A job that ends by its time to live is removed by DynamoDB, which tells nobody.
    """

    def __init__(self, *, jobs: JobStore, payloads: PayloadStore, audits: AuditStore, clock: Clock) -> None:
        self._jobs = jobs
        self._payloads = payloads
        self._audits = audits
        self._clock = clock

    def step(self, limit: int = AUDITED_MAX) -> Audited:
        """Look at the next page of payloads, where the last step stopped; after the last, at the first.

        Two steps at once do no harm: they do the same. StoreError: the next step looks at this page again.
        """
        page = self._payloads.page(self._audits.reached(), limit)
        settled_at = self._clock.now() - PAYLOAD_GRACE_MS
        settled = [each for each in page.items if each.written_at < settled_at]
        owners = {owner for each in settled if (owner := owner_of(each.ref)) is not None}
        jobs = self._jobs.get_many(sorted(owners))
        discarded = 0
        for each in settled:
            owner = owner_of(each.ref)
            if owner is None or refers(jobs.get(owner), each.uid, each.ref):
                continue
            if not self._payloads.is_discarded(each.uid, each.ref):
                self._payloads.discard(each.uid, each.ref)
                discarded += 1
        self._audits.reach(page.next or "")
        return Audited(len(page.items), discarded)


def ref_of(digest: str, token: str, key: JobKey) -> str:
    """The ref of a payload that a write makes: it leads back to the job."""
    return f"{digest[:32]}-{token}/{key.namespace}/{key.name}"


def owner_of(ref: str) -> JobKey | None:
    """The job whose write made a payload; None for a ref of an earlier release, which does not say."""
    _, *key = ref.split("/")
    return JobKey(*key) if len(key) == len(JobKey._fields) else None


def refers(job: Job | None, uid: str, ref: str) -> bool:
    """Whether a job refers to a payload."""
    return job is not None and job.uid == uid and _ref(job) == ref


def may_come_back(job: Job, now: Instant) -> bool:
    """Whether the SDK may still repeat the creation of a job, and bring it back after its deletion."""
    return now - job.created_at <= PAYLOAD_GRACE_MS


def _ref(job: Job) -> str | None:
    payload = job.definition.payload
    return None if payload is None else payload.ref
