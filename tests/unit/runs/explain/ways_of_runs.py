"""What becomes of a trigger: ways in which it runs, is held back, or leaves nothing that was kept."""

from typing import Any

from tests.fakes.windows import put_once
from tests.fakes.world import NOON, World, key_of
from tests.unit.runs.explain.ways import (
    ACCEPTED,
    BUSY,
    DUE,
    HEARTBEAT,
    MAILER,
    WRONG,
    minutely,
    way,
    with_policy,
)

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Instant
from sweephand.jobs.policy_fields import PolicyLimits
from sweephand.model.attempt import Answer
from sweephand.model.policy import Rate

# What became of the trigger.


@way("misfire", "mode none, window 5 min")
def catch_up_fires_no_misfire(world: World) -> Instant:
    minutely(world, catchup={"mode": "none", "window": "5m"})
    world.tick()
    world.run_until(NOON + HOUR_MS, ticking=False)
    world.run_until(NOON + HOUR_MS + 2 * MINUTE_MS)
    return NOON + 30 * MINUTE_MS


@way("not-scheduled", "the next one after is 2026-11-21T14:00:00Z")
def nothing_was_due_then_and_what_was_due_before_and_after_was_skipped(world: World) -> Instant:
    world.put(schedule="@hourly", catchup={"mode": "none", "window": "5m"})
    world.tick()
    world.run_until(NOON + 5 * HOUR_MS + MINUTE_MS, ticking=False)
    world.run_until(NOON + 5 * HOUR_MS + 10 * MINUTE_MS)
    return NOON + HOUR_MS + 20 * MINUTE_MS


@way("misfire", "by the rule of catch-up it did not fire. One record stands for 50 such triggers")
def catch_up_had_another_rule_then(world: World) -> Instant:
    at = catch_up_fires_no_misfire(world)
    world.patch(catchup={"mode": "all"})
    return at


@way("misfire", "The stack did not tick from 2026-11-21T12:00:00Z until 2026-11-21T13:01:00Z")
def catch_up_fires_only_the_newest_misfire(world: World) -> Instant:
    minutely(world, catchup={"window": "5m"})
    world.tick()
    world.run_until(NOON + HOUR_MS, ticking=False)
    world.run_until(NOON + HOUR_MS + 2 * MINUTE_MS)
    return NOON + 30 * MINUTE_MS


def busy(world: World, overlap: str, **written: Any) -> None:
    """A job whose consumer works on each run for as long as it likes."""
    world.consumers.answering = lambda _: ACCEPTED
    minutely(world, overlap=overlap, completion="async", heartbeatTimeout="1h", **written)


@way("overlap", "of the job was not over, so it was skipped")
def the_run_before_was_not_over(world: World) -> Instant:
    busy(world, "skip")
    world.run_until(NOON + 3 * MINUTE_MS)
    return NOON + 2 * MINUTE_MS


@way("overlap", "of the job was not over, so it was skipped")
def a_newer_trigger_took_its_place_in_the_line(world: World) -> Instant:
    busy(world, "waitLatest")
    world.run_until(NOON + 5 * MINUTE_MS)
    return NOON + 2 * MINUTE_MS


@way("overlap", "of the job was not over, so it was skipped")
def the_line_was_full(world: World) -> Instant:
    busy(world, "wait", waitLimit=1)
    world.run_until(NOON + 5 * MINUTE_MS)
    return NOON + 3 * MINUTE_MS


@way("window", "It was skipped: the window freeze of the namespace was open then.")
def a_window_skipped_it(world: World) -> Instant:
    world.limits_namespaces = True
    put_once(world, 0, HOUR_MS, then="skip")
    minutely(world)
    world.run_until(NOON + 2 * MINUTE_MS)
    return NOON + MINUTE_MS


@way("waiting-window", "The window freeze of the namespace holds it until 2026-11-21T13:00:00Z.")
def a_window_holds_it(world: World) -> Instant:
    world.limits_namespaces = True
    put_once(world, 0, HOUR_MS)
    minutely(world)
    world.run_until(NOON + 2 * MINUTE_MS)
    return NOON + MINUTE_MS


