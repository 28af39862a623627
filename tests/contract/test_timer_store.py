"""What every TimerStore promises (ports/)."""

import pytest
from tests.contract.builders import (
    EVERY_CHARACTER,
    NOON,
    batch_timer,
    deadline_timer,
    pack,
    resume_timer,
    retry_timer,
    timer,
    watch_timer,
)
from tests.fakes.engines import Stores

from sweephand.base.instants import HOUR_MS, MINUTE_MS, Instant
from sweephand.model.definition import CatchUpPolicy, Payload
from sweephand.model.failed_attempt import FailedAttempt
from sweephand.model.job import JobKey
from sweephand.model.run_id import Demand
from sweephand.model.timer import Cursor, StoredTimer, Timer, TimerPack, UnreadTimer, bucket_of
from sweephand.model.trigger import BatchPlace, Failure, Redrive
from sweephand.ports.wheel import TimerStore
from sweephand.schedules import Occurrence, Series

SHARD = 3
LATER = NOON + HOUR_MS


@pytest.fixture
def timers(stores: Stores) -> TimerStore:
    return stores.timers


def everything(store: TimerStore, before: Instant = LATER, limit: int = 50) -> list[StoredTimer]:
    """All timers of the shard, as a sweeper comes upon them."""
    found: list[StoredTimer] = []
    cursor = Cursor()
    while page := store.page(SHARD, cursor, before, limit):
        assert len(page) <= limit
        assert len({bucket_of(each.due_at) for each in page}) == 1, "a page of two buckets"
        found.extend(page)
        cursor = Cursor(page[-1].sort_key)
    return found


def test_an_empty_shard_has_no_page(timers: TimerStore) -> None:
    assert list(timers.page(SHARD, Cursor(), LATER, 10)) == []


@pytest.mark.parametrize(
    "written",
    [
        timer(),
        timer()._replace(key=JobKey(EVERY_CHARACTER, EVERY_CHARACTER)),
        timer(sequence=10**9),
        timer()._replace(put_off_to=NOON + 400_000),
        timer()._replace(put_off_to=NOON + 400_000, may_be_repeated=True),
        timer()._replace(put_off_to=NOON + 400_000, judged_at=NOON + 100_000),
        timer()._replace(catchup=CatchUpPolicy("none", 120_000), followed_at=NOON + HOUR_MS),
        batch_timer(),
        batch_timer(0),
        batch_timer()._replace(demand=Demand("chained", "a" * 32, 3), payload=Payload.of('{"n": 1.10}')),
        batch_timer()._replace(
            demand=Demand("manual", "a"), payload=Payload("0" * 64, 5_000, None, "ref", kept_until=NOON)
        ),
        batch_timer()._replace(put_off_to=NOON + 400_000),
        retry_timer(
            trigger=retry_timer().message.trigger._replace(index=3, batch=BatchPlace(9, 60_000, 20_000))
        ),
        resume_timer(),
        resume_timer(faults=3),
        retry_timer(),
        retry_timer(faults=3, first_attempt_at=None),
        retry_timer(attempt=100),
        retry_timer(had_token=True),
        retry_timer(last_failure=Failure(1, "Response 503.", 503)),
        retry_timer(failed_attempts=(FailedAttempt(1, NOON, 7, 503, "busy"), FailedAttempt(2, NOON, 7))),
        retry_timer(attempt=11, redrive=Redrive(11, NOON - 900)),
        retry_timer(attempt=12, redrive=Redrive(11, None)),
        deadline_timer(),
        deadline_timer(faults=3, attempt=100, owner="owner00000000002"),
        watch_timer(),
        watch_timer(faults=3),
        retry_timer(trigger=retry_timer().message.trigger._replace(demand=Demand("chained", "a" * 32, 3))),
        retry_timer(payload=Payload.of('{"n": 1.10, "s": "\u00fc\\u0000"}')),
        retry_timer(payload=Payload("0" * 64, 5_000, None, "ref")),
    ],
)
def test_a_timer_reads_back_as_it_was_written(timers: TimerStore, written: Timer) -> None:
    timers.put([written])
    assert list(timers.page(SHARD, Cursor(), LATER, 10)) == [written]


