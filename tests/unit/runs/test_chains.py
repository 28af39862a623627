"""Chains: the end of a run triggers another job."""

import json
from typing import Any

import pytest
from tests.fakes.acceptance import running
from tests.fakes.deliveries import FAILED, answers, due, handle, waiting
from tests.fakes.faults import kill_everywhere
from tests.fakes.world import NOON, World, key_of

from sweephand.model.attempt import Answer, Attempt
from sweephand.model.run import Run

MINUTE = 60_000
HOUR = 60 * MINUTE


def chain(world: World, *names: str, **first: Any) -> None:
    """Jobs of those names of which each triggers the next when it has succeeded; the first is due in 10 s."""
    for name, following in zip(names, [*names[1:], None], strict=True):
        after = {} if following is None else {"onComplete": {"type": "job", "name": following}}
        due = {"dueTime": "10s", **first} if name == names[0] else {}
        world.put(name, data='{"step":1}' if name == names[0] else None, **{**due, **after})


def runs(world: World, name: str) -> list[Run]:
    return list(world.runs.page(key_of(name), None, "", 10).items)


def delivered(world: World) -> list[tuple[str, Any]]:
    return [(each.trigger.key.name, json.loads(each.body)) for each in world.consumers.attempts]


def test_three_chained_jobs_run_in_order_and_each_gets_the_end_of_the_run_before(world: World) -> None:
    chain(world, "extract", "transform", "load")
    world.run_until(NOON + 12_000)
    (first, second, third) = delivered(world)
    assert [first[0], second[0], third[0]] == ["extract", "transform", "load"]
    assert first[1] == {"step": 1}
    for (name, _), (_, told) in ((first, second), (second, third)):
        assert (told["job"], told["state"]) == (name, "succeeded")
    (run,) = runs(world, "load")
    assert run.state == "succeeded"
    assert run.run_id.startswith("chained-")
    assert third[1]["runId"] == runs(world, "transform")[0].run_id


def test_a_chain_ends_where_a_run_fails_unless_it_waits_for_failures(world: World) -> None:
    chain(world, "a", "b", retry={"maxAttempts": 1})
    world.consumers.answering = lambda _: FAILED
    world.run_until(NOON + MINUTE)
    assert not runs(world, "b")
    for when, states in (("failed", {"failed"}), ("always", {"failed", "succeeded"}), ("succeeded", set())):
        for answer in (FAILED, Answer(succeeded=True, code=200)):
            world = World()
            world.put("b")
            following = {"type": "job", "name": "b", "when": when}
            world.put("a", dueTime="10s", retry={"maxAttempts": 1}, onComplete=following)
            world.consumers.answering = lambda made, answer=answer: (  # type: ignore[misc]
                answer if made.trigger.key.name == "a" else Answer(succeeded=True, code=200)
            )
            world.run_until(NOON + MINUTE)
            ended = "succeeded" if answer.succeeded else "failed"
            is_triggered = ended in states or (when, ended) == ("succeeded", "succeeded")
            assert bool(runs(world, "b")) == is_triggered


def test_each_link_has_its_own_retries(world: World) -> None:
    chain(world, "a", "b", "c")
    failures = {"b": 2}

    def answer(attempt: Attempt) -> Answer:
        name = attempt.trigger.key.name
        if failures.get(name, 0) >= attempt.number:
            return FAILED
        return Answer(succeeded=True, code=200)

    world.consumers.answering = answer
    world.run_until(NOON + 10 * MINUTE)
    assert [name for name, _ in delivered(world)] == ["a", "b", "b", "b", "c"]
    assert len(runs(world, "c")) == 1


def test_a_paused_job_in_a_chain_holds_it_until_the_resume(world: World) -> None:
    chain(world, "a", "b")
    world.pause("b")
    world.run_until(NOON + 10 * MINUTE)
    assert [name for name, _ in delivered(world)] == ["a"]
    world.resume("b")
    world.run_until(NOON + HOUR)
    assert [name for name, _ in delivered(world)] == ["a", "b"]