@way("retrying", "The window freeze of the namespace holds it until 2026-11-21T13:00:00Z.")
def a_window_holds_its_retry(world: World) -> Instant:
    world.limits_namespaces = True
    world.consumers.answering = lambda _: BUSY
    minutely(world)
    world.run_until(NOON + MINUTE_MS + 100)
    put_once(world, 0, HOUR_MS)
    world.run_until(NOON + 2 * MINUTE_MS)
    return NOON + MINUTE_MS


@way("delivered", "has succeeded.")
def it_was_delivered(world: World) -> Instant:
    minutely(world)
    world.run_until(NOON + HOUR_MS)
    return DUE


@way("delivered", "The stack did not tick from 2026-11-21T12:00:00Z until 2026-11-21T12:20:00Z")
def it_was_delivered_late_because_the_stack_did_not_tick(world: World) -> Instant:
    minutely(world)
    world.tick()
    world.run_until(NOON + 19 * MINUTE_MS + 30_000, ticking=False)
    world.run_until(NOON + HOUR_MS)
    return NOON + 10 * MINUTE_MS


@way("delivered", "The stack was switched off from 2026-11-21T12:01:00Z until 2026-11-21T12:20:00Z")
def it_was_delivered_late_because_the_stack_was_off(world: World) -> Instant:
    minutely(world)
    world.tick()
    world.is_enabled = False
    world.run_until(NOON + 19 * MINUTE_MS + 30_000)
    world.is_enabled = True
    world.run_until(NOON + HOUR_MS)
    return NOON + 10 * MINUTE_MS


@way("running", "The consumer has accepted it and works on it")
def the_consumer_works_on_it(world: World) -> Instant:
    busy(world, "skip")
    world.run_until(DUE + 10_000)
    return DUE


@way("running", "Attempt 1 is under way")
def an_attempt_is_under_way(world: World) -> Instant:
    minutely(world, history="full")

    def die(_: object) -> Answer:
        raise KeyboardInterrupt

    world.consumers.answering = die
    world.clock.time = DUE
    try:
        world.deliver(world.queue.take())
    except KeyboardInterrupt:
        world.clock.time += 1_000
    return DUE


@way("retrying", "1 attempt failed. Response 503. The next attempt is due at")
def the_consumer_failed_and_it_is_tried_again(world: World) -> Instant:
    minutely(world, retry={"initialDelay": "10m"})
    world.consumers.answering = lambda _: BUSY
    world.run_until(DUE + 10_000)
    return DUE


@way("retrying", "The job was paused at 2026-11-21T12:02:00Z, so the next attempt waits for the resume.")
def the_job_was_paused_before_the_next_attempt(world: World) -> Instant:
    the_consumer_failed_and_it_is_tried_again(world)
    world.run_until(NOON + 2 * MINUTE_MS)
    world.pause()
    world.run_until(NOON + HOUR_MS)
    return DUE


@way("retrying", "The job is not there any more, so no attempt follows.")
def the_job_was_deleted_before_the_next_attempt(world: World) -> Instant:
    the_consumer_failed_and_it_is_tried_again(world)
    world.delete()
    return DUE


@way("cancelled", "Its job was deleted.")
def the_job_was_deleted_and_its_next_attempt_was_due(world: World) -> Instant:
    the_job_was_deleted_before_the_next_attempt(world)
    world.run_until(NOON + HOUR_MS)
    return DUE


@way("retrying", "The stack is switched off since 2026-11-21T12:02:00Z.")
def the_stack_was_switched_off_before_the_next_attempt(world: World) -> Instant:
    the_consumer_failed_and_it_is_tried_again(world)
    world.is_enabled = False
    world.run_until(NOON + HOUR_MS)
    return DUE


@way("failed", "after 1 attempt.")
def the_consumer_refused_it(world: World) -> Instant:
    minutely(world)
    world.consumers.answering = lambda _: WRONG
    world.run_until(DUE + 10_000)
    return DUE


@way("failed", "after 2 attempts.")
def all_attempts_failed(world: World) -> Instant:
    minutely(world, retry={"maxAttempts": 2, "initialDelay": "1s"})
    world.consumers.answering = lambda _: BUSY
    world.run_until(DUE + 30_000)
    return DUE


