"""Ways in which a calendar, or a change of it, decides whether a job fires on a day."""

from typing import Any

from tests.fakes.world import World
from tests.unit.runs.explain.ways import instant, way

from sweephand.base.instants import DAY_MS, MINUTE_MS, Instant, rfc3339
from sweephand.jobs.calendar_fields import closed_days_of
from sweephand.model.calendar import CalendarKey, ResolvedDays

#: The world begins on Saturday 21 November 2026 at noon.
SATURDAY, MONDAY = instant("2026-11-21T13:00:00Z"), instant("2026-11-23T09:00:00Z")
LATER_SUNDAY = instant("2026-11-29T09:00:00Z")


def write_calendar(world: World, *closed: str, opened: tuple[str, ...] = ()) -> None:
    """The calendar `works`, whose closed days have a note."""
    spans = [{"from": each, "note": "works closed"} for each in closed]
    written = {"closed": spans, "open": [*opened]}
    days, reasons = closed_days_of(written, {})
    now = world.api_clock.now()
    key = CalendarKey("ns", "works")
    world.api().calendars.put(key, written, ResolvedDays(days.text(), reasons), who="test", requested_at=now)


def with_calendar(world: World, schedule: str, otherwise: str = "skip", **written: Any) -> None:
    """A job on the open days of the calendar `works`, which closes Monday 23 November too."""
    write_calendar(world, "2026-11-23")
    world.put(schedule=schedule, calendar={"name": "works", "otherwise": otherwise}, **written)


@way("calendar", "is closed in the calendar works (works closed), and calendar.otherwise is skip, so nothing")
def the_calendar_skips_the_day(world: World) -> Instant:
    with_calendar(world, "0 9 * * *")
    return MONDAY


@way("calendar", "The day 2026-11-21 is closed in the calendar works (weekend)")
def the_calendar_skips_an_hour_of_a_weekend(world: World) -> Instant:
    with_calendar(world, "@every 30m")
    world.run_until(SATURDAY + MINUTE_MS)
    return SATURDAY


@way("calendar", "its times are moved, to 2026-11-24T09:00:00Z.")
def the_calendar_moves_the_day_to_one_that_is_to_come(world: World) -> Instant:
    with_calendar(world, "0 9 * * MON", "next")
    return MONDAY


@way("calendar", "its times are moved, to 2026-11-24T09:00:00Z. Its run is succeeded.")
def the_calendar_moved_the_day_and_its_trigger_was_delivered(world: World) -> Instant:
    with_calendar(world, "0 9 * * MON", "next")
    world.run_until(MONDAY + DAY_MS + MINUTE_MS)
    return MONDAY


@way("delivered", "its times are moved, to 2026-11-24T09:00:00Z. It was delivered")
def a_trigger_fired_that_the_calendar_had_moved(world: World) -> Instant:
    with_calendar(world, "0 9 * * MON", "next")
    world.run_until(MONDAY + DAY_MS + MINUTE_MS)
    return MONDAY + DAY_MS


@way("stopped", "its times are moved, to 2026-11-24T09:00:00Z. The trigger was due at 2026-11-24T09:00:00Z")
def the_stack_does_not_tick_when_a_trigger_of_another_day_is_due(world: World) -> Instant:
    with_calendar(world, "0 9 * * MON", "next")
    world.clock.time = MONDAY + DAY_MS - 30 * MINUTE_MS
    world.tick()
    world.clock.time += 60 * MINUTE_MS
    return MONDAY


@way("jitter", "Jitter moves the job")
def jitter_moves_what_the_calendar_has_moved(world: World) -> Instant:
    with_calendar(world, "0 9 * * MON", "next", jitter="30m")
    world.run_until(MONDAY + DAY_MS + 60 * MINUTE_MS)
    return MONDAY + DAY_MS


@way("calendar", "its times are moved, to 2026-11-24T09:")
def the_calendar_moves_the_day_of_a_job_with_jitter(world: World) -> Instant:
    with_calendar(world, "0 9 * * MON", "next", jitter="30m")
    return MONDAY


@way("calendar", "no open day lies within 31 days, so nothing fires for it.")
def no_open_day_is_near(world: World) -> Instant:
    write_calendar(world)
    world.put(schedule="0 9 * * MON", calendar={"name": "works", "otherwise": "next"})
    days = [instant("2026-11-20T00:00:00Z") + each * DAY_MS for each in range(40)]
    write_calendar(world, *(rfc3339(each)[:10] for each in days))
    world.run_until(world.clock.time + MINUTE_MS)
    return MONDAY


def moved_into_the_past(world: World) -> None:
    """A job whose Sunday was open until it belonged to the Friday before."""
    write_calendar(world, opened=("2026-11-29",))
    world.put(schedule="0 9 * * SUN", calendar={"name": "works", "otherwise": "previous"})
    world.run_until(LATER_SUNDAY - DAY_MS)
    write_calendar(world)
    world.run_until(world.clock.time + MINUTE_MS)


@way(
    "delivered",
    "After a change of the calendar works, what is due on another day fires then. It was delivered",
)
def a_change_of_the_calendar_made_a_time_past_that_had_not_fired(world: World) -> Instant:
    moved_into_the_past(world)
    return world.consumers.attempts[-1].trigger.due_at


@way("calendar", "After a change of the calendar works, what is due on another day has fired before")
def a_change_of_the_calendar_brought_back_a_day_that_has_fired(world: World) -> Instant:
    moved_into_the_past(world)
    write_calendar(world, opened=("2026-11-29",))
    world.run_until(world.clock.time + MINUTE_MS)
    return LATER_SUNDAY
