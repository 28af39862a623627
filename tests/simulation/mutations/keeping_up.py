"""Errors in keeping up: turns of shards, portions of pages, how far ahead a sweep reads."""

from collections.abc import Callable, Sequence
from typing import Any
from unittest.mock import patch

from tests.simulation.mutations.registry import Broken, everywhere, mutation, replacing, together, wrapping

from sweephand.base.instants import DAY_MS, SECOND_MS
from sweephand.model.timer import OccurrenceTimer
from sweephand.wheel import sweep as sweeping
from sweephand.wheel import tick
from sweephand.wheel.expand import TRIGGERS_MAX, Expansion
from sweephand.wheel.shard_visit import PAGE_TIMERS_MAX, Pace, Portion
from sweephand.wheel.sweep import Sweeper, Swept


def _in_order(shards: Sequence[int], _: int) -> Sequence[int]:
    return shards


@mutation("The only sweeper begins with shard 0, finishes each shard, and does not report what is left")
def begins_with_shard_0_and_forgets() -> Broken:
    sweep = Sweeper.sweep

    def swept(*args: Any, **kwargs: Any) -> Swept:
        return sweep(*args, **kwargs)._replace(left=())

    return together(
        patch.object(tick, "_from", _in_order),
        patch.object(tick, "is_behind", lambda *_: False),
        patch.object(Sweeper, "sweep", swept),
        everywhere("VISIT_MS", DAY_MS),
    )


@mutation(
    "Tick begins with shard 0 each minute",
    masked_by="the sweepers that tick starts at once for the shards that are left",
)
def begins_with_shard_0() -> Broken:
    return patch.object(tick, "_from", _in_order)


@mutation(
    "A sweep writes one successor once for each timer of its series",
    shown_by="tests/unit/wheel/test_expand.py::test_two_timers_that_lead_to_one_successor_give_one",
)
@replacing(Expansion, "add_successor")
def writes_successors_twice(expansion: Expansion, successor: OccurrenceTimer) -> None:
    expansion.successors.append(successor)


@mutation(
    "A sweeper always reads a whole page, however slow the stores are",
    shown_by="tests/unit/wheel/test_backlog.py::test_a_portion_takes_half_of_what_is_left_at_most_or_is_a_single_timer",
)
def never_shrinks_a_page() -> Broken:
    def whole(*_: object) -> Portion:
        return Portion(PAGE_TIMERS_MAX, TRIGGERS_MAX)

    return together(patch.object(Pace, "portion", whole), patch.object(Pace, "has_time", lambda *_: True))


@mutation(
    "A fault in tick's own sweep keeps tick from its other duties",
    shown_by="tests/unit/wheel/test_tick_faults.py::test_a_timer_that_is_put_off_keeps_no_delivery_function_from_being_woken_for_a_peak",
)
@wrapping(Sweeper, "sweep")
def ends_a_tick_at_a_fault(sweep: Callable[..., Swept], *args: Any, **kwargs: Any) -> Swept:
    swept = sweep(*args, **kwargs)
    swept.raise_faults()
    return swept


@mutation(
    "A sweeper does not read the leases again before it turns to the shard of another one",
    shown_by="tests/unit/wheel/test_shared_shards.py::test_a_shard_that_another_sweeper_has_finished_costs_one_read_and_no_claim",
)
@wrapping(Sweeper, "sweep")
def trusts_the_leases_it_began_with(sweep: Callable[..., Swept], *args: Any, **kwargs: Any) -> Swept:
    return sweep(*args, **{**kwargs, "own_shards": len(args[1])})


@mutation("A sweeper passes over a shard whose holder has crashed")
def takes_an_ended_lease_for_held() -> Broken:
    return patch.object(sweeping, "_is_held", lambda lease, _: lease.owner is not None)


@mutation("A sweep reads only one minute beyond the present one (horizon 120 s)")
def reads_two_minutes() -> Broken:
    return everywhere("HORIZON_MS", 120 * SECOND_MS)


@mutation("The direct window leaves a margin of 35 s for clocks that differ (240 s)")
def arms_four_minutes() -> Broken:
    return everywhere("DIRECT_WINDOW_MS", 240 * SECOND_MS)
