"""Errors in catch-up: only a sweep or a resume decides which occurrences are misfires."""

from collections.abc import Callable
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, mutation, wrapping

from sweephand.model.timer import OccurrenceTimer
from sweephand.runs.delivery import Delivery, Drop, Stop
from sweephand.runs.gates import Gates
from sweephand.wheel import span


@mutation("The delivery function decides on catch-up, so a trigger that had to wait becomes a misfire")
@wrapping(Gates, "alive")
def catches_up_at_delivery(
    alive: Callable[..., Delivery | Stop], self: Gates, delivery: Delivery
) -> Delivery | Stop:
    message, job = delivery.message, delivery.read.job
    rule = job.definition.catchup if job is not None else None
    late_ms = self._clock.now() - message.trigger.due_at
    is_first = message.attempt == 1 and message.trigger.demand is None
    if rule is not None and is_first and rule.mode != "all" and late_ms > rule.window_ms:
        return Drop(delivery, "dropped")
    return alive(self, delivery)


@mutation(
    "An occurrence that fell due while its timer was put off is a misfire",
    shown_by="tests/unit/wheel/test_expand.py::test_a_timer_that_was_put_off_again_and_again_is_late_by_all_but_the_last_time",
)
def counts_the_time_that_a_timer_was_put_off_by() -> Broken:
    return patch.object(OccurrenceTimer, "put_off_by_ms", property(lambda _: 0))


@mutation(
    "The copy of a timer that was put off is judged anew",
    shown_by="tests/unit/wheel/test_expand.py::test_a_sweeper_that_crashed_and_the_copy_of_its_timer_decide_the_same",
)
def judges_copies_anew() -> Broken:
    return patch.object(span, "JUDGEMENT_KEPT_MS", 0)
