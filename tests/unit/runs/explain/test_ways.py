"""Why a job fired or did not: each way is brought about, and named rightly."""

from typing import get_args

import pytest
from tests.fakes.memory import MemoryChanges
from tests.fakes.world import NOON, World
from tests.unit.runs.explain.every_way import WAYS
from tests.unit.runs.explain.ways import explained

from sweephand.base.errors import NotFoundError
from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS
from sweephand.model.attempt import Answer
from sweephand.runs.explain.facts import Verdict


@pytest.mark.parametrize("name", WAYS)
def test_the_way_is_named_rightly(world: World, name: str) -> None:
    at = WAYS[name].bring_about(world)
    found = explained(world, at)
    assert (found.verdict, WAYS[name].words in found.summary) == (WAYS[name].verdict, True), found.summary
    assert found.is_kept == (found.verdict != "not-kept" and "not kept" not in found.summary)
    assert found.summary.endswith(".")


def test_there_are_ways_to_every_verdict() -> None:
    assert {each.verdict for each in WAYS.values()} == set(get_args(Verdict))


def test_a_job_that_never_was_is_not_found() -> None:
    with pytest.raises(NotFoundError):
        explained(World(), NOON)


def test_without_an_instant_it_is_about_the_latest_due_time(world: World) -> None:
    world.put(schedule="0 30 * * * *")
    world.run_until(NOON + 2 * HOUR_MS)
    found = explained(world, None)
    assert (found.verdict, found.due_at) == ("delivered", NOON + 90 * MINUTE_MS)
    assert explained(world, NOON + HOUR_MS).verdict == "not-scheduled"


def test_an_instant_on_a_full_minute_or_second_is_about_what_is_due_within_it(world: World) -> None:
    world.put(schedule="17 * * * * *")
    world.run_until(NOON + HOUR_MS)
    for at in (NOON + MINUTE_MS, NOON + MINUTE_MS + 17_000):
        assert explained(world, at).due_at == NOON + MINUTE_MS + 17_000
    for at in (NOON + MINUTE_MS + 1_000, NOON + MINUTE_MS + 17_001):
        assert explained(world, at).verdict == "not-scheduled"


def test_a_trigger_without_a_record_is_not_taken_for_a_later_one_of_its_minute(world: World) -> None:
    world.put(schedule="*/30 * * * * *", history="failures")
    world.consumers.answering = lambda attempt: Answer(
        succeeded=attempt.trigger.sequence != 3, code=503, is_final=True
    )
    world.run_until(NOON + HOUR_MS)
    assert explained(world, NOON + 90_000).verdict == "failed"
    assert explained(world, NOON + MINUTE_MS).verdict == "not-kept"
    world.patch(description="an update that leaves the times as they are")
    assert explained(world, NOON + MINUTE_MS).verdict == "not-kept"


def test_the_nearest_due_times_are_those_around_the_trigger(world: World) -> None:
    world.put(schedule="0 0 * * * *", repeats=3)
    found = explained(world, NOON + 2 * HOUR_MS)
    assert (found.before, found.due_at, found.after) == (
        NOON + HOUR_MS,
        NOON + 2 * HOUR_MS,
        NOON + 3 * HOUR_MS,
    )
    last = explained(world, NOON + 3 * HOUR_MS)
    assert (last.before, last.after) == (NOON + 2 * HOUR_MS, None)
    assert explained(world, NOON + HOUR_MS).before is None


def test_a_pause_that_was_resumed_long_ago_does_not_explain_what_is_due_after_it(world: World) -> None:
    world.put(schedule="0 * * * * *")
    world.pause()
    world.run_until(NOON + 10 * MINUTE_MS)
    world.resume(mode="none")
    world.run_until(NOON + HOUR_MS)
    assert explained(world, NOON + 30 * MINUTE_MS).verdict == "delivered"


def test_the_evidence_of_a_pause_is_the_pause_and_not_an_update_after_it(world: World) -> None:
    at = WAYS["the_job_was_paused_just_before_the_delivery"].bring_about(world)
    world.patch(description="another text")
    found = explained(world, at)
    assert found.change is not None
    assert (found.verdict, found.change.what) == ("paused", "paused")


@pytest.mark.parametrize("count", [2, 150])
@pytest.mark.parametrize("failed_index", [0, 1])
def test_of_a_batch_it_is_about_the_first_trigger(world: World, count: int, failed_index: int) -> None:
    world.put(schedule="@hourly", batch={"count": count}, retry={"maxAttempts": 1})
    world.consumers.answering = lambda attempt: Answer(
        succeeded=attempt.trigger.index != failed_index, code=200
    )
    world.run_until(NOON + HOUR_MS + MINUTE_MS)
    found = explained(world, NOON + HOUR_MS)
    assert found.run is not None
    assert (found.run.index, found.verdict) == (0, "delivered" if failed_index else "failed")


def test_a_first_trigger_without_a_record_is_not_taken_for_another_one_of_its_batch(world: World) -> None:
    world.put(schedule="@hourly", batch={"count": 3}, retry={"maxAttempts": 1}, history="failures")
    world.consumers.answering = lambda attempt: Answer(succeeded=attempt.trigger.index != 1, code=200)
    world.run_until(NOON + HOUR_MS + MINUTE_MS)
    found = explained(world, NOON + HOUR_MS)
    assert (found.verdict, found.run) == ("not-kept", None)


