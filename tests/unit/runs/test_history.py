"""The runs that each setting of `history` records, and the number of writes."""

from dataclasses import replace

import pytest
from tests.fakes.deliveries import FAILED, answers, change, due, handle, meanwhile, run_of
from tests.fakes.faults import calls_of, failing, working
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import StoreError
from sweephand.base.timing import ATTEMPT_CLAIM_MS
from sweephand.model.attempt import Answer
from sweephand.model.run import Run

SUCCESS = Answer(succeeded=True, code=200)
FINAL = FAILED._replace(is_final=True)


def writes(world: World, history: str, *given: Answer) -> list[str]:
    """The writes of runs that the first attempts of a trigger make."""
    message = due(world, history=history)
    answers(world, *given)
    calls = calls_of(world, lambda: handle(world, message))
    return [call.removeprefix("before runs.") for call in calls if call.startswith("before runs.")]


@pytest.mark.parametrize(
    ("history", "answer", "made"),
    [
        ("outcome", SUCCESS, ["record"]),
        ("outcome", FAILED, ["record"]),
        ("outcome", FINAL, ["record"]),
        ("full", SUCCESS, ["claim", "record"]),
        ("full", FAILED, ["claim", "record"]),
        ("full", FINAL, ["claim", "record"]),
        ("failures", SUCCESS, []),
        ("failures", FAILED, ["record"]),
        ("failures", FINAL, ["record"]),
    ],
)
def test_a_first_attempt_makes_the_writes_that_its_history_needs(
    history: str, answer: Answer, made: list[str]
) -> None:
    assert writes(World(), history, answer) == made


def test_with_full_history_a_first_attempt_is_seen_while_it_is_under_way(world: World) -> None:
    message = due(world, history="full")
    seen: list[Run] = []
    meanwhile(world, "before consumers.deliver", lambda: seen.append(run_of(world)))
    handle(world, message)
    assert [(run.state, run.attempts, run.ended_at) for run in seen] == [("claimed", 1, None)]
    assert run_of(world).state == "succeeded"


def test_with_full_history_a_copy_of_a_first_attempt_is_not_delivered(world: World) -> None:
    message = due(world, history="full")
    assert handle(world, message).name == "succeeded"
    assert handle(world, message).name == "repeated"
    assert len(world.consumers.attempts) == 1


def test_with_full_history_a_first_attempt_whose_function_crashed_is_made_again_after_its_claim() -> None:
    world = World()
    message = due(world, history="full")
    failing(world, "consumers.deliver", after=True, times=1)
    with pytest.raises(StoreError):
        handle(world, message)
    working(world)
    assert handle(world, message).name == "claimed"
    world.run_until(NOON + 10_000 + ATTEMPT_CLAIM_MS + 1_000, ticking=False)
    assert [attempt.number for attempt in world.consumers.attempts] == [1, 1]
    assert run_of(world).state == "succeeded"


@pytest.mark.parametrize(
    ("answer", "state"), [(Answer(succeeded=True, code=200), "succeeded"), (FAILED, "failed")]
)
def test_the_claim_of_a_crashed_function_is_ended_by_an_attempt_that_needs_no_claim(
    world: World, answer: Answer, state: str
) -> None:
    message = due(world, history="full", retry={"maxAttempts": 1})
    failing(world, "consumers.deliver", times=1)
    with pytest.raises(StoreError):
        handle(world, message)
    working(world)
    assert run_of(world).state == "claimed"
    job = world.jobs.get(key_of())
    assert job is not None
    written = {**job.definition.written, "history": "outcome"}
    change(world, definition=replace(job.definition, written=written))
    world.clock.time += ATTEMPT_CLAIM_MS - 1_000
    answers(world, answer)
    handle(world, message)
    assert run_of(world).state == state


def test_a_claim_that_was_stored_is_ended_or_the_message_comes_again(world: World) -> None:
    message = due(world, history="full")
    failing(world, "runs.record")
    with pytest.raises(StoreError):
        handle(world, message)


@pytest.mark.parametrize("history", ["outcome", "full", "failures"])
def test_a_trigger_that_was_given_up_is_recorded_whatever_the_history(world: World, history: str) -> None:
    message = due(world, history=history)
    answers(world, FINAL)
    handle(world, message)
    assert run_of(world).state == "failed"


def test_a_job_that_asks_for_failures_only_lists_no_success(world: World) -> None:
    world.put(schedule="@every 10s", history="failures")
    world.run_until(NOON + 60_000)
    assert len(world.consumers.attempts) == 6
    assert not world.runs.page(key_of(), None, "", 10).items
