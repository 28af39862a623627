"""The small worlds: two jobs, two actors, and the mutation that each world must catch."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from tests.orders import of_functions, of_jobs
from tests.orders.engine import Scene, Steps
from tests.simulation.flow.broken_gates import OF_GATES
from tests.simulation.mutations import arming, calendars, counting, delivering, packing, pausing, sweeping


@dataclass(frozen=True, slots=True)
class Scenario:
    """A small world. `breaks` breaks production code in a way that the world catches."""

    build: Callable[[Steps], Scene]
    breaks: Callable[[], AbstractContextManager[object]]


SCENARIOS: Final = {
    "create against sweep": Scenario(of_jobs.create_against_sweep, arming.commits_before_arming),
    "update against sweep": Scenario(of_jobs.update_against_sweep, arming.commits_before_arming),
    "pause and resume": Scenario(of_jobs.pause_and_resume, pausing.drops_what_is_held),
    "delete": Scenario(of_jobs.delete, delivering.trusts_old_reads),
    "a calendar that changes": Scenario(of_jobs.calendar_that_changes, calendars.forgets_late_jobs),
    "two sweepers": Scenario(of_functions.two_sweepers, sweeping.claims_what_is_held),
    "late sweeper": Scenario(of_functions.late_sweeper, sweeping.commits_before_succeeding),
    "a pack half done": Scenario(of_functions.pack_half_done, packing.counts_what_is_alive),
    "delivery with a crash": Scenario(of_functions.delivery_with_a_crash, delivering.records_before_retrying),
    "a gate with two holders": Scenario(
        of_functions.gate_with_two_holders, OF_GATES["slots that are taken without a look at the share"]
    ),
    "a batch's end": Scenario(of_functions.end_of_a_batch, counting.tells_only_after_its_own_mark),
}