def test_a_chained_trigger_of_a_missing_job_waits_and_is_then_given_up(world: World) -> None:
    world.put("a", dueTime="10s", onComplete={"type": "job", "name": "b"})
    world.run_until(NOON + MINUTE)
    world.put("b")
    world.run_until(NOON + HOUR)
    assert [name for name, _ in delivered(world)] == ["a", "b"]
    world = World()
    world.put("a", dueTime="10s", onComplete={"type": "job", "name": "b"})
    world.run_until(NOON + 24 * HOUR, ticking=False)
    ((letter, _),) = world.queue.buried
    assert "There is no job b" in letter.reason


def test_a_failed_run_of_a_chained_trigger_is_redriven_with_its_data(world: World) -> None:
    chain(world, "a", "b")
    world.consumers.answering = lambda made: Answer(
        succeeded=made.trigger.key.name == "a" or made.number > 1, code=422, is_final=True
    )
    world.run_until(NOON + MINUTE)
    (run,) = runs(world, "b")
    assert run.state == "failed"
    world.redrive(run.run_id, "b")
    world.run_until(NOON + 2 * MINUTE)
    (run,) = runs(world, "b")
    assert (run.state, run.attempts) == ("succeeded", 2)
    assert delivered(world)[-1] == delivered(world)[-2]


@pytest.mark.parametrize("copies", [1, 2])
def test_a_notification_that_is_handled_twice_makes_one_chained_trigger(world: World, copies: int) -> None:
    chain(world, "a", "b")
    world.clock.time = NOON + 10_000
    world.deliver(world.queue.take())
    for _ in range(copies):
        world.queue.copy()
    world.run_until(NOON + MINUTE)
    assert len({each.id for each in world.consumers.attempts}) == 2
    assert len(runs(world, "b")) == 1


def test_a_chain_comes_to_its_end_wherever_a_function_is_killed() -> None:
    def prepare(world: World) -> None:
        chain(world, "a", "b", "c")
        world.clock.time = NOON + 10_000

    def act(world: World) -> None:
        while batch := world.queue.take():
            world.deliver(batch)

    def check(world: World) -> None:
        world.clock.time += 6 * MINUTE
        world.queue.reappear()
        world.run_until(world.clock.time + HOUR)
        assert {each.state for name in "abc" for each in runs(world, name)} == {"succeeded"}
        assert runs(world, "c")
        assert not world.queue.waiting

    kill_everywhere(prepare, act, check)


def test_a_chained_trigger_is_delivered_though_its_job_is_updated_often(world: World) -> None:
    chain(world, "a", "b")
    world.clock.time = NOON + 10_000
    world.deliver(world.queue.take())
    for _ in range(25):
        world.put("b", data=world.ids.token().lstrip("0"))
    world.run_until(NOON + MINUTE)
    assert [name for name, _ in delivered(world)] == ["a", "b"]


def test_jobs_that_trigger_each_other_end_after_a_hundred_links_with_a_dead_letter(world: World) -> None:
    world.put("a", dueTime="10s", onComplete={"type": "job", "name": "b"})
    world.put("b", onComplete={"type": "job", "name": "a"})
    world.run_until(NOON + HOUR)
    names = [name for name, _ in delivered(world)]
    assert names == ["a", "b"] * 50 + ["a"]
    ((letter, _),) = world.queue.buried
    assert "100 links" in letter.reason
    assert "chainLengthMax" in letter.reason
    assert letter.trigger is not None
    assert letter.trigger.key == key_of("a")


def test_batches_that_trigger_each_other_end_after_a_hundred_links(world: World) -> None:
    world.put("a", dueTime="10s", batch={"count": 2}, onComplete={"type": "job", "name": "b"})
    world.put("b", batch={"count": 2}, onComplete={"type": "job", "name": "a"})
    world.run_until(NOON + HOUR)
    assert len(delivered(world)) == 101 * 2
    ((letter, _),) = world.queue.buried
    assert "chainLengthMax" in letter.reason


