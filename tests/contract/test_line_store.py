"""What every LineStore promises (ports/)."""

import pytest
from tests.contract.builders import EVERY_CHARACTER, NOON, stored_line, trigger_message, winner
from tests.fakes.engines import Stores

from sweephand.base.limits import WAIT_LIMIT_MAX
from sweephand.model.job import JobKey
from sweephand.model.line import Holder, Line, StoredLine
from sweephand.model.trigger import Redrive
from sweephand.ports.runs import LineStore

MINE, OTHERS = "version000000001", "version000000002"
KEY = JobKey("default", "backup")
ODD = JobKey(EVERY_CHARACTER, EVERY_CHARACTER)

RETRY = trigger_message(NOON - 5_000, not_before=NOON + 9_000, attempt=3, first_attempt_at=NOON - 4_980)
REDRIVEN = RETRY._replace(attempt=11, redrive=Redrive(11, NOON - 4_980))


@pytest.fixture
def lines(stores: Stores) -> LineStore:
    return stores.lines


@pytest.mark.parametrize(
    "written",
    [
        stored_line(),
        stored_line(waiting=100, expires_at=NOON + 1_001),
        stored_line(waiting=WAIT_LIMIT_MAX),
        stored_line(
            line=Line(Holder(RETRY, NOON), (REDRIVEN, trigger_message(NOON + 1, not_before=NOON + 2)))
        ),
        stored_line(
            key=ODD,
            line=Line(
                Holder(trigger_message(key=ODD), NOON),
                (RETRY._replace(trigger=trigger_message(key=ODD).trigger),),
            ),
        ),
    ],
)
def test_a_line_reads_back_as_it_was_written(lines: LineStore, written: StoredLine) -> None:
    assert lines.put(written, None)
    assert lines.get(written.key) == written


def test_a_job_has_no_line_before_its_first_trigger_and_each_job_has_its_own(lines: LineStore) -> None:
    assert lines.get(KEY) is None
    assert lines.put(stored_line(), None)
    assert lines.get(JobKey("default", "back")) is None
    assert lines.get(JobKey("other", "backup")) is None


def test_a_line_is_replaced_only_in_the_version_that_was_read(lines: LineStore) -> None:
    assert lines.put(stored_line(MINE), None)
    assert not lines.put(stored_line(OTHERS, waiting=1), None)
    assert not lines.put(stored_line(OTHERS, waiting=1), "version000000009")
    assert lines.get(KEY) == stored_line(MINE)
    assert lines.put(stored_line(OTHERS, waiting=1), MINE)
    assert lines.get(KEY) == stored_line(OTHERS, waiting=1)


def test_a_removed_line_is_not_replaced(lines: LineStore) -> None:
    assert lines.put(stored_line(MINE), None)
    assert lines.delete(stored_line(MINE))
    assert not lines.put(stored_line(OTHERS), MINE)
    assert lines.get(KEY) is None


def test_a_write_that_is_repeated_succeeds_again(lines: LineStore) -> None:
    assert lines.put(stored_line(MINE), None)
    assert lines.put(stored_line(MINE), None)
    assert lines.put(stored_line(OTHERS), MINE)
    assert lines.put(stored_line(OTHERS), MINE)


def test_a_line_is_removed_only_in_the_version_that_was_read_and_a_repeated_removal_succeeds(
    lines: LineStore,
) -> None:
    assert lines.put(stored_line(MINE), None)
    assert not lines.delete(stored_line(OTHERS))
    assert lines.get(KEY) == stored_line(MINE)
    assert lines.delete(stored_line(MINE))
    assert lines.delete(stored_line(MINE))
    assert lines.get(KEY) is None


def test_one_of_several_threads_that_create_one_line_succeeds(stores: Stores) -> None:
    rivals = [stored_line(f"version00000010{each}") for each in range(8)]
    assert winner(lambda each: stores.lines.put(each, None), rivals) == stores.lines.get(KEY)


def test_one_of_several_threads_that_change_one_line_succeeds(stores: Stores) -> None:
    assert stores.lines.put(stored_line(MINE), None)
    rivals = [stored_line(f"version00000010{each}", waiting=each) for each in range(8)]
    assert winner(lambda each: stores.lines.put(each, MINE), rivals) == stores.lines.get(KEY)
