"""What every BatchStore promises (ports/)."""

from concurrent.futures import ThreadPoolExecutor
from random import Random

import pytest
from tests.contract.builders import EVERY_CHARACTER, NOON, UID
from tests.fakes.engines import Stores

from sweephand.base.instants import DAY_MS, HOUR_MS, Instant
from sweephand.model.batch_mark import BatchName, BatchSize, RunEnd
from sweephand.model.batch_progress import PAGE_SIZE, BatchHead, PageName, ProgressPage
from sweephand.model.job import JobKey
from sweephand.model.run_id import Counts, Demand
from sweephand.ports.runs import BatchStore

KEY = JobKey("default", "backup")
BATCH = BatchName(KEY, UID, NOON)
ASKED = BATCH._replace(demand=Demand("manual", "token00000000001"))
ODD = BatchName(JobKey(EVERY_CHARACTER, EVERY_CHARACTER), UID, NOON, Demand("chained", "a" * 32, 3))
PAGE = ProgressPage(PageName(BATCH, 0, 3))
LATER = NOON + 30 * DAY_MS


@pytest.fixture
def batches(stores: Stores) -> BatchStore:
    return stores.batches


def head(name: BatchName = BATCH, began_at: Instant | None = NOON + 7) -> BatchHead:
    return BatchHead(name, BatchSize(50_000, HOUR_MS), expires_at=LATER, began_at=began_at)


def ended(name: BatchName = BATCH) -> BatchHead:
    return head(name)._replace(ended_at=NOON + HOUR_MS, counts=Counts(49_998, 1, 1))


@pytest.mark.parametrize("name", [BATCH, ASKED, ODD])
def test_a_head_reads_back_as_it_was_written_at_each_stage(batches: BatchStore, name: BatchName) -> None:
    assert batches.get(name) is None
    for written in (head(name), ended(name), ended(name)._replace(was_told=True)):
        assert batches.advance(written) == written
        assert batches.get(name) == written
        assert batches.find(name.key, name.due_at, name.demand) == written


def test_a_head_of_an_earlier_release_does_not_say_when_its_batch_began(batches: BatchStore) -> None:
    written = head(began_at=None)
    assert batches.advance(written) == written
    assert batches.get(BATCH) == written


def test_a_head_never_goes_back_to_an_earlier_stage_and_keeps_its_first_end(batches: BatchStore) -> None:
    first = batches.advance(ended())
    assert batches.advance(head()) == first
    assert batches.advance(ended()._replace(ended_at=NOON + 2 * HOUR_MS)) == first
    told = batches.advance(first._replace(was_told=True))
    assert batches.advance(first) == told
    assert batches.get(BATCH) == told


def test_heads_are_listed_from_the_newest_due_time_on(batches: BatchStore) -> None:
    names = [BATCH._replace(due_at=NOON + each) for each in (0, 7, 1_000)]
    for name in (*names, ASKED, ODD, BATCH._replace(key=JobKey("default", "back"))):
        batches.advance(head(name))
    first = batches.page(KEY, "", 3)
    assert [each.name for each in first.items] == [*reversed(names[1:]), ASKED]
    assert first.next is not None
    assert [each.name for each in batches.page(KEY, first.next, 3).items] == [BATCH]
    assert batches.page(KEY, first.next, 3).next is None
    assert batches.page(JobKey("default", "other"), "", 3).items == ()


def test_a_batch_is_found_by_its_whole_name_alone(batches: BatchStore) -> None:
    batches.advance(head(ASKED))
    assert batches.find(KEY, NOON, None) is None
    assert batches.find(KEY, NOON + 1, ASKED.demand) is None
    assert batches.find(KEY, NOON, Demand("manual", "token0000000000")) is None
    assert batches.find(KEY, NOON, ASKED.demand) == head(ASKED)


@pytest.mark.parametrize("name", [PageName(BATCH, 0, 3), PageName(ASKED, 1, 0), PageName(ODD, 0, 9_999)])
def test_a_page_reads_back_as_it_was_marked(batches: BatchStore, name: PageName) -> None:
    ends: dict[int, RunEnd] = {0: "succeeded", 49: "failed", 50: "cancelled", 999: "succeeded"}
    empty = ProgressPage(name)
    assert batches.marks([name]) == {}
    marked = empty.with_marks(ends.items(), LATER)
    assert batches.mark(marked, empty) == (True, marked)
    assert batches.marks([name, name._replace(number=4), name._replace(level=2)]) == {name: marked}
    assert batches.marks([name])[name].ends == ends


def test_a_full_page_reads_back(batches: BatchStore) -> None:
    full = PAGE.with_marks([(index, "succeeded") for index in range(PAGE_SIZE)], LATER)
    assert batches.mark(full, PAGE) == (True, full)
    assert batches.marks([PAGE.name])[PAGE.name].counts == Counts(PAGE_SIZE)


def test_a_word_that_another_has_written_refuses_a_write_and_shows_the_page(batches: BatchStore) -> None:
    mine, others = (PAGE.with_marks([(index, "succeeded")], LATER) for index in (7, 8))
    assert batches.mark(others, PAGE)[0]
    assert batches.mark(mine, PAGE) == (False, others)
    both = others.with_marks([(7, "succeeded")], LATER)
    assert batches.mark(both, others) == (True, both)


def test_a_write_of_other_words_is_not_refused_and_shows_the_marks_of_both(batches: BatchStore) -> None:
    mine, others = (PAGE.with_marks([(index, "failed")], LATER) for index in (7, 999))
    assert batches.mark(others, PAGE)[0]
    was_written, page = batches.mark(mine, PAGE)
    assert was_written
    assert page.ends == {7: "failed", 999: "failed"}


def test_a_repeated_write_is_refused_by_its_own_marks(batches: BatchStore) -> None:
    marked = PAGE.with_marks([(7, "succeeded")], LATER)
    assert batches.mark(marked, PAGE)[0]
    assert batches.mark(marked, PAGE) == (False, marked)


def test_more_than_a_hundred_pages_are_read_at_once(batches: BatchStore) -> None:
    names = [PageName(BATCH, 0, number) for number in range(130)]
    for name in names[::13]:
        empty = ProgressPage(name)
        batches.mark(empty.with_marks([(1, "succeeded")], LATER), empty)
    assert set(batches.marks(names)) == set(names[::13])


def test_functions_that_mark_one_page_at_once_lose_no_mark(batches: BatchStore) -> None:
    indexes = list(range(240))
    Random(7).shuffle(indexes)  # noqa: S311 - the order in which functions come

    def mark(some: list[int]) -> int:
        page, tries = PAGE, 0
        while True:
            tries += 1
            was_written, page = batches.mark(
                page.with_marks([(index, "succeeded") for index in some], LATER), page
            )
            if was_written:
                return tries

    with ThreadPoolExecutor(8) as pool:
        tries = list(pool.map(mark, (indexes[start : start + 10] for start in range(0, len(indexes), 10))))
    assert batches.marks([PAGE.name])[PAGE.name].counts == Counts(len(indexes))
    assert max(tries) <= len(tries)
