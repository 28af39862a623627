"""What the simulated worlds show: triggers in bundles that crash functions, and FIFO queues that drop."""

from tests.simulation.simulation import Result, run
from tests.simulation.traces.doctored import complaints, with_
from tests.simulation.traces.stories import NOON
from tests.simulation.traces.stories_of_ends import TRIGGER, silent
from tests.simulation.traces.trace import Buried, Dropped, Requested
from tests.simulation.workload.bundling import Bundling
from tests.simulation.workload.modes import Modes
from tests.simulation.world.faults import is_poisoned
from tests.simulation.world.network import Network
from tests.simulation.world.processes import Scheduler

from sweephand.base.instants import MINUTE_MS

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


def test_a_queue_may_drop_the_second_copy_of_an_attempt() -> None:
    again = [each for each in silent() if isinstance(each, Requested) and each.attempt == 2]
    uid, _, _ = TRIGGER.partition("-")
    dropped = Dropped(NOON + 400_000, "job", uid, TRIGGER, 2)
    assert complaints(with_(*again[:1], dropped)(silent())) == complaints(with_(*again[:1])(silent()))


def test_a_queue_remembers_an_id_for_five_minutes() -> None:
    scheduler = Scheduler(NOON)
    network = Network(scheduler, Modes.of(0), 0.0)
    assert not network.drops("one")
    scheduler.run(NOON + 5 * MINUTE_MS - 1)
    assert network.drops("one")
    assert not network.drops("another")
    scheduler.run(NOON + 5 * MINUTE_MS)
    assert not network.drops("one")