@pytest.mark.parametrize(
    "written",
    [
        pack(),
        pack(timer()),
        pack(timer(), batch_timer(0, name="other"), batch_timer(name="third")),
        pack(
            timer(NOON + 1)._replace(key=JobKey(EVERY_CHARACTER, EVERY_CHARACTER)),
            timer(NOON + 2)._replace(catchup=CatchUpPolicy("none", 120_000), followed_at=NOON + HOUR_MS),
            timer(NOON + 2, "later", sequence=10**9)._replace(series=Series("@hourly", "Europe/Riga", NOON)),
            timer(NOON + 2, "later", rev="2-bbbb")._replace(uid="uid0000000000002", armed_at=NOON),
        ),
        pack(*(timer(NOON + number, f"job-{number:03d}") for number in range(100))),
    ],
)
def test_a_pack_reads_back_as_it_was_written(timers: TimerStore, written: TimerPack) -> None:
    timers.put([written])
    assert list(timers.page(SHARD, Cursor(), LATER, 10)) == [written]


def test_a_pack_is_written_over_itself_and_lies_in_its_bucket_among_other_timers(timers: TimerStore) -> None:
    first, second = pack(name="a" * 24), pack(name="b" * 24)
    beyond = pack(timer(NOON + MINUTE_MS), bucket_at=NOON + MINUTE_MS)
    timers.put([second, timer(NOON + 1), beyond, first])
    timers.put([pack(timer(), name="b" * 24)])
    of_bucket = [first, pack(timer(), name="b" * 24), timer(NOON + 1)]
    assert everything(timers) == [*of_bucket, beyond]
    assert list(timers.page(SHARD, Cursor(), LATER, 50)) == of_bucket


def test_a_page_begins_with_the_pack_that_the_cursor_stands_in(timers: TimerStore) -> None:
    written = pack()
    timers.put([timer(NOON - 1), written, timer(NOON + 1)])
    first = written.timers[0].sort_key
    for cursor in (
        Cursor(written.sort_key, entry=first),
        Cursor(written.sort_key, Occurrence(NOON + 5, 2), first),
    ):
        assert list(timers.page(SHARD, cursor, LATER, 50)) == [written, timer(NOON + 1)]
    assert list(timers.page(SHARD, Cursor(written.sort_key), LATER, 50)) == [timer(NOON + 1)]


def test_a_write_of_no_timers_stores_nothing(timers: TimerStore) -> None:
    timers.put([])
    assert everything(timers) == []


def test_one_call_writes_any_number_of_timers(timers: TimerStore) -> None:
    written = [timer(NOON + number * 1_000, name=f"job-{number % 7}") for number in range(130)]
    timers.put(written[::-1])
    assert everything(timers) == written


def test_a_timer_that_is_written_twice_is_stored_once(timers: TimerStore) -> None:
    timers.put([timer(sequence=1)])
    timers.put([timer(sequence=2), timer(NOON + 1)])
    assert everything(timers) == [timer(sequence=2), timer(NOON + 1)]


def test_two_timers_of_one_instant_are_stored_separately(timers: TimerStore) -> None:
    written: list[Timer] = [timer(), timer(name="other"), timer(rev="2-bbbb")]
    written += [retry_timer(), retry_timer(attempt=3)]
    written += [deadline_timer(), deadline_timer(attempt=3), deadline_timer(owner="owner00000000002")]
    written += [watch_timer(), watch_timer(rev="2-bbbb")]
    timers.put(written)
    assert sorted(everything(timers), key=lambda each: each.sort_key) == everything(timers)
    assert {each.sort_key for each in everything(timers)} == {each.sort_key for each in written}


def test_a_page_shows_the_timers_of_one_shard(timers: TimerStore) -> None:
    timers.put([timer(shard=shard) for shard in (2, 3, 4, 30, 300)])
    assert everything(timers) == [timer(shard=SHARD)]


def test_a_page_ends_with_its_bucket(timers: TimerStore) -> None:
    last_of_its_bucket, first_of_the_next = timer(NOON + MINUTE_MS - 1), timer(NOON + MINUTE_MS)
    timers.put([timer(), last_of_its_bucket, first_of_the_next])
    assert list(timers.page(SHARD, Cursor(), LATER, 50)) == [timer(), last_of_its_bucket]
    beyond = timers.page(SHARD, Cursor(last_of_its_bucket.sort_key), LATER, 50)
    assert list(beyond) == [first_of_the_next]


def test_a_page_skips_empty_buckets(timers: TimerStore) -> None:
    timers.put([timer(), timer(NOON + 50 * MINUTE_MS)])
    assert list(timers.page(SHARD, Cursor(timer().sort_key), LATER, 50)) == [timer(NOON + 50 * MINUTE_MS)]


def test_a_page_ends_before_the_bucket_that_is_named(timers: TimerStore) -> None:
    timers.put([timer(NOON + MINUTE_MS - 1), timer(NOON + MINUTE_MS)])
    assert everything(timers, before=NOON) == []
    assert everything(timers, before=NOON + MINUTE_MS) == [timer(NOON + MINUTE_MS - 1)]
    assert len(everything(timers, before=NOON + 2 * MINUTE_MS)) == 2


