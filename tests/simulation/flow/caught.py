"""What catches each way to break gates: a seed, a test, or a protection that masks it."""

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

from tests.simulation.flow import test_promises, test_returns, test_seeds
from tests.simulation.flow.many import Kind
from tests.unit.flow import (
    test_breaker,
    test_forward,
    test_gates,
    test_held_slots,
    test_keys,
    test_paused_keys,
    test_permit,
    test_server,
    test_tokens,
    test_turn,
    test_turn_lines,
)
from tests.unit.jobs import test_policies

from sweephand.base.instants import SECOND_MS
from sweephand.model.policy import Rate


class Seed(NamedTuple):
    """A world whose seed complains."""

    number: int
    kind: Kind = "usual"


class Shown(NamedTuple):
    """A test that fails, and how it is called."""

    test: Callable[..., None]
    call: Callable[[], Any]


def _by(test: Callable[..., None], *arguments: object, **named: object) -> Shown:
    return Shown(test, partial(test, *arguments, **named))


#: The seeds that `python -m tests.simulation.flow.mutations` found.
CAUGHT: Final = {
    "a trigger that joins an entry which was written since": Seed(6, "calm"),
    "a trigger that joins a leased entry": Seed(0, "calm"),
    "a lease that erases what has joined the entry": Seed(0, "calm"),
    "nobody is called for a new entry": Seed(0, "calm"),
    "a probe without a next one": Seed(0, "calm-outages"),
    "a breaker that opens without a message": Seed(0, "calm-outages"),
    "a success that forgets no failures": Seed(0, "calm-outages"),
    "an open breaker whose gates keep their shares": Seed(0, "calm-outages"),
    "a breaker that never opens": Seed(0, "calm-outages"),
    "a probe that takes more slots": Seed(0, "calm-outages"),
    "keys that share one gate": Seed(0, "calm-keys"),
    "a key that is computed from what the job was": Seed(2, "calm-keys"),
    "a key that is not listed": Seed(0, "calm-keys"),
    "a change that reaches the empty key alone": Seed(0, "calm-keys"),
    "a guard that is not sent": Seed(0),
    "a guard that comes once": Seed(2),
    "a guard that is removed before the line is read": Seed(0),
    "a baton whose mark stays": Seed(1, "calm"),
    "holders that stay when their time is over": Seed(1),
    "a paused policy whose gates keep their shares": Seed(1, "calm-pauses"),
    "a resume that sends no message": Seed(1, "calm-pauses"),
    "slots of open requests that are given back at the end of a turn": Seed(0, "calm"),
}

_LOOKS_ONCE: Final = _by(
    test_gates.test_an_entry_stands_before_the_gate_is_read_and_a_guard_is_sent_before_it_is_stored
)
_LEAVES: Final = _by(test_turn.test_a_function_leaves_after_ten_seconds_and_the_next_one_goes_on)
_COMES_BACK: Final = _by(
    test_turn_lines.test_what_was_taken_from_another_line_goes_back_there_with_a_mark_when_the_time_is_up
)
_CALLED_FOR: Final = _by(test_turn.test_a_trigger_that_comes_as_the_function_leaves_is_called_for)
_STAYS_LEASED: Final = _by(
    test_turn.test_what_has_begun_of_an_entry_stays_leased_when_the_time_is_up_and_the_rest_is_free
)
_FORWARDS: Final = _by(test_server.test_a_baton_of_a_gate_without_a_share_forwards_what_waits_there)

