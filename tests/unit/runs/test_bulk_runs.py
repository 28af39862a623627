"""Many runs are redriven or cancelled by the flags of runs, or counted first."""

from typing import Any

import pytest
from tests.fakes.faults import calls_of, meanwhile
from tests.fakes.world import NOON, World

from sweephand.base.instants import MINUTE_MS
from sweephand.base.timing import BULK_TIME_LIMIT_MS
from sweephand.model.attempt import Answer
from sweephand.runs import bulk_runs
from sweephand.runs.flagged_list import RunFilter


def world_with(**written: Any) -> World:
    """Jobs `eu` and `us`, each of which has failed three times, with 503 and with 500."""
    world = World()
    world.consumers.answering = lambda attempt: Answer(
        succeeded=False, code=503 if attempt.trigger.key.name == "eu" else 500, text="at sea"
    )
    for name in ("eu", "us"):
        fields: dict[str, Any] = {"retry": {"maxAttempts": 1}, "labels": {"place": name}}
        world.put(name, **{"schedule": "@every 1m", **fields, **written})
    world.run_until(NOON + 3 * MINUTE_MS + 5_000)
    world.queue.waiting.clear()
    return world


#: Filters, and how many of the six failed runs each selects.
FILTERS: list[tuple[dict[str, Any], int]] = [
    ({}, 6),
    ({"prefix": "e"}, 3),
    ({"labels": {"place": "us"}}, 3),
    ({"since": NOON + 2 * MINUTE_MS}, 4),
    ({"until": NOON + 2 * MINUTE_MS}, 2),
    ({"since": NOON + 2 * MINUTE_MS, "until": NOON + 3 * MINUTE_MS}, 2),
    ({"since": NOON + 2 * MINUTE_MS, "until": NOON + 3 * MINUTE_MS, "prefix": "eu"}, 1),
    ({"reason": "503"}, 3),
    ({"reason": "sea"}, 6),
    ({"reason": "land"}, 0),
    ({"until": -1}, 0),
]


@pytest.mark.parametrize(("chosen", "count"), FILTERS)
def test_failed_runs_are_redriven_by_time_prefix_label_and_reason(chosen: dict[str, Any], count: int) -> None:
    world = world_with()
    wanted = RunFilter("ns", **chosen)
    dry = world.api().bulk_runs.redrive(wanted, "", is_dry=True)
    assert (dry.count, len(world.queue.waiting)) == (count, 0)
    assert world.api().bulk_runs.redrive(wanted, "") == dry
    assert len(world.queue.waiting) == count


@pytest.mark.parametrize(("chosen", "count"), FILTERS)
def test_retried_runs_are_cancelled_by_the_same_filters(chosen: dict[str, Any], count: int) -> None:
    world = world_with(retry={"initialDelay": "1h"})
    wanted = RunFilter("ns", **chosen)
    dry = world.api().bulk_runs.cancel(wanted, "", who="me", is_dry=True)
    assert dry.count == count
    assert len(flagged(world, "retrying")) == 6
    assert world.api().bulk_runs.cancel(wanted, "", who="me").count == count
    assert len(flagged(world, "retrying")) == 6 - count
    assert world.api().bulk_runs.cancel(wanted, "", who="me").count == 0


def flagged(world: World, state: Any) -> Any:
    return world.api().flagged.page(RunFilter("ns", state), "", 50, world.clock.time).items


def test_only_runs_in_the_state_that_was_asked_for_are_cancelled() -> None:
    world = world_with(retry={"initialDelay": "1h"})
    assert world.api().bulk_runs.cancel(RunFilter("ns", "running"), "", who="me").count == 0
    assert world.api().bulk_runs.cancel(RunFilter("ns", "retrying"), "", who="me").count == 6


def test_a_run_on_which_a_consumer_works_for_long_is_cancelled() -> None:
    world = World()
    world.consumers.answering = lambda _: Answer(succeeded=True, code=202)
    world.put(dueTime="10s", completion="async", heartbeatTimeout="1m", maxRunTime="1d")
    world.run_until(NOON + 50_000)
    (run,) = world.runs.page(world.stored().key, None, "", 1).items
    world.callbacks().heartbeat(run.key, run.run_id, None)
    world.run_until(NOON + 80_000)
    assert world.api().bulk_runs.cancel(RunFilter("ns"), "", who="me").count == 1
    (run,) = world.runs.page(run.key, None, "", 1).items
    assert (run.state, run.reason) == ("cancelled", "Cancelled with the key me.")


def test_a_run_that_ends_meanwhile_is_not_counted() -> None:
    world = world_with(retry={"initialDelay": "1h"})

    def end_two() -> None:
        for run in flagged(world, "retrying")[:2]:
            world.callbacks().cancel(run.key, run.run_id, "another")

    meanwhile(world, "after runs.of_flags", end_two)
    assert world.api().bulk_runs.cancel(RunFilter("ns"), "", who="me").count == 4


def test_a_call_whose_time_is_up_goes_on_behind_the_runs_that_it_has_cancelled(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bulk_runs, "_AT_ONCE", 2)
    world = world_with(retry={"initialDelay": "1h"})
    move = world.runs.move

    def slowly(*arguments: Any) -> bool:
        world.clock.time += BULK_TIME_LIMIT_MS
        return move(*arguments)

    monkeypatch.setattr(world.runs, "move", slowly)
    counts: list[int] = []
    after: str | None = ""
    while after is not None:
        done = world.api().bulk_runs.cancel(RunFilter("ns"), after, who="me")
        counts.append(done.count)
        after = done.reached
    assert counts == [2, 2, 2]


@pytest.mark.parametrize("prefix", ["", "none"])
def test_what_it_costs_to_count(prefix: str) -> None:
    world = world_with()
    wanted = RunFilter("ns", prefix=prefix)
    calls = calls_of(world, lambda: world.api().bulk_runs.redrive(wanted, "", is_dry=True))
    found = [each for each in calls if each.startswith("before")]
    assert found == ["before flags.page", "before runs.of_flags", "before jobs.get_many"]
