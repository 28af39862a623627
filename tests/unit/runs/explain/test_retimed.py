"""An instant under an earlier schedule is explained by that one or not at all, never by the present one."""

from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.world import NOON, World, key_of
from tests.unit.runs.explain.ways import PARIS, explained, instant

from sweephand.base.instants import HOUR_MS, MINUTE_MS, SECOND_MS
from sweephand.model.job import EARLIER_REVISIONS_MAX


def test_a_completed_job_that_is_written_again_had_other_due_times_before(world: World) -> None:
    twice: dict[str, Any] = {"schedule": "R2/PT90S", "dueTime": "30s", "history": "failures"}
    world.put(**twice)
    world.run_until(NOON + HOUR_MS)
    world.put(**twice)

    found, _ = world.api().explainer.explain(key_of("job"), NOON + 30 * SECOND_MS, world.clock.time)

    assert found.verdict == "not-kept"


def forget_the_former_schedule(world: World) -> None:
    """Leave the last change as an earlier release wrote it."""
    stored = world.stored()
    assert stored.change is not None
    without = replace(stored, version="later", change=stored.change._replace(former=None))
    assert world.jobs.put(without, stored.version)


@pytest.mark.parametrize(
    ("before", "change", "lasts_ms", "is_kept"),
    [
        ({}, {"jitter": "10m"}, 0, True),
        ({}, {"jitter": "10m"}, 0, False),
        ({"jitter": "50s"}, {"jitter": None}, 50 * SECOND_MS, True),
        ({"jitter": "50s"}, {"jitter": None}, 50 * SECOND_MS, False),
    ],
)
def test_the_record_of_a_trigger_is_found_where_it_was_before_the_times_changed(
    world: World, *, before: dict[str, Any], change: dict[str, Any], lasts_ms: int, is_kept: bool
) -> None:
    world.put(**{"schedule": "0 * * * * *", **before})
    world.run_until(NOON + HOUR_MS)
    given = {name: value for name, value in change.items() if value is not None}
    world.patch(without=[name for name in change if name not in given], **given)
    if not is_kept:
        forget_the_former_schedule(world)
    world.run_until(NOON + HOUR_MS + 30 * MINUTE_MS)

    for minute in (10, 59, 60):
        at = NOON + minute * MINUTE_MS
        found = explained(world, at)
        # Where the former schedule is known, its jitter is why nothing fired at the instant itself.
        assert found.verdict in ("delivered", "jitter"), found.summary
        assert found.run is not None
        assert found.due_at is not None
        assert at <= found.due_at <= at + lasts_ms


def test_each_of_several_schedules_explains_the_time_in_which_it_applied(world: World) -> None:
    world.put(schedule="0 10 * * * *", history="failures")
    world.run_until(NOON + HOUR_MS)
    world.put(schedule="0 20 * * * *", history="failures")
    world.put(schedule="0 20 * * * *", history="failures", description="The times stay.")
    world.run_until(NOON + 2 * HOUR_MS)
    world.put(schedule="0 30 * * * *", history="failures")
    world.run_until(NOON + 3 * HOUR_MS)

    def said(minute: int) -> tuple[str, int | None]:
        found = explained(world, NOON + minute * MINUTE_MS)
        return found.verdict, None if found.change is None else found.change.at

    first, second = NOON + HOUR_MS, NOON + 2 * HOUR_MS
    assert [said(minute) for minute in (10, 20, 30)] == [
        ("not-kept", first),
        ("not-scheduled", first),
        ("not-scheduled", first),
    ]
    assert [said(60 + minute) for minute in (10, 20, 30)] == [
        ("not-scheduled", second),
        ("not-kept", second),
        ("not-scheduled", second),
    ]
    assert [said(120 + minute) for minute in (10, 20)] == [("not-scheduled", None)] * 2
    found = explained(world, NOON + 80 * MINUTE_MS)
    # The due times of the others are not those around it.
    assert (found.due_at, found.before, found.after) == (NOON + 80 * MINUTE_MS, None, None)


