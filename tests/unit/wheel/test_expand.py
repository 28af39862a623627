"""Expanding timers: the result depends on the timers and their jobs, never on the sweeper or the time."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.world import NOON, job_of

from sweephand.base.instants import Instant
from sweephand.model.job import Job, Revision
from sweephand.model.run_id import Demand
from sweephand.model.timer import (
    Cursor,
    DeadlineTimer,
    Lease,
    OccurrenceTimer,
    Place,
    RetryTimer,
    Timer,
    bucket_of,
    placed_timers,
)
from sweephand.model.trigger import DeadlineMessage, Trigger, TriggerMessage
from sweephand.schedules import Occurrence, ScheduleError
from sweephand.schedules.triggers import trigger_following
from sweephand.wheel.expand import Expansion, expand
from sweephand.wheel.span import PUT_OFF_MS

MINUTE = 60_000
BEGINNING = Cursor()


def timer_of(job: Job, after: Instant = NOON) -> OccurrenceTimer:
    """The timer that stands for a job's occurrences after an instant."""
    first = job.series.next_after(after)
    assert first is not None
    return OccurrenceTimer(
        job.shard,
        job.key,
        job.uid,
        job.rev,
        job.series,
        first,
        job.updated_at,
        catchup=job.definition.catchup,
    )


def retry_of(job: Job, not_before: Instant) -> RetryTimer:
    trigger = Trigger(job.key, job.uid, job.rev, NOON, 1, NOON)
    return RetryTimer(job.shard, TriggerMessage(trigger, not_before, attempt=3, first_attempt_at=NOON))


def deadline_of(job: Job, not_before: Instant) -> DeadlineTimer:
    trigger = Trigger(job.key, job.uid, job.rev, NOON, 1, NOON)
    return DeadlineTimer(job.shard, DeadlineMessage(trigger, 2, "owner", job.shard, not_before))


def expanded(
    job: Job | None,
    *timers: Timer,
    cursor: Cursor = BEGINNING,
    judged_at: Instant = NOON,
    triggers_max: int = 1_000,
) -> Expansion:
    jobs = {job.key: job} if job else {}
    return expand(placed_timers(timers, cursor), jobs, held(cursor, judged_at), triggers_max=triggers_max)


def held(cursor: Cursor = BEGINNING, judged_at: Instant = NOON) -> Lease:
    """The lease of a shard in hand: where its cursor stands, and by when its page is judged."""
    return Lease(0, cursor, fence=1, owner="sweeper", judged_at=judged_at)


