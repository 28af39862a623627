"""What becomes of a span: many triggers of one revision in one message."""

from sweephand.instants import Instant
from sweephand.jobs.live import ruling
from sweephand.ports import Clock, Queue, RunStore
from sweephand.runs.later import Later
from sweephand.runs.reading import Reading
from sweephand.runs.settle import Delivered
from sweephand.runs.skipping import record_skipped
from sweephand.timing import QUEUE_DELAY_MAX_MS, UNKNOWN_DELAY_MS, UNKNOWN_GRACE_MS
from sweephand.wheel.arm import delay_of, split
from sweephand.wheel.catchup import Span
from sweephand.wheel.trigger import SpanMessage


class Spans:
    """Splits spans until their triggers are single, or records those that do not fire."""

    def __init__(self, *, reading: Reading, runs: RunStore, queue: Queue, later: Later, clock: Clock) -> None:
        self._reading = reading
        self._runs = runs
        self._queue = queue
        self._later = later
        self._clock = clock

    def handle(self, span: SpanMessage) -> Delivered:
        """Deal with a span; returns when it may be acknowledged. StoreError: it must come again."""
        now = self._clock.now()
        return self._skip(span, now) if span.are_skipped else self._split(span, now)

    def _split(self, span: SpanMessage, now: Instant) -> Delivered:
        self._queue.send([(part, min(delay_of(part, now), QUEUE_DELAY_MAX_MS)) for part in split(span)])
        return Delivered("split")

    def _skip(self, span: SpanMessage, now: Instant) -> Delivered:
        """Record misfires that do not fire, if the revision that skips them was committed."""
        job = self._reading.anew(span.key).job
        if job is None or ruling(job, span.uid, span.rev) is None:
            if now - span.armed_at >= UNKNOWN_GRACE_MS:
                return Delivered("dropped")
            self._later.put_back(span, now + UNKNOWN_DELAY_MS)
            return Delivered("unknown")
        skipped = Span(span.first, span.series.last_through(span.until, span.first))
        record_skipped(self._runs, span, skipped, span.series, job, decided_at=span.armed_at)
        return Delivered("skipped")
