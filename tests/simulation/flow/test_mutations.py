"""Each way to break the worker of a line turns a seed red that is green without it."""

from collections.abc import Callable
from typing import Final

import pytest
from tests.contract import test_policy_lines
from tests.fakes.flow_memory import MemoryPolicyLines
from tests.simulation.flow import test_limit_changes
from tests.simulation.flow.mutations import MUTATIONS
from tests.simulation.flow.seeds import high_waits_ms, recreated, run
from tests.unit.runs.flow import test_dropped_work, test_line_waits, test_line_worker

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS

#: The seeds that `python -m tests.simulation.flow.mutations` found.
CAUGHT: Final = {
    "a holder shorter than its worker": 0,
    "a remainder that is not written back": 0,
    "triggers that are held and not written": 0,
    "a second receive without its delayed copy": 4,
    "open requests of a leaving worker that count for nothing": 0,
    "work for a helper that is not written": 5,
    "a wake mark that is never cleared": 15,
    "a permit named after its trigger": 2,
    "a cursor instead of deletion": 0,
}


#: In 6 s a worker with two permits delivers the hundred triggers of an entry that it has taken up. Then it
#: looks for what is more urgent.
HIGH_WAITS_MS_MAX: Final = 7 * SECOND_MS


def _is_kept_after_a_deletion() -> None:
    assert not recreated(1).complaints


def _goes_first() -> None:
    assert max(high_waits_ms(1, 5)) <= HIGH_WAITS_MS_MAX


def _loses_nothing_that_is_held() -> None:
    for number in range(len(test_line_waits.calls_of_leaving())):
        test_line_waits.test_no_error_of_a_leaving_worker_loses_a_trigger_that_has_to_wait(number, StoreError)


#: Those that show in too few seeds, and the unit test that fails.
SHOWN: Final[dict[str, Callable[[], None]]] = {
    "a dropped message without the line being read again": (
        test_line_worker.test_the_last_worker_leaves_a_message_for_what_it_did_not_see
    ),
    "a message that is dropped before its time and does not come again": (
        test_dropped_work.test_a_message_that_is_dropped_before_its_time_by_another_clock_comes_again
    ),
    "a token that is lost with a trigger that is held": (
        test_line_waits.test_triggers_that_are_held_use_no_tokens_of_the_rate
    ),
    "triggers that are held and forgotten before they are written": _loses_nothing_that_is_held,
    "a policy that is read once": (
        test_line_worker.test_a_worker_begins_nothing_a_second_after_its_policy_was_deleted
    ),
    "a limit lowered while in use": lambda: (
        test_limit_changes.test_no_more_requests_are_open_than_a_lowered_limit_three_seconds_later(1)
    ),
    "an entry deleted without its token": lambda: (
        test_policy_lines.test_an_entry_is_deleted_only_in_the_content_that_was_read(MemoryPolicyLines())
    ),
    "holders that go with their policy": _is_kept_after_a_deletion,
    "a priority that is starved": _goes_first,
}


def test_every_mutation_has_a_seed_or_a_unit_test() -> None:
    assert sorted([*CAUGHT, *SHOWN]) == sorted(MUTATIONS)


@pytest.mark.parametrize("name", SHOWN)
def test_a_rare_mutation_fails_another_test(name: str) -> None:
    SHOWN[name]()
    with MUTATIONS[name](), pytest.raises((AssertionError, ValueError)):
        SHOWN[name]()


@pytest.mark.parametrize("name", CAUGHT)
def test_a_mutation_is_caught(name: str) -> None:
    with MUTATIONS[name]():
        assert run(CAUGHT[name]).complaints


@pytest.mark.parametrize("seed", sorted(set(CAUGHT.values())))
def test_the_seed_is_green_without_it(seed: int) -> None:
    assert not run(seed).complaints
