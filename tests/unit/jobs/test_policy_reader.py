"""Reading flow policies: permits in use, triggers that wait, and the limit that the stack can reach."""

from dataclasses import replace

import pytest
from tests.contract.builders import policy, trigger_message
from tests.fakes.world import NOON, World

from sweephand.base.errors import NotFoundError
from sweephand.base.instants import Instant
from sweephand.jobs.policy_reader import COUNTED_ENTRIES_MAX, PolicyUse, PolicyView
from sweephand.model.policy import Policy, PolicyKey, Priority, Rate
from sweephand.model.policy_line import LinePlace, entry_of

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


def put(world: World, at: Instant, count: int = 1, priority: Priority = "normal", partition: int = 0) -> None:
    entry = entry_of([trigger_message(at) for _ in range(count)], at, f"{at}-{partition}")
    world.policy_lines.put(LinePlace(MAILER, priority, partition), entry)


def test_nothing_is_in_use_and_nothing_waits_under_a_new_policy() -> None:
    assert use(world_with(policy(5))) == PolicyUse(0, 0, is_exact=True, waiting_since=None)


@pytest.mark.parametrize("changed", [None, policy(deleted_at=NOON)])
def test_a_policy_that_is_missing_or_deleted_is_not_found(changed: Policy | None) -> None:
    world = World() if changed is None else world_with(changed)
    with pytest.raises(NotFoundError, match="no policy mailer in namespace ns"):
        read(world)


def test_a_holder_that_a_worker_has_taken_counts_whole_and_a_released_one_by_its_away_entries() -> None:
    world = world_with(policy(200))  # holders of ten, in two groups
    permits = world.permits
    for slot in (0, 1, 17, 19):
        assert permits.take(MAILER, permits.holder(MAILER, slot), f"owner-{slot}", NOON, LATER)
    permits.enter(MAILER, 1, "owner-1", {"a": LATER, "b": LATER, "over": NOON}, releasing=True)
    permits.enter(MAILER, 17, "owner-17", {"c": LATER})
    assert use(world).in_use == 10 + 2 + 10 + 10
    world.clock.time = LATER + 1
    assert use(world).in_use == 0


def test_a_holder_counts_only_its_share_of_a_lowered_limit_unless_more_is_away() -> None:
    world = world_with(policy(40))
    permits = world.permits
    for slot, away in ((0, {}), (1, {str(each): LATER for each in range(6)})):
        assert permits.take(MAILER, permits.holder(MAILER, slot), "owner", NOON, LATER)
        permits.enter(MAILER, slot, "owner", away)
    lowered = replace(policy(13), key=MAILER, version="version000000002", holder_size=10)
    assert world.policies.put(lowered, "version000000001")
    assert use(world).in_use == 10 + 6


def test_the_triggers_that_are_due_count_in_all_partitions_and_priorities() -> None:
    world = world_with(policy(200))
    put(world, NOON - 3_000, 100, partition=39)
    put(world, NOON - 9_000, 1, "low", partition=2)
    put(world, NOON, 20, "high")
    put(world, NOON + 1, 50)
    assert use(world) == PolicyUse(0, 121, is_exact=True, waiting_since=NOON - 9_000)


def test_a_long_line_is_counted_in_part_and_its_earliest_trigger_is_known() -> None:
    world = world_with(policy(5))
    for number in range(COUNTED_ENTRIES_MAX):
        put(world, NOON - number, partition=0)
    put(world, NOON - 5_000, partition=3, priority="low")
    found = use(world)
    assert not found.is_exact
    assert found.waiting_since == NOON - 5_000
    assert 0 < found.waiting < COUNTED_ENTRIES_MAX


@pytest.mark.parametrize(
    ("made", "functions_max", "effective_max"),
    [
        (policy(5), 100, 5),
        (policy(1_000), 101, 1_000),
        (policy(1_000), 100, 990),
        (policy(1_000), 20, 190),
        (policy(10_000, partitions=256), 2_000, 2_560),
        (policy(1_000, holder_size=1), 20, 19),
        (policy(None, rate=Rate(10, 1_000)), 20, 190),
        (policy(1_000), 2, 10),
        (policy(1_000), 1, 10),
        (policy(5), 0, 0),
    ],
)
def test_each_function_but_one_adds_a_holder_to_what_the_stack_can_reach(
    made: Policy, functions_max: int, effective_max: int
) -> None:
    world = world_with(made, functions_max)
    assert read(world).effective_max == effective_max
    page = world.api().policy_reader.page("ns", "", 10)
    assert [each.effective_max for each in page.items] == [effective_max]
