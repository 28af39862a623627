"""Keeping the data over 2 KB that was given with a trigger, for as long as the trigger may wait."""

from sweephand.base.instants import Instant
from sweephand.base.timing import PAYLOAD_KEPT_MS, PAYLOAD_LATE_MS
from sweephand.model.definition import Payload
from sweephand.model.trigger import RangeMessage, TriggerMessage
from sweephand.ports.clock import Clock
from sweephand.ports.jobs import PayloadStore


class KeptData:
    """Renews the data of triggers before they wait. Several threads may share one object.

    The data itself says until when it is kept. So a trigger writes nothing more in its first 31 days, and
    then once in 31 days at most. It writes once for each run or retry that can take longer than that.
    """

    def __init__(self, *, payloads: PayloadStore, clock: Clock) -> None:
        self._payloads = payloads
        self._clock = clock

    def of_trigger(self, message: TriggerMessage, until: Instant) -> TriggerMessage:
        """The message as it is to be sent to wait until that instant: its data is kept for that."""
        kept = self.of_run(message.trigger.uid, message.payload, until)
        return message if kept is message.payload else message._replace(payload=kept)

    def of_range(self, message: RangeMessage, until: Instant) -> RangeMessage:
        """The same for the message of a batch on demand."""
        kept = self.of_run(message.uid, message.payload, until)
        return message if kept is message.payload else message._replace(payload=kept)

    def of_run(self, uid: str, payload: Payload | None, until: Instant) -> Payload | None:
        """The data of a trigger of a job, kept until PAYLOAD_LATE_MS after that instant.

        A timer or a message may be late by so much. The instant is at most 30 days from now. StoreError: the
        data may expire too early.
        """
        if payload is None or payload.ref is None:
            return payload
        if (payload.kept_until or 0) >= until + PAYLOAD_LATE_MS:
            return payload
        now = self._clock.now()
        self._payloads.renew(uid, payload.ref)
        return payload._replace(kept_until=now + PAYLOAD_KEPT_MS)