def test_a_page_holds_no_more_than_its_limit(timers: TimerStore) -> None:
    written = [timer(NOON + number) for number in range(10)]
    timers.put(written)
    assert list(timers.page(SHARD, Cursor(), LATER, 4)) == written[:4]
    assert everything(timers, limit=3) == written
    assert everything(timers, limit=1) == written


def test_a_page_begins_after_the_cursor(timers: TimerStore) -> None:
    timers.put([timer(), timer(NOON + 1)])
    assert list(timers.page(SHARD, Cursor(timer().sort_key), LATER, 50)) == [timer(NOON + 1)]


def test_a_page_begins_with_the_timer_in_which_the_cursor_stands(timers: TimerStore) -> None:
    timers.put([timer(NOON - 1), timer(), timer(NOON + 1)])
    cursor = Cursor(timer().sort_key, Occurrence(NOON + 10_000, 2))
    assert list(timers.page(SHARD, cursor, LATER, 50)) == [timer(), timer(NOON + 1)]


def test_a_timer_whose_key_begins_with_the_cursors_is_not_passed_over(timers: TimerStore) -> None:
    first, tenth = retry_timer(attempt=1), retry_timer(attempt=10)
    assert tenth.sort_key.startswith(first.sort_key)
    timers.put([first, tenth])
    assert list(timers.page(SHARD, Cursor(first.sort_key), LATER, 50)) == [tenth]


def test_a_cursor_needs_no_timer_at_its_position(timers: TimerStore) -> None:
    timers.put([timer(), timer(NOON + 2)])
    assert list(timers.page(SHARD, Cursor(timer(NOON + 1).sort_key), LATER, 50)) == [timer(NOON + 2)]
    within = Cursor(timer(NOON + 1).sort_key, Occurrence(NOON + 1, 1))
    assert list(timers.page(SHARD, within, LATER, 50)) == [timer(NOON + 2)]


def test_a_page_for_a_cursor_beyond_the_last_bucket_is_empty(timers: TimerStore) -> None:
    timers.put([timer()])
    assert list(timers.page(SHARD, Cursor(timer(LATER).sort_key), NOON + MINUTE_MS, 50)) == []
    within = Cursor(timer(LATER).sort_key, Occurrence(LATER, 1))
    assert list(timers.page(SHARD, within, NOON + MINUTE_MS, 50)) == []


def test_a_timer_that_is_written_behind_a_cursor_is_not_read(timers: TimerStore) -> None:
    timers.put([timer(NOON + 1)])
    cursor = Cursor(timer(NOON + 1).sort_key)
    timers.put([timer()])
    assert list(timers.page(SHARD, cursor, LATER, 50)) == []


def test_a_timer_is_missing_unless_it_lies_in_its_bucket_alone_or_in_a_pack(timers: TimerStore) -> None:
    alone, begun, packed = timer(NOON + 1), batch_timer(name="begun"), timer(NOON + 5, "other", sequence=4)
    packed_batch = batch_timer(7, name="third")
    timers.put([alone, begun, pack(packed, packed_batch, timer(NOON + 6, "fourth"))])
    lost = [
        timer(NOON + 2),
        timer(NOON + 1, rev="2-bbbb"),
        timer(NOON + 1, "other"),
        timer(NOON + 5, "other", shard=4),
        timer(NOON + 5 + MINUTE_MS, "other"),
        batch_timer(8, name="third"),
    ]
    assert timers.missing([lost[0], alone, *lost[1:3], packed, *lost[3:], packed_batch, begun]) == lost
    assert timers.missing([]) == []


def test_the_order_to_end_a_pause_is_missing_unless_it_lies_there_alone(timers: TimerStore) -> None:
    there, lost = resume_timer(), resume_timer(uid="another")
    timers.put([there, pack(timer())])
    assert timers.missing([there, lost]) == [lost]


def test_no_timer_is_missing_in_a_bucket_with_more_packs_than_one_read_returns(timers: TimerStore) -> None:
    rows = [
        [timer(NOON + each, f"job-{number:02d}-{each:02d}-{'x' * 90}") for each in range(100)]
        for number in range(30)
    ]
    timers.put([pack(*row, name=f"{number:024d}") for number, row in enumerate(rows)])
    everyone = [each for row in rows for each in row]
    lost = timer(NOON, "lost")
    assert timers.missing([*everyone, lost]) == [lost]
    # It could be in the pack that cannot be read.
    unreadable = UnreadTimer(
        SHARD, pack(name="a" * 24).sort_key, {"v": {"N": "99"}, "pk": {"S": "shard#0003"}}
    )
    timers.put([unreadable])
    assert timers.missing([lost]) == []
