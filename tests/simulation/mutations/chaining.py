"""Errors in chains: in chained triggers that come hours late, and in where a chain ends."""

from collections.abc import Callable, Mapping
from typing import Any
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, everywhere, mutation, wrapping
from tests.simulation.workload.circles import FIRST_WITH_CIRCLES

from sweephand.model.attempt import Answer
from sweephand.model.job import JobKey
from sweephand.model.run import trigger_of
from sweephand.model.trigger import NotifyMessage, Trigger
from sweephand.runs import notify
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


def _longer_by(links: int) -> Broken:
    """Change the longest chain of the seed, which its world has set already."""
    longest = vars(notify)["CHAIN_LENGTH_MAX"]
    return patch.object(notify, "CHAIN_LENGTH_MAX", longest + links)


@mutation("A chain may be one link longer than the longest", first=FIRST_WITH_CIRCLES)
def allows_one_link_more() -> Broken:
    return _longer_by(1)


@mutation("A chain ends one link too early", first=FIRST_WITH_CIRCLES)
def ends_chains_a_link_early() -> Broken:
    return _longer_by(-1)


def _begun_anew(trigger: Trigger) -> Trigger:
    demand = trigger.demand
    return trigger if demand is None else trigger._replace(demand=demand._replace(link=0))


@mutation("A retry by a run's record begins its chain anew", first=FIRST_WITH_CIRCLES)
def begins_chains_anew_with_a_record() -> Broken:
    return everywhere("trigger_of", lambda run: _begun_anew(trigger_of(run)))
