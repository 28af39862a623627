"""A job that is moved to another stack fires when it would have fired."""

import datetime as dt
from typing import Any, Final

import pytest

from sweephand_client.openapi.requests import JobRequest, PreviewRequest
from sweephand_client.tasks.placing import Placed, is_anchored, place, repeats_by_days

NOW: Final = dt.datetime(2026, 11, 21, 12, 0, tzinfo=dt.UTC)
LATER: Final = "2026-11-21T13:17:00.000Z"
EARLIER: Final = "2026-11-21T11:17:00.000Z"
JUST_NOW: Final = "2026-11-21T11:59:30.000Z"
LAST: Final = "2026-11-22T13:17:00.000Z"
IN_PHASE: Final = "2026-11-21T12:17:00.000Z"
WITH_START: Final = "R/2026-11-19T10:00:00Z/P1D"


def placed(definition: JobRequest, next_at: str | None = LATER, last_at: str | None = None) -> Placed:
    """Where a job is placed at noon. An anchored schedule comes next at 12:17."""
    return place(definition, next_at=next_at, last_at=last_at, now=NOW, next_in_phase=lambda _: IN_PHASE)


def test_a_relative_time_does_not_begin_anew() -> None:
    assert placed({"dueTime": "2h", "data": 1}) == Placed({"dueTime": LATER, "data": 1})
    assert placed({"dueTime": "PT2H", "jitter": "10m"}) == Placed({"dueTime": LATER})


def test_an_instant_stays_as_it_was_written() -> None:
    job: JobRequest = {"dueTime": "2026-11-21T14:17:00+01:00", "jitter": "10m"}
    assert placed(job) == Placed(job)


@pytest.mark.parametrize(
    "schedule", ["@every 1h", "rate(1 hours)", "R/PT1H", "CRON_TZ=Europe/Riga @every 1h"]
)
def test_a_period_keeps_its_phase(schedule: str) -> None:
    job: JobRequest = {"schedule": schedule}
    assert is_anchored(job)
    assert placed(job) == Placed({**job, "dueTime": LATER})
    assert placed({**job, "dueTime": "10s", "jitter": "10m"}) == Placed({**job, "dueTime": LATER})
    assert placed(job, next_at=EARLIER) == Placed({**job, "dueTime": IN_PHASE})


@pytest.mark.parametrize("schedule", ["R/2026-11-21T09:00:00Z/PT5H", "TZ=Europe/Riga R7/2026-11-22/P1D"])
def test_a_due_time_begins_a_repetition_in_place_of_its_start(schedule: str) -> None:
    job: JobRequest = {"schedule": schedule, "dueTime": "150m", "jitter": "10m"}
    assert is_anchored(job)
    kept: JobRequest = {"schedule": schedule}
    assert placed(job, last_at=LAST).definition == {**kept, "dueTime": LATER, **bound(schedule)}
    assert placed(job, EARLIER, LAST).definition == {**kept, "dueTime": IN_PHASE, **bound(schedule)}
    assert placed(kept).definition == kept


def bound(schedule: str) -> dict[str, str]:
    return {"ttl": LAST} if "R7" in schedule else {}


@pytest.mark.parametrize(
    ("schedule", "period"),
    [("R/P1D", "R/{}/P1D"), ("TZ=Europe/Riga r9/p1w", "TZ=Europe/Riga r9/{}/p1w"), (WITH_START, "R/{}/P1D")],
)
@pytest.mark.parametrize("next_at", [EARLIER, LATER])
def test_a_repetition_keeps_its_time_of_day_by_a_due_time_that_no_clock_change_moved(
    schedule: str, period: str, next_at: str
) -> None:
    job: JobRequest = {"schedule": schedule, "dueTime": "1h", "jitter": "10m"}
    assert repeats_by_days(job)
    usual = "2026-11-20T12:17:00.000Z"
    found = place(
        job, next_at=next_at, last_at=LAST, start_at=usual, now=NOW, next_in_phase=lambda _: IN_PHASE
    )
    assert found.definition == {"schedule": period.format(usual)} | (
        {"ttl": LAST} if "r9" in schedule else {}
    )
    assert "jitter moved it there" in found.notes[0]


def test_an_earlier_due_time_of_an_archive_is_no_template_of_a_replacement() -> None:
    start = r"2026-01-01\12:00:00Z"  # Python reads it as an instant: any character may stand for the T
    found = place(
        {"schedule": "R/P1D"},
        next_at=LATER,
        last_at=None,
        start_at=start,
        now=NOW,
        next_in_phase=lambda _: None,
    )
    assert found.definition == {"schedule": f"R/{start}/P1D"}  # the API refuses it


