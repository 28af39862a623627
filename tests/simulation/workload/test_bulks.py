"""Bulk calls are simulated and judged: by filters, page after page, acknowledged or not."""

from collections.abc import Callable
from itertools import chain

import pytest
from tests.simulation.traces.broken_bulks import BROKEN_BULKS, EXCUSED_BULKS, STORIES_OF_BULKS
from tests.simulation.traces.doctored import Doctoring, complaints
from tests.simulation.traces.trace import Event, ManyAnswered, Written
from tests.simulation.workload.bulks import Bulks
from tests.simulation.workload.conftest import Worlds

#: This number of first seeds shows all of it.
SEEDS = range(120)


@pytest.fixture(scope="module")
def events(events_of: Worlds) -> list[Event]:
    """All events of the seeds with bulk calls."""
    return list(chain.from_iterable(events_of(seed) for seed in SEEDS if Bulks.of(seed).is_on))


def test_a_third_of_the_seeds_has_bulk_calls_and_the_others_have_none(events_of: Worlds) -> None:
    assert 550 < sum(Bulks.of(seed).is_on for seed in range(2_000)) < 700
    without = next(seed for seed in range(6) if not Bulks.of(seed).is_on)
    assert not [each for each in events_of(without) if isinstance(each, ManyAnswered)]


def test_clients_make_every_bulk_call_with_every_filter_and_over_several_pages(events: list[Event]) -> None:
    answers = [each for each in events if isinstance(each, ManyAnswered)]
    assert {each.verb for each in answers if each.changed} == {"pause many", "resume many", "delete many"}
    assert {(bool(each.chosen.prefix), bool(each.chosen.labels)) for each in answers if each.changed} == {
        (True, False),
        (False, True),
        (True, True),
    }
    assert any(each.chosen.after for each in answers if each.changed)
    assert any(len(each.changed) > 1 for each in answers)


def test_the_effect_of_an_unacknowledged_bulk_call_is_known_too(events: list[Event]) -> None:
    changed = {each.uid for each in events if isinstance(each, Written) and each.verb == "pause"}
    assert changed - {uid for each in events if isinstance(each, ManyAnswered) for uid in each.changed}


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
