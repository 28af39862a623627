"""After the Timers table is lost, a rebuild arms every job again: nothing is lost but what catch-up skips."""

from collections import Counter
from typing import Any

import pytest
from tests.fakes.acceptance import ACCEPTED
from tests.fakes.faults import meanwhile
from tests.fakes.policies import nobody_serves, waiting, world_with
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import UnavailableError
from sweephand.base.timing import API_LIMIT_MS
from sweephand.model.attempt import Answer
from sweephand.model.job import EARLIER_REVISIONS_MAX
from sweephand.runs import rebuild as rebuilding
from sweephand.runs.audit_findings import JobProgress
from sweephand.wheel.rebuild import rebuilt_timers

MINUTE = 60_000
HOUR = 60 * MINUTE


#: When the table is lost, when an operator rebuilds, and up to when the test looks.
LOST_AT = NOON + 30 * MINUTE + 20_000
REBUILT_AT = LOST_AT + 17 * MINUTE
END = REBUILT_AT + 30 * MINUTE


def lost(world: World, at: int = LOST_AT) -> None:
    """Let the world run, and take its Timers table away."""
    world.run_until(at)
    world.lose_timers()


def rebuilt(world: World, since: int = LOST_AT - MINUTE, at: int = REBUILT_AT) -> None:
    """Rebuild some minutes later, while tick goes on."""
    world.run_until(at)
    assert world.api().rebuilder.rebuild(since, namespace="ns").failed == []


def minutes(world: World) -> list[int]:
    """The due times of all attempts, in minutes after noon, in their order."""
    return sorted((each.trigger.due_at - NOON) // MINUTE for each in world.consumers.attempts)


def test_each_trigger_that_a_lost_timer_promised_is_delivered_once(world: World) -> None:
    world.put("often", schedule="0 * * * * *")
    lost(world)
    rebuilt(world)
    world.run_until(END)
    assert minutes(world) == list(range(1, 78))


def test_without_a_rebuild_the_chains_of_lost_timers_end(world: World) -> None:
    world.put("often", schedule="0 * * * * *")
    lost(world)
    world.run_until(END)
    assert max(minutes(world)) < 40


def test_beside_a_running_wheel_a_rebuild_changes_nothing(world: World) -> None:
    world.put("often", schedule="0 * * * * *")
    world.put("hourly", schedule="@every 1h")
    world.run_until(LOST_AT)
    rebuilt(world, since=LOST_AT - 10 * MINUTE, at=LOST_AT)
    world.run_until(NOON + 2 * HOUR + MINUTE)
    assert len(world.consumers.ids) == len(set(world.consumers.ids)) == 121 + 2


def test_a_trigger_without_a_record_is_delivered_again_under_its_id(world: World) -> None:
    world.put("often", schedule="0 * * * * *", history="failures")
    world.run_until(LOST_AT)
    rebuilt(world, since=LOST_AT - 10 * MINUTE, at=LOST_AT)
    world.run_until(END)
    dues = minutes(world)
    # Those from `since` on, up to the end of the bucket in which the new timer lies.
    assert {each for each in dues if dues.count(each) == 2} == set(range(21, 36))
    assert len(dues) == len(set(world.consumers.ids)) + 15


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("latest", [30, 60, 90, 120]), ("all", [30, 40, 50, 60, 90, 120]), ("none", [30, 90, 120])],
)
def test_what_fell_due_too_long_before_the_rebuild_is_a_misfire(mode: str, expected: list[int]) -> None:
    world = World()
    due_at = {30: "12:30", 40: "12:40", 50: "12:50", 60: "13:00", 90: "13:30", 120: "14:00"}
    instants = [f"2026-11-21T{each}:00Z" for each in due_at.values()]
    world.put(schedule=instants, catchup={"mode": mode, "window": "10m"})
    lost(world, NOON + 35 * MINUTE)
    rebuilt(world, since=NOON + 35 * MINUTE, at=NOON + 75 * MINUTE)
    world.run_until(NOON + 3 * HOUR)
    assert minutes(world) == expected


def test_a_series_of_many_instants_travels_in_parts_again(world: World) -> None:
    instants = [f"2026-11-21T{12 + each // 60}:{each % 60:02d}:30Z" for each in range(100)]
    world.put(schedule=instants)
    lost(world)
    rebuilt(world)
    world.run_until(NOON + 2 * HOUR)
    assert minutes(world) == list(range(100))


