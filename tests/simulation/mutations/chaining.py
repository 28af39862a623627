"""Errors in chains, above all in chained triggers that come hours late."""

from collections.abc import Iterator, Mapping
from typing import Any
from unittest.mock import patch

from tests.simulation.mutations.registry import mutation

from sweephand.model.attempt import Answer
from sweephand.model.job import JobKey
from sweephand.model.trigger import NotifyMessage
from sweephand.runs.delivery import Delivery, Drop, Stop
from sweephand.runs.gates import Gates
from sweephand.runs.notify import Notifier


@mutation("A chained trigger of a late run is a misfire by the catch-up of its own job")
def misses_what_follows() -> Iterator[None]:
    alive = Gates.alive

    def judged(self: Gates, delivery: Delivery) -> Delivery | Stop:
        trigger, job = delivery.message.trigger, delivery.read.job
        rule = job.definition.catchup if job is not None else None
        is_chained = trigger.demand is not None and trigger.demand.kind == "chained"
        if rule is not None and is_chained and self._clock.now() - trigger.due_at > rule.window_ms:
            return Drop(delivery, "dropped")
        return alive(self, delivery)

    with patch.object(Gates, "alive", judged):
        yield


@mutation("A job without further occurrences refuses chained triggers")
def ends_chains_with_series() -> Iterator[None]:
    trigger = Notifier._trigger

    def triggered(self: Notifier, notice: NotifyMessage, spec: Mapping[str, Any], *others: Any) -> Answer:
        job = self._job_reads.reread(JobKey(notice.trigger.key.namespace, spec["name"])).job
        if job is not None and job.series.next_after(self._clock.now()) is None:
            return Answer(succeeded=True)
        return trigger(self, notice, spec, *others)

    with patch.object(Notifier, "_trigger", triggered):
        yield
