"""How long sweepers take to send a herd, by the model."""

import pytest
from infra.capacity.sending import Sweeping, sent_after_idle_s, sent_after_s

FOUR = Sweeping(sweepers=4, shards=4, sweeper_per_s=5_000, tick_per_s=1_000)


def test_sweepers_add_up_as_far_as_there_are_shards() -> None:
    assert FOUR.per_s == 20_000
    assert Sweeping(4, 2, 5_000, 1_000).per_s == 10_000
    assert Sweeping(2, 4, 5_000, 1_000).per_s == 10_000
    assert sent_after_s(100_000, FOUR) == 5


def test_after_an_idle_hour_tick_sweeps_alone_for_forty_seconds() -> None:
    assert sent_after_idle_s(40_000, FOUR) == 40
    assert sent_after_idle_s(100_000, FOUR) == pytest.approx(40 + 1.5 + 3)
    assert sent_after_idle_s(1_000, FOUR) == 1
