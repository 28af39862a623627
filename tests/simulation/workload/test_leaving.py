"""The oracle judges jobs that are deleted after their last run."""

from collections.abc import Callable

import pytest
from tests.simulation.traces.broken_leaving import BROKEN_LEAVING, EXCUSED_LEAVING, STORIES_OF_LEAVING
from tests.simulation.traces.doctored import Doctoring, complaints
from tests.simulation.traces.trace import Event


@pytest.mark.parametrize("story", STORIES_OF_LEAVING)
def test_the_oracle_complains_of_no_job_that_expires_with_its_last_run(
    story: Callable[[], list[Event]],
) -> None:
    assert complaints(story()) == []


@pytest.mark.parametrize(("story", "doctoring", "expected"), BROKEN_LEAVING)
def test_the_oracle_names_a_job_that_expires_too_soon_or_not_at_all(
    story: Callable[[], list[Event]], doctoring: Doctoring, expected: str
) -> None:
    found = complaints(doctoring(story()))
    assert any(expected in each for each in found), found


@pytest.mark.parametrize(("story", "doctoring"), EXCUSED_LEAVING)
def test_the_oracle_does_not_complain_of_an_expiring_job_for_effects_of_other_events(
    story: Callable[[], list[Event]], doctoring: Doctoring
) -> None:
    assert complaints(doctoring(story())) == []
