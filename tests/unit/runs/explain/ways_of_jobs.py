"""Ways in which a job, its pauses or its schedule let nothing fire at an instant."""

import pytest
from tests.fakes.faults import meanwhile
from tests.fakes.world import NOON, World
from tests.unit.runs.explain.ways import BUSY, DUE, GONE, HEARTBEAT, PARIS, instant, minutely, way

from sweephand.base.errors import StoreError
from sweephand.base.instants import HOUR_MS, MINUTE_MS, Instant

# The job.


@way("not-created", "created at 2026-11-21T12:00:00Z, with the key test")
def the_job_was_created_later(world: World) -> Instant:
    minutely(world)
    return NOON - HOUR_MS


@way("deleted", "deleted at 2026-11-21T12:00:30Z, with the key test")
def somebody_deleted_the_job(world: World) -> Instant:
    minutely(world)
    world.clock.time += 30_000
    world.delete()
    world.run_until(NOON + HOUR_MS)
    return DUE


@way("deleted", "deleted at 2026-11-21T12:00:30Z")
def the_job_was_deleted_and_created_again_later(world: World) -> Instant:
    minutely(world)
    world.clock.time += 30_000
    world.delete()
    world.clock.time = NOON + HOUR_MS
    minutely(world)
    return DUE


def fail_to_delete(world: World) -> None:
    """Delete the job; the function ends when it has filed the deletion."""

    def end() -> None:
        raise StoreError("the function has ended")

    meanwhile(world, "before jobs.delete", end)
    with pytest.raises(StoreError):
        world.delete()


@way("not-kept", "It was deleted at 2026-11-21T12:05:00Z, with the key test.")
def deletions_failed_before_one_had_an_effect(world: World) -> Instant:
    minutely(world, history="failures")
    for _ in range(2):
        world.clock.time += 20_000
        fail_to_delete(world)
    world.run_until(NOON + 5 * MINUTE_MS)
    world.delete()
    return DUE


@way("not-kept", "The job that was there then is gone.")
def a_deletion_failed_before_one_that_is_dated_after_the_next_creation(world: World) -> Instant:
    minutely(world, history="failures")
    world.clock.time += 20_000
    fail_to_delete(world)
    world.run_until(NOON + 3 * MINUTE_MS)
    world.patch(description="changed")
    world.run_until(NOON + 5 * MINUTE_MS)
    world.api_clock.ahead_ms = 30_000
    world.delete()
    world.api_clock.ahead_ms = -30_000
    minutely(world, history="failures")
    world.api_clock.ahead_ms = 0
    return DUE


@way("paused", "Nobody has resumed it.")
def a_deletion_of_the_paused_job_failed(world: World) -> Instant:
    minutely(world)
    world.clock.time += 30_000
    world.pause()
    world.clock.time = NOON + 5 * MINUTE_MS
    fail_to_delete(world)
    return NOON + 10 * MINUTE_MS


@way("expired", "retention was over")
def the_job_had_expired(world: World) -> Instant:
    world.put(dueTime="10s", retention="1d")
    world.run_until(NOON + MINUTE_MS)
    expires_at = world.stored().expires_at
    assert expires_at is not None
    world.clock.time = expires_at + HOUR_MS
    return expires_at + MINUTE_MS


# Pauses.


@way("paused", "paused at 2026-11-21T12:00:30Z, with the key test: tonight. Nobody has resumed it.")
def somebody_paused_the_job(world: World) -> Instant:
    minutely(world)
    world.clock.time += 30_000
    world.pause(reason="tonight")
    world.run_until(NOON + HOUR_MS)
    return NOON + 30 * MINUTE_MS


@way("paused", "with the key test: tonight. The pause ends by itself at 2026-11-21T14:00:00Z.")
def somebody_paused_the_job_until_an_instant(world: World) -> Instant:
    minutely(world)
    world.clock.time += 30_000
    world.pause(reason="tonight", until=NOON + 2 * HOUR_MS)
    world.run_until(NOON + HOUR_MS)
    return NOON + 30 * MINUTE_MS


@way("paused", "It was resumed at 2026-11-21T12:10:00Z, by Sweephand itself. By the rule of catch-up, this")
def the_pause_had_ended_by_itself(world: World) -> Instant:
    minutely(world)
    world.clock.time += 30_000
    world.pause(until=NOON + 10 * MINUTE_MS, mode="none")
    world.run_until(NOON + HOUR_MS)
    return NOON + 5 * MINUTE_MS


@way("delivered", "succeeded")
def it_was_due_as_the_pause_ended_by_itself(world: World) -> Instant:
    minutely(world)
    world.clock.time += 30_000
    world.pause(until=NOON + 10 * MINUTE_MS, mode="none")
    world.run_until(NOON + HOUR_MS)
    return NOON + 10 * MINUTE_MS


