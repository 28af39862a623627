"""Every write of a run from every state. The store grants the writes of the table and refuses all others."""

from dataclasses import replace
from typing import Any, get_args

import pytest
from tests.contract.builders import NOON, run
from tests.fakes.engines import Stores

from sweephand.base.instants import MINUTE_MS
from sweephand.model.run import INITIAL_STATES, TRANSITIONS, Run, State
from sweephand.ports.runs import RunStore

MINE, OTHERS = "owner00000000001", "owner00000000002"
TOKEN = "version000000001"
STATES: tuple[State, ...] = get_args(State)
LATE = NOON + 10 * MINUTE_MS
MOVES = [
    (before, after) for before in STATES for after in STATES if "move" in TRANSITIONS[before].get(after, ())
]


@pytest.fixture
def runs(stores: Stores) -> RunStore:
    return stores.runs


def bring(store: RunStore, state: State, number: int = 0) -> Run:
    """Bring a run (of that number) into a state at its second attempt, by writes that are allowed."""
    claimed = run(NOON + number, attempt=2, owner=MINE)
    reached = replace(claimed, state=state)
    if state == "cancelled":
        retrying = replace(claimed, state="retrying")
        reached = replace(reached, version=TOKEN)
        assert store.record(retrying)
        assert store.move(reached, retrying)
    elif state in INITIAL_STATES:
        assert store.record(reached)
    else:
        assert store.claim(claimed, NOON) is None
        assert store.record(reached)
    assert stored(store, reached) == reached
    return reached


def stored(store: RunStore, like: Run) -> Run | None:
    return store.get(like.key, like.run_id)


def claimed_from(store: RunStore, seen: Run, claim: Run) -> bool:
    """Whether a claim is granted over the stored run. A refusal returns that run."""
    refused_by = store.claim(claim, LATE)
    assert refused_by in (None, seen)
    assert stored(store, seen) == (seen if refused_by else claim)
    return refused_by is None


def after(seen: Run, attempt: int, **changed: Any) -> Run:
    """Another's claim of an attempt of that run."""
    return run(seen.due_at, attempt=attempt, owner=OTHERS, **changed)


def test_the_next_attempt_is_claimed_over_a_claimed_or_retrying_run(runs: RunStore) -> None:
    seen = [bring(runs, state, number) for number, state in enumerate(STATES)]
    granted = {each.state for each in seen if claimed_from(runs, each, after(each, 3))}
    assert granted == {"claimed", "retrying"}


@pytest.mark.parametrize("attempt", [1, 2])
def test_the_same_or_an_earlier_attempt_is_claimed_only_over_an_ended_claim(
    runs: RunStore, attempt: int
) -> None:
    seen = [bring(runs, state, number) for number, state in enumerate(STATES)]
    granted = {each.state for each in seen if claimed_from(runs, each, after(each, attempt))}
    assert granted == ({"claimed"} if attempt == 2 else set())


def test_the_first_attempt_of_a_redrive_is_claimed_over_a_failed_run(runs: RunStore) -> None:
    seen = [bring(runs, state, number) for number, state in enumerate(STATES)]
    granted = {each.state for each in seen if claimed_from(runs, each, after(each, 3, round_from=3))}
    assert granted == {"claimed", "retrying", "failed"}


def test_no_other_attempt_is_claimed_over_a_failed_run(runs: RunStore) -> None:
    seen = bring(runs, "failed")
    for attempt, round_from in ((2, 2), (4, 4), (5, 3), (3, 2), (3, 1)):
        assert not claimed_from(runs, seen, after(seen, attempt, round_from=round_from))


def test_of_two_redrives_of_one_failure_one_is_claimed(runs: RunStore) -> None:
    bring(runs, "failed")
    first = run(attempt=3, owner=MINE, round_from=3, claimed_until=NOON + MINUTE_MS)
    assert runs.claim(first, NOON) is None
    second = run(attempt=3, owner=OTHERS, round_from=3)
    assert runs.claim(second, NOON) == first
    given_up = replace(first, state="failed")
    assert runs.record(given_up)
    assert runs.claim(second, LATE) == given_up


