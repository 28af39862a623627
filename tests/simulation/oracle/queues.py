"""Checks of what a FIFO queue drops: only what it has delivered already, and no attempt made on request."""

from collections import defaultdict
from collections.abc import Iterator

from tests.simulation.oracle.lives import told
from tests.simulation.oracle.tale import Tale
from tests.simulation.traces.trace import Dropped, Requested


def what_is_asked_for_again_arrives(tale: Tale) -> Iterator[str]:
    """A FIFO queue delivers an attempt after one that its consumer could report on, and one of a redrive.

    In other cases a message that the queue has taken has succeeded (decision 013). Another attempt is then
    made only because an answer was lost or a copy of the attempt was refused, and the queue may drop it. The
    same attempt may be sent twice. An update may have given the job a queue instead of a consumer that
    reports. Then the trigger may come again under the new revision, with its first attempt. The queue may
    have taken that.
    """
    left: dict[tuple[str, int], int] = {}
    dropped: dict[tuple[str, int], int] = {}
    reported: dict[str, int] = {}
    unreported: dict[str, set[int]] = defaultdict(set)
    for event in tale.events:
        if isinstance(event, Requested):
            left[event.trigger_id, event.attempt] = left.get((event.trigger_id, event.attempt), 0) + 1
            if event.token is not None:
                reported.setdefault(event.trigger_id, event.attempt)
            elif event.trigger_id in reported:
                unreported[event.trigger_id].add(event.attempt)
        elif isinstance(event, Dropped):
            place = event.trigger_id, event.attempt
            dropped[place] = dropped.get(place, 0) + 1
            has_arrived = left.get(place, 0) > dropped[place]
            is_redriven = event.attempt >= tale.redriven_from.get(event.trigger_id, event.attempt + 1)
            is_after_one_reported = reported.get(event.trigger_id, event.attempt) < event.attempt
            is_after_one_reported &= all(each >= event.attempt for each in unreported[event.trigger_id])
            if not has_arrived and (is_redriven or is_after_one_reported):
                what = f"{event.name}: attempt {event.attempt} of {event.trigger_id}"
                yield f"{what}, made on request, was dropped by its queue at {told(event.at)}"
