"""A trigger that crashes functions ends after five, and its neighbours in a bundle are delivered."""

from tests.simulation.simulation import Result, run
from tests.simulation.traces.trace import Buried, Requested
from tests.simulation.workload.bundling import Bundling
from tests.simulation.world.faults import is_poisoned

#: So many of the first seeds show all of it.
SEEDS = range(200)


def with_poison() -> tuple[Bundling, Result]:
    """The first seed in which jobs fire together and a trigger of a bundle crashes every function."""
    for seed in SEEDS:
        bundling = Bundling.of(seed)
        if bundling.schedule is not None and bundling.poison_at is not None:
            result = run(seed)
            if _letters(result):
                return bundling, result
    raise AssertionError("no seed has a poison trigger")


def _letters(result: Result) -> list[Buried]:
    return [
        each
        for each in result.events
        if isinstance(each, Buried) and "functions crashed while handling it" in each.reason
    ]


def test_a_trigger_that_crashes_functions_crashes_five_where_nothing_else_goes_wrong() -> None:
    seed = next(seed for seed in SEEDS if is_poisoned(seed))
    (letter,) = _letters(run(seed))
    assert letter.reason.endswith("5 functions crashed while handling it.")


def test_a_poison_trigger_of_a_bundle_is_given_up_and_those_due_with_it_are_delivered() -> None:
    bundling, result = with_poison()
    assert result.figures["bundles"] > 10
    assert not result.complaints
    (letter,) = _letters(result)
    assert letter.trigger_id is not None
    due_at = int(letter.trigger_id.split("-")[-2])
    requests = [each for each in result.events if isinstance(each, Requested)]
    assert letter.trigger_id not in {each.trigger_id for each in requests}
    beside = {each.name for each in requests if abs(each.due_at - due_at) < bundling.span_ms}
    assert len(beside) > 1