@way("cancelled", "Cancelled with the key test")
def somebody_cancelled_the_run(world: World) -> Instant:
    busy(world, "skip")
    world.run_until(DUE + 10_000)
    world.callbacks().cancel(key_of(), f"{DUE}-0", "test")
    return DUE


# What holds it back.


@way("scheduled", "It is due at 2026-11-21T12:10:00Z, in 10 min.")
def it_is_not_due_yet(world: World) -> Instant:
    minutely(world)
    world.leases.beat(HEARTBEAT)
    return NOON + 10 * MINUTE_MS


@way(
    "switched-off",
    "Once the stack is on again, the trigger is delivered. If it is more than 1 h late by then",
)
def the_stack_is_switched_off(world: World) -> Instant:
    minutely(world)
    world.is_enabled = False
    world.run_until(NOON + 10 * MINUTE_MS)
    return NOON + 5 * MINUTE_MS


@way("stopped", "Once the stack ticks again, the trigger is delivered.")
def the_stack_does_not_tick(world: World) -> Instant:
    minutely(world)
    world.tick()
    world.run_until(NOON + 30 * MINUTE_MS, ticking=False)
    return NOON + 20 * MINUTE_MS


@way("switched-off", "Once the stack is on again, the trigger is delivered.")
def the_stack_was_switched_off_before_the_delivery(world: World) -> Instant:
    minutely(world, catchup={"mode": "all"})
    world.clock.time = DUE + 100
    world.is_enabled = False
    world.run_until(NOON + 10 * MINUTE_MS)
    return DUE


@way("waiting-turn", f"run {DUE}-0 of this job is not over")
def it_waits_for_its_turn(world: World) -> Instant:
    busy(world, "wait")
    world.run_until(NOON + 2 * MINUTE_MS + 30_000)
    return NOON + 2 * MINUTE_MS


@way("waiting-policy", "It waits for a permit of the policy mailer")
def it_waits_for_a_permit(world: World) -> Instant:
    with_policy(world, PolicyLimits(None, Rate(1, DAY_MS)))
    minutely(world, policy="mailer")
    world.run_until(NOON + 5 * MINUTE_MS)
    return NOON + 4 * MINUTE_MS


@way("waiting-policy", "The policy counts by label:tenant, and the trigger waits for its turn under 'acme'.")
def it_waits_for_others_of_its_tenant(world: World) -> Instant:
    with_policy(world, PolicyLimits(None, Rate(1, DAY_MS), "label:tenant"))
    minutely(world, policy="mailer", labels={"tenant": "acme"})
    world.run_until(NOON + 5 * MINUTE_MS)
    return NOON + 4 * MINUTE_MS


@way("waiting-policy", "The policy mailer is paused. The trigger waits until somebody resumes the policy.")
def its_policy_is_paused(world: World) -> Instant:
    writer = with_policy(world, PolicyLimits(5, None))
    minutely(world, policy="mailer")
    writer.pause(MAILER, reason=None, who="test", requested_at=world.clock.time)
    world.run_until(NOON + 5 * MINUTE_MS)
    return NOON + 4 * MINUTE_MS


@way("waiting-policy", "The policy mailer does not exist")
def its_policy_has_no_item(world: World) -> Instant:
    with_policy(world, PolicyLimits(5, None))
    minutely(world, policy="mailer")
    world.policies._policies.clear()
    world.run_until(NOON + 5 * MINUTE_MS)
    return NOON + 4 * MINUTE_MS


@way("waiting-limit", "the limit of the stack allows: 1 triggers a minute")
def it_waits_for_the_limit_of_the_stack(world: World) -> Instant:
    world.triggers_per_minute_max = 1
    world.put(schedule="@every 10s")
    world.run_until(NOON + 5 * MINUTE_MS)
    return NOON + 4 * MINUTE_MS


@way("waiting-limit", "the limit of the namespace allows: 1 triggers a minute")
def it_waits_for_the_limit_of_the_namespace(world: World) -> Instant:
    world.namespace_limit = lambda _: 1
    world.put(schedule="@every 10s")
    world.run_until(NOON + 5 * MINUTE_MS)
    return NOON + 4 * MINUTE_MS


