"""What a rehearsal finds: herds, clock changes, lateness, and the bill."""

import pytest
from tests.unit.engine.rehearsal.conftest import BEGIN, DAY, jobs_of, played

from sweephand_engine.costs import prices
from sweephand_engine.rehearsal.findings import bill_of_stack, herds, moved, service, zone_of
from sweephand_engine.times import instant_of

PARIS = {"timezone": "Europe/Paris"}


def test_herds_are_told_by_the_time_of_day_the_largest_first() -> None:
    nightly = {f"n{number}": {"schedule": "0 0 * * *", **PARIS} for number in range(6)}
    noon = {f"d{number}": {"schedule": "0 12 * * 1", **PARIS} for number in range(7)}
    play = played({**nightly, **noon}, days=28)

    found = herds(play, bill_of_stack(), "Europe/Paris")

    assert [(each.triggers, each.times) for each in found] == [(7, 4), (6, 28)]
    assert found[0].at == instant_of("2026-10-12T10:00:00Z")
    assert found[1].at == instant_of("2026-10-12T22:00:00Z")
    assert found[0].jobs == tuple((f"d{number}", 1) for number in range(7))


def test_what_each_hour_has_is_one_herd() -> None:
    play = played({f"h{number}": {"schedule": "10 * * * *"} for number in range(5)}, days=2)
    [found] = herds(play, bill_of_stack(), "UTC")
    assert (found.triggers, found.times, found.times_of_day) == (5, 48, 24)
    assert found.at == instant_of("2026-10-12T00:10:00Z")


def test_without_a_herd_the_busiest_second_is_told() -> None:
    play = played({"a": {"schedule": "0 * * * *"}, "b": {"schedule": "0 5 * * *"}})
    [found] = herds(play, bill_of_stack(), "UTC")
    assert (found.at, found.triggers) == (BEGIN + 5 * DAY // 24, 2)


def test_a_large_batch_is_late_by_the_model_of_lambda() -> None:
    play = played({"a": {"schedule": "0 5 * * *", "batch": {"count": 5_000}}})
    bill = bill_of_stack()
    [found] = herds(play, bill, "UTC")
    assert found.jobs == (("a", 5_000),)
    assert found.late_s > 1
    assert service(play, bill).late_p99_s > 1


def test_clock_changes_say_what_they_do_to_each_local_time() -> None:
    jobs = jobs_of(
        {
            "first": {"schedule": "30 2 * * *", **PARIS},
            "last": {"schedule": "0,20,40 2 * * *", **PARIS, "dst": {"overlap": "last"}},
            "both": {"schedule": "30 2 * * *", **PARIS, "dst": {"overlap": "both", "gap": "skip"}},
            "utc": {"schedule": "30 2 * * *"},
            "hourly": {"schedule": "0 * * * *", **PARIS},
        }
    )
    autumn = [(each.job, each.times, each.what) for each in moved(jobs, BEGIN, BEGIN + 28 * DAY)[0]]
    assert sorted(autumn) == [
        ("both", ("02:30",), "comes twice, fires both times"),
        ("first", ("02:30",), "comes twice, fires the first time"),
        ("last", ("02:00", "02:20", "02:40"), "comes twice, fires the second time"),
    ]
    later, moves_now = moved(jobs, BEGIN + 28 * DAY, BEGIN + 56 * DAY)
    assert not moves_now
    assert {each.at for each in later} == {instant_of("2027-03-28T01:00:00Z")}
    assert {(each.job, each.what) for each in later} == {
        ("first", "does not exist, fires at 03:00"),
        ("last", "does not exist, fires at 03:00"),
        ("both", "does not exist, is skipped"),
    }


def test_a_zone_without_clock_changes_moves_nothing() -> None:
    assert moved(jobs_of({"a": {"schedule": "30 2 * * *"}}), BEGIN, BEGIN + DAY) == ([], False)


def test_people_see_the_zone_of_most_jobs() -> None:
    assert zone_of(
        jobs_of({"a": {"schedule": "@daily"}, **{k: {"schedule": "@daily", **PARIS} for k in "bc"}})
    ) == ("Europe/Paris")
    assert zone_of(()) == "UTC"


def test_the_bill_is_that_of_a_month_like_the_days() -> None:
    bill = bill_of_stack()
    idle = prices.total(bill.idle())
    nothing = service(played({"a": {"schedule": "0 0 1 1 *"}}), bill)
    assert nothing.dollars == pytest.approx(idle)

    minutely = {"schedule": "* * * * *"}
    day, week = (service(played({"a": minutely}, days=days), bill).dollars for days in (1, 7))
    assert day == pytest.approx(week, rel=0.02)
    assert day > idle + 0.6, "metrics alone cost so much"

    limited = service(played({"a": {**minutely, "overlap": "skip"}}), bill).dollars
    writes = prices.WRITES.of(3 * prices.MONTH_MINUTES)
    assert limited - day == pytest.approx(writes, rel=0.01)
    unkept = service(played({"a": {**minutely, "history": "failures"}}), bill).dollars
    assert unkept < day
