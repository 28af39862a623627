"""The payload audit: finds payloads to which no job refers, one page of the store at a time."""

from typing import Final, NamedTuple, Protocol

from sweephand.base.instants import Instant
from sweephand.base.timing import PAYLOAD_GRACE_MS
from sweephand.model.job import Job, JobKey
from sweephand.ports import Clock, JobStore, PayloadStore

#: Payloads that one step examines.
AUDITED_MAX: Final = 1_000


class Audited(NamedTuple):
    """The result of a step of the audit: the payloads that it examined, and those that it discarded."""

    examined: int
    discarded: int


class AuditStore(Protocol):
    """How far the payload audit has come."""

    def position(self) -> str:
        """The position after which the next step continues ("": from the first payload)."""
        ...

    def save_position(self, position: str) -> None:
        """Have the next step continue after that position; of two writes at once, the last one counts."""
        ...


class PayloadAudit:
    """Discards the data of jobs that DynamoDB removed and of writes that failed. No other function does this.

    DynamoDB removes expired jobs by their time to live, and calls no function when it does.
    """

    def __init__(self, *, jobs: JobStore, payloads: PayloadStore, audits: AuditStore, clock: Clock) -> None:
        self._jobs = jobs
        self._payloads = payloads
        self._audits = audits
        self._clock = clock

    def step(self, limit: int = AUDITED_MAX) -> Audited:
        """Examine the page after the one that the last step examined; after the last page, the first.

        Two steps at once do the same, so they do no harm. After a StoreError, the next step repeats this
        page.
        """
        page = self._payloads.page(self._audits.position(), limit)
        old_enough_at = self._clock.now() - PAYLOAD_GRACE_MS
        old_enough = [each for each in page.items if each.written_at < old_enough_at]
        owners = {owner for each in old_enough if (owner := owner_of(each.ref)) is not None}
        jobs = self._jobs.get_many(sorted(owners))
        discarded = 0
        for each in old_enough:
            owner = owner_of(each.ref)
            if owner is None or refers(jobs.get(owner), each.uid, each.ref):
                continue
            if not self._payloads.is_discarded(each.uid, each.ref):
                self._payloads.discard(each.uid, each.ref)
                discarded += 1
        self._audits.save_position(page.next or "")
        return Audited(len(page.items), discarded)


def ref_of(digest: str, token: str, key: JobKey) -> str:
    """The ref of a payload that a write stores. It names the job."""
    return f"{digest[:32]}-{token}/{key.namespace}/{key.name}"


def owner_of(ref: str) -> JobKey | None:
    """The job whose write stored a payload; None for a ref of an earlier release, which does not name it."""
    _, *key = ref.split("/")
    return JobKey(*key) if len(key) == len(JobKey._fields) else None


def refers(job: Job | None, uid: str, ref: str) -> bool:
    """Whether the job refers to that payload."""
    return job is not None and job.uid == uid and _ref(job) == ref


def may_come_back(job: Job, now: Instant) -> bool:
    """Whether the SDK may still repeat the job's creation, and bring the job back after its deletion."""
    return now - job.created_at <= PAYLOAD_GRACE_MS


def _ref(job: Job) -> str | None:
    payload = job.definition.payload
    return None if payload is None else payload.ref