def test_a_misfire_that_has_a_record_of_its_own_is_not_counted(world: World) -> None:
    world.put(schedule="0 0 13 * * *", catchup={"mode": "none", "window": "5m"})
    world.run_until(NOON + 2 * HOUR_MS, ticking=False)
    world.run_until(NOON + 2 * HOUR_MS + 10 * MINUTE_MS)
    found = explained(world, NOON + HOUR_MS)
    assert found.verdict == "misfire"
    assert "One record" not in found.summary


def test_an_update_that_leaves_the_times_as_they_are_hides_no_earlier_trigger(world: World) -> None:
    world.put(schedule="0 0 * * * *")
    world.run_until(NOON + 2 * HOUR_MS + MINUTE_MS)
    world.patch(description="another text")
    world.run_until(NOON + DAY_MS)
    found = explained(world, NOON + HOUR_MS)
    assert (found.verdict, found.run is not None and found.run.sequence) == ("delivered", 1)
    assert explained(world, NOON + HOUR_MS + 30 * MINUTE_MS).verdict == "not-scheduled"


def test_a_run_of_an_earlier_schedule_is_found_at_its_due_time(world: World) -> None:
    world.put(schedule="0 0 * * * *")
    world.run_until(NOON + HOUR_MS + MINUTE_MS)
    world.put(schedule="0 30 2 * * *")
    world.run_until(NOON + 2 * HOUR_MS)
    found = explained(world, NOON + HOUR_MS)
    assert (found.verdict, found.run is not None and found.run.due_at) == ("delivered", NOON + HOUR_MS)


def test_a_standstill_of_today_does_not_explain_why_a_trigger_of_yesterday_was_late(world: World) -> None:
    world.put(schedule="0 * * * * *")
    world.clock.time = NOON + MINUTE_MS + 20_000
    world.run_until(NOON + HOUR_MS)
    world.is_enabled = False
    world.run_until(NOON + DAY_MS)
    found = explained(world, NOON + MINUTE_MS)
    assert (found.verdict, found.standstill) == ("delivered", None)
    assert "began 20 s late" in found.summary
    assert "switched off" not in found.summary


def test_what_the_stack_skips_when_it_is_on_again_was_not_promised_before(world: World) -> None:
    world.put(schedule="0 * * * * *")
    world.tick()
    world.is_enabled = False
    world.run_until(NOON + 3 * HOUR_MS)
    off = explained(world, NOON + 30 * MINUTE_MS)
    assert "the rule of catch-up (mode latest) may skip it" in off.summary
    world.is_enabled = True
    world.run_until(NOON + 4 * HOUR_MS)
    assert explained(world, NOON + 30 * MINUTE_MS).verdict == "misfire"


def test_the_runs_of_a_deleted_job_are_explained(world: World) -> None:
    world.put(schedule="0 0 * * * *")
    world.run_until(NOON + HOUR_MS + MINUTE_MS)
    world.delete()
    assert explained(world, NOON + HOUR_MS).verdict == "delivered"


def test_no_next_attempt_is_announced_that_does_not_come() -> None:
    for name in ("the_job_was_paused_before_the_next_attempt", "the_job_was_deleted_before_the_next_attempt"):
        world = World()
        found = explained(world, WAYS[name].bring_about(world))
        assert found.next_at is None
        assert found.next_step in (None, "The resume lets the trigger go on.")


def test_a_redrive_is_advised_only_while_the_job_is_there(world: World) -> None:
    at = WAYS["the_consumer_refused_it"].bring_about(world)
    assert explained(world, at).next_step == "A redrive tries it again."
    world.delete()
    found = explained(world, at)
    assert (found.verdict, found.next_step) == ("failed", None)


def test_changes_that_were_not_all_kept_are_not_guessed(world: World) -> None:
    world.put(schedule="0 0 * * * *", history="failures")
    world.run_until(NOON + HOUR_MS + MINUTE_MS)
    world.patch(description="x")
    world.clock.time = NOON + 100 * DAY_MS
    found = explained(world, NOON + HOUR_MS)
    assert (found.verdict, found.is_kept) == ("not-kept", False)


@pytest.mark.parametrize("ahead_ms", [90_000, 2 * HOUR_MS + 30 * MINUTE_MS])
def test_a_paused_job_is_not_said_to_fire_next(world: World, ahead_ms: int) -> None:
    world.put(schedule="0 0 * * * *")
    assert explained(world, NOON + ahead_ms).next_step == "The job fires."
    world.pause()
    found = explained(world, NOON + ahead_ms)
    assert found.next_step == "The job is paused. The resume decides whether it fires."


def test_a_job_that_is_paused_until_an_instant_is_said_to_fire_after_it(world: World) -> None:
    world.put(schedule="0 0 * * * *")
    world.pause(until=NOON + 2 * HOUR_MS)
    before, after = explained(world, NOON + HOUR_MS), explained(world, NOON + 2 * HOUR_MS)
    assert (before.verdict, after.verdict) == ("paused", "scheduled")
    said = "The job is paused until 2026-11-21T14:00:00Z. What falls due before then, the resume decides."
    assert after.next_step == said


def test_the_evidence_of_a_pause_is_its_beginning_and_not_a_later_end(world: World) -> None:
    at = WAYS["the_job_was_paused_until_an_instant_just_before_the_delivery"].bring_about(world)
    found = explained(world, at)
    assert found.change is not None
    assert found.change.until == NOON + HOUR_MS


def test_a_pause_whose_change_was_not_kept_is_not_said_to_fire_next(world: World) -> None:
    world.put(schedule="0 0 * * * *")
    world.pause()
    world.put(schedule="0 0 * * * *", description="changed since")
    world.changes = MemoryChanges()
    found = explained(world, NOON + HOUR_MS)
    assert "The job is paused" in (found.next_step or "")