def dues(expansion: Expansion) -> list[int]:
    """The seconds after noon at which what an expansion sends is due."""
    return [(each.trigger.due_at - NOON) // 1_000 for each in expansion.messages]


def test_a_timer_yields_the_triggers_of_its_own_bucket_and_a_successor_at_the_first_beyond() -> None:
    job = job_of(schedule="@every 25s")
    expansion = expanded(job, timer_of(job, NOON + 60_000))
    assert dues(expansion) == [75, 100]
    assert [each.first for each in expansion.successors] == [Occurrence(NOON + 125_000, 5)]
    assert [each.trigger.sequence for each in expansion.messages] == [3, 4]


def test_a_trigger_at_the_end_of_the_bucket_belongs_to_the_next() -> None:
    job = job_of(schedule="@every 30s")
    expansion = expanded(job, timer_of(job))
    assert dues(expansion) == [30]
    assert [each.first.due_at for each in expansion.successors] == [NOON + MINUTE]


def test_triggers_are_sent_for_their_due_time_and_carry_when_they_were_armed() -> None:
    job = job_of(schedule="@every 59s")
    timer = timer_of(job)._replace(armed_at=NOON - 77)
    (message,) = expanded(job, timer).messages
    assert message == TriggerMessage(
        Trigger(job.key, job.uid, job.rev, NOON + 59_000, 1, NOON - 77), not_before=NOON + 59_000
    )


@pytest.mark.parametrize("demand", [None, Demand("manual", "k1")])
def test_two_timers_that_lead_to_one_successor_give_one(demand: Demand | None) -> None:
    job = job_of(schedule="@every 25s")
    first = timer_of(job, NOON + 60_000)._replace(demand=demand)
    # One sweeper put the timer before off, and another one expanded it.
    second = timer_of(job, NOON)._replace(put_off_to=NOON + 90_000, demand=demand)
    expansion = expanded(job, first, second)
    assert [each.first for each in expansion.successors] == [Occurrence(NOON + 125_000, 5)]


def test_a_series_that_ends_in_the_bucket_has_no_successor() -> None:
    job = job_of(schedule="@every 25s", repeats=2)
    expansion = expanded(job, timer_of(job))
    assert dues(expansion) == [25, 50]
    assert not expansion.successors


def test_an_earlier_revision_is_expanded_up_to_its_until_and_no_further() -> None:
    job = job_of(schedule="@every 10s")
    timer = timer_of(job)
    retired = job.current._replace(until=NOON + 40_000)
    job = replace(job, current=Revision("2-x", NOON + 40_000), earlier=(retired,))
    expansion = expanded(job, timer)
    assert dues(expansion) == [10, 20, 30, 40]
    assert not expansion.successors


def test_an_earlier_revision_whose_until_lies_beyond_the_bucket_goes_on_to_it() -> None:
    job = job_of(schedule="@every 25s")
    timer = timer_of(job)
    retired = job.current._replace(until=NOON + 75_000)
    job = replace(job, current=Revision("2-x", NOON + 75_000), earlier=(retired,))
    yielded, page = [], [timer]
    while page:
        expansion = expanded(job, *page)
        yielded += dues(expansion)
        page = expansion.successors
    assert yielded == [25, 50, 75]


def test_an_occurrence_before_its_revision_ruled_is_not_sent() -> None:
    job = job_of(schedule="@every 10s")
    timer = timer_of(job)
    job = replace(job, current=job.current._replace(since=NOON + 30_000))
    assert dues(expanded(job, timer)) == [40, 50]


def test_a_paused_job_is_expanded_up_to_the_pause_and_gets_no_successor() -> None:
    job = replace(job_of(schedule="@every 10s"), paused_at=NOON + 30_000)
    expansion = expanded(job, timer_of(job))
    assert dues(expansion) == [10, 20, 30]
    assert not expansion.successors


def test_a_timer_whose_job_uid_or_revision_is_not_stored_yields_nothing() -> None:
    job = job_of(schedule="@every 10s")
    timer = timer_of(job)
    for found in (None, replace(job, uid="another"), replace(job, current=Revision("1-lost", NOON))):
        expansion = expanded(found, timer)
        assert not expansion.messages
        assert not expansion.successors
        assert expansion.cursor == Cursor(timer.sort_key)


def test_a_retry_timer_yields_its_message_unchanged_even_if_its_job_is_deleted() -> None:
    job = job_of()
    timer = retry_of(job, NOON + 20 * MINUTE)
    assert expanded(job, timer).messages == [timer.message]
    assert expanded(replace(job, paused_at=NOON), timer).messages == [timer.message]
    assert expanded(replace(job, current=Revision("9-z", NOON)), timer).messages == [timer.message]
    # The function that receives it finds that the run is over, too.
    assert expanded(None, timer).messages == [timer.message]
    assert expanded(replace(job, uid="another"), timer).messages == [timer.message]


def test_an_expansion_stops_at_its_most_triggers_and_says_how_far_within_the_timer_it_came() -> None:
    job = job_of(schedule="@every 10s")
    timer = timer_of(job)
    first = expanded(job, timer, triggers_max=3)
    assert dues(first) == [10, 20, 30]
    assert (first.cursor.key, first.cursor.within) == (timer.sort_key, Occurrence(NOON + 30_000, 3))
    assert [each.first.due_at for each in first.successors] == [NOON + MINUTE]
    rest = expanded(job, timer, cursor=first.cursor, triggers_max=3)
    assert dues(rest) == [40, 50]
    assert rest.cursor == Cursor(timer.sort_key)
    assert not rest.successors


def test_a_position_within_one_timer_does_not_apply_to_the_timers_after_it() -> None:
    first, second = job_of("first", schedule="@every 10s"), job_of("second", schedule="@every 11s")
    timers = [timer_of(first), timer_of(second)]
    jobs = {first.key: first, second.key: second}
    begun = expand(placed_timers(timers, BEGINNING), jobs, held(), triggers_max=3)
    assert begun.cursor.key == timers[0].sort_key
    rest = expand(placed_timers(timers, begun.cursor), jobs, held(begun.cursor))
    assert dues(rest) == [40, 50, 11, 22, 33, 44, 55]
    assert [each.trigger.sequence for each in rest.messages] == [4, 5, 1, 2, 3, 4, 5]
    assert rest.cursor == Cursor(timers[1].sort_key)


@pytest.mark.parametrize("made", [retry_of, deadline_of])
def test_a_page_stops_at_its_most_messages_between_two_timers(made: Callable[[Job, Instant], Timer]) -> None:
    job = job_of()
    timers = [made(job, NOON + 20 * MINUTE + second * 1_000) for second in range(5)]
    expansion = expanded(job, *timers, triggers_max=2)
    assert len(expansion.messages) == 2
    assert expansion.cursor.place == Place(timers[1].sort_key)
    assert expansion.timers == 2


@given(
    period_s=st.integers(1, 70),
    triggers_max=st.integers(1, 7),
    until_s=st.none() | st.integers(0, 300),
    since_s=st.integers(-1, 100),
)
def test_a_timer_yields_the_same_in_however_many_parts(
    period_s: int, triggers_max: int, until_s: int | None, since_s: int
) -> None:
    job = job_of(schedule=f"@every {period_s}s")
    timer = timer_of(job)
    ruled = Revision(job.rev, NOON + since_s * 1_000)
    if until_s is None:
        job = replace(job, current=ruled)
    else:
        retired = ruled._replace(until=NOON + until_s * 1_000)
        job = replace(job, current=Revision("2-x", NOON + until_s * 1_000), earlier=(retired,))
    whole = list(swept(job, [timer], NOON + 4 * MINUTE, triggers_max=1_000))
    assert list(swept(job, [timer], NOON + 4 * MINUTE, triggers_max=triggers_max)) == whole
    end = NOON + 4 * MINUTE - 1 if until_s is None else min(NOON + until_s * 1_000, NOON + 4 * MINUTE - 1)
    owed = range(NOON + period_s * 1_000, end + 1, period_s * 1_000)
    assert [each.trigger.due_at for each in whole] == [due for due in owed if due > NOON + since_s * 1_000]


def swept(
    job: Job, timers: Sequence[Timer], before: Instant, *, triggers_max: int
) -> Iterator[TriggerMessage]:
    """What timers and their successors yield, from buckets that begin before an instant."""
    waiting = {timer.sort_key: timer for timer in timers}
    cursor = Cursor()
    while True:
        left = sorted(key for key in waiting if key > cursor.key or (key == cursor.key and cursor.within))
        page = [waiting[key] for key in left if waiting[key].due_at < before]
        page = [timer for timer in page if bucket_of(timer.due_at) == bucket_of(page[0].due_at)]
        if not page:
            return
        expansion = expanded(job, *page, cursor=cursor, triggers_max=triggers_max)
        assert expansion.cursor != cursor, "the cursor stands still"
        assert len(expansion.messages) <= triggers_max
        yield from (each for each in expansion.messages if isinstance(each, TriggerMessage))
        waiting |= {timer.sort_key: timer for timer in expansion.successors}
        cursor = expansion.cursor


def test_a_timer_that_cannot_be_expanded_is_put_off_whole_and_affects_no_other_timer() -> None:
    job, other = job_of("broken", schedule="@every 20s"), job_of("other", schedule="@every 20s")
    broken = timer_of(job)._replace(series=job.series._replace(schedule="no schedule"))
    sound = timer_of(other)
    page = placed_timers([broken, sound], BEGINNING)
    expansion = expand(page, {job.key: job, other.key: other}, held())
    assert [each.trigger.key for each in expansion.messages] == [other.key, other.key]
    assert expansion.cursor == Cursor(sound.sort_key)
    (copy,), (successor,) = expansion.copies, expansion.successors
    assert copy == broken._replace(put_off_to=NOON + 20_000 + PUT_OFF_MS, judged_at=held().judged_at)
    assert bucket_of(copy.due_at) == NOON + 5 * MINUTE
    assert successor.key == other.key
    (fault,) = expansion.faults
    assert isinstance(fault, ScheduleError)


def test_a_timer_that_was_put_off_yields_all_that_has_become_due_since() -> None:
    job = job_of(schedule="@every 50s")
    timer = timer_of(job)._replace(put_off_to=NOON + 5 * MINUTE + 50_000)
    expansion = expanded(job, timer)
    assert dues(expansion) == [50, 100, 150, 200, 250, 300, 350]
    (successor,) = expansion.successors
    assert successor.put_off_to is None
    assert successor.due_at == NOON + 400_000


def late_job(mode: str) -> Job:
    """A job every 20 s; judged at NOON + 4 min what is due up to 90 s after noon is a misfire."""
    return job_of(schedule="@every 20s", catchup={"mode": mode, "window": "149s"})


def test_the_newest_misfire_goes_with_the_decision_even_beyond_its_timer_s_bucket() -> None:
    job = late_job("latest")
    expansion = expanded(job, timer_of(job), judged_at=NOON + 4 * MINUTE)
    assert dues(expansion) == [80]
    ((run, _),) = expansion.skipped
    assert (run.due_at, run.last_due_at, run.count) == (NOON + 20_000, NOON + 60_000, 3)
    assert [each.first for each in expansion.successors] == [Occurrence(NOON + 100_000, 5)]


def test_if_no_misfire_fires_the_successor_is_the_first_occurrence_that_is_no_misfire() -> None:
    job = late_job("none")
    expansion = expanded(job, timer_of(job), judged_at=NOON + 4 * MINUTE)
    assert not expansion.messages
    ((run, _),) = expansion.skipped
    assert (run.due_at, run.last_due_at, run.count) == (NOON + 20_000, NOON + 80_000, 4)
    assert [each.first for each in expansion.successors] == [Occurrence(NOON + 100_000, 5)]


def test_a_skipped_range_that_reaches_into_the_bucket_leaves_the_rest_of_it_to_fire() -> None:
    job = job_of(schedule="@every 10s", catchup={"mode": "latest", "window": "0s"})
    expansion = expanded(job, timer_of(job), judged_at=NOON + 35_000)
    assert dues(expansion) == [30, 40, 50]
    assert [(run.due_at - NOON, run.count) for run, _ in expansion.skipped] == [(10_000, 2)]


def test_a_skipped_range_takes_room_and_is_not_decided_again_behind_it() -> None:
    job = late_job("latest")
    timer = timer_of(job)
    judged_at = NOON + 4 * MINUTE
    first = expanded(job, timer, judged_at=judged_at, triggers_max=1)
    assert len(first.skipped) == 1
    assert not first.messages
    assert (first.cursor.key, first.cursor.within) == (timer.sort_key, Occurrence(NOON + 60_000, 3))
    assert [each.first for each in first.successors] == [Occurrence(NOON + 100_000, 5)]
    rest = expanded(job, timer, cursor=first.cursor, judged_at=judged_at, triggers_max=2)
    assert dues(rest) == [80]
    assert not rest.skipped


def test_a_timer_and_its_copy_that_was_put_off_continue_as_one_chain() -> None:
    job = job_of(schedule="@every 7m")
    (original,) = expanded(job, timer_of(job)).successors
    copy = original._replace(put_off_to=original.due_at)
    assert copy.sort_key != original.sort_key
    both = expanded(job, original, copy)
    alone = expanded(job, original)
    assert both.successors == alone.successors
    assert both.cursor == Cursor(copy.sort_key)


@pytest.mark.parametrize("mode", ["latest", "none"])
@pytest.mark.parametrize("found_late_ms", [-MINUTE, 0, 2 * MINUTE + 1, 60 * MINUTE])
@pytest.mark.parametrize("judged_late_ms", [0, 2 * MINUTE, 2 * MINUTE + 1, 60 * MINUTE])
@pytest.mark.parametrize("times", [1, 2, 3])
def test_a_sweeper_that_crashed_and_the_copy_of_its_timer_decide_the_same(
    mode: str, found_late_ms: int, judged_late_ms: int, times: int
) -> None:
    job = job_of(schedule="@every 20s", catchup={"mode": mode, "window": "2m"})
    timer = timer_of(job)
    judged_at = timer.due_at + judged_late_ms
    sent = expanded(job, timer, judged_at=judged_at)
    copy = timer._replace(series=job.series._replace(schedule="no schedule"))
    for number in range(times):
        found = expanded(job, copy, judged_at=judged_at + number * (PUT_OFF_MS + found_late_ms)).copies[0]
        assert isinstance(found, OccurrenceTimer)
        copy = found
    copy = copy._replace(series=job.series)
    again = expanded(job, copy, judged_at=copy.due_at + found_late_ms)
    assert dues(again)[: len(dues(sent))] == dues(sent)
    assert [run.due_at for run, _ in again.skipped] == [run.due_at for run, _ in sent.skipped]
    assert [run.ended_at for run, _ in again.skipped] == [run.ended_at for run, _ in sent.skipped]
    assert all(each.judged_at is None for each in again.successors)
    # The delivery function looks for a record of each run: the other sweeper's timers may have left it.
    assert all(isinstance(each, TriggerMessage) and each.faults == 1 for each in again.messages)


def test_the_copy_of_a_batch_that_waits_for_a_pause_keeps_its_judgement() -> None:
    job = job_of(schedule="@every 30s", batch={"count": 4, "interval": "5s"})
    first = trigger_following(job.series, timer_of(job).first)
    assert first is not None
    paused = replace(job, paused_at=NOON + 40_000)
    (copy,) = expanded(paused, timer_of(job)._replace(first=first), judged_at=NOON + 41_000).copies
    assert isinstance(copy, OccurrenceTimer)
    assert copy.judged_at == NOON + 41_000


def test_a_timer_that_was_put_off_again_and_again_is_late_by_all_but_the_last_time() -> None:
    job = job_of(schedule="@every 50s", catchup={"mode": "none", "window": "2m"})
    timer = timer_of(job)._replace(put_off_to=NOON + 50_000 + 3 * PUT_OFF_MS, judged_at=NOON)
    broken = timer._replace(series=job.series._replace(schedule="no schedule"))
    (copy,) = expanded(job, broken).copies
    assert isinstance(copy, OccurrenceTimer)
    assert copy.judged_at is None
    timer = timer._replace(judged_at=None)
    expansion = expanded(job, timer, judged_at=timer.due_at)
    # Two of three times are ten minutes: what was due in the first eight of them is a misfire.
    assert dues(expansion)[0] == 550
    assert [(run.due_at - NOON, run.count) for run, _ in expansion.skipped] == [(50_000, 10)]


def test_a_deadline_timer_yields_its_message_even_if_its_job_is_deleted() -> None:
    job = job_of(schedule="@every 10s")
    timer = deadline_of(job, NOON + 5_000)
    for found in (job, replace(job, uid="another"), replace(job, paused_at=NOON), None):
        assert expanded(found, timer).messages == [timer.message]
