"""The right to make one request under a policy (flow/permit.py)."""

from collections.abc import Callable

import pytest
from tests.contract.builders import NOON
from tests.unit.flow.scene import KEY, Flow, flow, true

from sweephand.base.timing import CLOCK_SKEW_MAX_MS
from sweephand.flow.held_slots import HeldSlots, held_by_run
from sweephand.flow.permit import Permit
from sweephand.model.gate import Token
from sweephand.model.policy import PermitName

UNTIL = NOON + 180_000


def permit(
    scene: Flow, slots: HeldSlots, token: Token | None = None, is_in_force: Callable[[], bool] = true
) -> Permit:
    return Permit(slots, "request", token, is_in_force=is_in_force, store=scene.store, clock=scene.clock)


def test_a_request_without_a_rate_may_leave_while_its_holder_lasts() -> None:
    scene = flow()
    made = permit(scene, scene.slots(1))
    made.wait()
    assert (scene.clock.time, made.token, made.leaves_at) == (NOON, None, NOON)
    assert made.may_leave()
    assert made.has_left
    scene.clock.time = UNTIL - CLOCK_SKEW_MAX_MS
    assert not made.may_leave()
    assert made.was_refused


@pytest.mark.parametrize(("at", "leaves"), [(99, False), (100, True), (150, True), (151, False)])
def test_a_request_under_a_rate_leaves_in_its_slot_or_not_at_all(at: int, *, leaves: bool) -> None:
    scene = flow()
    made = permit(scene, scene.slots(1), Token(NOON + 100, NOON + 150))
    scene.clock.time = NOON + at
    assert made.may_leave() is leaves
    scene.clock.time = NOON + 120
    assert made.may_leave() is leaves, "once it may not, it never may"


def test_a_request_does_not_leave_whose_policy_is_not_in_force_when_its_connection_is_there() -> None:
    scene = flow()
    made = permit(scene, scene.slots(1), is_in_force=lambda: False)
    made.wait()
    assert not made.may_leave()
    assert made.was_refused


def test_a_run_that_has_the_slot_may_leave_when_the_function_has_none_any_more() -> None:
    scene = flow()
    slots = scene.slots(1)
    made = permit(scene, slots)
    assert made.keep(NOON + 900_000)
    assert made.name == PermitName(KEY.name, 0, "request")
    assert scene.gate().holders == {"request": held_by_run(NOON, NOON + 900_000)}
    scene.clock.time = UNTIL
    assert made.may_leave()


def test_a_request_does_not_leave_whose_slot_could_not_be_handed_over() -> None:
    scene = flow()
    slots = scene.slots(1)
    scene.give_back("mine")
    made = permit(scene, slots)
    assert not made.keep(NOON + 900_000)
    assert not made.may_leave()


def test_a_slot_that_a_run_has_is_given_back_once_and_the_gate_is_shown() -> None:
    scene = flow()
    made = permit(scene, scene.slots(2))
    made.free()
    assert (made.given_back, scene.gate().used) == (None, 2)
    made.keep(NOON + 900_000)
    made.free()
    assert made.given_back is not None
    assert made.given_back.used == scene.gate().used == 1
