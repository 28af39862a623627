"""What the stores promise to tick when it keeps what waits while the stack is off (ports/)."""

from dataclasses import replace
from typing import cast

import pytest
from tests.contract.builders import NOON, deadline_timer, job, next_revision, pack, retry_timer, timer
from tests.fakes.engines import Stores

from sweephand.base.instants import DAY_MS, HOUR_MS, MINUTE_MS, Instant
from sweephand.base.timing import REVISION_RETENTION_MS, TIMER_RETENTION_MS
from sweephand.model.job import Revision, RevisionName
from sweephand.model.keep_round import EndingTimers
from sweephand.model.timer import Cursor, StoredTimer
from sweephand.ports.keep import KeptJobs, KeptTimers

SHARD = 3
LATER = NOON + HOUR_MS
#: Timers that are due at noon expire before this.
ENDING = NOON + TIMER_RETENTION_MS + HOUR_MS
UNTIL = NOON + 30 * DAY_MS


@pytest.fixture
def timers(stores: Stores) -> KeptTimers:
    return cast("KeptTimers", stores.timers)


@pytest.fixture
def jobs(stores: Stores) -> KeptJobs:
    return cast("KeptJobs", stores.jobs)


def ending(timers: KeptTimers, cursor: Cursor = Cursor(), before: Instant = ENDING) -> list[str]:  # noqa: B008 - a constant
    """The sort keys of all timers of the shard that end before an instant, read two at a time."""
    found: list[str] = []
    reached: str | None = cursor.key
    while reached is not None:
        some = timers.ending(SHARD, cursor, LATER, before, 2)
        assert len(some.keys) <= 2
        found += some.keys
        reached, cursor = some.reached, Cursor(some.reached or "")
    return found


def test_an_empty_shard_has_no_timer_that_ends(timers: KeptTimers) -> None:
    assert timers.ending(SHARD, Cursor(), LATER, ENDING, 10) == EndingTimers([], None)
    assert ending(timers, Cursor("9999-12-31T23:59")) == []


def test_timers_that_end_are_listed_from_the_cursor_on_in_every_bucket(
    stores: Stores, timers: KeptTimers
) -> None:
    written: list[StoredTimer] = [
        timer(NOON + 1),
        pack(timer(NOON + MINUTE_MS), bucket_at=NOON + MINUTE_MS),
        retry_timer(NOON + 2 * MINUTE_MS),
        deadline_timer(NOON + 3 * MINUTE_MS),
        timer(NOON + 4 * MINUTE_MS)._replace(put_off_to=NOON + 5 * MINUTE_MS),
    ]
    stores.timers.put([*written, timer(LATER), timer(NOON)._replace(shard=SHARD + 1)])
    keys = [each.sort_key for each in written]
    assert ending(timers) == keys
    assert ending(timers, Cursor(keys[0])) == keys[1:]
    within = Cursor(keys[1], entry="entry")
    assert list(timers.ending(SHARD, within, LATER, ENDING, 10).keys) == keys[1:]
    assert ending(timers, before=NOON + TIMER_RETENTION_MS) == []


def test_a_timer_that_is_kept_ends_later_and_is_the_same_otherwise(
    stores: Stores, timers: KeptTimers
) -> None:
    written = [timer(NOON + 1), timer(NOON + 2)]
    stores.timers.put(written)
    assert timers.keep(SHARD, written[0].sort_key, UNTIL)
    assert ending(timers) == [written[1].sort_key]
    assert sorted(ending(timers, before=UNTIL + DAY_MS)) == [each.sort_key for each in written]
    assert list(stores.timers.page(SHARD, Cursor(), LATER, 10)) == written
    # It is not made to end earlier, and a second write of the same end changes nothing.
    assert not timers.keep(SHARD, written[0].sort_key, UNTIL)
    assert not timers.keep(SHARD, written[0].sort_key, UNTIL - DAY_MS)


def test_a_timer_that_is_not_there_is_not_brought_back(stores: Stores, timers: KeptTimers) -> None:
    assert not timers.keep(SHARD, timer().sort_key, UNTIL)
    assert list(stores.timers.page(SHARD, Cursor(), LATER, 10)) == []


def test_a_job_that_is_kept_is_the_same_to_every_reader(stores: Stores, jobs: KeptJobs) -> None:
    ended = job(expires_at=NOON)
    assert stores.jobs.put(ended, None)
    assert jobs.keep(ended.key, UNTIL)
    assert stores.jobs.get(ended.key) == ended
    assert not jobs.keep(ended.key, UNTIL)
    assert not jobs.keep(ended.key, UNTIL - DAY_MS)
    # A writer that read it before is not refused.
    assert stores.jobs.put(next_revision(ended, "version000000002"), ended.version)


def test_revisions_that_were_filed_are_kept_and_read_as_before(stores: Stores, jobs: KeptJobs) -> None:
    key, other = job("often").key, job("other").key
    names = [RevisionName(each, "uid", f"{number}-a") for each in (key, other) for number in range(3)]
    for name in names:
        stores.jobs.file(name, Revision(name.rev, NOON - 1, NOON))
    ending = NOON + REVISION_RETENTION_MS + DAY_MS
    assert jobs.keep_filed(key, NOON + REVISION_RETENTION_MS - DAY_MS, ending, 10) == 0
    # Each call goes on where the one before has ended.
    assert [jobs.keep_filed(key, ending, ending, 2) for _ in range(3)] == [2, 1, 0]
    assert stores.jobs.filed(names) == {each: Revision(each.rev, NOON - 1, NOON) for each in names}
    assert jobs.keep_filed(other, ending, ending, 10) == 3


def test_a_job_without_an_end_gets_none_and_one_that_is_not_there_is_not_made(
    stores: Stores, jobs: KeptJobs
) -> None:
    endless = job("endless")
    assert endless.expires_at is None
    assert stores.jobs.put(endless, None)
    assert not jobs.keep(endless.key, UNTIL)
    assert stores.jobs.get(endless.key) == endless
    missing = replace(endless, key=endless.key._replace(name="missing"))
    assert not jobs.keep(missing.key, UNTIL)
    assert stores.jobs.get(missing.key) is None
