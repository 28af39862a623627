"""Calendars that change under their jobs: every job follows, once, whatever crashes meanwhile."""

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

import pytest
from tests.fakes.faults import calls_of, failing, kill_everywhere, slow, working
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import ConflictError, InvalidError, NotFoundError, StoreError, UnavailableError
from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS, Instant
from sweephand.base.limits import NAME_LENGTH_MAX
from sweephand.base.timing import API_LIMIT_MS
from sweephand.jobs import calendar_follow, calendars
from sweephand.jobs.calendar_fields import closed_days_of
from sweephand.jobs.calendar_follow import TRIES_MS
from sweephand.jobs.commit import Draft
from sweephand.jobs.draft import draft_follow
from sweephand.model.calendar import CalendarKey, CalendarMessage, ResolvedDays
from sweephand.model.job import Job

KEY = CalendarKey("ns", "works")
#: NOON is of Saturday 21 November 2026.
DAILY: Final[Mapping[str, Any]] = {"schedule": "0 9 * * *", "calendar": {"name": "works"}}
MONDAY, TUESDAY = "2026-11-23", "2026-11-24"


def put(world: World, *closed: str) -> None:
    written: dict[str, Any] = {"closed": list(closed)} if closed else {}
    days, reasons = closed_days_of(written, {})
    now = world.api_clock.now()
    world.api().calendars.put(KEY, written, ResolvedDays(days.text(), reasons), who="test", requested_at=now)


def deliver(world: World) -> None:
    """Hand the delivery function what waits, until only what is due later waits."""
    while batch := world.queue.take():
        world.deliver(batch)


def settle(world: World) -> None:
    """Let a minute pass, within which jobs follow. What was in flight comes again."""
    world.queue.reappear()
    deliver(world)
    world.clock.time += MINUTE_MS
    deliver(world)


def next_due(world: World, name: str = "job") -> Instant:
    coming = world.stored(name).series.next_after(world.clock.time)
    assert coming is not None
    return coming.due_at


def nine(days_later: int) -> Instant:
    """Nine o'clock so many days after the world's first."""
    return NOON - 3 * HOUR_MS + days_later * DAY_MS


def test_a_job_follows_its_calendar_at_once(world: World) -> None:
    put(world)
    world.put(**DAILY)
    assert next_due(world) == nine(2)
    put(world, MONDAY)
    deliver(world)
    assert next_due(world) == nine(3)
    job = world.stored()
    assert job.change is not None
    assert (job.change.who, job.change.reason) == ("sweephand", "The calendar works was changed.")


def test_each_job_follows_once_and_the_calendar_shows_how_far_they_are(world: World) -> None:
    put(world)
    settle(world)
    for number in range(250):
        world.put(f"job-{number:03}", **DAILY)
    world.put("other", schedule="0 9 * * *")
    before = world.stored("other")
    put(world, MONDAY)
    [first] = world.queue.take()
    world.deliver([first])
    calendar = world.calendars.get(KEY)
    assert calendar is not None
    assert (calendar.reached, calendar.followed) == ("job-099", 100)
    world.queue.copy()
    settle(world)
    calendar = world.calendars.get(KEY)
    assert calendar is not None
    assert (calendar.reached, calendar.followed) == (None, 250)
    assert {world.stored(f"job-{number:03}").rev[:2] for number in range(250)} == {"2-"}
    assert world.stored("other") == before


def test_a_job_that_was_written_while_the_calendar_was_follows_too(world: World) -> None:
    put(world)
    world.put(**DAILY)
    stale = world.calendars.get(KEY)
    assert stale is not None
    put(world, MONDAY)
    deliver(world)
    # Another request has read the calendar before, and commits only now.
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(world.calendars, "get", lambda _: stale)
        world.put("late", **DAILY)
    assert next_due(world, "late") == nine(2)
    world.clock.time += 2 * API_LIMIT_MS
    deliver(world)
    assert next_due(world, "late") == nine(3)


def test_a_job_does_not_fall_back_when_a_function_has_read_the_calendar_long_before(world: World) -> None:
    put(world)
    world.put(**DAILY)
    stale = world.calendars.get(KEY)
    put(world, MONDAY)
    message = CalendarMessage(*KEY, not_before=world.clock.time, is_last=True)
    deliver(world)
    read = world.calendars.get
    earlier = [stale]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(world.calendars, "get", lambda key: earlier.pop() if earlier else read(key))
        world.queue.send([(message, 0)])
        deliver(world)
    assert next_due(world) == nine(3)


@pytest.mark.parametrize(("day", "late_ms"), [(MONDAY, 0), (None, 2 * SECOND_MS + API_LIMIT_MS)])
def test_what_falls_due_while_a_job_follows_fires_once(world: World, day: str | None, late_ms: int) -> None:
    """The function reads its clock two seconds before nine, and would commit a second after nine.

    So it tries again. The days of that try apply from a second later on.
    """
    put(world, *([] if day else [MONDAY]))
    world.put(schedule="0 9 * * MON", calendar={"name": "works", "otherwise": "next"})
    world.run_until(nine(2) - 2 * SECOND_MS)
    put(world, *([day] if day else []))

    def announce(call: str) -> None:
        if "changes.put" in call and world.clock.time < nine(2):
            world.clock.time = nine(2) + SECOND_MS

    world.announce = announce
    deliver(world)
    world.run_until(nine(8))
    assert [each.trigger.due_at for each in world.consumers.attempts] == [nine(2) + late_ms]


