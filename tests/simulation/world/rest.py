"""Whether a simulated world has come to rest, so that nothing from before the calm is under way."""

from typing import Final

from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.world.delivery_queues import DeliveryQueues

from sweephand.base.instants import Instant
from sweephand.model.run_id import Demand
from sweephand.model.trigger import DeadlineMessage, NotifyMessage, RangeMessage, Trigger, TriggerMessage
from sweephand.model.watch import WatchMessage

#: Messages that may follow each run for a while: its deadline message, and a notification of its end to a
#: job that is gone.
_FOLLOWING: Final = (DeadlineMessage, NotifyMessage)


def is_at_rest(queues: DeliveryQueues, chronicle: Chronicle, calm_at: Instant, through: Instant) -> bool:
    """Whether everything due up to `through` is over, or waits for an action that no client takes."""
    if chronicle.last_other_timer_at > through:
        return False
    for message in queues.messages():
        if isinstance(message, RangeMessage):
            if _is_held_by_a_pause(message.demand) and message.uid in chronicle.paused:
                # A range is held whole, as a single trigger of its job is.
                continue
            return False
        if isinstance(message, WatchMessage):
            if message.check_at <= through:
                return False
            continue
        if isinstance(message, _FOLLOWING) and message.trigger.due_at > calm_at:
            # Messages that follow runs which begin in the calm never end, so they do not count.
            continue
        is_trigger = isinstance(message, TriggerMessage) and message.redrive is None
        if is_trigger and _is_idle(chronicle, message.trigger):
            continue
        if message.attempt > 1 or message.faults or message.trigger.at <= through:
            return False
    return True


def _is_held_by_a_pause(demand: Demand | None) -> bool:
    return demand is None or demand.kind == "chained"


def _is_idle(chronicle: Chronicle, trigger: Trigger) -> bool:
    """Whether nothing will come of a trigger that is in the queue."""
    if _is_held_by_a_pause(trigger.demand) and trigger.uid in chronicle.paused:
        # The trigger is put back until its job is resumed, and no client resumes it any more.
        return True
    # The trigger also waited in its job's line and was called from there. Its message finds that its run is
    # over.
    return trigger.id in chronicle.ended
