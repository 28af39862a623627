"""Reading flow policies: slots in use, triggers that wait, and the limit that the stack can reach."""

from dataclasses import replace

import pytest
from tests.contract.builders import policy, trigger_message
from tests.fakes.world import NOON, World

from sweephand.base.errors import NotFoundError
from sweephand.base.instants import Instant
from sweephand.jobs.policy_reader import (
    COUNTED_ENTRIES_MAX,
    COUNTED_LINES_MAX,
    PolicyUse,
    PolicyView,
    WaitingTriggers,
)
from sweephand.model.gate import GateChange, GateName, Holder, Swap, WaitingGate, guard_id
from sweephand.model.gate_line import entries_of
from sweephand.model.policy import Policy, PolicyKey, Priority, Rate

MAILER = PolicyKey("ns", "mailer")
LATER = NOON + 60_000


def world_with(made: Policy, functions_max: int = 100) -> World:
    world = World()
    world.flow_functions_max = functions_max
    world.policies.put(replace(made, key=MAILER), None)
    return world


def read(world: World) -> PolicyView:
    return world.api().policy_reader.get(MAILER, world.clock.time)


def use(world: World) -> PolicyUse:
    found = read(world).use
    assert found is not None
    return found


def put(world: World, at: Instant, count: int = 1, priority: Priority = "normal", gate: int = 0) -> None:
    [entry] = entries_of([trigger_message(at) for _ in range(count)], priority, str(gate))
    world.gate_lines.put(GateName(MAILER, gate), entry)


def hold(world: World, gate: int, token: str, slots: int, until: Instant = LATER) -> None:
    change = GateChange({token: Swap(None, Holder(slots, until))})
    assert world.gates.change(GateName(MAILER, gate), change).is_made


def test_nothing_is_in_use_and_nothing_waits_under_a_new_policy() -> None:
    assert use(world_with(policy(5))) == PolicyUse(0, 0, is_exact=True, waiting_since=None)


@pytest.mark.parametrize("changed", [None, policy(deleted_at=NOON)])
def test_a_policy_that_is_missing_or_deleted_is_not_found(changed: Policy | None) -> None:
    world = World() if changed is None else world_with(changed)
    with pytest.raises(NotFoundError, match="no policy mailer in namespace ns"):
        read(world)


def test_the_slots_of_functions_and_of_runs_count_at_each_gate_until_their_time_is_over() -> None:
    world = world_with(policy(200))
    for gate, token, slots in ((0, "function", 10), (0, "run", 1), (6, "other", 4)):
        hold(world, gate, token, slots)
    hold(world, 3, "crashed", 10, NOON - 1)
    assert use(world).in_use == 15
    world.clock.time = LATER
    assert use(world).in_use == 15
    world.clock.time += 1
    assert use(world).in_use == 0


def test_the_triggers_count_in_all_lines_and_priorities() -> None:
    world = world_with(policy(200))
    put(world, NOON - 3_000, 20, gate=6)
    put(world, NOON - 9_000, 1, "low", gate=2)
    put(world, NOON, 20, "high")
    assert use(world) == PolicyUse(0, 41, is_exact=True, waiting_since=NOON - 9_000)


def test_a_long_line_is_counted_in_part() -> None:
    world = world_with(policy(40))
    for number in range(COUNTED_ENTRIES_MAX):
        put(world, NOON - number)
    put(world, NOON - 5_000, gate=1)
    found = use(world)
    assert not found.is_exact
    assert found.waiting == COUNTED_ENTRIES_MAX // 2 + 1
    assert found.waiting_since == NOON - 5_000


@pytest.mark.parametrize(
    ("made", "functions_max", "effective_max"),
    [
        (policy(5), 100, 5),
        (policy(5), 2, 4),
        (policy(1_000), 100, 1_000),
        (policy(1_000), 20, 200),
        (policy(None, rate=Rate(10, 1_000)), 20, 200),
        (policy(1_000), 1, 10),
        (policy(5), 0, 0),
    ],
)
def test_each_function_adds_its_slots_to_what_the_stack_can_reach(
    made: Policy, functions_max: int, effective_max: int
) -> None:
    world = world_with(made, functions_max)
    assert read(world).effective_max == effective_max
    page = world.api().policy_reader.page("ns", "", 10)
    assert [each.effective_max for each in page.items] == [effective_max]


def waiting(world: World, *policies: Policy) -> WaitingTriggers:
    return world.api().policy_reader.waiting(policies)


OTHER = policy(5, key=PolicyKey("ns", "other"))
KEYED = policy(5, key=PolicyKey("ns", "keyed"), by="job")


def test_what_waits_under_several_policies_counts_together() -> None:
    mailer = policy(200, key=MAILER)
    world = world_with(mailer)
    assert waiting(world, mailer, OTHER) == WaitingTriggers(0, is_exact=True, since=None)
    put(world, NOON - 3_000, 20, gate=6)
    [entry] = entries_of([trigger_message(NOON - 9_000)], "low", "0")
    world.gate_lines.put(GateName(OTHER.key, 0), entry)
    assert waiting(world, mailer, OTHER) == WaitingTriggers(21, is_exact=True, since=NOON - 9_000)
    assert waiting(world, mailer).triggers == 20


def test_of_a_policy_with_by_those_lines_count_that_wait() -> None:
    world = World()
    for number in range(COUNTED_LINES_MAX + 1):
        name = GateName(KEYED.key, 0, f"job:{number}")
        world.gates.enlist(WaitingGate(name, guard_id(NOON + number, "guard1")))
        [entry] = entries_of([trigger_message(NOON + number)] * 2, "normal", "0")
        world.gate_lines.put(name, entry)
    found = waiting(world, KEYED)
    assert found == WaitingTriggers(2 * COUNTED_LINES_MAX, is_exact=False, since=NOON)


def test_the_lines_and_entries_that_are_counted_have_a_bound() -> None:
    large = policy(200, key=MAILER)
    world = world_with(large)
    assert waiting(world, large).is_exact
    assert not waiting(world, *[replace(large, key=PolicyKey("ns", name)) for name in "abcdefgh"]).is_exact
    for number in range(COUNTED_ENTRIES_MAX):
        put(world, NOON - number)
    found = waiting(world, large)
    assert found.triggers < COUNTED_ENTRIES_MAX
    assert not found.is_exact
