"""The end-to-end test that comes first: what takes minutes by its nature is under way while others run."""

import pytest
from infra.local.receiver import Receiver
from tests.e2e.outage import Outage


@pytest.mark.comes_first
def test_an_outage_a_far_job_and_a_silent_consumer_are_begun(
    outage: Outage, far: Receiver, silent: Receiver
) -> None:
    assert not outage.scene.receiver.deliveries()
    assert not far.deliveries()
    assert len(silent.deliveries()) == 1
