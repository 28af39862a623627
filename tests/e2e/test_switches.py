"""Parameters that decide what a deployed stack delivers: its lanes, and its switch."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest
from infra.local.receiver import Answer
from tests.e2e.parameters import Parameters
from tests.e2e.scene import Scene
from tests.e2e.schedule import eventually

#: So many functions deliver in each lane. Each has 32 requests open at most.
FUNCTIONS: Final = 2

#: So many triggers of low priority, with so slow a consumer, keep these functions busy for 15 s and more.
BACKLOG: Final = 250
ANSWER_S: Final = 4

#: The high trigger is due so long after the low ones.
LATER_S: Final = 5


@pytest.fixture
def parameters(stack: Mapping[str, Any]) -> Iterator[Parameters]:
    changed = Parameters(stack)
    before = changed.get()
    yield changed
    names = ("PriorityLanes", "DeliveryConcurrency", "Enabled")
    changed.set(**{name: before[name] for name in names})


def test_a_backlog_in_the_low_lane_does_not_delay_a_trigger_of_high_priority(
    parameters: Parameters, scene: Scene
) -> None:
    parameters.set(PriorityLanes="on", DeliveryConcurrency=str(FUNCTIONS))
    scene.receiver.answer("/low", *[Answer(hang_s=ANSWER_S)] * BACKLOG)
    low = {"priority": "low", "target": scene.target("low"), "dueTime": "10s"}
    names = [f"low-{number}" for number in range(BACKLOG)]
    for first in range(0, BACKLOG, 100):
        scene.schedule.put_many(dict.fromkeys(names[first : first + 100], low))
    scene.schedule.put("high", priority="high", target=scene.target("high"), dueTime=f"{10 + LATER_S}s")
    [high] = scene.receiver.wait("/high", 1, within_s=90)
    assert high.is_signed
    came = scene.receiver.wait("/low", BACKLOG, within_s=120)
    assert sorted(each.headers["sweephand-job"] for each in came) == sorted(names)
    behind = [each for each in came if each.arrived_at > high.arrived_at]
    assert len(behind) >= BACKLOG // 4, "the low lane had no backlog when the high trigger came"


def test_a_stack_that_is_switched_off_delivers_nothing_until_it_is_switched_on(
    parameters: Parameters, scene: Scene
) -> None:
    client = scene.schedule.client
    parameters.set(Enabled="false")
    scene.schedule.put("off", target=scene.target("off"), dueTime="1s")
    # Tick reports the switch, once a minute. By then the trigger is overdue, and the API has answered.
    eventually(lambda: [client.ask("GET", "/v1/health")], lambda health: not health["enabled"], within_s=90)
    assert not scene.receiver.deliveries("/off")
    parameters.set(Enabled="true")
    [delivery] = scene.receiver.wait("/off", 1, within_s=90)
    assert delivery.is_signed
    eventually(lambda: [client.ask("GET", "/v1/health")], lambda health: health["enabled"], within_s=90)
