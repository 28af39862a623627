"""The deployed template delivers the triggers of a policy within its limits, as the consumer counts them."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from tests.e2e.scene import Scene
from tests.e2e.schedule import eventually
from tests.fakes.receiver import Answer, Delivery

#: The limit of requests that are open at once, and how long the consumer takes for each.
LIMIT = 3
WORK_S = 0.3

JOBS = 40

#: A batch that keeps each of its permits busy for some seconds.
BATCH, BATCH_LIMIT, BATCH_WORK_S = 24, 4, 1.0

RATE, PER_MS = 4, 4_000


def put_policy(scene: Scene, name: str, **limits: Any) -> None:
    client, namespace = scene.schedule.client, scene.schedule.namespace
    client.ask("PUT", f"/v1/namespaces/{namespace}/policies/{name}", limits)


def policy(scene: Scene, name: str) -> Any:
    return scene.schedule.client.ask("GET", f"/v1/namespaces/{scene.schedule.namespace}/policies/{name}")


def most_open(deliveries: Iterable[Delivery], work_ms: int) -> int:
    """The most requests that were open at one instant."""
    arrivals = [each.arrived_at for each in deliveries]
    # At one instant, what ends goes before what begins.
    steps = sorted([(at, 1) for at in arrivals] + [(at + work_ms, -1) for at in arrivals])
    return max(accumulate(step for _, step in steps))


def once_each(deliveries: Sequence[Delivery], names: Iterable[str]) -> bool:
    return sorted(each.headers["sweephand-job"] for each in deliveries) == sorted(names)


def test_no_more_requests_are_open_than_the_policy_allows_and_none_is_lost(scene: Scene) -> None:
    put_policy(scene, "narrow", maxConcurrent=LIMIT)
    scene.receiver.answer("/narrow", *[Answer(hang_s=WORK_S)] * JOBS)
    names = [f"narrow-{number}" for number in range(JOBS)]
    job = {"dueTime": "2s", "policy": "narrow", "target": scene.target("narrow")}
    scene.schedule.put_many(dict.fromkeys(names, job))
    came = scene.receiver.wait("/narrow", JOBS, within_s=90)
    assert once_each(came, names)
    assert most_open(came, int(WORK_S * 1_000)) <= LIMIT
    eventually(lambda: [policy(scene, "narrow")], lambda seen: (seen["inUse"], seen["waiting"]) == (0, 0))


def test_no_window_sees_more_requests_than_the_rate_allows(scene: Scene) -> None:
    put_policy(scene, "slow", rate={"limit": RATE, "per": "4s"})
    names = [f"slow-{number}" for number in range(2 * RATE + 1)]
    job = {"dueTime": "1s", "policy": "slow", "target": scene.target("slow")}
    scene.schedule.put_many(dict.fromkeys(names, job))
    came = scene.receiver.wait("/slow", len(names), within_s=90)
    assert once_each(came, names)
    arrivals = sorted(each.arrived_at for each in came)
    spans = [after - before for before, after in zip(arrivals, arrivals[RATE:], strict=False)]
    # A request takes some milliseconds to arrive, on a busy machine some hundred, and not always the same.
    assert min(spans) >= PER_MS * 0.9
