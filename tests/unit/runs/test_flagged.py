"""Flags: each run that did not simply succeed has one, and the list of a namespace shows what is true now."""

from typing import Any

from tests.fakes.faults import failing, working
from tests.fakes.world import NOON, World, key_of

from sweephand.base.instants import HOUR_MS, Instant
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.run import Run
from sweephand.runs.flagged_list import ListedState, RunFilter

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
