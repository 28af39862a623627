"""How late one-offs are on a local stack on which nothing was due for ten minutes."""

import os
from typing import Final

from infra.bench.consumer import Consumer
from infra.bench.lateness_report import Judged, report
from infra.bench.one_offs import ONE_OFFS, create, wait_for
from infra.bench.punctuality import judge
from infra.bench.report import Report
from infra.local import stack
from infra.local.client import Client
from infra.local.places import Place

from sweephand.base.instants import MINUTE_MS

#: Nothing is due for this long after the one-offs have been created.
_IDLE_MS: Final = 10 * MINUTE_MS

#: The aim of the design for the first triggers after an idle time.
_P99_MS: Final = 500


def measure(place: Place, triggers: int) -> Report:
    """Start a stack of its own, leave it idle, wait for the one-offs, and end it. None is left out."""
    loads = [os.getloadavg()[0]]
    described = stack.up(place, say=lambda text: print(f"  {text}", flush=True))
    try:
        with Consumer() as consumer, Client.of(described) as client:
            created = create(client, consumer.url, triggers, after_creation_ms=_IDLE_MS)
            wait_for(consumer, created)
            arrivals = [each for each in consumer.arrivals() if each.namespace == ONE_OFFS]
    finally:
        stack.down(place)
    loads.append(os.getloadavg()[0])
    found = judge(set(created.due_at.items()), arrivals)
    groups = {f"one-offs after {_IDLE_MS // MINUTE_MS} idle minutes": Judged(found, _P99_MS)}
    return report("Lateness after an idle time", groups, created, loads)