@pytest.mark.parametrize("before", STATES)
def test_a_record_is_written_over_its_own_claim_as_the_table_says(runs: RunStore, before: State) -> None:
    for number, state in enumerate(state for state in STATES if state not in ("claimed", "cancelled")):
        seen = bring(runs, before, number)
        record = replace(seen, state=state, answer="new", version=None)
        is_granted = "record" in TRANSITIONS[before].get(state, ())
        # What is stored in that state by the same hand is taken for this very write.
        assert runs.record(record) == (is_granted or state == before)
        assert stored(runs, seen) == (record if is_granted else seen)


def test_a_run_begins_in_the_states_that_the_table_names(runs: RunStore) -> None:
    for number, state in enumerate(STATES):
        beginning = run(NOON + number, state=state)
        if "record" in {way for row in TRANSITIONS.values() for way in row.get(state, ())}:
            assert runs.record(beginning) == (state in INITIAL_STATES)
            assert stored(runs, beginning) == (beginning if state in INITIAL_STATES else None)


@pytest.mark.parametrize("before", ["claimed", "running", "retrying"])
def test_a_run_that_was_read_is_moved_once_as_the_table_says(runs: RunStore, before: State) -> None:
    targets = [state for state in STATES if "move" in TRANSITIONS[before].get(state, ())]
    assert targets
    for number, state in enumerate(targets):
        seen = bring(runs, before, number)
        moved = replace(seen, state=state, version="version000000002", reason="so it was said")
        assert runs.move(moved, seen)
        assert runs.move(moved, seen), "its own write, found again"
        assert stored(runs, seen) == moved
        assert not runs.move(replace(moved, version="version000000003"), seen)
        assert stored(runs, seen) == moved


def test_a_transition_that_the_table_lacks_raises_an_assertion_error(runs: RunStore) -> None:
    for number, before in enumerate(STATES):
        seen = bring(runs, before, number)
        for state in STATES:
            if "move" not in TRANSITIONS[before].get(state, ()):
                with pytest.raises(AssertionError):
                    runs.move(replace(seen, state=state, version=TOKEN), seen)
        assert stored(runs, seen) == seen


@pytest.mark.parametrize("there", STATES)
def test_a_run_that_has_changed_since_it_was_read_is_not_moved(runs: RunStore, there: State) -> None:
    seen = bring(runs, there)
    for before, state in MOVES:
        elsewhere = [
            replace(seen, state=before, attempts=1),
            replace(seen, state=before, attempts=3),
            replace(seen, state=before, owner=OTHERS),
            replace(seen, state=before, version="version000000009"),
            *([] if before == there else [replace(seen, state=before)]),
        ]
        for other in elsewhere:
            assert not runs.move(replace(other, state=state, version="version000000002"), other)
    assert stored(runs, seen) == seen


def test_a_run_that_is_not_stored_is_not_moved(runs: RunStore) -> None:
    seen = run(state="retrying")
    assert not runs.move(replace(seen, state="cancelled", version=TOKEN), seen)
    assert stored(runs, seen) is None


def test_an_attempt_that_is_claimed_again_keeps_its_token(runs: RunStore) -> None:
    dead = run(attempt=2, owner=MINE, token="shr_1")
    assert runs.claim(dead, NOON) is None
    assert runs.claim(run(attempt=2, owner=OTHERS, token="shr_2"), LATE) == dead
    assert runs.claim(run(attempt=2, owner=OTHERS), LATE) == dead
    kept = run(attempt=2, owner=OTHERS, token="shr_1")
    assert runs.claim(kept, LATE) is None
    assert stored(runs, kept) == kept


def test_another_attempt_is_claimed_with_a_token_of_its_own(runs: RunStore) -> None:
    assert runs.claim(run(attempt=2, owner=MINE, token="shr_1"), NOON) is None
    claim = run(attempt=3, owner=OTHERS, token="shr_2")
    assert runs.claim(claim, NOON) is None
    assert stored(runs, claim) == claim
