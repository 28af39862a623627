"""A worker of a line ends before its function's time limit, also while each call of a store takes seconds."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import pytest
from tests.contract.builders import NOON
from tests.fakes.doubles import HandClock
from tests.unit.runs.flow.test_line_worker import KEY, LIMIT_MS, WORK, Flow, flow, triggers

from sweephand.base.errors import StoreError
from sweephand.base.instants import MINUTE_MS, SECOND_MS, Instant
from sweephand.model.policy import Rate
from sweephand.model.policy_line import LinePlace, entry_of
from sweephand.runs.flow.line_worker import LineWorker
from sweephand.runs.flow.pace import Pace

Result = TypeVar("Result")

#: How long each call takes from some second of the worker on.
SLOW_MS = 3 * SECOND_MS


def worker(scene: Flow, slow_from: Instant) -> LineWorker:
    """A worker whose stores and queue are slow from then on. Its reads go side by side."""

    def announce(call: str) -> None:
        if call.startswith("before") and "consumer" not in call and scene.clock.time >= slow_from:
            scene.clock.time += SLOW_MS

    def side_by_side(tasks: Sequence[Callable[[], Result]]) -> Sequence[Result]:
        began_at = ended_at = scene.clock.time
        results = []
        for task in tasks:
            scene.clock.time = began_at
            results.append(task())
            ended_at = max(ended_at, scene.clock.time)
        scene.clock.time = ended_at
        return results

    scene.announce = announce
    return scene.worker(side_by_side)


@pytest.mark.parametrize(("limit", "of_entry"), [(1, 1), (5, 1), (5, 3), (5, 10)])
@pytest.mark.parametrize("slow_from_s", [0, 28, 36, 60])
def test_a_worker_ends_before_its_function_when_its_stores_become_slow(
    limit: int, of_entry: int, slow_from_s: int
) -> None:
    scene = flow(limit)
    due = triggers(400)
    for first in range(0, len(due), of_entry):
        scene.put(*due[first : first + of_entry], source=f"message {first}")
    began_at = scene.clock.time = NOON + SECOND_MS
    ends_at = began_at + LIMIT_MS
    slow_from = began_at + slow_from_s * SECOND_MS
    worker(scene, slow_from).work(WORK, 1, ends_at, lambda: None)
    assert scene.clock.time < ends_at
    # What it did not deliver stands in the line, and another worker is called for it.
    waiting = {each.trigger.id for each in scene.waiting()}
    assert waiting | {each.trigger.id for each in scene.delivered} == {each.trigger.id for each in due}
    assert scene.sent


@pytest.mark.parametrize("number", [4, 30, 60, 79])
def test_a_worker_that_searches_a_long_line_in_slow_stores_has_time_to_leave(number: int) -> None:
    scene = flow(400, rate=Rate(1, MINUTE_MS))
    place = LinePlace(KEY, "low", number)
    [message] = triggers(1)
    scene.lines.put(place, entry_of([message], NOON, "message"))
    began_at = scene.clock.time = NOON + SECOND_MS
    ends_at = began_at + LIMIT_MS
    worker(scene, began_at).work(WORK, 1, ends_at, lambda: None)
    assert scene.clock.time < ends_at
    assert scene.delivered == [message] or (scene.waiting() == [message] and scene.sent)


def test_the_slowest_call_counts_also_if_it_failed() -> None:
    clock = HandClock()
    pace = Pace(clock)

    def call(took_ms: int) -> str:
        clock.time += took_ms
        return "done"

    def failing() -> None:
        clock.time += 700
        raise StoreError("no answer")

    assert pace.timed(lambda: call(300)) == "done"
    with pytest.raises(StoreError):
        pace.timed(failing)
    pace.timed(lambda: call(20))
    assert pace.slowest_ms == 700