@pytest.mark.parametrize("armed_within_ms", [400, 900, 1_900])
@pytest.mark.parametrize("is_closed", [False, True], ids=["opens", "closes"])
def test_a_job_that_is_due_every_second_follows_though_its_arming_takes_seconds(
    world: World, armed_within_ms: int, *, is_closed: bool
) -> None:
    """Each try sends the triggers of five minutes, so there must be few."""
    world.run_until(nine(2))
    put(world, *([] if is_closed else [MONDAY]))
    world.put(schedule="* * * * * *", calendar={"name": "works"}, repeats=100)
    world.run_until(nine(2) + MINUTE_MS)
    put(world, *([MONDAY] if is_closed else []))
    tries: list[str] = []

    def announce(call: str) -> None:
        if "changes.put" in call:  # before and after it
            world.clock.time += armed_within_ms
            tries.append(call)
            if len(tries) > 2 * len(TRIES_MS):
                pytest.fail("The job never follows.")

    world.announce = announce
    deliver(world)
    working(world)
    changed_at = world.stored().cut
    world.run_until(nine(2) + 4 * MINUTE_MS)
    dues = [each.trigger.due_at for each in world.consumers.attempts]
    first = nine(2) + SECOND_MS if is_closed else changed_at - changed_at % SECOND_MS + SECOND_MS
    count = (changed_at - nine(2)) // SECOND_MS if is_closed else 100
    assert dues == [first + number * SECOND_MS for number in range(count)]
    assert 0 <= changed_at - nine(2) - MINUTE_MS <= 2 * armed_within_ms * len(TRIES_MS) + TRIES_MS[-1]


def test_a_job_whose_arming_takes_longer_than_a_request_may_is_armed_once_before_its_message_comes_again(
    world: World,
) -> None:
    """The function would run into its time limit at the fourth try. Lambda would then repeat all of them."""
    world.run_until(nine(2))
    put(world, MONDAY)
    world.put(schedule="* * * * * *", calendar={"name": "works"})
    put(world)
    batch = world.queue.take(1)
    slow(world, 6 * SECOND_MS, "after queue.send")
    sent = len(world.queue.waiting)
    [handled] = world.deliver(batch)
    assert len(world.queue.waiting) - sent == 300 + 1, "the triggers of five minutes, and the message"
    assert isinstance(handled.error, UnavailableError)


def test_whatever_kills_a_change_or_what_follows_it_every_job_follows_once() -> None:
    def prepare(world: World) -> None:
        world.clock.time = nine(2) - 5 * MINUTE_MS
        put(world, MONDAY)
        for name, used in (("a", {}), ("b", {"otherwise": "next"}), ("c", {"days": "closed"})):
            world.put(name, schedule="0 9 * * *", calendar={"name": "works", **used})

    def change(world: World) -> None:
        put(world)
        deliver(world)

    def check(world: World) -> None:
        put(world)
        settle(world)
        world.run_until(nine(2) + 2 * MINUTE_MS)
        fired = sorted((each.trigger.key.name, each.trigger.due_at) for each in world.consumers.attempts)
        assert fired == [("a", nine(2)), ("b", nine(2))]
        assert not [each for _, each in world.queue.waiting if isinstance(each, CalendarMessage)]
        assert {world.stored(name).rev[:2] for name in "abc"} == {"2-"}

    kill_everywhere(prepare, change, check)


def test_a_store_that_fails_meanwhile_delays_the_jobs_and_loses_none(world: World) -> None:
    put(world)
    world.put("a", **DAILY)
    world.put("b", **DAILY)
    put(world, MONDAY)
    failing(world, "jobs.put", times=3)
    deliver(world)
    working(world)
    world.clock.time += MINUTE_MS
    deliver(world)
    assert (next_due(world, "a"), next_due(world, "b")) == (nine(3), nine(3))


@pytest.mark.parametrize("error", [ValueError("a bug"), StoreError("too large")])
def test_a_job_that_fails_keeps_no_other_job_from_following(world: World, error: Exception) -> None:
    put(world)
    settle(world)
    names = [f"job-{number:03}" for number in range(150)]
    for name in names:
        world.put(name, **DAILY)
    put(world, MONDAY)

    def fail(stored: Job, *args: Any, **options: Any) -> Draft:
        if stored.key.name == "job-007":
            raise error
        return draft_follow(stored, *args, **options)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(calendar_follow, "draft_follow", fail)
        for _ in range(12):
            settle(world)
        assert [name for name in names if next_due(world, name) == nine(2)] == ["job-007"]
        [message] = [each for _, each in world.queue.waiting if isinstance(each, CalendarMessage)]
        assert (message.job, message.faults > 0) == ("job-007", True)
        assert state(world) is not None
    world.clock.time += HOUR_MS
    settle(world)
    assert next_due(world, "job-007") == nine(3)
    assert state(world) is None


