"""What the newest runs of a job say about it, and which jobs fail."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import pytest
from tests.contract import builders
from tests.contract.builders import UID, job
from tests.fakes.faults import calls_of
from tests.fakes.world import NOON, World

from sweephand.base.instants import HOUR_MS, MINUTE_MS
from sweephand.base.timing import BULK_TIME_LIMIT_MS, PENDING_MAX_MS
from sweephand.jobs.read import Selection
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.page import Page
from sweephand.model.run import Run
from sweephand.model.trigger import Failure
from sweephand.runs import health
from sweephand.runs.health import HEALTH_RUNS_MAX, JobHealth, health_of

FAILURE = Failure(1, "no", 500)


def runs(*states: str) -> Sequence[Run]:
    """Runs in these states, newest first. One whose state ends in `!` is of a later attempt."""
    return [
        builders.run(
            NOON - number * MINUTE_MS,
            state=state.rstrip("!"),
            last_failure=FAILURE if state.endswith("!") else None,
        )
        for number, state in enumerate(states)
    ]


@pytest.mark.parametrize(
    ("states", "failures"),
    [
        ((), []),
        (("succeeded",), []),
        (("succeeded", "failed", "failed"), []),
        (("failed", "succeeded", "failed"), [0]),
        (("failed!", "failed!"), [0, 1]),
        (("retrying!", "succeeded"), [0]),
        # What is under way, skipped or cancelled decides nothing.
        (("claimed", "running", "skipped", "cancelled", "failed", "succeeded"), [4]),
        # A later attempt is under way.
        (("claimed!", "running!", "succeeded"), [0, 1]),
        # It succeeded at a later attempt.
        (("succeeded!", "failed"), []),
    ],
)
def test_failures_in_a_row_are_those_since_the_newest_success(
    states: tuple[str, ...], failures: list[int]
) -> None:
    newest = runs(*states)
    found = health_of(job(), newest, NOON + HOUR_MS)
    assert found.runs == tuple(newest)
    assert found.failures == tuple(newest[number] for number in failures)


def test_runs_of_an_earlier_job_of_the_name_do_not_count() -> None:
    earlier = builders.run(state="failed", uid=f"{UID}x"[1:])
    assert health_of(job(), [earlier], NOON) == ((), ())


def world_with(failing: Mapping[str, Collection[int]], seconds: int = 61, **written: Any) -> World:
    """Jobs that fire every ten seconds. Those occurrences of each fail for good, by their numbers from 1."""
    world = World()

    def answer(attempt: Attempt) -> Answer:
        is_bad = attempt.trigger.sequence in failing[attempt.trigger.key.name]
        return Answer(succeeded=not is_bad, code=500 if is_bad else 204)

    world.consumers.answering = answer
    for name in failing:
        world.put(name, schedule="@every 10s", retry={"maxAttempts": 1}, **written)
    world.run_until(NOON + seconds * 1_000)
    return world


def page(world: World, after: str = "", limit: int = 50, **selected: Any) -> Page[JobHealth]:
    selection = Selection("ns", after=after, **selected)
    return world.api().health.failing(selection, limit=limit, now=world.clock.time)


def names(found: Page[JobHealth]) -> list[str]:
    return [each.view.job.key.name for each in found.items]


def test_jobs_whose_newest_run_failed_are_listed_with_their_health() -> None:
    world = world_with({"good": (), "late": (6,), "recovered": (1, 2, 5), "always": range(7)})
    found = {each.view.job.key.name: each.health for each in page(world).items}
    assert {name: len(each.failures) for name, each in found.items()} == {"late": 1, "always": 6}
    assert [run.state for run in found["late"].runs] == ["failed", *["succeeded"] * 5]


def test_a_job_with_many_failures_is_listed_once_over_all_pages() -> None:
    world = world_with({"a": range(7), "b": range(4, 7), "c": (6,), "good": ()})
    world.delete("c")
    for limit in (1, 2, 3):
        listed: list[str] = []
        after: str | None = ""
        while after is not None:
            found = page(world, after, limit)
            assert len(found.items) <= limit
            listed += names(found)
            after = found.next
        assert sorted(listed) == ["a", "b"]


def test_the_newest_failure_comes_first_and_a_call_goes_on_behind_the_flags_that_one_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = world_with({"noisy": range(7)})
    world.pause("noisy")
    world.put("rare", dueTime="1s", retry={"maxAttempts": 1})
    world.consumers.answering = lambda _: Answer(succeeded=False, code=500)
    world.run_until(NOON + 65_000)
    monkeypatch.setattr(health, "BULK_EXAMINED_MAX", 2)
    pages = [page(world)]
    while pages[-1].next is not None:
        pages.append(page(world, pages[-1].next))
    assert [names(each) for each in pages] == [["rare", "noisy"], [], [], []]


def test_a_call_whose_time_is_up_goes_on_behind_the_jobs_that_it_has_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(health, "_AT_ONCE", 1)
    world = world_with({"a": (6,), "b": (6,)})
    read = world.runs.page

    def slowly(*arguments: Any, **named: Any) -> Page[Run]:
        world.clock.time += BULK_TIME_LIMIT_MS
        return read(*arguments, **named)

    world.runs.page = slowly  # type: ignore[method-assign]
    first = page(world)
    assert first.next is not None
    second = page(world, first.next)
    assert sorted(names(first) + names(second)) == ["a", "b"]
    assert (len(first.items), second.next) == (1, None)


def test_failing_jobs_are_selected_like_those_of_any_list() -> None:
    world = World()
    world.consumers.answering = lambda _: Answer(succeeded=False, code=500)
    for name, labels in (("eu-mail", {"team": "ops"}), ("eu-report", {}), ("us-mail", {"team": "web"})):
        world.put(name, schedule="@every 10s", retry={"maxAttempts": 1}, labels=labels)
    world.run_until(NOON + 11_000)
    world.pause("us-mail")
    assert sorted(names(page(world, prefix="eu-"))) == ["eu-mail", "eu-report"]
    assert sorted(names(page(world, contains="mail"))) == ["eu-mail", "us-mail"]
    assert names(page(world, labels={"team": "ops"})) == ["eu-mail"]
    assert names(page(world, state="paused")) == ["us-mail"]
    assert names(page(world, policy="none")) == []
    assert names(page(world, contains="mail", state="active")) == ["eu-mail"]


def test_a_run_that_is_retried_fails_until_it_succeeds() -> None:
    world = World()
    world.consumers.answering = lambda attempt: Answer(succeeded=attempt.number > 1, code=503)
    world.put(dueTime="10s", retry={"maxAttempts": 2, "initialDelay": "30s"})
    world.run_until(NOON + 11_000)
    assert names(page(world)) == ["job"]
    world.run_until(NOON + HOUR_MS)
    assert names(page(world)) == []


def test_a_job_that_records_no_success_fails_until_a_later_trigger_must_have_succeeded() -> None:
    world = world_with({"job": (1,)}, 11, history="failures")
    assert names(page(world)) == ["job"]
    next_due_at = NOON + 20_000
    world.run_until(next_due_at + PENDING_MAX_MS - 1)
    assert names(page(world)) == ["job"], "the later trigger may still be on its way"
    world.run_until(next_due_at + PENDING_MAX_MS)
    assert names(page(world)) == []


@pytest.mark.parametrize("resumed", [False, True])
def test_a_pause_is_no_success_of_a_job_that_records_none(*, resumed: bool) -> None:
    world = world_with({"job": (1,)}, 11, history="failures", catchup={"mode": "skip"})
    world.pause()
    world.run_until(NOON + PENDING_MAX_MS * 2)
    if resumed:
        world.resume()
    assert names(page(world)) == ["job"]


def test_what_it_costs_to_show_the_health_of_jobs() -> None:
    world = world_with({"a": (), "b": (6,)})
    views = world.api().reader.page(Selection("ns"), limit=50, now=world.clock.time).items
    calls = calls_of(world, lambda: world.api().health.of(views, world.clock.time))
    assert [each for each in calls if each.startswith("before")] == ["before runs.page"] * 2
    calls = calls_of(world, lambda: page(world))
    assert [each for each in calls if each.startswith("before")] == [
        "before flags.page",
        "before jobs.get_many",
        "before runs.page",
    ]


def test_at_most_ten_records_of_a_job_are_read() -> None:
    world = world_with({"job": range(20)}, 121)
    (found,) = page(world).items
    assert (len(found.health.runs), len(found.health.failures)) == (HEALTH_RUNS_MAX, HEALTH_RUNS_MAX)
