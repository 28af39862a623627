"""What gates promise beside the seeds: slots outlive their policy, and high triggers go first."""

from typing import Final

from tests.simulation.flow.seeds import high_waits_ms, recreated

from sweephand.base.instants import SECOND_MS

#: A function looks at its line every 300 ms while little waits in its hands, which is four triggers here. An
#: entry has six at most.
HIGH_WAITS_MS_MAX: Final = SECOND_MS


def test_a_policy_that_is_created_again_has_the_slots_that_are_in_use() -> None:
    assert not recreated(1).complaints


def test_high_triggers_go_before_thousands_of_low_ones() -> None:
    assert max(high_waits_ms(1, 5)) <= HIGH_WAITS_MS_MAX
