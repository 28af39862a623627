"""Triggers that have to wait in their line: a worker loses none, and they use no tokens of the rate."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count

import pytest
from tests.contract.builders import NOON, policy
from tests.fakes.faults import Killed
from tests.unit.runs.flow.test_line_worker import KEY, Flow, triggers

from sweephand.base.errors import StoreError
from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant
from sweephand.model.policy import Rate
from sweephand.model.trigger import TriggerMessage
from sweephand.runs.flow.permit import Permit
from sweephand.runs.received import LineWait


@dataclass
class Holding(Flow):
    """A line of which some triggers are held until an instant."""

    held: set[str] = field(default_factory=set)
    held_until: Instant = NOON + 10 * MINUTE_MS

    def deliver(self, message: TriggerMessage, permit: Permit, deadline: Instant) -> bool | LineWait:  # type: ignore[override]
        if message.trigger.id in self.held:
            return LineWait(KEY, "normal", message._replace(not_before=self.held_until))
        return super().deliver(message, permit, deadline)


def holding(due: Sequence[TriggerMessage], held: Sequence[TriggerMessage], limit: int = 1) -> Holding:
    scene = Holding(held={each.trigger.id for each in held})
    assert scene.policies.put(policy(limit), None)
    scene.clock.time = NOON + SECOND_MS
    scene.put(*due)
    return scene


def lost(scene: Flow, due: Sequence[TriggerMessage]) -> set[str]:
    there = {each.trigger.id for each in (*scene.waiting(), *scene.delivered)}
    return {each.trigger.id for each in due} - there


def leaving() -> Holding:
    """A line whose worker leaves with one entry of which some triggers are over, held or not begun."""
    due = triggers(8)
    scene = holding(due, due[::2])
    scene.request_ms = 40 * SECOND_MS
    return scene


def calls_of_leaving() -> list[str]:
    scene, calls = leaving(), list[str]()
    scene.announce = calls.append
    scene.work()
    return calls


@pytest.mark.parametrize("error", [StoreError, Killed])
@pytest.mark.parametrize("number", range(len(calls_of_leaving())))
def test_no_error_of_a_leaving_worker_loses_a_trigger_that_has_to_wait(
    number: int, error: type[BaseException]
) -> None:
    scene, numbers = leaving(), count()
    due = scene.waiting()

    def announce(call: str) -> None:
        if next(numbers) == number:
            raise error(call)

    scene.announce = announce
    with suppress(StoreError, Killed):
        scene.work()
    assert not lost(scene, due)


def test_triggers_that_are_held_use_no_tokens_of_the_rate() -> None:
    due = triggers(61)
    scene = Holding(held={each.trigger.id for each in due[:60]})
    assert scene.policies.put(policy(None, rate=Rate(10, MINUTE_MS)), None)
    scene.clock.time = NOON + SECOND_MS
    scene.put(*due)
    scene.run(30)
    assert [each.trigger.id for each in scene.delivered] == [due[60].trigger.id]
    assert len(scene.waiting()) == 60
