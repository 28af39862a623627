"""The changes of a job: each change that was committed is listed once, and no other."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.faults import calls_of, failing, killed_at, meanwhile, working
from tests.fakes.world import NOON, World, definition, key_of

from sweephand.base.errors import NotFoundError, PreconditionError, StoreError
from sweephand.base.instants import DAY_MS
from sweephand.jobs.change_history import Replaced, replaced_since
from sweephand.model.attempt import Answer
from sweephand.model.change import SWEEPHAND, ChangeKind, FieldChange, changed_fields


def whats(world: World) -> list[ChangeKind]:
    """The kinds of the job's changes, oldest first."""
    return [each.what for each in reversed(world.changed().items)]


def test_every_write_of_a_job_leaves_a_change(world: World) -> None:
    world.put(schedule="@every 1h")
    world.clock.time += 1_000
    world.put(schedule="@every 2h")
    world.clock.time += 1_000
    world.patch(labels={"a": "b"})
    world.clock.time += 1_000
    world.pause(reason="the database moves")
    world.clock.time += 1_000
    world.resume()
    world.clock.time += 1_000
    world.delete()
    changes = world.changed().items
    assert [each.what for each in reversed(changes)] == [
        "created",
        "replaced",
        "patched",
        "paused",
        "resumed",
        "deleted",
    ]
    assert [each.at for each in reversed(changes)] == [NOON + each * 1_000 for each in range(6)]
    assert {each.who for each in changes} == {"test"}
    assert [each.reason for each in changes if each.reason] == ["the database moves"]


def test_a_write_that_changes_nothing_leaves_no_change(world: World) -> None:
    world.put(schedule="@every 1h")
    world.put(schedule="@every 1h")
    world.patch(schedule="@every 1h")
    world.resume()
    world.pause()
    world.pause()
    with pytest.raises(PreconditionError):
        world.delete(if_match=("9-z",))
    assert whats(world) == ["created", "paused"]


def test_a_new_job_costs_no_write_for_its_change(world: World) -> None:
    calls = calls_of(world, lambda: world.put(schedule="@every 1h"))
    assert not [call for call in calls if "changes" in call]
    calls = calls_of(world, lambda: world.put(schedule="@every 2h"))
    assert [call for call in calls if "changes" in call] == ["before changes.put", "after changes.put"]


def test_a_change_shows_that_sweephand_itself_paused_the_job(world: World) -> None:
    world.put(dueTime="10s", onError="pause", retry={"maxAttempts": 1})
    world.consumers.answering = lambda _: Answer(succeeded=False, code=500)
    world.run_until(NOON + 11_000)
    change = world.changed().items[0]
    assert (change.what, change.who) == ("paused", SWEEPHAND)
    assert change.reason is not None


def test_changes_outlive_the_job_and_those_of_a_later_one_of_its_name_come_after_them(world: World) -> None:
    world.put(schedule="@every 1h")
    world.clock.time += 1_000
    world.delete()
    world.clock.time += 1_000
    world.put(schedule="@every 1h")
    assert whats(world) == ["created", "deleted", "created"]


def test_the_latest_change_of_a_job_that_has_expired_is_still_listed(world: World) -> None:
    world.put(dueTime="1s", retention="0s", retry={"maxAge": "1s"})
    world.patch(labels={"a": "b"})
    world.clock.time += DAY_MS
    assert not world.has_job()
    assert whats(world) == ["created", "patched"]
    world.put(dueTime="1s")
    assert whats(world) == ["created", "patched", "created"]


def test_the_changes_of_a_job_that_never_existed_are_not_found() -> None:
    with pytest.raises(NotFoundError):
        World().changed()


def test_pages_show_each_change_once_whether_it_is_filed_or_in_the_job(world: World) -> None:
    for number in range(9):
        world.put(schedule="@every 1h", data=str(number))
        world.clock.time += 1_000
    for limit in (1, 2, 3, 8, 9, 10):
        seen: list[int] = []
        before: str | None = ""
        while before is not None:
            page = world.changed(before=before, limit=limit)
            assert 0 < len(page.items) <= limit
            seen += [each.at for each in page.items]
            before = page.next
        assert seen == [NOON + each * 1_000 for each in reversed(range(9))], limit


