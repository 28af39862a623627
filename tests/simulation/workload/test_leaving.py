"""Jobs that are deleted after their last run are simulated in some seeds, and the oracle judges them."""

from collections.abc import Callable
from itertools import chain

import pytest
from tests.simulation.traces.broken_leaving import BROKEN_LEAVING, EXCUSED_LEAVING, STORIES_OF_LEAVING
from tests.simulation.traces.doctored import Doctoring, complaints
from tests.simulation.traces.trace import (
    Deleted,
    Event,
    Requested,
    RunStored,
    Written,
)
from tests.simulation.workload.conftest import Worlds
from tests.simulation.workload.leaving import FIELD, Leaving

#: This number of first seeds shows all of it.
SEEDS = range(160)


@pytest.fixture(scope="module")
def events(events_of: Worlds) -> list[Event]:
    """All events of the seeds with such jobs."""
    return list(chain.from_iterable(events_of(seed) for seed in SEEDS if Leaving.of(seed).is_on))


@pytest.fixture(scope="module")
def gone(events: list[Event]) -> dict[str, Written]:
    """The jobs that expired with their last run, by `uid`."""
    return {each.uid: each for each in events if isinstance(each, Written) and each.verb == "expire"}


def test_a_quarter_of_the_seeds_has_jobs_that_expire_with_their_last_run(events_of: Worlds) -> None:
    assert 440 < sum(Leaving.of(seed).is_on for seed in range(2_000)) < 580
    without = next(seed for seed in range(8) if not Leaving.of(seed).is_on)
    written = [each for each in events_of(without) if isinstance(each, Written)]
    assert not [each for each in written if each.verb == "expire" or FIELD in each.definition]


def test_jobs_of_every_form_expire_with_their_last_run(gone: dict[str, Written]) -> None:
    definitions = [each.definition for each in gone.values()]
    assert {"repeats", "ttl", "schedule", "dueTime", "onComplete"} <= set(chain.from_iterable(definitions))
    assert {each.get("completion", "sync") for each in definitions} == {"sync", "async"}
    assert any("schedule" not in each for each in definitions)


def test_jobs_expire_after_successes_and_failures_and_other_jobs_take_their_names(
    events: list[Event], gone: dict[str, Written]
) -> None:
    ends = {each.state for each in events if isinstance(each, RunStored) and each.uid in gone}
    assert {"succeeded", "failed", "retrying"} <= ends
    assert any(isinstance(each, Requested) and each.uid in gone and each.attempt > 1 for each in events)
    assert any(isinstance(each, Deleted) and each.uid in gone and each.verb == "create" for each in events)


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
