"""The oracle judges bulk calls by what each reports."""

from collections.abc import Callable

import pytest
from tests.simulation.traces.broken_bulks import BROKEN_BULKS, EXCUSED_BULKS, STORIES_OF_BULKS
from tests.simulation.traces.doctored import Doctoring, complaints
from tests.simulation.traces.trace import Event


@pytest.mark.parametrize("story", STORIES_OF_BULKS)
def test_the_oracle_complains_of_no_bulk_call_that_did_as_it_reports(
    story: Callable[[], list[Event]],
) -> None:
    assert complaints(story()) == []


@pytest.mark.parametrize(("story", "doctoring", "expected"), BROKEN_BULKS)
def test_the_oracle_names_a_bulk_call_that_did_not_do_as_it_reports(
    story: Callable[[], list[Event]], doctoring: Doctoring, expected: str
) -> None:
    found = complaints(doctoring(story()))
    assert any(expected in each for each in found), found


@pytest.mark.parametrize(("story", "doctoring"), EXCUSED_BULKS)
def test_the_oracle_does_not_complain_of_a_bulk_call_for_effects_of_other_calls(
    story: Callable[[], list[Event]], doctoring: Doctoring
) -> None:
    assert complaints(doctoring(story())) == []
