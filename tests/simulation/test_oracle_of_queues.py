"""The oracle lets a FIFO queue drop a message only if the queue has taken it before."""

from dataclasses import replace

from tests.simulation.traces.broken_ends import dropped
from tests.simulation.traces.doctored import complaints, with_
from tests.simulation.traces.stories_of_ends import silent
from tests.simulation.traces.trace import Requested


def first_attempt() -> Requested:
    """The attempt on which the consumer of the story `silent` could report."""
    return next(each for each in silent() if isinstance(each, Requested) and each.token is not None)


def test_a_retry_may_be_dropped_if_the_queue_has_taken_the_first_attempt_of_a_later_revision() -> None:
    first = first_attempt()
    again = replace(first, at=first.at + 10, token=None)
    said = complaints(with_(again, dropped(400))(silent()))
    assert not any("was dropped by its queue" in each for each in said)
