"""A simulated FIFO queue drops a second copy, and the oracle allows it."""

from tests.simulation.traces.doctored import complaints, with_
from tests.simulation.traces.stories import NOON
from tests.simulation.traces.stories_of_ends import TRIGGER, silent
from tests.simulation.traces.trace import Dropped, Requested
from tests.simulation.workload.modes import Modes
from tests.simulation.world.network import Network
from tests.simulation.world.processes import Scheduler

from sweephand.base.instants import MINUTE_MS


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
