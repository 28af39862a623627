"""The deliveries of a turn count how many of them were open at once, and keep what is for the log."""

from typing import Any, cast

from tests.fakes.doubles import NOON

from sweephand.model.job import JobKey
from sweephand.model.trigger import Trigger, TriggerMessage
from sweephand.runs.flow_intake import LineDelivery
from sweephand.runs.received import Handled, Outcome, OutcomeName, Received


class Nested:
    """An intake. While it handles a trigger, others begin: those that are left."""

    def __init__(self, outcomes: list[OutcomeName]) -> None:
        self.left = outcomes
        self.delivery: LineDelivery | None = None

    def handle_permitted(self, message: TriggerMessage, *_: object) -> Handled:
        outcome = self.left.pop()
        if self.left:
            assert self.delivery is not None
            delivered(self.delivery)
        return Handled(Received("", "", 1, ""), Outcome(outcome), trigger=message.trigger)


def delivered(delivery: LineDelivery) -> None:
    message = TriggerMessage(Trigger(JobKey("ns", "job"), "uid", "rev", NOON, 1, NOON), NOON)
    delivery(message, cast("Any", None), NOON)


def made(*outcomes: OutcomeName) -> LineDelivery:
    intake = Nested(list(outcomes))
    unused: Any = None
    intake.delivery = LineDelivery(intake=cast("Any", intake), progress=unused, job_reads=unused)
    return intake.delivery


def test_the_permits_in_use_are_the_triggers_that_are_handled_at_once() -> None:
    delivery = made("succeeded", "succeeded", "succeeded")
    assert delivery.open_max == 0
    delivered(delivery)
    assert delivery.open_max == 3
    one_by_one = made("succeeded")
    delivered(one_by_one)
    assert one_by_one.open_max == 1


def test_triggers_that_somebody_may_ask_about_are_kept_for_the_log() -> None:
    delivery = made("retrying", "succeeded", "failed")
    delivered(delivery)
    assert {each.outcome.name for each in delivery.noteworthy} == {"retrying", "failed"}
    assert delivery.outcomes == {"retrying": 1, "succeeded": 1, "failed": 1}
