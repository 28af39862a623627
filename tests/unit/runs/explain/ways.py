"""Ways in which a job fires or does not, each brought about by the use cases of a stack in memory."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final, NamedTuple

from tests.fakes.world import NOON, World, key_of

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Instant, from_datetime
from sweephand.jobs.policies import PolicyLimits, PolicyWriter
from sweephand.model.policy import PolicyKey, Rate
from sweephand.model.timer import Heartbeat
from sweephand.ports import Answer
from sweephand.runs.explain.facts import Explanation, Verdict

BUSY: Final = Answer(succeeded=False, code=503, text="busy")
GONE: Final = Answer(succeeded=False, code=410, is_final=True)
WRONG: Final = Answer(succeeded=False, code=400, is_final=True)
ACCEPTED: Final = Answer(succeeded=True, code=202)
DUE: Final = NOON + MINUTE_MS
MAILER: Final = PolicyKey("ns", "mailer")
HEARTBEAT: Final = Heartbeat(NOON, None, 0)

#: The clock changes of the zone in 2027: 02:00 to 03:00 on 28 March, 03:00 to 02:00 on 31 October.
PARIS: Final = "Europe/Paris"


class Way(NamedTuple):
    """What brings a way about and returns the instant in question; its verdict, and words of its summary."""

    bring_about: Callable[[World], Instant]
    verdict: Verdict
    words: str


WAYS: Final[dict[str, Way]] = {}


def way(verdict: Verdict, words: str) -> Callable[[Callable[[World], Instant]], Callable[[World], Instant]]:
    """Enter a function into the table under its name."""

    def entered(bring_about: Callable[[World], Instant]) -> Callable[[World], Instant]:
        WAYS[bring_about.__name__] = Way(bring_about, verdict, words)
        return bring_about

    return entered


def explained(world: World, at: Instant | None, name: str = "job") -> Explanation:
    """What the API says of the instant."""
    app = world.app(world.api_clock)
    explainer = app.insight.explainer(app.policies.policy_check)
    return explainer.explain(key_of(name), at, world.clock.time)[0]


def instant(text: str) -> Instant:
    """The instant of an RFC 3339 text."""
    return from_datetime(datetime.fromisoformat(text))


def with_policy(world: World, limits: PolicyLimits) -> PolicyWriter:
    """The writer of policies, after it has written the policy `mailer`."""
    world.flow_functions_max = 2
    writer = world.app(world.api_clock).policies.policy_writer
    writer.put(MAILER, limits, who="test", requested_at=world.clock.time)
    return writer


def minutely(world: World, **written: Any) -> None:
    world.put(schedule="0 * * * * *", **written)


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


@way("not-kept", "Another definition applied then: it was changed at 2026-11-21T12:30:00Z")
def another_schedule_applied_then(world: World) -> Instant:
    world.put(schedule="30 2 * * *")
    world.clock.time = NOON + 30 * MINUTE_MS
    minutely(world)
    world.run_until(NOON + HOUR_MS)
    return DUE


# What became of the trigger.


@way("misfire", "mode none, window 5 min")
def catch_up_fires_no_misfire(world: World) -> Instant:
    minutely(world, catchup={"mode": "none", "window": "5m"})
    world.tick()
    world.run_until(NOON + HOUR_MS, ticking=False)
    world.run_until(NOON + HOUR_MS + 2 * MINUTE_MS)
    return NOON + 30 * MINUTE_MS


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


@way("switched-off", "Nothing is lost")
def the_stack_is_switched_off(world: World) -> Instant:
    minutely(world)
    world.is_enabled = False
    world.run_until(NOON + 10 * MINUTE_MS)
    return NOON + 5 * MINUTE_MS


@way("stopped", "it is delivered once the stack ticks again")
def the_stack_does_not_tick(world: World) -> Instant:
    minutely(world)
    world.tick()
    world.run_until(NOON + 30 * MINUTE_MS, ticking=False)
    return NOON + 20 * MINUTE_MS


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


@way("waiting-policy", "The policy mailer does not exist")
def its_policy_was_deleted(world: World) -> Instant:
    writer = with_policy(world, PolicyLimits(5, None))
    minutely(world, policy="mailer")
    writer.delete(MAILER, who="test", requested_at=world.clock.time)
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


@way("not-kept", "Records of this job are kept for 15 d")
def its_record_has_expired(world: World) -> Instant:
    world.put(schedule="0 0 13 * * *", historyRetention="15d")
    world.run_until(NOON + 2 * HOUR_MS)
    world.runs._runs.clear()
    world.clock.time += 20 * DAY_MS
    world.tick()
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


@way("not-kept", "Nothing that was kept says what became of it")
def its_record_was_lost(world: World) -> Instant:
    minutely(world)
    world.run_until(NOON + 3 * HOUR_MS)
    world.runs._runs.clear()
    return NOON + HOUR_MS
