"""Errors of lanes: triggers without their priority, lanes that are starved, and messages of another lane."""

from collections.abc import Iterable, Iterator
from unittest.mock import patch

from tests.simulation.mutations.registry import mutation
from tests.simulation.workload.lanes import FIRST_WITH_LANES

from sweephand.delivery.sqs_lanes import Lanes


@mutation("The sweeper does not give triggers the priority of their job", first=FIRST_WITH_LANES)
def sweeps_without_priorities() -> Iterator[None]:
    with patch("sweephand.wheel.sweep.put_into_lanes", lambda *_: None):
        yield


@mutation("Every message is sent to the lane of low triggers", first=FIRST_WITH_LANES)
def starves_lanes() -> Iterator[None]:
    with patch.object(Lanes, "url_of", lambda lanes, _: lanes.low or lanes.normal):
        yield


@mutation("A message of any lane is acknowledged in the normal one", first=FIRST_WITH_LANES)
def acknowledges_in_one_lane() -> Iterator[None]:
    def by_url(lanes: Lanes, receipts: Iterable[str]) -> dict[str, list[str]]:
        return {lanes.normal: [each.rpartition(" ")[2] for each in receipts]}

    with patch.object(Lanes, "by_url", by_url):
        yield
