"""Errors of lanes: triggers without their lane, lanes that are starved, and messages of another lane."""

from collections.abc import Iterable
from typing import Any
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, mutation, replacing
from tests.simulation.workload.lanes import FIRST_WITH_LANES
from tests.simulation.world.deliveries import Deliveries

from sweephand.model.policy_names import Lanes


@mutation("The sweeper does not give triggers the lane of their job", first=FIRST_WITH_LANES)
def sweeps_without_lanes() -> Broken:
    return patch("sweephand.wheel.sweep.set_lanes", lambda *_: None)


@mutation("Every message is sent to the lane of low triggers", first=FIRST_WITH_LANES)
def starves_lanes() -> Broken:
    return patch.object(Lanes, "url_of", lambda lanes, _: lanes.low or lanes.normal)


@mutation(
    "A message of any lane is acknowledged in the normal one",
    # In a world it comes again for days, which takes a minute of CPU.
    shown_by=(
        "tests/unit/delivery/test_sqs_lanes.py"
        "::test_a_receipt_leads_to_the_queue_in_which_its_message_was_received"
    ),
)
@replacing(Lanes, "by_url")
def acknowledges_in_one_lane(lanes: Lanes, receipts: Iterable[str]) -> dict[str, list[str]]:
    return {lanes.normal: [each.rpartition(" ")[2] for each in receipts]}


@mutation("All lanes share the functions of one lane, so that one of them is starved", first=FIRST_WITH_LANES)
def shares_functions() -> Broken:
    lanes: list[Deliveries] = []
    make: Any = Deliveries.__init__
    end = Deliveries._is_over

    def made(lane: Deliveries, *arguments: Any, **named: Any) -> None:
        make(lane, *arguments, **named)
        lanes.append(lane)

    def is_full(lane: Deliveries) -> bool:
        return sum(each._working for each in lanes) >= lane._functions_max

    def is_over(lane: Deliveries) -> None:
        end(lane)
        for each in lanes:
            if each._is_waited_for:
                each._is_waited_for = False
                each.seen(each._scheduler.now)

    return patch.multiple(Deliveries, __init__=made, _is_full=is_full, _is_over=is_over)
