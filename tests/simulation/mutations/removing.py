"""What may be wrong with how long items are kept: something goes while it is still needed."""

from collections.abc import Iterator
from unittest.mock import patch

from tests.simulation.mutations.registry import mutation
from tests.simulation.workload.scenario import FIRST_FOR_WEEKS

from sweephand.jobs import draft
from sweephand.runs.deliver import Deliverer
from sweephand.runs.flow.overlap_queue import OverlapQueue
from sweephand.runs.retention import Retention


@mutation("A job is kept no longer for what waits, runs or is tried again", first=FIRST_FOR_WEEKS)
def keeps_no_job() -> Iterator[None]:
    with patch.object(Retention, "keep_job", lambda *_: None):
        yield


@mutation("A shorter definition lets go of a job whose triggers wait", first=FIRST_FOR_WEEKS)
def forgets_what_waits() -> Iterator[None]:
    with patch.object(draft, "_kept_for_what_waits", lambda _, expires_at, *__: expires_at):
        yield


@mutation("A line that is held for weeks is not written again", first=FIRST_FOR_WEEKS)
def keeps_no_line() -> Iterator[None]:
    with patch.object(OverlapQueue, "extend", lambda *_: None):
        yield


@mutation("The record of a run whose retry is held goes in its time", first=FIRST_FOR_WEEKS)
def keeps_no_run() -> Iterator[None]:
    with patch.object(Retention, "keep_run", lambda *_: None):
        yield


@mutation("What is held is put back though its run is over", first=FIRST_FOR_WEEKS)
def holds_what_is_over() -> Iterator[None]:
    with patch.object(Deliverer, "_has_ended_while_held", lambda *_: False):
        yield
