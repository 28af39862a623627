"""An audit finds the jobs whose timers were lost without a trace, and arms them; it arms no other job."""

from collections import Counter
from functools import partial
from typing import Any

import pytest
from tests.fakes.faults import calls_of, killed_at, meanwhile, slow, working
from tests.fakes.policies import delete_policy, world_with
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import UnavailableError
from sweephand.base.instants import SECOND_MS
from sweephand.base.timing import API_LIMIT_MS
from sweephand.model.timer import OccurrenceTimer, TimerPack, UnreadTimer, position_key
from sweephand.runs import audit as auditing
from sweephand.runs import audit_findings
from sweephand.runs.audit_findings import Audited, JobProgress, LostTimer
from sweephand.wheel.rebuild import due_timer

MINUTE = 60_000
HOUR = 60 * MINUTE
DAY = 24 * HOUR

LOST_AT = NOON + 90 * MINUTE + 20_000
AUDITED_AT = LOST_AT + 40 * MINUTE
END = AUDITED_AT + 30 * MINUTE


def minutes(world: World) -> list[int]:
    """The due times of all attempts, in minutes after noon, in their order."""
    return sorted((each.trigger.due_at - NOON) // MINUTE for each in world.consumers.attempts)


def audited(world: World, **options: Any) -> Audited:
    """The result of an audit that comes to its end, and could examine every job."""
    done = world.audit_jobs(**options)
    assert (done.reached, done.late, done.failed) == (None, 0, [])
    return done


def without_timer(schedule: str = "0 */10 * * * *", **written: Any) -> World:
    """A world with a job whose timer was lost some time ago, and with a job that has its timer."""
    world = World()
    for name in ("job", "other"):
        world.put(name, schedule=schedule, **written)
    world.run_until(LOST_AT)
    # A sweeper has passed the timers of the next two buckets.
    world.timers.lose(key_of(), world.clock.time + 2 * MINUTE)
    world.run_until(AUDITED_AT)
    return world


@pytest.mark.parametrize(
    ("schedule", "lost_at"),
    [("0 * * * * *", 93), ("0 */10 * * * *", 100), ("@every 3h", 180), ("15/30 30 */3 * * *", 210)],
)
def test_a_job_without_its_timer_is_armed_from_the_first_trigger_that_was_lost(
    schedule: str, lost_at: int
) -> None:
    world = without_timer(schedule, catchup={"mode": "all"})
    done = audited(world)
    assert [each.key for each in done.timers] == [key_of()]
    assert done.timers[0].due_at // MINUTE == NOON // MINUTE + lost_at
    assert (done.jobs, done.written) == (2, 1)
    world.run_until(NOON + 8 * HOUR + MINUTE)
    delivered = [each.trigger for each in world.consumers.attempts]
    dues = {
        name: [each.due_at for each in delivered if each.key == key_of(name)] for name in ("job", "other")
    }
    assert sorted(dues["job"]) == sorted(dues["other"])
    assert len(set(dues["job"])) == len(dues["job"])


def test_without_an_audit_the_job_does_not_fire_any_more() -> None:
    world = without_timer("0 * * * * *")
    world.run_until(END)
    lost = [each for each in world.consumers.attempts if each.trigger.key == key_of()]
    assert max(each.trigger.due_at for each in lost) < NOON + 93 * MINUTE


def test_an_audit_that_only_reports_writes_nothing() -> None:
    world = without_timer()
    before = world.timers.everything()
    done = audited(world, mends=False)
    assert done.timers == [LostTimer(key_of(), NOON + 100 * MINUTE)]
    assert done.written == 0
    assert world.timers.everything() == before


def test_an_audit_finds_nothing_after_an_audit() -> None:
    world = without_timer()
    assert len(audited(world).timers) == 1
    assert audited(world).timers == []
    world.run_until(END)
    assert audited(world).timers == []


TARGET = {"type": "http", "url": "https://ops.example/alerts"}


def test_a_one_off_whose_instant_has_passed_is_fired(world: World) -> None:
    world.put(dueTime="2h", catchup={"mode": "latest"})
    world.timers.lose(key_of(), NOON)
    world.run_until(NOON + 2 * DAY)
    assert audited(world).timers == [LostTimer(key_of(), NOON + 2 * HOUR)]
    world.run_until(NOON + 2 * DAY + 10 * MINUTE)
    assert minutes(world) == [120]
    world.run_until(NOON + 3 * DAY)
    assert audited(world).timers == []


def test_a_one_off_that_may_have_fired_without_a_record_is_not_fired_again(world: World) -> None:
    world.put(dueTime="2h", history="failures")
    world.timers.lose(key_of(), NOON)
    world.run_until(NOON + HOUR)
    assert len(audited(world, mends=False).timers) == 1
    world.run_until(NOON + 2 * DAY)
    assert audited(world).timers == []


def test_an_earlier_schedule_gets_no_batch_of_the_present_one(world: World) -> None:
    world.put(schedule="@every 1h", dueTime="1h", batch={"count": 20, "window": "50m"})
    world.run_until(NOON + HOUR - 2_000)

    def announce(announced: str) -> None:
        if announced == "before queue.send":
            world.clock.time = NOON + HOUR + 8_000

    world.announce = announce
    # Each schedule has a batch between the request and the commit. The job owes that of the former schedule.
    job = world.patch(jitter="10s").job
    working(world)
    begun = job.series.next_after(NOON)
    assert begun is not None
    assert begun.due_at < job.cut
    world.run_until(NOON + 75 * MINUTE)
    world.timers.lose(key_of(), NOON + 2 * HOUR)
    assert len(audited(world).timers) == 1
    world.run_until(NOON + 175 * MINUTE)
    assert Counter(minutes(world)) == {60: 20, 120: 20}


def test_the_rest_of_a_batch_is_delivered(world: World) -> None:
    world.put(dueTime="10m", batch={"count": 60, "window": "1h"})
    world.run_until(NOON + 30 * MINUTE)
    world.timers.lose(key_of(), world.clock.time)
    world.run_until(NOON + 50 * MINUTE)
    assert len(audited(world).timers) == 1
    world.run_until(NOON + 2 * HOUR)
    assert sorted(each.trigger.index for each in world.consumers.attempts) == list(range(60))


def test_a_watch_is_armed_with_its_job() -> None:
    world = without_timer(alertAfter="15m", onAlert=TARGET)
    world.consumers.attempts.clear()
    assert audited(world).written == 2


def test_a_paused_job_and_a_deleted_one_owe_nothing(world: World) -> None:
    for name in ("paused", "deleted"):
        world.put(name, schedule="0 */10 * * * *")
    world.run_until(LOST_AT)
    world.pause("paused")
    world.delete("deleted")
    world.run_until(AUDITED_AT)
    assert audited(world).timers == []


def test_a_job_that_was_just_armed_is_not_judged_by_what_went_to_the_queue(world: World) -> None:
    world.put(schedule="0 * * * * *")
    for minute in range(1, 12):
        world.run_until(NOON + minute * MINUTE + 30_000)
        assert audited(world).timers == []
    assert len(world.consumers.ids) == len(set(world.consumers.ids))


@pytest.mark.parametrize("change", ["update", "pause", "delete", "timer"])
def test_the_job_and_its_timer_are_read_again_before_it_is_armed(change: str) -> None:
    world = without_timer()
    lost = world.timers.missing([due_of(world)])
    assert len(lost) == 1
    calls: list[str] = []

    def changing() -> None:
        # The first look is over, and the second begins.
        calls.append(change)
        if change == "update":
            world.put(schedule="0 */20 * * * *")
        elif change == "pause":
            world.pause()
        elif change == "delete":
            world.delete()
        else:
            world.timers.put(lost)

    meanwhile(world, "before jobs.get_many", changing)
    assert audited(world).timers == []
    assert calls == [change]


def test_a_timer_that_appears_while_the_audit_looks_for_the_first_lost_one_is_not_lost(world: World) -> None:
    world.put(schedule="0 */10 * * * *")
    world.run_until(LOST_AT)
    world.timers.lose(key_of(), world.clock.time + 2 * MINUTE)
    lost = world.timers.missing([due_of(world)])
    assert len(lost) == 1
    appeared: list[bool] = []

    def appear() -> None:
        world.timers.put(lost)
        appeared.append(True)

    meanwhile(world, "before timers.missing", appear, number=2)
    done = audited(world)
    assert appeared
    assert (done.timers, done.written) == ([], 0)


def due_of(world: World) -> OccurrenceTimer:
    """The timer that the job should have."""
    timer = due_timer(world.stored(), world.clock.time + MINUTE, world.clock.time)
    assert timer is not None
    return timer


def test_a_timer_that_was_put_off_is_not_lost(world: World) -> None:
    world.put(schedule="0 * * * * *", history="failures")
    world.run_until(LOST_AT)
    [timer] = [each for each in world.timers.everything() if each.due_at > world.clock.time + 2 * MINUTE]
    assert isinstance(timer, OccurrenceTimer)
    world.timers.lose(key_of(), timer.due_at)
    world.timers.put([timer._replace(put_off_to=timer.due_at + 5 * MINUTE)])
    assert audited(world).timers == []


def test_no_job_is_armed_whose_timer_may_be_one_that_cannot_be_read() -> None:
    world = without_timer()
    shard = world.stored().shard
    key = f"{position_key(world.clock.time + 5 * MINUTE)}#ns/x#1-a#occurrence#"
    world.timers.put([UnreadTimer(shard, key, {}, "damaged")])
    assert audited(world).timers == []


def test_jobs_of_a_shard_that_is_not_swept_are_not_judged() -> None:
    world = without_timer()
    world.run_until(AUDITED_AT + 20 * MINUTE, ticking=False)
    done = world.audit_jobs()
    assert (done.timers, done.late, done.jobs) == ([], 2, 2)


def test_after_an_outage_an_audit_finds_nothing_that_catch_up_has_skipped(world: World) -> None:
    due = [f"2026-11-21T12:{each}:00Z" for each in (20, 30, 40, 50)]
    world.put("none", schedule=due, catchup={"mode": "none", "window": "1m"}, history="failures")
    world.put("latest", schedule=due, catchup={"mode": "latest", "window": "1m"}, history="failures")
    world.put("cron", schedule="0 */10 * * * *", catchup={"window": "1m"}, history="failures")
    world.run_until(NOON + 12 * MINUTE)
    world.run_until(NOON + 3 * HOUR + 5_000, ticking=False)
    for _ in range(10):
        world.run_until(world.clock.time + MINUTE)
        done = world.audit_jobs()
        assert done.timers == []
    assert len(world.consumers.ids) == len(set(world.consumers.ids))


def test_a_job_of_a_closed_policy_is_armed_too() -> None:
    world = world_with(1)
    world.put(schedule="0 */10 * * * *", policy="mailer")
    delete_policy(world)
    world.run_until(LOST_AT)
    world.timers.lose(key_of(), world.clock.time)
    world.run_until(AUDITED_AT)
    assert audited(world).timers == [LostTimer(key_of(), NOON + 100 * MINUTE)]
    world.run_until(END)
    assert [each.trigger.due_at for each in world.consumers.attempts] == [
        NOON + each * 10 * MINUTE for each in range(1, 17)
    ]


def test_a_timer_in_a_pack_is_found_there() -> None:
    world = World(shards=1)
    for number in range(30):
        world.put(f"job-{number}", schedule="0 */10 * * * *")
    world.run_until(LOST_AT)
    assert any(isinstance(each, TimerPack) for each in world.timers.everything())
    assert audited(world).timers == []
    world.timers.lose(key_of("job-7"), world.clock.time)
    assert [each.key.name for each in audited(world).timers] == ["job-7"]


def test_a_call_goes_on_where_the_call_before_has_ended(world: World) -> None:
    for number in range(1_100):
        world.put(f"job-{number:04d}", schedule="0 30 * * * *")
    first = world.audit_jobs()
    assert (first.jobs, first.reached) == (1_000, JobProgress("ns", "job-0999"))
    assert first.reached is not None
    second = world.audit_jobs(first.reached)
    assert (second.jobs, second.reached) == (100, None)


def test_a_call_ends_when_it_has_found_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit_findings, "_FINDINGS_MAX", 1)
    world = World()
    for number in range(150):
        world.put(f"job-{number:04d}", schedule="0 30 * * * *")
    world.timers.clear()
    first = world.audit_jobs()
    assert (len(first.timers), first.reached) == (100, JobProgress("ns", "job-0099"))
    assert first.reached is not None
    assert len(world.audit_jobs(first.reached).timers) == 50