def test_a_time_of_day_that_only_a_clock_change_has_shown_is_told() -> None:
    found = place(
        {"schedule": "R/P1D"},
        next_at=LATER,
        last_at=None,
        start_at=LATER,
        now=NOW,
        next_in_phase=lambda _: IN_PHASE,
    )
    assert found.definition == {"schedule": "R/P1D", "dueTime": LATER}
    assert "time of day may differ" in found.notes[0]


@pytest.mark.parametrize("schedule", ["R/PT24H", "@every 24h", "rate(1 day)", "@daily", {"hour": "3"}])
def test_what_counts_elapsed_time_or_matches_the_clock_keeps_no_time_of_day(schedule: Any) -> None:
    assert not repeats_by_days({"schedule": schedule, "dueTime": "1h"})


def test_the_stack_calculates_the_phase_from_the_next_due_time() -> None:
    asked: list[PreviewRequest] = []

    def ask(timing: PreviewRequest) -> None:
        asked.append(timing)

    job: JobRequest = {"schedule": "@every 1h", "timezone": "UTC", "data": 1, "repeats": 3}
    found = place(job, next_at=EARLIER, last_at=None, now=NOW, next_in_phase=ask)

    assert asked == [{"schedule": "@every 1h", "timezone": "UTC", "dueTime": EARLIER}]
    assert found.definition is None


@pytest.mark.parametrize("schedule", ["30 2 * * *", "@hourly", {"hour": "3"}, "R4/2027-01-01T00:00:00Z/P1D"])
def test_a_schedule_by_the_clock_stays_as_it_was_written(schedule: Any) -> None:
    assert not is_anchored({"schedule": schedule})
    assert placed({"schedule": {"hour": "3"}}) == Placed({"schedule": {"hour": "3"}})


def test_the_beginning_of_a_schedule_by_the_clock_is_kept_while_it_is_to_come() -> None:
    job: JobRequest = {"schedule": "@hourly"}
    assert placed({**job, "dueTime": "1h"}) == Placed({**job, "dueTime": LATER})
    assert placed({**job, "dueTime": "1h"}, next_at=EARLIER) == Placed(job)
    assert placed({**job, "dueTime": "2026-01-01T00:00:00Z"}) == Placed({**job, "dueTime": LATER})
    future: JobRequest = {**job, "dueTime": "2026-12-01T00:00:00Z"}
    assert placed(future, next_at="2026-12-01T00:00:00.000Z") == Placed(future)


@pytest.mark.parametrize(
    "fields",
    [
        {"schedule": "@hourly", "repeats": 4},
        {"schedule": "@hourly", "ttl": "24h"},
        {"schedule": "R4/2026-11-21T13:17:00Z/PT8H"},
    ],
)
def test_what_was_counted_ends_when_it_would_have_ended(fields: JobRequest) -> None:
    assert placed(fields, last_at=LAST) == Placed({**fields, "ttl": LAST})


def test_an_end_that_is_an_instant_stays_as_it_was_written() -> None:
    job: JobRequest = {"schedule": "@hourly", "ttl": "2026-11-22T13:20:00Z"}
    assert placed(job, last_at=LAST) == Placed(job)


def test_an_end_that_is_too_far_away_is_told() -> None:
    found = placed({"schedule": "@yearly", "repeats": 5000})
    assert found.definition == {"schedule": "@yearly", "repeats": 5000}
    assert "counted anew" in found.notes[0]


def test_what_would_not_fire_any_more_is_not_written() -> None:
    assert placed({"dueTime": "2h"}, next_at=EARLIER) == Placed(None, (f"it was due at {EARLIER}",))
    assert placed({"schedule": "@hourly", "ttl": "1h"}, EARLIER, EARLIER).definition is None


def test_what_was_due_within_the_last_minute_is_due_now() -> None:
    assert placed({"dueTime": "2h"}, next_at=JUST_NOW) == Placed({"dueTime": JUST_NOW})


def test_a_job_on_demand_stays_as_it_was_written() -> None:
    assert placed({"data": 1}, next_at=None) == Placed({"data": 1})
    assert "counts from the import" in placed({"ttl": "7d"}, next_at=None).notes[0]


def test_a_day_that_months_lack_is_told() -> None:
    at = "2026-11-30T12:00:00.000Z"
    assert "day of the month" in placed({"schedule": "R/P1M"}, next_at=at).notes[0]
    assert placed({"schedule": "R/P1M"}).notes == ()


@pytest.mark.parametrize("definition", [{"schedule": "@every 1h"}, {"schedule": "R/P1D", "dueTime": LATER}])
def test_jitter_before_a_calendar_is_told(definition: JobRequest) -> None:
    moved: JobRequest = {**definition, "jitter": "59m", "calendar": {"name": "works"}}
    assert any("its days may differ" in each for each in placed(moved).notes)
    assert not any("its days may differ" in each for each in placed({**definition, "jitter": "59m"}).notes)
