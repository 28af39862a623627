"""What every WheelHistory promises (ports/)."""

import pytest
from tests.contract.builders import NOON
from tests.fakes.engines import Stores

from sweephand.model.wheel_event import WheelEvent
from sweephand.ports.wheel import WheelHistory

STOPPED = WheelEvent("stopped", NOON, NOON - 300_000)
OFF = WheelEvent("off", NOON, NOON - 400_000)
LIMIT = WheelEvent("limit", NOON + 60_000, NOON, 600)


@pytest.fixture
def history(stores: Stores) -> WheelHistory:
    return stores.wheel_history


def test_events_read_back_as_they_were_filed_and_oldest_first(history: WheelHistory) -> None:
    history.put([LIMIT, STOPPED])
    history.put([OFF])
    history.put([])
    assert history.after(0, 10) == [OFF, STOPPED, LIMIT]
    assert history.after(0, 1) == [OFF]


def test_only_events_that_were_found_later_than_the_instant_are_returned(history: WheelHistory) -> None:
    history.put([STOPPED, LIMIT])
    assert history.after(NOON - 1, 10) == [STOPPED, LIMIT]
    assert history.after(NOON, 10) == [LIMIT]
    assert history.after(NOON + 60_000, 10) == []


def test_an_event_that_is_filed_twice_is_stored_once(history: WheelHistory) -> None:
    history.put([LIMIT._replace(limit=0)])
    history.put([LIMIT._replace(limit=0)])
    assert history.after(0, 10) == [LIMIT._replace(limit=0)]