def test_timers_that_were_written_too_late_are_written_again() -> None:
    world = without_timer()

    def stand_still() -> None:
        world.clock.time += API_LIMIT_MS + 1

    meanwhile(world, "before timers.put", stand_still)
    with pytest.raises(UnavailableError):
        world.audit_jobs()


def test_every_job_is_armed_however_long_the_search_for_what_they_have_lost_takes() -> None:
    world = World()
    names = [f"job-{number}" for number in range(10)]
    for name in names:
        world.put(name, schedule="* * * * *", catchup={"mode": "all"})
    world.run_until(LOST_AT)
    for name in names:
        world.timers.lose(key_of(name), world.clock.time + 2 * MINUTE)
    world.run_until(AUDITED_AT)
    slow(world, SECOND_MS, "after timers.missing")
    done = audited(world)
    assert (len(done.timers), done.written) == (10, 10)
    working(world)
    assert audited(world).timers == []


def test_a_call_that_its_time_limit_ends_has_armed_the_jobs_that_it_has_examined() -> None:
    world = World()
    for name in ("a", "b"):
        world.put(name, schedule="* * * * *", catchup={"mode": "all"})
    world.run_until(LOST_AT)
    for name in ("a", "b"):
        world.timers.lose(key_of(name), world.clock.time + 2 * MINUTE)
    world.run_until(AUDITED_AT)
    calls = calls_of(world, partial(world.audit_jobs, mends=False))
    killed_at(world, len(calls) - calls[::-1].index("before timers.missing") - 1, world.audit_jobs)
    assert [each.key for each in audited(world).timers] == [key_of("b")]


def test_a_job_whose_schedule_cannot_be_read_keeps_no_other_job_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world = without_timer()
    world.put("bad", schedule="0 * * * * *")
    original: Any = due_timer

    def failing(job: Any, *arguments: Any) -> Any:
        if job.key.name == "bad":
            raise ValueError("There is no time zone Mars/Base.")
        return original(job, *arguments)

    monkeypatch.setattr(auditing, "due_timer", failing)
    done = world.audit_jobs()
    assert [(each.key.name, each.reason) for each in done.failed] == [
        ("bad", "There is no time zone Mars/Base.")
    ]
    assert [each.key for each in done.timers] == [key_of()]


def test_jobs_of_every_listed_namespace_are_examined() -> None:
    world = without_timer()
    world.namespaces.enlist("elsewhere")
    world.namespaces.enlist("ns")
    done = world.api().auditor.audit()
    assert (done.jobs, len(done.timers), done.reached) == (2, 1, None)