@way("paused", "it waits for the resume. The pause ends by itself at 2026-11-21T14:00:00Z.")
def the_job_was_paused_until_an_instant_just_before_the_delivery(world: World) -> Instant:
    minutely(world)
    world.clock.time = DUE + 100
    world.pause(until=NOON + HOUR_MS)
    world.pause(until=NOON + 2 * HOUR_MS)
    world.run_until(DUE + MINUTE_MS)
    return DUE


@way("paused", "by Sweephand itself")
def the_consumer_answered_that_it_is_gone(world: World) -> Instant:
    minutely(world)
    world.consumers.answering = lambda _: GONE
    world.run_until(NOON + HOUR_MS)
    return DUE + MINUTE_MS


@way("paused", "by Sweephand itself: Run")
def a_failure_paused_the_job(world: World) -> Instant:
    minutely(world, onError="pause", retry={"maxAttempts": 1})
    world.consumers.answering = lambda _: BUSY
    world.run_until(NOON + HOUR_MS)
    return DUE + MINUTE_MS


@way("paused", "this trigger did not fire")
def the_resume_caught_nothing_up(world: World) -> Instant:
    minutely(world)
    world.pause()
    world.run_until(NOON + HOUR_MS)
    world.resume(mode="none")
    world.run_until(NOON + HOUR_MS + 10_000)
    return NOON + 30 * MINUTE_MS


@way("paused", "this trigger fired then, and its run is succeeded")
def the_resume_caught_the_trigger_up(world: World) -> Instant:
    minutely(world)
    world.pause()
    world.run_until(NOON + 5 * MINUTE_MS + 30_000)
    world.resume(mode="latest")
    world.run_until(NOON + 7 * MINUTE_MS)
    return NOON + 5 * MINUTE_MS


@way("paused", "it waits for the resume")
def the_job_was_paused_just_before_the_delivery(world: World) -> Instant:
    minutely(world)
    world.clock.time = DUE + 100
    world.pause()
    world.run_until(DUE + MINUTE_MS)
    return DUE


@way("paused", "deleted at 2026-11-21T12:05:00Z, with the key test. Nobody had resumed it.")
def the_job_was_deleted_while_it_was_paused(world: World) -> Instant:
    minutely(world)
    world.clock.time += 30_000
    world.pause()
    world.clock.time = NOON + 5 * MINUTE_MS
    world.delete()
    return NOON + 3 * MINUTE_MS


@way("paused", "deleted at 2026-11-21T12:05:00Z, with the key test. Nobody had resumed it.")
def the_paused_job_was_deleted_and_created_again(world: World) -> Instant:
    at = the_job_was_deleted_while_it_was_paused(world)
    world.clock.time = NOON + 5 * HOUR_MS
    minutely(world)
    return at


@way("not-scheduled", "the next one after is 2026-11-21T14:00:00Z")
def nothing_was_due_then_and_the_job_is_paused(world: World) -> Instant:
    world.put(schedule="@hourly")
    world.pause()
    world.run_until(NOON + 3 * HOUR_MS)
    return NOON + HOUR_MS + 20 * MINUTE_MS


@way("not-scheduled", "the next one after is 2026-11-21T14:00:00Z")
def nothing_was_due_then_and_the_job_was_paused(world: World) -> Instant:
    at = nothing_was_due_then_and_the_job_is_paused(world)
    world.resume(mode="none")
    world.run_until(NOON + 4 * HOUR_MS)
    return at


# The schedule.


@way("on-demand", "neither schedule nor dueTime")
def the_job_fires_only_on_demand(world: World) -> Instant:
    world.put()
    world.run_until(NOON + HOUR_MS)
    return DUE


@way("before-due-time", "dueTime is 2026-11-21T13:00:00Z")
def the_due_time_is_later(world: World) -> Instant:
    minutely(world, dueTime="1h")
    world.run_until(NOON + 10 * MINUTE_MS)
    return DUE


@way("after-ttl", "ttl ended at 2026-11-21T12:05:00Z")
def the_ttl_is_over(world: World) -> Instant:
    minutely(world, ttl="5m")
    world.run_until(NOON + HOUR_MS)
    return NOON + 10 * MINUTE_MS


@way("repeats-used", "3 repeats: the last was due at 2026-11-21T12:03:00Z")
def the_repeats_are_used_up(world: World) -> Instant:
    minutely(world, repeats=3)
    world.run_until(NOON + HOUR_MS)
    return NOON + 10 * MINUTE_MS


@way("repeats-used", "The job has used its 2 repeats.")
def the_repeats_were_used_up_before_an_update(world: World) -> Instant:
    minutely(world, repeats=2)
    world.run_until(NOON + HOUR_MS)
    world.patch(description="another text")
    return NOON + HOUR_MS + 30 * MINUTE_MS


@way("repeats-used", "2 repeats: the last was due at 2026-11-21T12:02:00Z")
def the_repeats_were_used_up_and_an_update_followed(world: World) -> Instant:
    the_repeats_were_used_up_before_an_update(world)
    return NOON + 30 * MINUTE_MS


