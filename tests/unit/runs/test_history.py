"""The runs that each setting of `history` records, and the flags of those that did not simply succeed."""

from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.deliveries import FAILED, answers, change, due, handle, run_of
from tests.fakes.faults import calls_of, failing, meanwhile, working
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import StoreError
from sweephand.base.instants import HOUR_MS, Instant
from sweephand.base.timing import ATTEMPT_CLAIM_MS
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.run import Run
from sweephand.runs.flagged_list import ListedState, RunFilter

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


def test_what_a_caller_asks_for_makes_no_more_writes_after_an_update(world: World) -> None:
    world.put(schedule="@hourly")
    world.clock.time += 1_000
    world.patch(labels={"team": "red"})
    world.clock.time += 1_000
    world.trigger()
    world.backfill(since=NOON - 2 * HOUR_MS, until=NOON)
    calls = calls_of(world, lambda: world.run_until(world.clock.time + 10_000))
    made = [call.removeprefix("before runs.") for call in calls if call.startswith("before runs.")]
    assert len(world.consumers.attempts) == 3
    assert made == ["record"] * 3


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
    job = world.stored()
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


BUSY = Answer(succeeded=False, code=503, text="busy")
ACCEPTED = Answer(succeeded=True, code=202)
DONE = Answer(succeeded=True, code=204)
RUN = f"{NOON + 10_000}-0"


def world_with(*answers: Answer, **written: Any) -> World:
    """A job that is due once at :10. Its consumer gives those answers, and then 204."""
    world = World()
    world.consumers.answering = lambda attempt: (
        answers[attempt.number - 1] if attempt.number <= len(answers) else DONE
    )
    world.put(dueTime="10s", **written)
    return world


def listed(
    world: World,
    state: ListedState | None = None,
    since: Instant = 0,
    labels: dict[str, str] | None = None,
) -> tuple[Run, ...]:
    wanted = RunFilter("ns", state, since, labels or {})
    page = world.api().flagged.page(wanted, "", 50, world.clock.time)
    return tuple(page.items)


def states(world: World) -> list[str]:
    return [run.state for run in listed(world)]


def flags(world: World) -> int:
    return len(world.flags.page("ns", 0, "", 100).items)


def test_a_success_has_no_flag() -> None:
    world = world_with(history="full")
    world.run_until(NOON + HOUR_MS)
    assert (flags(world), states(world)) == (0, [])


def test_a_run_is_listed_while_it_is_retried_and_no_more_when_it_has_succeeded() -> None:
    world = world_with(BUSY)
    world.run_until(NOON + 11_000)
    assert states(world) == ["retrying"]
    assert listed(world)[0].response_code == 503
    world.run_until(NOON + HOUR_MS)
    assert (flags(world), states(world)) == (1, [])


def test_a_run_that_failed_is_listed_until_its_record_expires() -> None:
    world = world_with(BUSY, retry={"maxAttempts": 1}, historyRetention="1d")
    world.run_until(NOON + 11_000)
    assert states(world) == ["failed"]
    expires_at = listed(world)[0].expires_at
    assert expires_at is not None
    world.clock.time = expires_at - 1
    assert states(world) == ["failed"]
    world.clock.time = expires_at
    assert states(world) == []


def test_a_flag_is_kept_as_long_as_the_record_that_the_last_attempt_leaves() -> None:
    world = world_with(BUSY, BUSY, retry={"maxAttempts": 2}, historyRetention="90d")
    world.run_until(NOON + HOUR_MS)
    (flag,) = world.flags.page("ns", 0, "", 10).items
    assert flag.expires_at == listed(world)[0].expires_at


def test_a_redriven_run_is_listed_by_its_present_state() -> None:
    world = world_with(BUSY, BUSY, retry={"maxAttempts": 1})
    world.run_until(NOON + 11_000)
    world.redrive(RUN)
    world.run_until(NOON + 20_000)
    assert [(run.state, run.attempts) for run in listed(world)] == [("failed", 2)]
    world.redrive(RUN)
    world.run_until(NOON + 30_000)
    assert states(world) == []


