"""The oracle names each broken promise of a call that writes many jobs, and excuses what faults explain."""

from collections.abc import Callable

import pytest
from tests.simulation.oracle.bulk_writes import NOT_WRITTEN
from tests.simulation.traces.broken_bulk_writes import (
    BROKEN_BULK_WRITES,
    EXCUSED_BULK_WRITES,
    STORIES_OF_BULK_WRITES,
)
from tests.simulation.traces.doctored import Doctoring, complaints
from tests.simulation.traces.trace import Event

from sweephand.web.routes import bulk


@pytest.mark.parametrize("story", STORIES_OF_BULK_WRITES)
def test_the_oracle_complains_of_no_bulk_write_that_kept_its_promises(
    story: Callable[[], list[Event]],
) -> None:
    assert complaints(story()) == []


@pytest.mark.parametrize(("story", "doctoring", "expected"), BROKEN_BULK_WRITES)
def test_the_oracle_names_each_broken_promise_of_a_bulk_write(
    story: Callable[[], list[Event]], doctoring: Doctoring, expected: str
) -> None:
    found = complaints(doctoring(story()))
    assert any(expected in each for each in found), found


@pytest.mark.parametrize(("story", "doctoring"), EXCUSED_BULK_WRITES)
def test_the_oracle_excuses_a_bulk_write_that_met_faults(
    story: Callable[[], list[Event]], doctoring: Doctoring
) -> None:
    assert complaints(doctoring(story())) == []


def test_the_oracle_knows_the_words_by_which_the_api_says_that_a_job_was_not_written() -> None:
    assert NOT_WRITTEN in bulk._NO_TIME.lower()