def test_the_rest_of_a_batch_is_delivered_by_the_schedule_that_began_it(world: World) -> None:
    batch = {"count": 20, "window": "50m"}
    world.put(schedule="0 0 * * * *", batch=batch)
    world.run_until(NOON + 65 * MINUTE)
    world.put(schedule="0 3 * * * *", batch=batch)
    lost(world, NOON + 80 * MINUTE)
    rebuilt(world, since=NOON + 79 * MINUTE, at=NOON + 85 * MINUTE)
    world.run_until(NOON + 175 * MINUTE)
    assert Counter(minutes(world)) == {60: 20, 123: 20}


def test_the_rest_of_a_batch_that_has_begun_is_delivered(world: World) -> None:
    world.put(dueTime="10m", batch={"count": 60, "window": "1h"})
    lost(world)
    rebuilt(world)
    world.run_until(NOON + 2 * HOUR)
    assert sorted({each.trigger.index for each in world.consumers.attempts}) == list(range(60))
    assert len(world.consumers.attempts) == 60


def test_what_an_earlier_revision_owed_is_delivered_by_its_own_schedule(world: World) -> None:
    world.put(schedule="0 */2 * * * *")
    lost(world)
    world.run_until(LOST_AT + 10 * MINUTE)
    world.put(schedule="0 1/2 * * * *")
    world.run_until(LOST_AT + 12 * MINUTE)
    world.put(schedule="0 0 * * * *")
    rebuilt(world)
    world.run_until(END)
    assert minutes(world) == [*range(2, 41, 2), 41, 60]


