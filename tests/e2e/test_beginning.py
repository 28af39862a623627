"""The end-to-end test that comes first: what takes minutes by its nature is under way while others run."""

import pytest
from infra.local.receiver import Receiver


@pytest.mark.comes_first
def test_a_far_job_and_a_silent_consumer_are_begun(far: Receiver, silent: Receiver) -> None:
    assert not far.deliveries()
    assert len(silent.deliveries()) == 1
