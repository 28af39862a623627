"""Batches in the wheel: one timer for each bucket, and every trigger of an occurrence exactly once."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.world import NOON, World, job_of, key_of

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, Instant
from sweephand.base.timing import DIRECT_WINDOW_MS
from sweephand.model.definition import CatchUpMode, CatchUpPolicy
from sweephand.model.job import Job, Revision
from sweephand.model.timer import Cursor, Lease, OccurrenceTimer, StoredTimer, TimerPack, placed_timers
from sweephand.model.trigger import BatchPlace, RangeMessage, Trigger, TriggerMessage
from sweephand.schedules import Batch, Occurrence, Series
from sweephand.wheel.arm import Armable, arm, split_range
from sweephand.wheel.expand import expand
from sweephand.wheel.span import PUT_OFF_MS

#: A trigger of a batch by its occurrence and its index.
Name = tuple[Instant, int]


def names(triggers: list[Trigger]) -> list[Name]:
    return [(each.due_at, each.index) for each in triggers]


def armable(batch: Batch, due_at: Instant = NOON) -> Armable:
    series = Series(None, "UTC", NOON, due_at, batch=batch)
    return Armable(key_of(), "u" * 16, "1-a", 3, series, CatchUpPolicy())


def expanded_fully(
    job: Job,
    timer: OccurrenceTimer,
    *,
    judged_at: Instant = NOON,
    triggers_max: int = 1_000,
    buckets_max: int = 200,
) -> Iterator[tuple[list[Trigger], list[StoredTimer]]]:
    """What the timers of a shard yield, bucket by bucket, beginning with one timer: triggers and timers."""
    shard: list[StoredTimer] = [timer]
    for _ in range(buckets_max):
        if not shard:
            return
        assert len(shard) == 1, "a batch has one timer for each bucket"
        page, shard, sent = shard, [], []
        cursor = Cursor()
        while placed := placed_timers(page, cursor):
            lease = Lease(0, cursor, fence=1, owner="sweeper", judged_at=judged_at)
            found = expand(placed, {job.key: job}, lease, triggers_max=triggers_max)
            assert len(found.messages) <= triggers_max
            sent += [each.trigger for each in found.messages if isinstance(each, TriggerMessage)]
            shard += [*found.successors, *found.packs, *found.copies]
            cursor = found.cursor
            if not cursor.is_within_item:
                break
        yield sent, shard


def first_timer(job: Job) -> OccurrenceTimer:
    first = job.series.next_after(NOON - 1)
    assert first is not None
    return OccurrenceTimer(
        0, job.key, job.uid, job.rev, job.series, first, NOON - MINUTE_MS, catchup=job.definition.catchup
    )


def test_arming_sends_what_is_due_within_five_minutes_and_leaves_the_rest_of_the_batch_to_one_timer() -> None:
    arming = arm(armable(Batch(60, HOUR_MS)), after=NOON - 1, now=NOON)
    singles = [each for each in arming.messages if isinstance(each, TriggerMessage)]
    assert [each.not_before - NOON for each in singles] == [n * MINUTE_MS for n in range(6)]
    assert singles[5].trigger == Trigger(
        key_of(), "u" * 16, "1-a", NOON, 1, NOON, index=5, batch=BatchPlace(60, HOUR_MS, 5 * MINUTE_MS)
    )
    (timer,) = arming.timers
    assert timer.first == Occurrence(NOON, 1, 6, 6 * MINUTE_MS)
    assert timer.due_at == NOON + 6 * MINUTE_MS


def test_a_batch_of_ten_million_is_armed_as_one_range() -> None:
    arming = arm(armable(Batch(10_000_000)), after=NOON - 1, now=NOON)
    (message,) = arming.messages
    assert isinstance(message, RangeMessage)
    assert not arming.timers
    parts = list(split_range(message))
    assert len(parts) == 10
    assert parts[-1].last == Occurrence(NOON, 1, 9_999_999, 0)  # type: ignore[union-attr]


@given(size=st.integers(1, 400), window_ms=st.integers(0, DIRECT_WINDOW_MS), repeats=st.integers(1, 2))
def test_a_range_splits_into_every_trigger_once(size: int, window_ms: int, repeats: int) -> None:
    series = Series("@every 90s", "UTC", NOON, repeats=repeats, batch=Batch(size, min(window_ms, 89_999)))
    source = armable(Batch(1))._replace(series=series)
    (whole,) = arm(source, after=NOON, now=NOON, singles_max=0).messages
    parts, singles = [whole], []
    while parts:
        part = parts.pop()
        if isinstance(part, RangeMessage):
            parts += split_range(part)
        else:
            assert isinstance(part, TriggerMessage)
            assert part.not_before == part.trigger.at
            singles.append(part.trigger)
    expected = {(NOON + 90_000 * n, index) for n in range(1, repeats + 1) for index in range(size)}
    assert Counter(names(singles)) == Counter(expected)


def test_a_million_over_an_hour_has_one_timer_for_each_minute() -> None:
    job = job_of(dueTime="2h", batch={"count": 1_000_000, "window": "1h"})
    timer = first_timer(job)
    timers = 1
    for _ in range(61):
        lease = Lease(0, Cursor(), judged_at=NOON)
        # The successor is found without the triggers before it, which need many turns.
        found = expand(
            placed_timers([timer], Cursor()),
            {job.key: job},
            lease,
            triggers_max=1,
        )
        if not found.successors:
            break
        (timer,) = found.successors
        timers += 1
    assert timers == 60
    assert timer.first == Occurrence(NOON + 2 * HOUR_MS, 1, 983_334, 59 * MINUTE_MS + 2)


def test_an_update_lets_a_batch_that_has_begun_go_on_in_its_own_revision() -> None:
    job = job_of(schedule="@every 4m", batch={"count": 4, "window": "200s"})
    begun = NOON + 4 * MINUTE_MS
    ended = Revision(job.rev, since=NOON - 1, until=begun + 10)
    later = replace(job, current=Revision("2-b", since=begun + 10), earlier=(ended,))
    sent = [each for some, _ in expanded_fully(later, first_timer(job)) for each in some]
    assert names(sent) == [(begun, index) for index in range(4)]


def test_a_pause_holds_the_rest_of_a_batch_as_one_timer_and_a_resume_releases_it() -> None:
    job = job_of(schedule="@every 1h", batch={"count": 30, "window": "30m"})
    begun = NOON + HOUR_MS
    timer = first_timer(job)._replace(first=Occurrence(begun, 1, 10, 10 * MINUTE_MS))
    paused = replace(job, paused_at=begun + 9 * MINUTE_MS)
    ((sent, copies),) = expanded_fully(paused, timer, buckets_max=1)
    assert not sent
    (copy,) = copies
    assert isinstance(copy, OccurrenceTimer)
    assert (copy.first, copy.due_at) == (timer.first, timer.due_at + PUT_OFF_MS)
    resumed = replace(
        job,
        current=Revision("2-b", since=begun + 9 * MINUTE_MS),
        earlier=(Revision(job.rev, since=NOON - 1, until=begun + 9 * MINUTE_MS),),
    )
    released = [each for some, _ in expanded_fully(resumed, copy) for each in some]
    assert names(released) == [(begun, index) for index in range(10, 30)]


def test_a_pause_leaves_a_batch_that_has_not_begun_to_the_resume() -> None:
    job = replace(job_of(schedule="@every 1h", batch={"count": 3}), paused_at=NOON + 1)
    ((sent, timers),) = expanded_fully(job, first_timer(job))
    assert not sent
    assert not timers


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("latest", [1, 24]), ("all", list(range(1, 25))), ("none", [1])],
)
@pytest.mark.parametrize("triggers_max", [1, 2, 7, 1_000])
def test_a_batch_that_has_begun_is_completed_however_late_and_catch_up_decides_about_whole_batches(
    mode: CatchUpMode, expected: list[int], triggers_max: int
) -> None:
    job = job_of(
        schedule="@every 1h", repeats=24, batch={"count": 5, "window": "50s"}, catchup={"mode": mode}
    )
    late = NOON + 2 * DAY_MS
    timer = first_timer(job)._replace(first=Occurrence(NOON + HOUR_MS, 1, 2, 20_000))
    sent: list[Trigger] = []
    for some, _ in expanded_fully(job, timer, judged_at=late, triggers_max=triggers_max, buckets_max=2_000):
        sent += some
    fired = {(NOON + n * HOUR_MS, index) for n in expected for index in range(5)}
    assert set(names(sent)) == fired - {(NOON + HOUR_MS, 0), (NOON + HOUR_MS, 1)}
    assert len(sent) == len(set(names(sent)))


@pytest.mark.parametrize("triggers_max", [1, 3, 1_000])
def test_the_newest_misfire_fires_its_whole_batch(triggers_max: int) -> None:
    job = job_of(schedule="@every 1h", repeats=24, batch={"count": 6})
    sent = [
        each
        for some, _ in expanded_fully(
            job, first_timer(job), judged_at=NOON + 2 * DAY_MS, triggers_max=triggers_max
        )
        for each in some
    ]
    assert names(sent) == [(NOON + 24 * HOUR_MS, index) for index in range(6)]


def test_successors_of_batches_and_of_other_jobs_share_a_pack() -> None:
    jobs = [
        job_of("many", schedule="@every 70s", batch={"count": 4, "window": "60s"}),
        job_of("one", schedule="@every 65s"),
    ]
    timers = sorted((first_timer(job) for job in jobs), key=lambda each: each.sort_key)
    lease = Lease(0, Cursor(), judged_at=NOON)
    found = expand(placed_timers(timers, Cursor()), {job.key: job for job in jobs}, lease)
    (pack,) = found.packs
    assert isinstance(pack, TimerPack)
    assert [(each.key.name, each.first.at - NOON) for each in pack.timers] == [
        ("one", 130_000),
        ("many", 140_000),
    ]


def test_a_stack_delivers_each_trigger_of_a_batch_when_it_is_due(world: World) -> None:
    world.put(schedule="@every 10m", repeats=2, batch={"count": 90, "window": "9m"})
    world.run_until(NOON + 30 * MINUTE_MS)
    assert len(world.consumers.ids) == len(set(world.consumers.ids)) == 180
