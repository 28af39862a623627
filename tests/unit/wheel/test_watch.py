"""When a watched job is checked: at which instants, about which triggers, and where the timers lie."""

from dataclasses import replace
from typing import Any

import pytest
from tests.fakes.world import NOON, job_of

from sweephand.base.timing import BUCKET_MS, DIRECT_WINDOW_MS
from sweephand.model.job import Job, Revision
from sweephand.model.timer import WatchTimer, bucket_of
from sweephand.wheel.arm import Armable
from sweephand.wheel.watch import arm_watch, next_check

MINUTE = 60_000
HOUR = 60 * MINUTE


def armed(job: Job, after_ms: int, since: int = NOON) -> Any:
    armable = Armable(job.key, job.uid, job.rev, job.shard, job.series, job.definition.catchup)
    return arm_watch(armable, since=since, after_ms=after_ms, now=NOON)


def timer_of(job: Job, after_ms: int) -> WatchTimer:
    """The timer of a job's watch that comes after the checks which go straight to the queue."""
    _, timer = armed(job, after_ms)
    assert isinstance(timer, WatchTimer)
    return timer


@pytest.mark.parametrize(
    ("schedule", "after_ms", "late_ms_max"),
    [
        ("@every 1s", MINUTE, MINUTE),
        ("@every 7s", 10 * MINUTE, MINUTE),
        ("@every 30s", HOUR, 6 * MINUTE),
        ("@every 90s", 24 * HOUR, 10 * MINUTE),
        ("@every 45m", 10 * MINUTE, 0),
        ("0 30 2 * * *", 24 * HOUR, 0),
        ("0,1 30 2 * * *", 10 * MINUTE, MINUTE),
    ],
)
def test_the_checks_of_a_job_cover_each_trigger_once_and_soon(
    schedule: str, after_ms: int, late_ms_max: int
) -> None:
    job = job_of(schedule=schedule)
    checks, timer = armed(job, after_ms)
    while timer is not None and len(checks) < 50:
        found = next_check(timer, job, NOON)
        assert found.check is not None
        checks.append(found.check)
        assert found.successor is not None
        # The cursor may pass the rest of the bucket with the timer.
        assert found.successor.due_at >= bucket_of(timer.due_at) + BUCKET_MS
        timer = found.successor
    occurrences = job.series.occurrences(NOON)
    following = next(occurrences)
    for check in checks:
        assert check.first == following
        assert check.through == check.check_at - after_ms
        while following.due_at <= check.through:
            assert 0 <= check.check_at - (following.due_at + after_ms) <= late_ms_max
            following = next(occurrences)


def test_checks_that_a_sweep_could_miss_go_straight_to_the_queue() -> None:
    checks, timer = armed(job_of(schedule="@every 10s"), MINUTE)
    assert len(checks) == 4
    assert all(each.check_at <= NOON + DIRECT_WINDOW_MS for each in checks)
    assert timer.due_at > NOON + DIRECT_WINDOW_MS


def test_a_series_that_ends_has_a_last_check_and_a_job_without_a_schedule_has_none() -> None:
    checks, timer = armed(job_of(dueTime="10s"), MINUTE)
    assert (len(checks), timer) == (1, None)
    assert armed(job_of(), MINUTE) == ([], None)


def test_one_check_follows_an_outage() -> None:
    job = job_of(schedule="@every 10s")
    timer = timer_of(job, 10 * MINUTE)
    found = next_check(timer, job, NOON + 5 * HOUR)
    assert found.check is not None
    assert (found.check.check_at, found.check.through) == (NOON + 5 * HOUR, NOON + 5 * HOUR - 10 * MINUTE)
    assert found.successor is not None
    assert found.successor.due_at > NOON + 5 * HOUR


def test_a_watch_ends_with_its_revision_its_job_and_at_a_pause() -> None:
    job = job_of(schedule="@every 1h")
    timer = timer_of(job, 10 * MINUTE)
    assert next_check(timer, None, NOON) == (None, None)
    assert next_check(timer, replace(job, uid="another"), NOON) == (None, None)
    for until in (NOON + 30 * MINUTE, NOON + 90 * MINUTE):
        ended = job.current._replace(until=until)
        later = replace(job, current=Revision("2-b", since=until), earlier=(ended,))
        for stopped in (later, replace(job, paused_at=until)):
            found = next_check(timer, stopped, NOON)
            assert (found.check is None) == (until < timer.message.first.due_at)
            assert found.successor is None


def test_two_watches_of_one_revision_become_one() -> None:
    job = job_of(schedule="@every 10s")
    one = timer_of(job, 10 * MINUTE)
    other = next_check(one, job, NOON).successor
    assert other is not None
    late = next_check(one, job, one.due_at + 7_300).successor
    assert late is not None
    assert late.sort_key == other.sort_key


def test_a_deadline_after_the_calendar_has_no_check() -> None:
    job = job_of(dueTime="9999-12-31T23:59:59Z")
    assert armed(job, 7 * 24 * HOUR) == ([], None)
    assert armed(job, 0)[1].due_at == job.series.due_at
