"""What catches each way to break the worker of a line: a seed, a test, or a protection that masks it."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

from tests.simulation.flow import test_limit_changes, test_promises, test_rates, test_returns
from tests.unit.runs.flow import test_dropped_work, test_leaving_twice, test_line_waits, test_line_worker

from sweephand.base.errors import StoreError


class Shown(NamedTuple):
    """A test that fails, and how it is called."""

    test: Callable[..., None]
    call: Callable[[], Any]


def _each_call_of_leaving() -> None:
    for number in range(len(test_line_waits.calls_of_leaving())):
        test_line_waits.test_no_error_of_a_leaving_worker_loses_a_trigger_that_has_to_wait(number, StoreError)


def _as_it_is(test: Callable[..., None], *arguments: object) -> Shown:
    return Shown(test, partial(test, *arguments))


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

_RATE: Final = _as_it_is(
    test_rates.test_requests_that_are_limit_apart_leave_at_least_per_apart_whatever_crashes, 10
)

#: Those that show in too few of the usual seeds, and the test that fails.
SHOWN: Final = {
    "a dropped message without the line being read again": _as_it_is(
        test_line_worker.test_the_last_worker_leaves_a_message_for_what_it_did_not_see
    ),
    "a message that is dropped before its time and does not come again": _as_it_is(
        test_dropped_work.test_a_message_that_is_dropped_before_its_time_by_another_clock_comes_again
    ),
    "a token that is lost with a trigger that is held": _as_it_is(
        test_line_waits.test_triggers_that_are_held_use_no_tokens_of_the_rate
    ),
    "triggers that are held and forgotten before they are written": Shown(
        test_line_waits.test_no_error_of_a_leaving_worker_loses_a_trigger_that_has_to_wait,
        _each_call_of_leaving,
    ),
    "entries of a lost partition that a worker keeps": _as_it_is(
        test_leaving_twice.test_a_worker_whose_claim_another_one_took_brings_back_nothing_of_a_pack
    ),
    "triggers that have not begun and count as open": _as_it_is(
        test_leaving_twice.test_triggers_wait_for_no_end_of_a_holder_because_a_leaving_worker_failed_once
    ),
    "a policy that is read once": _as_it_is(
        test_line_worker.test_a_worker_begins_nothing_a_second_after_its_policy_was_deleted
    ),
    "a limit lowered while in use": _as_it_is(
        test_limit_changes.test_no_more_requests_are_open_than_a_lowered_limit_three_seconds_later, 1
    ),
    "a token without the source of its entry": _as_it_is(
        test_returns.test_a_thawed_worker_does_not_delete_the_entry_of_a_trigger_that_came_back
    ),
    "tokens that are taken without the condition": _RATE,
    "a request that leaves when its slot has passed": _RATE,
    "holders that go with their policy": _as_it_is(
        test_promises.test_a_policy_that_is_created_again_has_the_permits_that_are_in_use
    ),
    "a priority that is starved": _as_it_is(test_promises.test_high_triggers_go_before_thousands_of_low_ones),
}

#: Those that another protection keeps from doing harm, and which one.
MASKED: Final = {
    "an entry deleted without its token": "an entry is named by its token, so no other one takes its place",
}
