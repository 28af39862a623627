"""The payload audit: finds payloads to which no job refers, one page of a store at a time."""

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from sweephand.base.instants import INSTANT_MAX, Instant
from sweephand.base.timing import PAYLOAD_GRACE_MS, PAYLOAD_KEPT_MS
from sweephand.model.definition import Payload, StoredPayload
from sweephand.model.job import Job, JobKey
from sweephand.model.page import Page
from sweephand.model.run_id import Demand
from sweephand.ports.clock import Clock
from sweephand.ports.jobs import JobStore, PayloadPlace, PayloadStore

#: Payloads that one step examines in the place to which new payloads are written.
AUDITED_MAX: Final = 1_000

#: Payloads that one step examines in another place. It may have to move all of them, in a part of a minute.
MOVED_MAX: Final = 100


class Audited(NamedTuple):
    """The result of a step of the audit: how many payloads it examined, discarded, and moved."""

    examined: int
    discarded: int
    moved: int = 0


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

    The audit also moves payloads that lie elsewhere to the place to which new payloads are written (decision
    004). That is the first of `places`.
    """

    def __init__(
        self, *, jobs: JobStore, places: Sequence[PayloadPlace], audits: AuditStore, clock: Clock
    ) -> None:
        self._jobs = jobs
        self._places = places
        self._audits = audits
        self._clock = clock

    def step(self, limit: int = AUDITED_MAX, *, until: Instant = INSTANT_MAX) -> Audited:
        """Examine the page after what the last step examined; after the last page, the first.

        It ends when `until` has passed, but no earlier than after one payload, and the next step goes on
        there. Two steps at once do the same, so they do no harm. After a StoreError, the next step repeats
        this page.
        """
        number, after = _read_position(self._audits.position(), len(self._places))
        place = self._places[number]
        page = place.page(after, limit if number == 0 else min(limit, MOVED_MAX))
        old_enough_at = self._clock.now() - PAYLOAD_GRACE_MS
        old_enough = [each for each in page.items if each.written_at < old_enough_at]
        owners = {owner for each in old_enough if (owner := owner_of(each.ref)) is not None}
        jobs = self._jobs.get_many(sorted(owners))
        discarded = moved = 0
        for each in old_enough:
            owner = owner_of(each.ref)
            if owner is None:
                continue
            if refers(jobs.get(owner), each.uid, each.ref):
                if number != 0 and self._move(place, each):
                    moved += 1
            elif not place.is_discarded(each.uid, each.ref):
                place.discard(each.uid, each.ref)
                discarded += 1
            if self._clock.now() >= until:
                page = Page(page.items[: page.items.index(each) + 1], f"{each.uid}/{each.ref}")
                break
        self._audits.save_position(self._position_after(number, page))
        return Audited(len(page.items), discarded, moved)

    def _move(self, place: PayloadPlace, payload: StoredPayload) -> bool:
        """Copy a payload to the first place and discard it here; return whether that was needed.

        A discarded payload was moved before. Another version of the stack may move it back at the same time.
        Then both copies could end up discarded. So the first place is asked once more after the discarding.
        """
        uid, ref = payload.uid, payload.ref
        if place.is_discarded(uid, ref):
            return False
        text = place.get(uid, ref)
        if text is None:
            return False
        first = self._places[0]
        first.put(uid, ref, text)
        place.discard(uid, ref)
        if first.is_discarded(uid, ref):
            first.put(uid, ref, text)
        return True

    def _position_after(self, number: int, page: Page[StoredPayload]) -> str:
        if page.next is not None:
            return f"{number}:{page.next}" if number else page.next
        following = number + 1
        return f"{following}:" if following < len(self._places) else ""


def _read_position(position: str, places: int) -> tuple[int, str]:
    """The number of the place, and the position in it.

    A position in the first place has no number. It begins with the uid of a job, whose second character is no
    colon. After a change of the parameters the number may stand for another place. Then the round skips a
    part of that place, and the next round does not.
    """
    number, colon, after = position[:1], position[1:2], position[2:]
    if colon != ":":
        return 0, position
    return (int(number), after) if int(number) < places else (0, "")


def ref_of(digest: str, token: str, key: JobKey) -> str:
    """The ref of a payload that a write stores. It names the job."""
    return f"{digest[:32]}-{token}/{key.namespace}/{key.name}"


def stored_for(job: Job, payload: Payload, demand: Demand, payloads: PayloadStore, now: Instant) -> Payload:
    """The data of a trigger on demand as the trigger's message carries it, stored at `now` or later.

    Data over 2 KB goes to the payload store, under a name of its own, and expires there. A trigger that waits
    for long renews it (runs/requeue.py). Storing it again is harmless.
    """
    if payload.is_inline or payload.text is None:
        return payload
    ref = ref_of(payload.digest, demand.token, job.key)
    payloads.put(job.uid, ref, payload.text)
    payloads.discard(job.uid, ref)
    return payload._replace(text=None, ref=ref, kept_until=now + PAYLOAD_KEPT_MS)


def owner_of(ref: str) -> JobKey | None:
    """The job whose write stored a payload; None for an object that no write has named."""
    _, *key = ref.split("/")
    return JobKey(*key) if len(key) == len(JobKey._fields) else None


def refers(job: Job | None, uid: str, ref: str) -> bool:
    """Whether the job refers to that payload."""
    return job is not None and job.uid == uid and payload_ref(job) == ref


def may_come_back(job: Job, now: Instant) -> bool:
    """Whether the SDK may still repeat the job's creation, and bring the job back after its deletion."""
    return now - job.created_at <= PAYLOAD_GRACE_MS


def payload_ref(job: Job | None) -> str | None:
    """The ref of the job's data; None if that is stored in the job, or if there is none."""
    payload = None if job is None else job.definition.payload
    return None if payload is None else payload.ref
