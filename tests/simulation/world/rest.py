"""Whether a simulated world has come to rest: nothing of the time before the calm is under way."""

from typing import Final

from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.world.sqs import Sqs

from sweephand.base.instants import Instant
from sweephand.model.trigger import (
    DeadlineMessage,
    NotifyMessage,
    RangeMessage,
    Trigger,
    TriggerMessage,
)

#: What may follow each run for a while: a look at it, and telling a job of its end that is not there.
_FOLLOWING: Final = (DeadlineMessage, NotifyMessage)


def is_at_rest(sqs: Sqs, chronicle: Chronicle, calm_at: Instant, through: Instant) -> bool:
    """Whether all that was due up to `through` is over, or waits for what nobody does any more."""
    if chronicle.last_other_timer_at > through:
        return False
    for message in sqs.messages():
        if isinstance(message, RangeMessage):
            if message.demand is None and message.uid in chronicle.paused:
                # As a single trigger of that job: it is held whole.
                continue
            return False
        if isinstance(message, _FOLLOWING) and message.trigger.due_at > calm_at:
            # Of what follows the runs that begin in the calm there is no end.
            continue
        is_trigger = isinstance(message, TriggerMessage) and message.redrive is None
        if is_trigger and _is_idle(chronicle, message.trigger):
            continue
        if message.attempt > 1 or message.faults or message.trigger.due_at <= through:
            return False
    return True


def _is_idle(chronicle: Chronicle, trigger: Trigger) -> bool:
    """Whether nothing is to come of a trigger that is in the queue."""
    is_held = trigger.demand is None or trigger.demand.kind == "chained"
    if is_held and trigger.uid in chronicle.paused:
        # It is put back until the job is resumed, which nobody does any more.
        return True
    # It waited in its job's line, too, and comes to find that it has run.
    return trigger.id in chronicle.ended