def test_a_cancelled_run_is_not_listed() -> None:
    world = world_with(BUSY)
    world.run_until(NOON + 11_000)
    world.callbacks().cancel(key_of(), RUN, "test")
    assert states(world) == []


def test_the_runs_of_a_deleted_job_are_listed() -> None:
    world = world_with(BUSY, retry={"maxAttempts": 1})
    world.run_until(NOON + 11_000)
    world.delete()
    assert states(world) == ["failed"]


def test_a_span_of_misfires_is_one_entry(world: World) -> None:
    world.put(schedule="@every 1m", catchup={"mode": "none", "window": "5m"})
    world.run_until(NOON + HOUR_MS, ticking=False)
    world.run_until(NOON + HOUR_MS + 120_000)
    (run,) = listed(world)
    assert (run.state, run.reason) == ("skipped", "misfire")
    assert run.count > 40


def test_a_run_that_overlap_skipped_is_listed(world: World) -> None:
    world.consumers.answering = lambda _: ACCEPTED
    world.put(schedule="@every 1m", overlap="skip", completion="async")
    world.run_until(NOON + 130_000)
    assert [(run.state, run.reason) for run in listed(world)] == [("skipped", "overlap")]


def test_an_asynchronous_run_is_listed_once_its_consumer_has_worked_for_a_heartbeat_time_out() -> None:
    world = world_with(ACCEPTED, completion="async", heartbeatTimeout="10m")
    world.run_until(NOON + 60_000)
    assert states(world) == []
    world.callbacks().heartbeat(key_of(), RUN, None)
    world.run_until(NOON + 11 * 60_000)
    assert states(world) == ["running"]
    world.callbacks().complete(key_of(), RUN, None)
    assert states(world) == []


def test_an_asynchronous_run_that_completes_at_once_has_no_flag() -> None:
    world = world_with(ACCEPTED, completion="async", heartbeatTimeout="10m")
    world.run_until(NOON + 60_000)
    world.callbacks().complete(key_of(), RUN, None)
    world.run_until(NOON + HOUR_MS)
    assert flags(world) == 0


def test_a_run_is_given_up_only_after_its_flag_is_written() -> None:
    """Otherwise a crash between the two writes would leave a failed run that nobody sees."""
    world = world_with(BUSY, BUSY, retry={"maxAttempts": 1})
    failing(world, "flags.put")
    world.clock.time = NOON + 10_000
    (handled,) = world.deliver(world.queue.take())
    assert handled.error is not None
    assert world.runs.get(key_of(), RUN) is None
    working(world)
    world.run_until(NOON + HOUR_MS)
    assert states(world) == ["failed"]


def many() -> World:
    """Jobs `a` and `b` with labels of their own. Each failed twice and succeeded once in between."""
    world = World()

    def answer(attempt: Attempt) -> Answer:
        return DONE if attempt.trigger.sequence == 2 else BUSY

    world.consumers.answering = answer
    for name, team in (("a", "ops"), ("b", "web")):
        world.put(name, schedule="@every 10s", repeats=3, retry={"maxAttempts": 1}, labels={"team": team})
    world.run_until(NOON + 60_000)
    return world


def test_all_jobs_are_in_one_list_with_the_newest_due_time_first() -> None:
    found = [(run.due_at - NOON, run.key.name) for run in listed(many())]
    assert sorted(found, reverse=True) == [(30_000, "b"), (30_000, "a"), (10_000, "b"), (10_000, "a")]
    assert [at for at, _ in found] == [30_000, 30_000, 10_000, 10_000]


def test_the_list_is_filtered_by_state_due_time_and_label() -> None:
    world = many()
    assert len(listed(world, state="failed")) == 4
    assert listed(world, state="skipped") == ()
    assert {run.due_at for run in listed(world, since=NOON + 10_001)} == {NOON + 30_000}
    assert {run.key.name for run in listed(world, labels={"team": "ops"})} == {"a"}
    assert listed(world, labels={"team": "ops", "tier": "1"}) == ()


def test_a_job_that_took_the_name_of_a_deleted_one_lends_it_no_label() -> None:
    world = many()
    world.delete("a")
    world.put("a", schedule="@every 1h", labels={"team": "web"})
    assert {run.key.name for run in listed(world, labels={"team": "web"})} == {"b"}
