"""Timers sort by their due times, and no two timers share a key."""

from itertools import combinations

import pytest
from tests.fakes.world import NOON, job_of

from sweephand.model.job import JobKey
from sweephand.model.timer import OccurrenceTimer, RetryTimer, Timer, bucket_key, bucket_of, position_key
from sweephand.model.trigger import Trigger, TriggerMessage
from sweephand.schedules import Occurrence

JOB = job_of(schedule="@every 10s")
TIMER = OccurrenceTimer(0, JOB.key, JOB.uid, "1-a", JOB.series, Occurrence(NOON + 10_000, 1), NOON)
TRIGGER = Trigger(JOB.key, JOB.uid, "1-a", NOON, 1, NOON)
RETRY = RetryTimer(0, TriggerMessage(TRIGGER, NOON + 10_000, attempt=2))


def test_timers_that_differ_in_anything_that_matters_never_share_a_key() -> None:
    timers: list[Timer] = [
        TIMER,
        TIMER._replace(rev="2-b"),
        TIMER._replace(first=Occurrence(NOON + 10_001, 1)),
        TIMER._replace(key=JobKey("ns", "job2")),
        TIMER._replace(key=JobKey("ns2", "job")),
        TIMER._replace(put_off_to=NOON + 400_000),
        TIMER._replace(first=Occurrence(NOON + 400_000, 40)),  # a successor, where the other was put off to
        RETRY,
        RETRY._replace(message=RETRY.message._replace(attempt=3)),
        RETRY._replace(message=RETRY.message._replace(trigger=TRIGGER._replace(due_at=NOON - 1))),
        RETRY._replace(message=RETRY.message._replace(trigger=TRIGGER._replace(index=1))),
        RETRY._replace(message=RETRY.message._replace(trigger=TRIGGER._replace(uid="another"))),
        RETRY._replace(message=RETRY.message._replace(not_before=NOON + 11_000)),
    ]
    for one, other in combinations(timers, 2):
        assert one.sort_key != other.sort_key


def test_a_timer_that_is_written_again_has_the_same_key() -> None:
    assert TIMER._replace(first=Occurrence(NOON + 10_000, 1)).sort_key == TIMER.sort_key


@pytest.mark.parametrize(
    ("earlier", "later"), [(0, 1), (999, 1_000), (59_999, 60_000), (3_599_999, 3_600_000)]
)
def test_keys_sort_as_their_instants_do(earlier: int, later: int) -> None:
    assert position_key(NOON + earlier) < position_key(NOON + later)
    first, second = (TIMER._replace(first=Occurrence(NOON + each, 1)) for each in (earlier, later))
    assert first.sort_key < second.sort_key


def test_a_bucket_is_the_minute_and_its_name_begins_every_key_in_it() -> None:
    assert position_key(NOON + 42_007) == "2026-11-21T12:00#42.007"
    assert bucket_of(NOON + 59_999) == NOON
    assert bucket_of(NOON + 60_000) == NOON + 60_000
    assert TIMER._replace(first=Occurrence(NOON + 59_999, 1)).sort_key.startswith(bucket_key(NOON))
