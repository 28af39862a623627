"""What workers promise beside the seeds: permits outlive their policy, and high triggers go first."""

from typing import Final

from tests.simulation.flow.seeds import high_waits_ms, recreated

from sweephand.base.instants import SECOND_MS

#: In 6 s a worker with two permits delivers the hundred triggers of an entry that it has taken up. Then it
#: looks for what is more urgent.
HIGH_WAITS_MS_MAX: Final = 7 * SECOND_MS


def test_a_policy_that_is_created_again_has_the_permits_that_are_in_use() -> None:
    assert not recreated(1).complaints


def test_high_triggers_go_before_thousands_of_low_ones() -> None:
    assert max(high_waits_ms(1, 5)) <= HIGH_WAITS_MS_MAX
