"""Every way in which a run ends is simulated in some seeds, and in no others."""

from itertools import chain

import pytest
from tests.simulation.oracle.chains import CHAINED
from tests.simulation.oracle.runs import LEAVES_TO
from tests.simulation.traces.trace import (
    Concluded,
    Event,
    Requested,
    RunAnswered,
    RunAsked,
    RunStored,
    TimerStored,
    Told,
)
from tests.simulation.workload.conftest import Worlds
from tests.simulation.workload.flows import Flows
from tests.simulation.workload.modes import Modes

#: This number of first seeds shows all of it.
SEEDS = range(72)


@pytest.fixture(scope="module")
def events(events_of: Worlds) -> list[Event]:
    """All events of the seeds with flows."""
    return list(chain.from_iterable(events_of(seed) for seed in SEEDS if Flows.of(seed).is_on))


def test_a_third_of_the_seeds_has_flows() -> None:
    assert 600 < sum(Flows.of(seed).is_on for seed in range(2_000)) < 730


def test_a_seed_without_flows_has_none(events_of: Worlds) -> None:
    # Where jobs deliver to a queue, their completion changes, too.
    without = [seed for seed in range(6) if not Flows.of(seed).is_on and not Modes.of(seed).is_fifo]
    assert without
    for seed in without:
        assert not [each for each in events_of(seed) if isinstance(each, RunAsked | Told)]


def test_seeds_take_every_transition_from_one_state_of_a_run_to_another(events: list[Event]) -> None:
    gone = {(each.before, each.state) for each in events if isinstance(each, RunStored)}
    ways = {(before, after) for before, row in LEAVES_TO.items() for after in row}
    # No run begins as running or cancelled, and no skipped run was claimed before. A record is kept for
    # longer only after days of a pause.
    never = {(None, "running"), (None, "cancelled"), ("claimed", "skipped"), ("retrying", "retrying")}
    # Few seeds delete or pause a job in the very second in which its delivery connects.
    never |= {("claimed", "cancelled"), ("claimed", "released")}
    assert ways - gone <= never
    assert gone <= ways


def test_clients_make_every_call_about_runs_and_each_is_granted_and_refused(events: list[Event]) -> None:
    asked = {each.verb for each in events if isinstance(each, RunAsked)}
    assert asked == {"heartbeat", "complete", "fail", "cancel", "redrive", "redrive many"}
    answers = [each for each in events if isinstance(each, RunAnswered)]
    assert {each.asked.verb for each in answers if each.error is None} == asked
    assert {each.error for each in answers} >= {"GoneError", "ConflictError", "StoreError"}


def test_consumers_accept_runs_the_wheel_holds_deadlines_and_ends_are_notified_and_followed(
    events: list[Event],
) -> None:
    assert {each.outcome for each in events if isinstance(each, Concluded)} >= {"accepted", "lost"}
    assert {each.kind for each in events if isinstance(each, TimerStored)} >= {"deadline", "retry"}
    assert {each.state for each in events if isinstance(each, Told)} >= {"succeeded", "failed", "cancelled"}
    assert any(CHAINED in each.trigger_id for each in events if isinstance(each, Requested))