def test_by_clocks_that_differ_a_job_is_not_armed_as_the_deleted_one_before_it(world: World) -> None:
    lost(world)
    world.api_clock.ahead_ms = 25_000
    world.put(schedule="0 */2 * * * *")
    world.put(schedule="0 1/2 * * * *")
    world.delete()
    world.api_clock.ahead_ms = -25_000
    world.put(schedule="30 * * * * *")
    world.run_until(LOST_AT + 10 * MINUTE)
    world.put(schedule="45 * * * * *")
    changes = [each.what for each in world.changed().items]
    assert changes == ["replaced", "deleted", "replaced", "created", "created"], "those of two jobs are mixed"
    world.lose_timers()
    rebuilt(world)
    world.run_until(END)
    dues = sorted((each.trigger.due_at - LOST_AT) // 1_000 for each in world.consumers.attempts)
    assert dues == [*range(10, 600, 60), *range(625, 2_820, 60)]


def test_a_revision_that_its_job_has_no_room_for_is_armed_too(world: World) -> None:
    world.put(schedule="0 */2 * * * *", catchup={"mode": "all"})
    lost(world)
    world.run_until(LOST_AT + 10 * MINUTE)
    for number in range(EARLIER_REVISIONS_MAX + 5):
        world.put(schedule="0 1/2 * * * *", description=str(number))
        world.run_until(world.clock.time + 2 * MINUTE)
    assert "1-0000000000000002" not in {each.rev for each in world.stored().earlier}
    world.lose_timers()
    rebuilt(world, at=world.clock.time)
    world.run_until(world.clock.time + 5 * MINUTE)
    # Even minutes up to the first update, and odd ones after it.
    assert [each for each in minutes(world) if each % 2 == 0] == list(range(2, 41, 2))
    assert set(range(41, 95, 2)) <= set(minutes(world))


def test_an_update_that_keeps_the_schedule_needs_no_earlier_one(world: World) -> None:
    world.put(schedule="0 * * * * *")
    lost(world)
    world.run_until(LOST_AT + 10 * MINUTE)
    world.patch(description="another one")
    assert (change := world.stored().change) is not None
    assert change.former is None
    rebuilt(world)
    world.run_until(END)
    assert minutes(world) == list(range(1, 78))


def test_a_paused_job_gets_what_fell_due_before_its_pause_when_it_is_resumed(world: World) -> None:
    world.put(schedule="0 */5 * * * *", catchup={"mode": "none"})
    lost(world)
    world.run_until(LOST_AT + 10 * MINUTE)
    world.pause()
    rebuilt(world)
    world.run_until(END)
    assert max(minutes(world)) < 35
    world.resume()
    world.run_until(END + 21 * MINUTE)
    # Due before the pause: 35 and 40. Between the pause and the resume, everything is a misfire.
    assert {35, 40} < set(minutes(world))
    assert not {45, 50, 55, 60} & set(minutes(world))


def test_a_retry_that_waited_in_the_wheel_is_made(world: World) -> None:
    world.consumers.answering = lambda _: Answer(succeeded=False, code=500)
    world.put(dueTime="1m", retry={"initialDelay": "2h", "multiplier": 1, "maxDelay": "2h", "maxAttempts": 2})
    lost(world)
    rebuilt(world)
    world.run_until(NOON + 3 * HOUR)
    assert [each.number for each in world.consumers.attempts] == [1, 2]
    assert len(world.queue.buried) == 1


def test_the_deadline_of_a_run_that_waited_in_the_wheel_is_checked(world: World) -> None:
    world.consumers.answering = lambda _: ACCEPTED
    world.put(dueTime="1m", completion="async", heartbeatTimeout="1h", retry={"maxAttempts": 1})
    lost(world)
    rebuilt(world)
    world.run_until(NOON + 2 * HOUR)
    [run] = world.runs.page(key_of(), None, "", 10).items
    assert run.state == "failed"


def test_the_number_of_shards_that_jobs_need_comes_back() -> None:
    world = World(shards=5)
    for number in range(20):
        world.put(f"job-{number}", schedule="0 * * * * *")
    world.shards = 2
    lost(world)
    rebuilt(world)
    world.run_until(END)
    assert len(set(world.consumers.ids)) == 20 * 77


def test_what_waited_in_the_line_of_a_policy_waits_there_again() -> None:
    world = world_with(1)
    world.put(schedule="0 */10 * * * *", policy="mailer", catchup={"mode": "none", "window": "2m"})
    with nobody_serves(world):
        lost(world)
        rebuilt(world, since=NOON)
        world.run_until(END)
        assert {each.trigger.due_at for each in waiting(world)} == {
            NOON + each * 10 * MINUTE for each in range(1, 8)
        }
    world.run_until(END + MINUTE)
    assert len(world.consumers.ids) == 7
    assert not waiting(world)


def test_a_call_goes_on_where_the_call_before_has_ended(world: World) -> None:
    for number in range(1_100):
        world.put(f"job-{number:04d}", schedule="0 * * * * *")
    world.lose_timers()
    first = world.api().rebuilder.rebuild(NOON, namespace="ns")
    assert (first.jobs, first.reached) == (1_000, JobProgress("ns", "job-0999"))
    assert first.reached is not None
    second = world.api().rebuilder.rebuild(NOON, namespace="ns", begun=first.reached)
    assert (second.jobs, second.reached) == (100, None)
    assert first.timers + second.timers == 1_100


def test_timers_that_were_written_too_late_are_written_again(world: World) -> None:
    world.put(schedule="0 * * * * *")

    def stand_still() -> None:
        world.clock.time += API_LIMIT_MS + 1

    meanwhile(world, "before timers.put", stand_still)
    with pytest.raises(UnavailableError):
        world.api().rebuilder.rebuild(NOON, namespace="ns")


def test_a_job_whose_schedule_cannot_be_read_keeps_no_other_job_waiting(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    world.put("a", schedule="0 * * * * *", timezone="Europe/Riga")
    world.put("b", schedule="0 * * * * *")
    world.lose_timers()
    original: Any = rebuilt_timers

    def failing(job: Any, *arguments: Any, **options: Any) -> Any:
        if job.key.name == "a":
            raise ValueError("There is no time zone Europe/Riga.")
        return original(job, *arguments, **options)

    monkeypatch.setattr(rebuilding, "rebuilt_timers", failing)
    done = world.api().rebuilder.rebuild(NOON, namespace="ns")
    assert [(each.key.name, each.reason) for each in done.failed] == [
        ("a", "There is no time zone Europe/Riga.")
    ]
    assert done.timers == 1


def test_jobs_of_every_listed_namespace_are_armed(world: World) -> None:
    world.put(schedule="0 * * * * *")
    world.namespaces.enlist("elsewhere")
    world.namespaces.enlist("ns")
    done = world.api().rebuilder.rebuild(NOON)
    assert (done.jobs, done.timers, done.reached) == (1, 1, None)


def test_a_sweeper_that_is_at_work_when_the_table_is_lost_does_no_harm() -> None:
    world = World(shards=4)
    for number in range(8):
        world.put(f"job-{number}", schedule="0 * * * * *")
    world.run_until(LOST_AT)
    world.clock.time = LOST_AT + MINUTE
    meanwhile(world, "before leases.release", world.lose_timers)
    world.sweep()
    rebuilt(world)
    world.run_until(END)
    assert len(set(world.consumers.ids)) == 8 * 77