#: Those that show in too few of the seeds, and the test that fails.
SHOWN: Final = {
    "the gate is read before the entry is written": _LOOKS_ONCE,
    "a guard that is stored before it is sent": _LOOKS_ONCE,
    "a line whose gate has a guard is not marked": _by(
        test_gates.test_a_gate_that_has_a_guard_but_does_not_queue_is_marked
    ),
    "a guard that is removed without the line being read again": _by(
        test_server.test_a_guard_that_removes_itself_sees_what_came_before_it_was_gone
    ),
    "a guard that is removed although entries are leased": _by(
        test_server.test_a_guard_looks_after_entries_that_another_function_has_leased
    ),
    "a baton that is sent before it is stored": _by(
        test_gates.test_one_baton_is_under_way_at_a_time_and_the_gate_knows_of_it_before_it_is_sent
    ),
    "a baton that does not look again at a full gate": _by(
        test_gates.test_slots_that_come_free_while_the_mark_is_removed_are_taken
    ),
    "a holder shorter than its function": _by(
        test_gates.test_slots_are_taken_and_the_mark_of_the_baton_removed_in_one_write
    ),
    "slots that are taken without a look at the share": _by(
        test_gates.test_a_slot_that_another_function_takes_first_is_not_taken_as_well
    ),
    "writes of a holder whose numbers nobody compares": _by(
        test_held_slots.test_a_repeat_that_comes_late_changes_nothing
    ),
    "batons at the commit of a change": _by(
        test_policies.test_a_message_past_the_commit_is_sent_before_it_and_another_one_after_it,
        test_policies.put,
    ),
    "a change that sends no batons": _by(
        test_server.test_a_change_of_a_policy_that_is_missing_looks_after_its_former_gates
    ),
    "a paused policy whose entries move to other gates": _by(
        test_forward.test_only_triggers_leave_a_paused_policy_whose_jobs_do_not_name_it_any_more, 0
    ),
    "a long line that is read from its beginning again": _by(
        test_forward.test_a_long_line_of_a_paused_policy_is_read_once_to_its_end
    ),
    "a gate without a share that forwards nothing": _FORWARDS,
    "a forwarded entry that is deleted first": _by(
        test_forward.test_an_entry_that_cannot_be_written_at_the_other_gate_stays
    ),
    "a forwarded entry to which nobody sees": _FORWARDS,
    "a gate that waits for a token, and nobody is called": _by(
        test_server.test_without_a_token_no_baton_is_sent_for_an_empty_line
    ),
    "a turn that ends and calls nobody": _LEAVES,
    "a call before slots are given back": _LEAVES,
    "a slot that comes back after its turn, and nobody is called": _by(
        test_turn.test_a_slot_that_comes_back_after_the_turn_is_called_for
    ),
    "a turn that ends and leaves its line unmarked": _LEAVES,
    "entries of other lines that are freed without a call there": _COMES_BACK,
    "slots that are given back without another look at the line": _CALLED_FOR,
    "a line that is not marked again": _CALLED_FOR,
    "a mark that goes while entries are leased": _by(
        test_turn.test_the_mark_stands_while_another_function_has_leased_something
    ),
    "an entry that is deleted when it is taken": _LEAVES,
    "an entry that two functions lease": _by(
        test_turn.test_an_entry_that_another_function_leases_first_is_left_to_it
    ),
    "an entry that is deleted without its token": _by(
        test_turn.test_a_function_whose_lease_is_over_does_not_delete_what_another_one_has_leased
    ),
    "a remainder that is not written back": _LEAVES,
    "a part that stays in its entry as well": _STAYS_LEASED,
    "an entry that is shrunk before its part is written": _STAYS_LEASED,
    "triggers that have not begun and count as open": _LEAVES,
    "a cursor instead of deletion": _STAYS_LEASED,
    "a name without the source of its entry": _by(
        test_returns.test_a_thawed_function_does_not_delete_the_entry_of_a_trigger_that_came_back
    ),
    "gates that go with their policy": _by(
        test_promises.test_a_policy_that_is_created_again_has_the_slots_that_are_in_use
    ),
    "a policy that is read once": _by(
        test_turn.test_nothing_begins_on_a_limit_that_was_read_more_than_a_second_ago, 1_500
    ),
    "a limit lowered while in use": _by(
        test_turn.test_a_function_whose_share_was_lowered_below_what_is_in_use_leaves_within_a_second, 2
    ),
    "a function with too much to do calls no other one": _by(
        test_turn_lines.test_more_than_a_function_can_take_is_called_for_at_a_gate_with_free_slots
    ),
    "lines of other gates that nobody reads": _by(
        test_turn_lines.test_a_function_with_an_empty_line_takes_what_waits_at_another_gate
    ),
    "a priority that is starved": _by(test_turn.test_triggers_are_delivered_by_priority_and_then_by_time),
    "tokens that are taken without the condition": _by(test_tokens.test_two_functions_never_take_one_token),
    "a bucket that counts as quiet whatever others have taken": _by(
        test_tokens.test_two_functions_never_take_one_token
    ),
    "a request that leaves when its slot has passed": _by(
        test_permit.test_a_request_under_a_rate_leaves_in_its_slot_or_not_at_all, 151, leaves=False
    ),
    "slots of a rate that lie too close": _by(test_tokens.test_a_token_is_taken_only_shortly_before_its_slot),
    "tokens that are lost at the end of a turn": _by(
        test_seeds.test_about_95_percent_of_a_rate_is_used_while_work_waits, Rate(1, SECOND_MS), 120, 1
    ),
    "keys that share a bucket": _by(test_keys.test_each_key_has_a_rate_of_its_own),
    "a place in the list that is removed on the id of another guard": _by(
        test_keys.test_a_place_that_another_guard_has_written_is_not_removed
    ),
    "a guard of a paused key that goes on": _by(test_paused_keys.test_the_guard_of_a_paused_key_rests),
    "a probe that leaves whatever its id": _by(test_breaker.test_a_probe_that_comes_twice_leaves_once),
    "a breaker that closes and tells nobody": _by(
        test_breaker.test_a_probe_that_finds_the_breaker_closed_has_each_gate_looked_after
    ),
    "a breaker that opens at once": _by(
        test_breaker.test_it_opens_after_enough_failures_in_a_row_over_a_second_and_the_rest_waits
    ),
    "a probe that fails and counts as an attempt": _by(
        test_breaker.test_a_probe_that_fails_uses_no_attempt_and_the_next_one_is_under_way
    ),
}
