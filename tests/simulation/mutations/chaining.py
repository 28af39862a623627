"""Errors in chains, above all in chained triggers that come hours late."""

from collections.abc import Callable, Mapping
from typing import Any

from tests.simulation.mutations.registry import mutation, wrapping

from sweephand.model.attempt import Answer
from sweephand.model.job import JobKey
from sweephand.model.trigger import NotifyMessage
from sweephand.runs.delivery import Delivery, Drop, Stop
from sweephand.runs.gates import Gates
from sweephand.runs.notify import Notifier


@mutation("A chained trigger of a late run is a misfire by the catch-up of its own job")
@wrapping(Gates, "alive")
def misses_what_follows(
    alive: Callable[..., Delivery | Stop], self: Gates, delivery: Delivery
) -> Delivery | Stop:
    trigger, job = delivery.message.trigger, delivery.read.job
    rule = job.definition.catchup if job is not None else None
    is_chained = trigger.demand is not None and trigger.demand.kind == "chained"
    if rule is not None and is_chained and self._clock.now() - trigger.due_at > rule.window_ms:
        return Drop(delivery, "dropped")
    return alive(self, delivery)


@mutation("A job without further occurrences refuses chained triggers")
@wrapping(Notifier, "_trigger")
def ends_chains_with_series(
    trigger: Callable[..., Answer],
    self: Notifier,
    notice: NotifyMessage,
    spec: Mapping[str, Any],
    *others: Any,
) -> Answer:
    job = self._job_reads.reread(JobKey(notice.trigger.key.namespace, spec["name"])).job
    if job is not None and job.series.next_after(self._clock.now()) is None:
        return Answer(succeeded=True)
    return trigger(self, notice, spec, *others)
