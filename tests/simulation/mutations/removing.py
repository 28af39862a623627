"""What may be wrong with how long items are kept: something goes while it is still needed."""

from collections.abc import Iterator
from unittest.mock import patch

from tests.simulation.mutations.registry import mutation
from tests.simulation.scenario import FIRST_FOR_WEEKS

from sweephand.instants import DAY_MS
from sweephand.runs import settle

#: A time that adds nothing to how long something is kept.
_NOTHING_MS = -1_000 * DAY_MS


@mutation("The record of a run that is not over is kept no longer than one that is", first=FIRST_FOR_WEEKS)
def forgets_what_goes_on() -> Iterator[None]:
    with patch.object(settle, "TIMER_RETENTION_MS", _NOTHING_MS):
        yield
