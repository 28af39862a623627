"""Jobs with `jitter` and `dst`: arming, sweeping, delivering and updates."""

from typing import Any

import pytest
from tests.fakes.http_events import JOB, Client
from tests.fakes.world import NOON, World

from sweephand.base.errors import InvalidError
from sweephand.base.instants import HOUR_MS, MINUTE_MS, rfc3339
from sweephand.schedules.durations import offset_ms

#: Where the job ns/job lies in a window of an hour, and in one of ten minutes.
IN_AN_HOUR = offset_ms("ns/job", HOUR_MS)
IN_TEN_MINUTES = offset_ms("ns/job", 10 * MINUTE_MS)


def fired(world: World) -> list[int]:
    """The due times that were delivered, in ms after noon."""
    return [attempt.trigger.due_at - NOON for attempt in world.consumers.attempts]


def test_a_job_with_jitter_fires_at_its_moved_times_and_at_no_other(world: World) -> None:
    world.put(schedule="*/15 * * * *", jitter="10m")
    world.run_until(NOON + HOUR_MS)
    assert fired(world) == [quarter * 15 * MINUTE_MS + IN_TEN_MINUTES for quarter in range(4)]
    assert [each.trigger.sequence for each in world.consumers.attempts] == [1, 2, 3, 4]


def test_a_one_off_with_jitter_fires_once_at_its_moved_time(world: World) -> None:
    world.put(dueTime="2m", jitter="1h")
    world.run_until(NOON + 2 * HOUR_MS)
    assert fired(world) == [2 * MINUTE_MS + IN_AN_HOUR]


def test_every_with_jitter_keeps_its_period_and_its_number_of_repeats(world: World) -> None:
    world.put(schedule="@every 30s", repeats=5, jitter="10m")
    world.run_until(NOON + HOUR_MS)
    assert fired(world) == [(number + 1) * 30_000 + IN_TEN_MINUTES for number in range(5)]


def test_jobs_of_one_schedule_are_spread_over_the_window(world: World) -> None:
    for number in range(40):
        world.put(f"job-{number}", schedule="@hourly", jitter="15m")
    world.run_until(NOON + HOUR_MS)
    assert len(fired(world)) == 40
    assert len(set(fired(world))) == 40
    assert all(0 <= each < 15 * MINUTE_MS for each in fired(world))