def test_clocks_that_differ_hide_no_change(world: World) -> None:
    world.api_clock.ahead_ms = 45_000
    world.put(schedule="@every 1h", data="0")
    world.put(schedule="@every 1h", data="1")
    world.api_clock.ahead_ms = -45_000
    world.put(schedule="@every 1h", data="2")
    assert len(world.changed().items) == 3
    page = world.changed(limit=2)
    assert page.next is not None
    assert len(world.changed(before=page.next).items) == 1


def test_by_clocks_that_differ_a_deleted_job_of_the_name_has_replaced_nothing(world: World) -> None:
    world.api_clock.ahead_ms = 25_000
    world.put(schedule="@every 1h")
    world.put(schedule="@every 2h")
    world.delete()
    world.api_clock.ahead_ms = -25_000
    world.put(schedule="@every 3h")
    series = world.stored().series
    world.api_clock.ahead_ms = 30_000
    world.put(schedule="@every 4h")
    found = replaced_since(world.stored(), NOON, world.api().changes)
    assert found == Replaced({1: series}, hides_records=False)


WRITES: dict[str, Callable[[World], object]] = {
    "put": lambda world: world.put(schedule="@every 2h"),
    "patch": lambda world: world.patch(labels={"a": "b"}),
    "pause": lambda world: world.pause(),
}


@pytest.mark.parametrize("name", WRITES)
def test_a_write_that_is_killed_leaves_its_change_only_if_it_was_committed(name: str) -> None:
    trial = World()
    trial.put(schedule="@every 1h")
    calls = calls_of(trial, lambda: WRITES[name](trial))
    for number in range(len(calls)):
        world = World()
        world.put(schedule="@every 1h")
        before = world.jobs.get(key_of())
        killed_at(world, number, lambda: WRITES[name](world))  # noqa: B023 - called within this turn
        is_committed = world.jobs.get(key_of()) != before
        assert len(world.changed().items) == (2 if is_committed else 1), calls[number]


def test_a_write_that_lost_to_another_leaves_one_change_for_each(world: World) -> None:
    world.put(schedule="@every 1h", data="0")
    meanwhile(world, "before jobs.put", lambda: world.put(schedule="@every 1h", data="1"))
    world.put(schedule="@every 1h", data="2")
    assert whats(world) == ["created", "replaced", "replaced"]


def test_a_change_that_cannot_be_filed_keeps_the_next_write_from_being_committed(world: World) -> None:
    before = world.put(schedule="@every 1h").job
    failing(world, "changes.put")
    for write in WRITES.values():
        with pytest.raises(StoreError):
            write(world)
    working(world)
    assert world.jobs.get(key_of()) == before


@pytest.mark.parametrize("verb", ["put", "patch", "pause"])
def test_a_clock_that_is_behind_dates_no_update_before_the_jobs_creation(world: World, verb: str) -> None:
    world.put(schedule="@hourly")
    world.api_clock.ahead_ms = -60_000
    fields: dict[str, dict[str, Any]] = {"put": {"schedule": "@daily"}, "patch": {"labels": {"a": "b"}}}
    getattr(world, verb)(**fields.get(verb, {}))
    job = world.stored()
    assert job.updated_at == job.created_at == NOON


def test_a_change_of_many_values_keeps_their_names_alone() -> None:
    values = {f"field{number}": "v" * 100 for number in range(12)}
    before = definition(schedule="@daily")
    few = changed_fields(before, replace(before, written={**before.written, "field0": "v" * 100}))
    assert few == (FieldChange("field0", (None, "v" * 100)),)
    many = changed_fields(before, replace(before, written={**before.written, **values}))
    assert many == tuple(FieldChange(name) for name in sorted(values))
