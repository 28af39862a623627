"""Storing the data that was given with a trigger on demand. The data expires by itself."""

from sweephand.base.instants import Instant
from sweephand.base.timing import PAYLOAD_KEPT_MS
from sweephand.jobs.payload_audit import ref_of
from sweephand.model.definition import Payload
from sweephand.model.job import Job
from sweephand.model.run_id import Demand
from sweephand.ports.jobs import PayloadStore


def stored_for(job: Job, payload: Payload, demand: Demand, payloads: PayloadStore, now: Instant) -> Payload:
    """The payload as the trigger's message carries it, stored at `now` or later.

    One over 2 KB goes to the payload store, under a name of its own, and expires there. A trigger that waits
    for long renews it (runs/kept_data.py). Storing it again is harmless.
    """
    if payload.is_inline or payload.text is None:
        return payload
    ref = ref_of(payload.digest, demand.token, job.key)
    payloads.put(job.uid, ref, payload.text)
    payloads.discard(job.uid, ref)
    return payload._replace(text=None, ref=ref, kept_until=now + PAYLOAD_KEPT_MS)