@pytest.mark.parametrize(("length", "rounds"), [(7, 2), (NAME_LENGTH_MAX, 8)])
def test_many_jobs_that_fail_at_one_time_lead_to_few_rounds(world: World, length: int, rounds: int) -> None:
    """Jobs that fail share messages. Each message leads to a round, which reads two pages of 150 jobs."""
    put(world)
    settle(world)
    names = [f"job-{number:03}".ljust(length, "-") for number in range(150)]
    for name in names:
        world.put(name, **DAILY)
    settle(world)
    put(world, MONDAY)
    failing(world, "changes.put")
    for _ in range(12):
        settle(world)
    pages = 0

    def announce(call: str) -> None:
        nonlocal pages
        pages += call == "before jobs.page"

    world.announce = announce
    world.clock.time += HOUR_MS
    for _ in range(5):
        settle(world)
    assert state(world) is None
    assert {next_due(world, name) for name in names} == {nine(3)}
    assert pages <= 2 * rounds


def state(world: World) -> str | None:
    calendar = world.calendars.get(KEY)
    assert calendar is not None
    return calendar.reached


def test_a_paused_job_follows_and_stays_paused(world: World) -> None:
    put(world)
    world.put(**DAILY)
    world.pause()
    put(world, MONDAY)
    deliver(world)
    assert world.stored().paused_at is not None
    world.resume()
    assert next_due(world) == nine(3)


def test_repeats_count_what_fires_across_a_change(world: World) -> None:
    put(world)
    world.put(**DAILY, repeats=2)
    world.run_until(nine(2) + HOUR_MS)
    put(world, TUESDAY)
    deliver(world)
    world.run_until(nine(9))
    assert [each.trigger.due_at for each in world.consumers.attempts] == [nine(2), nine(4)]


def test_a_job_that_no_day_suits_any_more_ends(world: World) -> None:
    put(world)
    world.put(dueTime="2026-11-23T09:00:00Z", calendar={"name": "works"})
    put(world, MONDAY)
    deliver(world)
    assert world.stored().series.next_after(0) is None
    world.run_until(nine(3))
    assert world.consumers.attempts == []


def test_a_patch_of_other_fields_takes_the_days_of_now_and_needs_no_calendar(world: World) -> None:
    put(world)
    world.put(**DAILY)
    put(world, MONDAY)
    world.patch(description="Nightly.")
    assert next_due(world) == nine(3)
    stored = world.calendars.get(KEY)
    assert stored is not None
    world.calendars._calendars.clear()
    world.patch(description="Daily.")
    assert next_due(world) == nine(3)
    with pytest.raises(InvalidError):
        world.put("new", **DAILY)


def test_a_deletion_is_refused_while_jobs_name_the_calendar(world: World) -> None:
    put(world)
    for number in range(7):
        world.put(f"job-{number}", **DAILY)
    now = world.api_clock.now()
    with pytest.raises(ConflictError, match="job-0, job-1, job-2, job-3, job-4, and more"):
        world.api().calendars.delete(KEY, who="test", requested_at=now)
    for number in range(7):
        world.delete(f"job-{number}")
    world.api().calendars.delete(KEY, who="test", requested_at=now)
    with pytest.raises(NotFoundError):
        world.api().calendars.get(KEY)
    latest = world.admin_changes.page("ns", "", 9).items[0]
    assert (latest.what, latest.subject, latest.name) == ("deleted", "calendar", "works")


def test_a_deletion_reads_large_pages_and_names_the_number_of_jobs_that_is_too_many(world: World) -> None:
    put(world)
    for number in range(150):
        world.put(f"job-{number}", schedule="0 9 * * *")
    delete = partial(world.api().calendars.delete, KEY, who="test", requested_at=world.api_clock.now())
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(calendars, "_PAGE_MAX", 100)
        patched.setattr(calendars, "CALENDAR_JOBS_EXAMINED_MAX", 100)
        with pytest.raises(ConflictError, match=r"more than 100 jobs \(calendarJobsExaminedMax\)"):
            delete()
    assert calls_of(world, delete).count("before jobs.page") == 1
    with pytest.raises(NotFoundError):
        world.api().calendars.get(KEY)


def test_the_next_version_of_a_job_that_names_another_calendar_has_its_days(world: World) -> None:
    put(world, MONDAY)
    world.put(schedule="0 9 * * *")
    assert next_due(world) == nine(1)
    world.patch(calendar={"name": "works"})
    assert next_due(world) == nine(3)
    world.patch(without=["calendar"])
    assert next_due(world) == nine(1)
    assert world.stored().series.days is None
    assert world.jobs.get(key_of("job")) == world.stored()
