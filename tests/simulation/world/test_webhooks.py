"""Each request to an HTTP target in simulated worlds is one of the `webhooks` of the OpenAPI document."""

from collections import Counter

import pytest
from tests.fakes.webhooks import check_attempt
from tests.simulation.simulation import run
from tests.simulation.workload.watches import FIRST_WITH_WATCHES
from tests.simulation.world.consumers import Consumers
from tests.simulation.world.faults import FIRST_BATCHED

from sweephand.model.attempt import Answer, Attempt
from sweephand.model.webhook import EVENTS

#: Plain worlds, worlds with batches, and worlds with watches. Together they send every event.
SEEDS = (
    *range(10),
    *range(FIRST_BATCHED + 7, FIRST_BATCHED + 14),
    *range(FIRST_WITH_WATCHES, FIRST_WITH_WATCHES + 8),
)


def test_every_request_of_the_simulator_is_one_of_the_document(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: Counter[str | None] = Counter()
    deliver = Consumers.deliver

    def checked(consumers: Consumers, attempt: Attempt) -> Answer:
        sent[check_attempt(attempt)] += 1
        return deliver(consumers, attempt)

    monkeypatch.setattr(Consumers, "deliver", checked)
    for seed in SEEDS:
        run(seed)
    assert all(sent[event] > 0 for event in EVENTS), sent
