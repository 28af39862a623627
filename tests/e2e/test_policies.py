"""The deployed template delivers the triggers of a policy within its limits, as the consumer counts them."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any

from infra.local.receiver import Answer, Delivery
from tests.e2e.deliveries import due_of
from tests.e2e.scene import Scene
from tests.e2e.schedule import eventually

#: The limit of requests that are open at once, and how long the consumer takes for each.
LIMIT = 3
WORK_S = 0.3

JOBS = 40

#: A batch that keeps each of its permits busy for some seconds.
BATCH, BATCH_LIMIT, BATCH_WORK_S = 24, 4, 1.0

RATE, PER_MS = 4, 1_000


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


def test_a_batch_uses_all_permits_of_its_policy_and_no_more_and_shows_each_run(scene: Scene) -> None:
    put_policy(scene, "batch", maxConcurrent=BATCH_LIMIT)
    scene.receiver.answer("/batch", *[Answer(hang_s=BATCH_WORK_S)] * BATCH)
    job = {"dueTime": "2s", "policy": "batch", "batch": {"count": BATCH}, "target": scene.target("batch")}
    scene.schedule.put_many({"batch": job})
    came = scene.receiver.wait("/batch", BATCH, within_s=90)
    indexes = sorted(int(each.headers["sweephand-batch-index"]) for each in came)
    assert indexes == list(range(BATCH))
    assert most_open(came, int(BATCH_WORK_S * 1_000)) == BATCH_LIMIT
    name = f"{due_of(came[0])}"

    def progress() -> list[Any]:
        namespace = scene.schedule.namespace
        return [scene.schedule.client.ask("GET", f"/v1/namespaces/{namespace}/jobs/batch/batches/{name}")]

    eventually(progress, lambda seen: (seen["state"], seen["succeeded"]) == ("succeeded", BATCH))


def test_no_window_sees_more_requests_than_the_rate_allows(scene: Scene) -> None:
    put_policy(scene, "slow", rate={"limit": RATE, "per": "1s"})
    names = [f"slow-{number}" for number in range(2 * RATE + 1)]
    job = {"dueTime": "1s", "policy": "slow", "target": scene.target("slow")}
    scene.schedule.put_many(dict.fromkeys(names, job))
    came = scene.receiver.wait("/slow", len(names), within_s=90)
    assert once_each(came, names)
    arrivals = sorted(each.arrived_at for each in came)
    spans = [after - before for before, after in zip(arrivals, arrivals[RATE:], strict=False)]
    # A request takes some milliseconds to arrive, and not always the same.
    assert min(spans) >= PER_MS * 0.95


def test_an_asynchronous_run_holds_its_permit_until_its_consumer_completes_it(scene: Scene) -> None:
    put_policy(scene, "single", maxConcurrent=1)
    scene.receiver.answer("/single", *[Answer(202)] * 2)
    job = {"dueTime": "1s", "policy": "single", "completion": "async", "target": scene.target("single")}
    scene.schedule.put_many({"single-0": job, "single-1": job})
    (first,) = scene.receiver.wait("/single", 1, within_s=90)
    eventually(lambda: [policy(scene, "single")], lambda seen: (seen["inUse"], seen["waiting"]) == (1, 1))
    assert len(scene.receiver.deliveries("/single")) == 1
    consumer, run = scene.schedule.consumer_of(first)
    consumer.ask("POST", f"{run}/complete")
    scene.receiver.wait("/single", 2, within_s=90)