@pytest.mark.parametrize("changed_after", [0, 1, IN_TEN_MINUTES, IN_TEN_MINUTES + 1, IN_AN_HOUR, HOUR_MS - 1])
@pytest.mark.parametrize(("before", "after"), [("10m", "1h"), ("1h", "10m"), (None, "1h"), ("1h", None)])
def test_an_update_that_changes_the_jitter_fires_each_time_of_the_schedule_once(
    world: World, before: str | None, after: str | None, changed_after: int
) -> None:
    # Begun an hour before, so that the time at which noon is to fire is not the first.
    world.clock.time = NOON - HOUR_MS + 30 * MINUTE_MS
    first: dict[str, Any] = {} if before is None else {"jitter": before}
    second: dict[str, Any] = {} if after is None else {"jitter": after}
    world.put(schedule="@hourly", **first)
    world.run_until(NOON + changed_after)
    world.put(schedule="@hourly", **second)
    world.run_until(NOON + 3 * HOUR_MS - 1)
    assert {each // HOUR_MS for each in fired(world) if each >= 0} == {0, 1, 2}
    assert len([each for each in fired(world) if each >= 0]) == 3


def test_a_one_off_that_a_shorter_jitter_moves_before_now_fires_at_once(world: World) -> None:
    world.put(dueTime="2026-11-21T12:00:00Z", jitter="1h")
    world.run_until(NOON + IN_AN_HOUR - 2_000)
    world.put(dueTime="2026-11-21T12:00:00Z", jitter="10m")
    world.run_until(NOON + HOUR_MS)
    assert fired(world) == [IN_TEN_MINUTES]


def test_an_equal_jitter_changes_nothing_and_the_job_shows_what_was_written() -> None:
    client = Client()
    job = {**JOB, "jitter": "PT15M", "dst": {"gap": "skip", "overlap": "both"}}
    created = client.put(job=job)
    assert created.status == 201
    assert client.put(job=job).etag == created.etag
    shown = client.get().json
    assert (shown["jitter"], shown["dst"]) == ("PT15M", {"gap": "skip", "overlap": "both"})
    assert client.put(job={**job, "dst": {"gap": "skip", "overlap": None}}).etag != created.etag
    assert client.get().json["dst"] == {"gap": "skip"}
    client.put(job={**job, "dst": None, "jitter": None})
    assert not {"dst", "jitter"} & set(client.get().json)


def test_the_next_run_shown_includes_the_jitter() -> None:
    client = Client()
    client.put(job={**JOB, "schedule": "0 13 * * *", "jitter": "10m"})
    minutes, rest = divmod(IN_TEN_MINUTES, MINUTE_MS)
    seconds = f"{rest // 1000:02d}.{rest % 1000:03d}"
    assert client.get().json["nextRun"] == f"2026-11-21T13:{minutes:02d}:{seconds}Z"


@pytest.mark.parametrize(
    ("dst", "expected"),
    [
        ({}, ["2026-10-25T00:30", "2026-10-26T01:30"]),
        ({"overlap": "last"}, ["2026-10-25T01:30", "2026-10-26T01:30"]),
        ({"overlap": "both"}, ["2026-10-25T00:30", "2026-10-25T01:30", "2026-10-26T01:30"]),
    ],
)
def test_a_job_fires_by_its_own_dst_rule(dst: dict[str, Any], expected: list[str]) -> None:
    world = World(now=1_792_836_000_000)  # 2026-10-24T10:00:00Z; Paris leaves summer time in the night
    world.put(schedule="30 2 * * *", timezone="Europe/Paris", dst=dst)
    world.run_until(world.clock.time + 2 * 24 * HOUR_MS)
    assert [rfc3339(each.trigger.due_at)[:16] for each in world.consumers.attempts] == expected


def test_another_rule_or_jitter_keeps_the_phase_of_every(world: World) -> None:
    world.put(schedule="@every 7m")
    world.clock.time += 10 * MINUTE_MS
    changed = world.put(schedule="@every 7m", dst={"gap": "skip"}, jitter="10m").job
    assert changed.series.start_at == NOON
    following = changed.series.next_after(world.clock.time)
    assert following is not None
    assert (following.due_at - IN_TEN_MINUTES - NOON) % (7 * MINUTE_MS) == 0


def test_a_preview_takes_jitter_and_dst_and_shows_times_before_the_move() -> None:
    client = Client()
    body = {
        "schedule": "30 2 * * *",
        "timezone": "Europe/Paris",
        "after": "2027-10-30T12:00:00Z",
        "limit": 2,
        "jitter": "15m",
        "dst": {"overlap": "both", "gap": None},
    }
    shown = client.send("POST", "/v1/occurrences", body).json["occurrences"]
    assert [each["utc"][:16] for each in shown] == ["2027-10-31T00:30", "2027-10-31T01:30"]
    refused = client.send("POST", "/v1/occurrences", {**body, "dst": {"gap": 3}, "jitter": "2d"})
    assert (refused.status, refused.pointers) == (422, ["/dst/gap", "/jitter"])


def test_a_ttl_that_the_moved_fire_would_miss_is_refused_with_its_pointer() -> None:
    with pytest.raises(InvalidError) as refusal:
        World().put(dueTime="1m", ttl="1m", jitter="1h")
    assert [each.pointer for each in refusal.value.violations] == ["/ttl"]


@pytest.mark.parametrize("zone", [{}, {"timezone": "Atlantic/Reykjavik"}], ids=["same zone", "another zone"])
@pytest.mark.parametrize(("before", "after"), [(None, "1h"), ("1h", "10m"), ("10m", "1h"), ("1h", None)])
def test_a_cron_time_that_fired_does_not_fire_again_though_the_relative_due_time_moves(
    before: str | None, after: str | None, zone: dict[str, Any]
) -> None:
    world = World(NOON - HOUR_MS)
    hourly: dict[str, Any] = {"schedule": "0 * * * *", "dueTime": "30s"}
    world.put(**hourly, jitter=before)
    world.run_until(NOON + IN_TEN_MINUTES + 1)
    world.put(**hourly, jitter=after, **zone)
    world.run_until(NOON + 3 * HOUR_MS)
    offsets = {None: 0, "10m": IN_TEN_MINUTES, "1h": IN_AN_HOUR}
    revs = [each.trigger.rev for each in world.consumers.attempts]
    times = [
        at - offsets[before if rev == revs[0] else after] for at, rev in zip(fired(world), revs, strict=True)
    ]
    assert len(set(times)) == len(times)
    assert {HOUR_MS, 2 * HOUR_MS} <= set(times)


@pytest.mark.parametrize("verb", ["put", "patch"])
@pytest.mark.parametrize("zone", [{}, {"timezone": "Atlantic/Reykjavik"}], ids=["same zone", "another zone"])
def test_the_first_time_of_a_job_that_a_shorter_jitter_moves_before_its_creation_fires(
    verb: str, zone: dict[str, Any]
) -> None:
    world = World(NOON + MINUTE_MS)
    world.put(schedule="0 12 * * *", jitter="1h")
    world.run_until(NOON + 2 * MINUTE_MS)
    if verb == "put":
        world.put(schedule="0 12 * * *", **zone)
    else:
        world.patch(without=["jitter"], **zone)
    world.run_until(NOON + 2 * HOUR_MS)
    assert fired(world) == [0]


@pytest.mark.parametrize("verb", ["put", "patch"])
def test_less_jitter_leaves_the_phase_of_every_as_it_was_though_its_repeats_are_few(verb: str) -> None:
    world = World()
    world.put(schedule="@every 13s", repeats=4, jitter="10m")
    world.run_until(NOON + 5_000)
    if verb == "put":
        world.put(schedule="@every 13s", repeats=4)
    else:
        world.patch(without=["jitter"])
    world.run_until(NOON + HOUR_MS)
    assert fired(world) == [13_000, 26_000, 39_000, 52_000]