def test_the_zone_and_the_rules_are_those_of_the_schedule_that_applied() -> None:
    world = World(instant("2027-03-27T12:00:00+01:00"))
    world.put(schedule="30 2 * * *", timezone=PARIS, dst={"gap": "skip"})
    world.run_until(instant("2027-03-29T12:00:00+02:00"))
    world.put(schedule="30 2 * * *", timezone="Asia/Tokyo")
    found = explained(world, instant("2027-03-28T02:30:00+01:00"))
    assert (found.verdict, "dst.gap is skip" in found.summary) == ("clock-change", True)
    assert "An earlier definition applied then" in found.summary


def test_by_clocks_that_differ_a_deleted_job_of_the_name_explains_nothing(world: World) -> None:
    world.api_clock.ahead_ms = 25_000
    world.put(schedule="1 * * * * *")
    world.put(schedule="2 * * * * *")
    world.delete()
    world.api_clock.ahead_ms = -25_000
    world.put(schedule="30 * * * * *")
    world.run_until(NOON + 10 * MINUTE_MS)
    assert [each.what for each in world.changed().items] == ["deleted", "replaced", "created", "created"]
    assert explained(world, NOON + MINUTE_MS + SECOND_MS).verdict == "not-scheduled"


def test_a_change_without_the_former_schedule_leaves_the_question_open(world: World) -> None:
    world.put(schedule="0 10 * * * *")
    world.run_until(NOON + HOUR_MS)
    world.put(schedule="0 20 * * * *")
    forget_the_former_schedule(world)
    assert explained(world, NOON + 30 * MINUTE_MS).verdict == "not-kept"


def test_a_revision_that_the_job_keeps_no_more_is_not_explained(world: World) -> None:
    world.put(schedule="* * * * *", history="failures")
    for number in range(EARLIER_REVISIONS_MAX + 2):
        world.run_until(NOON + (number + 1) * 10 * MINUTE_MS)
        world.put(schedule=f"{number} * * * * *", history="failures")
    assert explained(world, NOON + 5 * MINUTE_MS + 30_001).verdict == "not-kept"
    assert explained(world, NOON + 105 * MINUTE_MS + 30_001).verdict == "not-scheduled"


def test_a_minute_in_which_the_schedule_was_changed_belongs_to_neither(world: World) -> None:
    world.put(schedule="0 10 * * * *")
    world.run_until(NOON + 20 * MINUTE_MS + 30_000)
    world.put(schedule="0 40 * * * *")
    assert explained(world, NOON + 20 * MINUTE_MS).verdict == "not-kept"
    assert explained(world, NOON + 19 * MINUTE_MS).verdict == "not-scheduled"


def test_between_the_request_of_an_update_and_its_commit_no_schedule_applies_alone(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world.put(schedule="0 10 * * * *")
    world.run_until(NOON + 20 * MINUTE_MS)
    timers = world.timers.put

    def slow(written: Any) -> None:
        world.clock.time += 2 * SECOND_MS  # the time of the arming, after which the update is committed
        timers(written)

    monkeypatch.setattr(world.timers, "put", slow)
    world.put(schedule="@every 1h")
    monkeypatch.undo()
    world.run_until(NOON + 30 * MINUTE_MS)
    world.put(schedule="0 50 * * * *")
    assert explained(world, NOON + 20 * MINUTE_MS - SECOND_MS).verdict == "not-scheduled"
    assert explained(world, NOON + 20 * MINUTE_MS + SECOND_MS).verdict == "not-kept"
    assert explained(world, NOON + 20 * MINUTE_MS + 4 * SECOND_MS).verdict == "not-scheduled"


@pytest.mark.parametrize(
    ("first", "words"),
    [
        ({}, "The job had no schedule before."),
        ({"schedule": {"hour": "3"}}, 'The schedule was {"hour": "3"} before.'),
    ],
)
def test_without_the_former_schedule_the_change_says_what_was_written_before(
    world: World, first: dict[str, Any], words: str
) -> None:
    world.put(**first)
    world.run_until(NOON + 30 * MINUTE_MS)
    world.put(schedule="* * * * *")
    forget_the_former_schedule(world)
    found = explained(world, NOON + MINUTE_MS)
    assert found.verdict == "not-kept"
    assert words in found.summary