@way("not-scheduled", "the next one after is 2026-11-22T02:30:00Z")
def the_schedule_is_read_in_utc(world: World) -> Instant:
    world.put(schedule="30 2 * * *")
    return instant("2026-11-22T02:30:00+01:00")


@way("not-scheduled", "the last one before is 2026-11-21T12:00:10Z")
def the_one_off_was_due_at_another_time(world: World) -> Instant:
    world.put(dueTime="10s")
    world.run_until(NOON + HOUR_MS)
    return NOON + 30 * MINUTE_MS


def nightly(world: World, **dst: str) -> None:
    """A job at 02:30 in Paris, on the day before the clock is set."""
    world.put(schedule="30 2 * * *", timezone=PARIS, dst=dst)


@way("clock-change", "2027-03-28T02:30:00 does not exist: the clock was set forward. dst.gap is skip")
def the_local_time_does_not_exist_and_is_skipped(world: World) -> Instant:
    nightly(world, gap="skip")
    return instant("2027-03-28T02:30:00+01:00")


@way("clock-change", "dst.gap is shift, so it fires at 2027-03-28T01:00:00Z")
def the_local_time_does_not_exist_and_is_moved(world: World) -> Instant:
    nightly(world)
    return instant("2027-03-28T02:30:00+02:00")


@way("clock-change", "so it fires at 2027-03-28T01:00:00Z. The trigger was due just now")
def the_local_time_does_not_exist_and_its_trigger_is_on_its_way(world: World) -> Instant:
    world.clock.time = instant("2027-03-28T00:58:00+00:00")
    nightly(world)
    world.clock.time = instant("2027-03-28T01:00:01+00:00")
    world.leases.beat(HEARTBEAT._replace(at=world.clock.time))
    return instant("2027-03-28T02:30:00+02:00")


@way("stopped", "so it fires at 2027-03-28T01:00:00Z. The trigger was due at 2027-03-28T01:00:00Z")
def the_stack_does_not_tick_when_a_moved_trigger_is_due(world: World) -> Instant:
    nightly(world)
    world.clock.time = instant("2027-03-28T00:30:00+00:00")
    world.tick()
    world.clock.time = instant("2027-03-28T01:30:00+00:00")
    return instant("2027-03-28T02:30:00+02:00")


@way("clock-change", "so it fires at 2027-03-28T01:00:00Z. Its run is succeeded.")
def the_local_time_does_not_exist_and_its_trigger_was_delivered(world: World) -> Instant:
    world.clock.time = instant("2027-03-28T00:50:00+00:00")
    nightly(world)
    world.run_until(instant("2027-03-28T01:10:00+00:00"))
    return instant("2027-03-28T02:30:00+02:00")


@way("clock-change", "comes twice: the clock was set back. dst.overlap is first")
def the_local_time_comes_twice_and_this_is_the_second(world: World) -> Instant:
    nightly(world)
    return instant("2027-10-31T02:30:00+01:00")


@way("clock-change", "dst.overlap is last")
def the_local_time_comes_twice_and_this_is_the_first(world: World) -> Instant:
    nightly(world, overlap="last")
    return instant("2027-10-31T02:30:00+02:00")


@way("jitter", "Jitter moves the job")
def jitter_moves_the_job(world: World) -> Instant:
    world.put(schedule="@hourly", jitter="30m")
    world.run_until(NOON + 2 * HOUR_MS)
    return NOON + HOUR_MS


@way("not-kept", "The one before had a due time then. It may have fired before the new one was stored.")
def a_new_definition_dropped_a_due_time_just_after_it_was_asked_for(world: World) -> Instant:
    world.put(schedule="* * * * *")
    world.run_until(DUE - 1_000)
    world.put(schedule="@hourly")
    world.run_until(DUE + MINUTE_MS)
    return DUE


@way("on-demand", "An earlier definition applied then: it was changed at 2026-11-21T12:30:00Z")
def the_job_had_no_schedule_then(world: World) -> Instant:
    world.put()
    world.clock.time = NOON + 30 * MINUTE_MS
    minutely(world)
    return DUE


@way("not-kept", "and whether successes were recorded then was not kept")
def an_earlier_definition_had_a_due_time_then(world: World) -> Instant:
    minutely(world, history="failures")
    world.run_until(NOON + 30 * MINUTE_MS)
    world.put(schedule="30 2 * * *")
    world.run_until(NOON + HOUR_MS)
    return DUE


@way("not-scheduled", "An earlier definition applied then: it was changed at 2026-11-21T12:30:00Z")
def another_schedule_applied_then(world: World) -> Instant:
    world.put(schedule="30 2 * * *")
    world.clock.time = NOON + 30 * MINUTE_MS
    minutely(world)
    world.run_until(NOON + HOUR_MS)
    return DUE
