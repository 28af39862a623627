"""The table of states equals a table that was written by hand from the design."""

from itertools import product
from typing import get_args

import pytest

from sweephand.model.run import (
    INITIAL_STATES,
    OVER_STATES,
    TRANSITIONS,
    State,
    TransitionKind,
    sources,
)

STATES: tuple[State, ...] = get_args(State)
WAYS: tuple[TransitionKind, ...] = get_args(TransitionKind)

#: From, to: every pair that there is.
ALLOWED = {
    # The delivery function that has it, or the consumer's report before that one could record it.
    ("claimed", "succeeded"),
    ("claimed", "running"),
    ("claimed", "retrying"),
    ("claimed", "failed"),
    ("claimed", "skipped"),
    # Its job was deleted before the attempt was made.
    ("claimed", "cancelled"),
    # Its holder is gone; a later attempt shows that this one failed; or it has just failed.
    ("claimed", "claimed"),
    ("running", "running"),
    ("running", "succeeded"),
    ("running", "retrying"),
    ("running", "failed"),
    ("running", "cancelled"),
    ("retrying", "claimed"),
    # Its record is kept for longer while its next attempt waits.
    ("retrying", "retrying"),
    # Its record is kept for longer while the stack is switched off.
    ("skipped", "skipped"),
    ("cancelled", "cancelled"),
    ("retrying", "cancelled"),
    ("failed", "claimed"),
    # Its record is kept for longer while a redrive waits.
    ("failed", "failed"),
}


@pytest.mark.parametrize(("before", "after"), list(product(STATES, STATES)))
def test_a_state_is_left_for_those_that_the_design_names_and_no_other(before: State, after: State) -> None:
    assert (after in TRANSITIONS[before]) == ((before, after) in ALLOWED)


def test_the_table_has_a_row_for_every_state_and_a_way_for_every_pair() -> None:
    assert set(TRANSITIONS) == set(STATES)
    assert all(ways for row in TRANSITIONS.values() for ways in row.values())


def test_only_a_redrive_leaves_an_ended_state() -> None:
    assert {"succeeded", "failed", "skipped", "cancelled"} == OVER_STATES
    rows = [(state, to, ways) for state in OVER_STATES for to, ways in TRANSITIONS[state].items()]
    assert {way for state, to, ways in rows if to != state for way in ways} == {"redrive"}
    assert {way for state, to, ways in rows if to == state for way in ways} == {"move"}


def test_a_run_begins_neither_as_running_nor_as_cancelled() -> None:
    assert set(STATES) - INITIAL_STATES == {"running", "cancelled"}


@pytest.mark.parametrize(("to", "way"), list(product(STATES, WAYS)))
def test_the_sources_of_a_state_are_the_rows_that_name_it(to: State, way: TransitionKind) -> None:
    assert sources(to, way) == {state for state in STATES if way in TRANSITIONS[state].get(to, ())}