def test_a_chain_that_begins_with_a_trigger_by_hand_has_as_many_links_as_any(world: World) -> None:
    world.put("a", onComplete={"type": "job", "name": "a"})
    world.trigger("a")
    world.run_until(NOON + HOUR)
    assert len(delivered(world)) == 101
    world.trigger("a")
    world.run_until(NOON + 2 * HOUR)
    assert len(delivered(world)) == 202


def test_a_chained_job_gets_a_result_of_any_size_and_a_redrive_gets_it_again(world: World) -> None:
    chain(world, "a", "b", completion="async")
    world.consumers.answering = lambda made: (
        Answer(succeeded=True, code=202)
        if made.trigger.key.name == "a"
        else Answer(succeeded=made.number > 1, code=422, is_final=True)
    )
    world.run_until(NOON + 11_000)
    result = json.dumps("x" * 2_046)
    world.callbacks().complete(key_of("a"), f"{NOON + 10_000}-0", None, result=result)
    world.run_until(NOON + MINUTE)
    (run,) = runs(world, "b")
    assert delivered(world)[-1][1]["result"] == "x" * 2_046
    assert run.payload is not None
    assert (run.uid, run.payload.ref) in (world.payloads.discarded)
    world.redrive(run.run_id, "b")
    world.run_until(NOON + 2 * MINUTE)
    assert delivered(world)[-1] == delivered(world)[-2]
    assert len(delivered(world)) == 3


def before_a_batch(world: World, **first: Any) -> dict[str, Any]:
    """A job b with a batch over an hour, and the fields of a job that it follows."""
    world.put("b", batch={"count": 6, "window": "1h"})
    return {"onComplete": {"type": "job", "name": "b", "when": "always"}, **first}


def begun(world: World) -> tuple[set[int], int]:
    """Let two minutes pass in which the notification comes twice.

    Returns when the batches of b have begun, in s after noon, and how many triggers of them have left.
    """
    world.queue.copy()
    world.consumers.answering = lambda _: Answer(succeeded=True, code=200)
    world.run_until(world.clock.time + 2 * MINUTE)
    triggers = [each.trigger for each in world.consumers.attempts if each.trigger.key.name == "b"]
    return {(each.due_at - NOON) // 1_000 for each in triggers}, len({each.id for each in triggers})


def test_the_window_of_a_batch_begins_with_the_end_of_the_asynchronous_run_that_it_follows() -> None:
    world = World()
    worker = running(world, **before_a_batch(world))
    world.clock.time += 90 * MINUTE
    worker.complete()
    assert begun(world) == ({10 + 90 * 60}, 1)


@pytest.mark.parametrize("is_success", [True, False])
def test_the_window_of_a_batch_begins_with_the_end_of_a_run_that_was_tried_again(*, is_success: bool) -> None:
    world = World()
    retry = {"initialDelay": "10m", "maxDelay": "10m", "maxAttempts": 2}
    answers(world, FAILED, *([] if is_success else [FAILED]))
    handle(world, due(world, **before_a_batch(world, retry=retry)))
    ((after_ms, message),) = waiting(world)
    world.queue.waiting.clear()
    world.clock.time = NOON + after_ms
    handle(world, message)
    assert after_ms > 5 * MINUTE
    assert begun(world) == ({after_ms // 1_000}, 1)


def test_the_window_of_a_batch_begins_with_the_end_that_it_follows_though_a_redrive_came_since() -> None:
    world = World()
    answers(world, FAILED)
    message = due(world, **before_a_batch(world, retry={"maxAttempts": 1}))
    world.clock.time += 20_000
    handle(world, message)
    notice = list(world.queue.waiting)
    world.clock.time += 30_000
    world.redrive(runs(world, "job")[0].run_id)
    world.queue.waiting = notice
    assert begun(world) == ({30}, 1)


@pytest.mark.parametrize("history", ["outcome", "full", "failures"])
def test_the_window_of_a_batch_begins_with_the_due_time_of_a_run_that_may_lack_a_record(history: str) -> None:
    world = World()
    message = due(world, **before_a_batch(world, history=history))
    world.clock.time += 11 * MINUTE
    handle(world, message)
    assert begun(world) == ({10}, 2)
