"""Parameters that decide what a deployed stack delivers: its lanes, and its switch."""

import time
from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest
from infra.local.deploy import invoke
from tests.e2e.parameters import Parameters, changed, place_of
from tests.e2e.scene import Scene
from tests.e2e.schedule import eventually
from tests.fakes.receiver import Answer

from sweephand.base.instants import SECOND_MS, rfc3339

#: So many functions deliver in each lane. Each has 32 requests open at most.
FUNCTIONS: Final = 2

#: So many triggers of low priority, with so slow a consumer, keep these functions busy for 15 s and more.
BACKLOG: Final = 250
ANSWER_S: Final = 4

#: The jobs are written within this time. Then the low triggers are due, and the high one after them.
WRITE_MS: Final = 15 * SECOND_MS
LATER_MS: Final = 5 * SECOND_MS


@pytest.fixture(scope="module")
def parameters(stack: Mapping[str, Any]) -> Iterator[Parameters]:
    with changed(stack, PriorityLanes="on", DeliveryConcurrency=str(FUNCTIONS)) as parameters:
        yield parameters


@pytest.mark.sampled(2)
def test_a_backlog_in_the_low_lane_does_not_delay_a_trigger_of_high_priority(
    parameters: Parameters,  # noqa: ARG001 - its lanes are on
    scene: Scene,
) -> None:
    scene.receiver.answer("/low", *[Answer(hang_s=ANSWER_S)] * BACKLOG)
    low_at = time.time_ns() // 1_000_000 + WRITE_MS
    low = {"priority": "low", "target": scene.target("low"), "dueTime": rfc3339(low_at)}
    names = [f"low-{number}" for number in range(BACKLOG)]
    for first in range(0, BACKLOG, 100):
        scene.schedule.put_many(dict.fromkeys(names[first : first + 100], low))
    high_at = rfc3339(low_at + LATER_MS)
    scene.schedule.put("high", priority="high", target=scene.target("high"), dueTime=high_at)
    [high] = scene.receiver.wait("/high", 1, within_s=90)
    assert high.is_signed
    came = scene.receiver.wait("/low", BACKLOG, within_s=120)
    assert sorted(each.headers["sweephand-job"] for each in came) == sorted(names)
    behind = [each for each in came if each.arrived_at > high.arrived_at]
    assert len(behind) >= BACKLOG // 4, "the low lane had no backlog when the high trigger came"


def test_a_stack_that_is_switched_off_delivers_nothing_until_it_is_switched_on(
    parameters: Parameters, scene: Scene
) -> None:
    client, place = scene.schedule.client, place_of(parameters.stack)
    parameters.set(Enabled="false")
    scene.schedule.put("off", target=scene.target("off"), dueTime="1s")
    url = parameters.stack["queues"]["delivery"]
    sqs, count = parameters.client("sqs"), "ApproximateNumberOfMessages"
    eventually(
        lambda: [sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[count])["Attributes"]],
        lambda attributes: int(attributes[count]) >= 1,
    )
    # Tick reports the switch, once a minute.
    invoke(place, "Tick", {})
    assert not client.ask("GET", "/v1/health")["enabled"]
    assert not scene.receiver.deliveries("/off")
    parameters.set(Enabled="true")
    [delivery] = scene.receiver.wait("/off", 1, within_s=90)
    assert delivery.is_signed
    invoke(place, "Tick", {})
    assert client.ask("GET", "/v1/health")["enabled"]
