"""Errors of the valve: triggers over a limit leave, or are lost, or use the allowance in vain."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from tests.fakes.flow_memory import MemoryAllowances
from tests.simulation.mutations.registry import Broken, Ports, built, mutation, wrapping
from tests.simulation.workload.limits import FIRST_LIMITED

from sweephand.runs.deliver import Deliverer
from sweephand.runs.delivery import Wait
from sweephand.runs.received import Outcome
from sweephand.runs.valve import OUTCOMES, Limited, Valve


@mutation("Each process has the whole allowance for itself", first=FIRST_LIMITED)
def counts_each_process_alone() -> Broken:
    def apart(ports: Ports) -> None:
        ports["allowances"] = MemoryAllowances()

    return built(Valve, apart)


@mutation("A trigger that is over a limit is acknowledged and not sent again", first=FIRST_LIMITED)
@wrapping(Deliverer, "_waits")
def drops_what_is_over_the_limit(waits: Callable[..., Outcome], deliverer: Deliverer, wait: Wait) -> Outcome:
    is_limited = wait.why in OUTCOMES.values()
    return Outcome(wait.why) if is_limited else waits(deliverer, wait)


@mutation("A trigger that is over a limit leaves anyway", first=FIRST_LIMITED)
def fires_what_is_over_the_limit() -> Broken:
    return patch.object(Valve, "_wait", lambda *_: None)


@mutation("Only the limit of the stack is asked, and not that of the namespace", first=FIRST_LIMITED)
def forgets_the_limit_of_a_namespace() -> Broken:
    def forgotten(ports: Ports) -> None:
        ports["namespace_limit"] = lambda _: 0

    return built(Valve, forgotten)


@mutation(
    "A trigger that has waited for its slot takes another one",
    shown_by="tests/unit/runs/test_valve.py::test_triggers_that_wait_leave_in_due_order_and_evenly_spaced",
)
@wrapping(Valve, "admit")
def counts_what_waits_again(admit: Callable[..., Any], self: Valve, message: Any) -> Any:
    return admit(self, message._replace(passage=None))


@mutation(
    "A slot of an earlier epoch of an allowance counts",
    shown_by="tests/unit/runs/test_valve.py::test_a_changed_limit_never_releases_more_than_the_larger_of_both",
)
def honours_slots_of_earlier_epochs() -> Broken:
    return patch.object(Valve, "_holds", lambda *_: True)


@mutation(
    "A trigger that waits keeps its slot when the limit is changed",
    shown_by="tests/unit/runs/test_valve.py::test_a_raised_limit_applies_within_15_minutes_to_those_that_wait",
)
@wrapping(Valve, "_wait")
def keeps_slots_of_another_limit(
    wait: Callable[..., Limited | None], self: Valve, message: Any, level: Any, *bucket_and_limit: Any
) -> Limited | None:
    passage, per_minute = message.passage, bucket_and_limit[-1]
    if passage is not None and passage.level == level and per_minute:
        message = message._replace(passage=passage._replace(per_minute=per_minute))
    return wait(self, message, level, *bucket_and_limit)