@way("not-swept", "The sweep of its shard is behind")
def the_sweep_is_behind(world: World) -> Instant:
    minutely(world)
    world.tick()
    world.run_until(NOON + 30 * MINUTE_MS, ticking=False)
    world.leases.beat(HEARTBEAT._replace(at=world.clock.time))
    return NOON + 20 * MINUTE_MS


@way("enqueued", "was due just now")
def it_is_on_its_way(world: World) -> Instant:
    minutely(world)
    world.leases.beat(HEARTBEAT)
    world.clock.time = DUE + 500
    return DUE


# What was not kept.


@way("not-kept", "history is failures")
def its_job_records_no_success(world: World) -> Instant:
    minutely(world, history="failures")
    world.run_until(NOON + 5 * MINUTE_MS)
    return DUE


@way("not-kept", "so it has succeeded or waits. The policy mailer is paused.")
def its_job_records_no_success_and_its_policy_is_paused(world: World) -> Instant:
    writer = with_policy(world, PolicyLimits(5, None))
    minutely(world, policy="mailer", history="failures")
    writer.pause(MAILER, reason=None, who="test", requested_at=world.clock.time)
    world.run_until(NOON + 5 * MINUTE_MS)
    return NOON + 4 * MINUTE_MS


@way("not-kept", "so it probably succeeded")
def its_policy_is_paused_long_after_a_success_that_is_not_recorded(world: World) -> Instant:
    writer = with_policy(world, PolicyLimits(5, None))
    minutely(world, policy="mailer", history="failures")
    world.run_until(NOON + 5 * MINUTE_MS)
    world.clock.time += 15 * DAY_MS
    writer.pause(MAILER, reason=None, who="test", requested_at=world.clock.time)
    world.tick()
    return DUE


@way("not-kept", "Records of this job are kept for 15 d")
def its_record_has_expired(world: World) -> Instant:
    world.put(schedule="0 0 13 * * *", historyRetention="15d")
    world.run_until(NOON + 2 * HOUR_MS)
    world.runs._runs.clear()
    world.clock.time += 20 * DAY_MS
    world.tick()
    return NOON + HOUR_MS


@way("not-kept", "Records of this job are kept for 15 d.")
def the_stack_was_switched_off_long_after_its_record_had_expired(world: World) -> Instant:
    its_record_has_expired(world)
    world.is_enabled = False
    world.run_until(world.clock.time + 10 * MINUTE_MS)
    return NOON + HOUR_MS


@way("not-kept", "so it probably succeeded")
def the_stack_was_switched_off_long_after_a_success_that_is_not_recorded(world: World) -> Instant:
    minutely(world, history="failures")
    world.run_until(NOON + HOUR_MS)
    world.is_enabled = False
    world.run_until(NOON + 2 * HOUR_MS)
    return DUE


@way("not-kept", "Records of this job are kept for 15 d.")
def the_job_was_paused_long_after_its_record_had_expired(world: World) -> Instant:
    its_record_has_expired(world)
    world.pause()
    return NOON + HOUR_MS


@way("not-kept", "It was deleted at 2026-11-21T13:00:00Z")
def another_job_ruled_then(world: World) -> Instant:
    minutely(world, history="failures")
    world.run_until(NOON + HOUR_MS)
    world.delete()
    return DUE


@way("expired", "nobody deleted it")
def the_job_is_not_there_any_more(world: World) -> Instant:
    world.put(dueTime="10s", history="failures", retention="1h")
    world.clock.time += SECOND_MS
    world.patch(description="x")
    world.jobs._jobs.clear()
    world.run_until(NOON + 10 * DAY_MS, ticking=False)
    return NOON + 5 * DAY_MS


@way(
    "not-kept",
    "The job was created at 2026-11-21T12:00:00Z. Whether there was another job of the name before",
)
def the_changes_of_the_time_before_the_job_have_expired(world: World) -> Instant:
    minutely(world)
    world.clock.time += MINUTE_MS
    world.patch(description="a text")
    world.changes._changes.clear()
    world.clock.time += 100 * DAY_MS
    world.patch(description="another text")
    return NOON - HOUR_MS


@way("not-kept", "Nothing that was kept says what became of it")
def its_record_was_lost(world: World) -> Instant:
    minutely(world)
    world.run_until(NOON + 3 * HOUR_MS)
    world.runs._runs.clear()
    return NOON + HOUR_MS
