"""A policy takes at most so many flow functions, and leaves the others to other policies."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import pytest
from tests.contract.builders import NOON, policy
from tests.fakes.doubles import CountingIds, HandClock
from tests.fakes.faults import calls_of
from tests.fakes.flow_memory import MemoryPermits, MemoryPolicies
from tests.fakes.world import World
from tests.unit.runs.flow.test_line_worker import KEY, flow, triggers
from tests.unit.runs.flow.test_under_policies import KEY as UNDER

from sweephand.base.concurrency import Concurrently, Result, one_by_one
from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.base.timing import HELPERS_COME_MS, HOLDER_MS
from sweephand.jobs.policies import PolicyLimits
from sweephand.model.policy import GROUP_SIZE, PermitHolder, Policy, PolicyKey, Rate, workers_max_of
from sweephand.runs.flow.permits import Permits
from sweephand.runs.flow.take_permits import HoldersInUse, is_surplus, take_permits


@dataclass
class Stack:
    """A policy of forty permits in four holders."""

    made: Policy = field(default_factory=lambda: policy(40))
    clock: HandClock = field(default_factory=HandClock)
    policies: MemoryPolicies = field(default_factory=MemoryPolicies)
    permits: MemoryPermits = field(default_factory=MemoryPermits)
    ids: CountingIds = field(default_factory=CountingIds)

    def take(
        self,
        workers_max: int,
        permits: MemoryPermits | None = None,
        concurrently: Concurrently = one_by_one,
    ) -> Permits | None:
        return take_permits(
            self.made,
            self.clock.time + HOLDER_MS,
            workers_max=workers_max,
            policies=self.policies,
            permits=permits or self.permits,
            clock=self.clock,
            ids=self.ids,
            concurrently=concurrently,
        )

    def owned(self, first: int = 0, end: int = 1) -> int:
        """How many holders of those groups have an owner."""
        groups = [self.permits.holders(self.made.key, each) for each in range(first, end)]
        return sum(each.is_owned(self.clock.time) for group in groups for each in group)

    def counting(self) -> "Counting":
        """The same permits, with a list of the groups that were read."""
        found = Counting()
        found._holders = self.permits._holders
        return found


class Counting(MemoryPermits):
    """Notes which groups were read."""

    def __init__(self) -> None:
        super().__init__()
        self.groups: list[int] = []

    def holders(self, key: PolicyKey, group: int) -> Sequence[PermitHolder]:
        self.groups.append(group)
        return super().holders(key, group)


@pytest.mark.parametrize(("functions", "workers"), [(0, 0), (1, 1), (2, 1), (3, 2), (1_000, 999)])
def test_one_function_is_left_to_other_policies_if_there_are_two(functions: int, workers: int) -> None:
    assert workers_max_of(functions) == workers


@pytest.mark.parametrize("workers_max", [1, 3, 4, 100])
def test_no_more_workers_than_those_take_holders_of_a_policy(workers_max: int) -> None:
    stack = Stack()
    taken = [stack.take(workers_max) for _ in range(6)]
    assert sum(each is not None for each in taken) == stack.owned() == min(4, workers_max)


def test_the_holder_of_a_worker_that_has_left_or_has_ended_leaves_room_for_the_next_one() -> None:
    stack = Stack()
    first = stack.take(1)
    assert first is not None
    assert stack.take(1) is None
    first.release()
    assert stack.take(1) is not None
    stack.clock.time += HOLDER_MS + 1
    assert stack.take(1) is not None


def test_runs_that_go_on_without_a_worker_take_no_place_of_one() -> None:
    stack = Stack()
    for number in range(2):
        held = stack.take(1)
        assert held is not None
        assert held.admit(f"run-{number}")
        assert held.keep(f"run-{number}", NOON + 10 * HOLDER_MS)
        held.release()
    assert stack.take(1) is not None


def test_of_workers_that_begin_together_the_last_one_releases_its_holder() -> None:
    stack = Stack()
    others: list[Permits | None] = []

    class Between(MemoryPermits):
        """Another worker takes a holder after this one has counted, and before it takes its own."""

        def take(self, *arguments: object, **named: object) -> PermitHolder | None:
            if not others:
                others.append(stack.take(1))
                stack.clock.time += 1
            return super().take(*arguments, **named)  # type: ignore[arg-type]

    between = Between()
    between._holders = stack.permits._holders
    stack.clock.time += 5
    late = stack.take(1, between)
    assert others[0] is not None
    assert (late, stack.owned()) == (None, 1)


def test_a_worker_is_surplus_if_as_many_as_there_may_be_began_before_it() -> None:
    stack = Stack()
    held = stack.take(4)
    assert held is not None
    others = [PermitHolder(slot, "other", held.until + after) for slot, after in ((2, -1), (3, 1))]
    mine = PermitHolder(held.slot, "mine", held.until)
    assert is_surplus(held, [mine, *others], 1, NOON)
    assert not is_surplus(held, [mine, *others], 2, NOON)
    assert not is_surplus(held, [mine, others[1]], 1, NOON)


def test_a_worker_calls_nobody_while_the_policy_has_as_many_workers_as_it_may_have() -> None:
    scene = flow(40, holder_size=10)
    scene.workers_max, scene.request_ms = 1, 300
    scene.put(*triggers(200))
    scene.sent.clear()
    scene.work()
    assert not [message for _, message in scene.sent if message.until is not None]
    free = flow(40, holder_size=10)
    free.request_ms = 300
    free.put(*triggers(200))
    free.sent.clear()
    free.work()
    assert [message for _, message in free.sent if message.until is not None]


def test_a_worker_does_not_call_again_for_helpers_that_may_be_on_their_way() -> None:
    scene = flow(20, holder_size=10)
    scene.request_ms = 100
    scene.put(*triggers(400))
    scene.sent.clear()
    scene.work()
    called_at = [message.not_before for _, message in scene.sent if message.until is not None]
    assert len(called_at) > 1, "a helper that never comes is called again"
    assert all(later - at >= HELPERS_COME_MS for at, later in pairwise(called_at))


def test_a_worker_that_finds_that_there_are_too_many_leaves() -> None:
    scene = flow(40, holder_size=10)
    scene.workers_max, scene.request_ms = 2, 300
    scene.put(*triggers(200))

    def announce(call: str) -> None:
        # Two others took holders in the same moment. They began a second before.
        if call == "before consumer.deliver" and len(scene.delivered) == 1:
            free = [each for each in scene.holders() if each.owner is None]
            for each in free[:2]:
                until = NOON - SECOND_MS + HOLDER_MS
                assert scene.permits.take(KEY, each, f"other{each.slot}", scene.clock.time, until)

    scene.announce = announce
    assert scene.work() == "walked"
    assert 2 <= len(scene.delivered) < 40
    assert len(scene.waiting()) == 200 - len(scene.delivered)


@pytest.mark.parametrize("functions", [5, 20, 2_000])
@pytest.mark.parametrize("limits", [PolicyLimits(None, Rate(10, SECOND_MS)), PolicyLimits(10_000, None)])
def test_a_trigger_that_comes_alone_costs_two_reads_of_holders_whatever_the_limits(
    functions: int, limits: PolicyLimits
) -> None:
    world = World()
    world.flow_functions_max = functions
    # The policy was made for four permits, so each holder has one.
    assert world.policies.put(policy(4, key=UNDER, holder_size=1), None)
    writer = world.api().policy_writer
    writer.put(UNDER, limits, who="me", requested_at=world.api_clock.now())
    world.put(schedule=["2026-11-21T12:10:00Z", "2028-11-21T12:10:00Z"], policy="mailer")
    world.run_until(NOON + 5 * MINUTE_MS)
    calls = calls_of(world, lambda: world.run_until(NOON + 15 * MINUTE_MS))
    assert len(world.consumers.ids) == 1
    assert calls.count("before permits.holders") <= 2


def many(**changed: Any) -> Stack:
    """A policy of 10,000 permits in as many holders, which lie in 625 groups."""
    return Stack(policy(10_000, holder_size=1, **changed))


def test_a_worker_that_finds_enough_others_reads_one_group() -> None:
    stack = many()
    assert all(stack.take(4) for _ in range(4))
    counting = stack.counting()
    assert stack.take(4, counting) is None
    assert counting.groups == [0]


def test_workers_take_holders_of_the_first_groups_and_find_each_other_there() -> None:
    stack = many()
    counting = stack.counting()
    assert sum(stack.take(40, counting) is not None for _ in range(60)) == 40
    assert stack.owned(0, 625) == stack.owned(0, 3) == 40
    assert max(counting.groups) < 7


def test_what_runs_keep_is_passed_over_with_many_reads_at_once() -> None:
    stack = many()
    keep_first(stack, 600 * GROUP_SIZE)
    at_once: list[int] = []

    def concurrently(tasks: Sequence[Callable[[], Result]]) -> Iterable[Result]:
        at_once.append(len(tasks))
        return one_by_one(tasks)

    assert all(stack.take(4, concurrently=concurrently) for _ in range(4))
    assert stack.take(4) is None
    assert stack.owned(600, 625) == 4
    assert at_once[:10] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 114]


def test_a_worker_in_a_later_group_leaves_once_enough_others_are_before_it() -> None:
    stack = many()
    keep_first(stack, GROUP_SIZE)
    late = [stack.take(2) for _ in range(2)]
    # The runs of the first group are over, and two workers take its holders without seeing the others.
    for slot in range(GROUP_SIZE):
        stack.permits.remove(stack.made.key, slot, ["run"])
    stack.clock.time += 1
    early = [stack.take(2) for _ in range(2)]
    for held, has_to_leave in [*((each, True) for each in late), *((each, False) for each in early)]:
        assert held is not None
        found = HoldersInUse(stack.made, 2, stack.permits, stack.clock, one_by_one).read(held)
        assert is_surplus(held, found, 2, stack.clock.time) == has_to_leave


def keep_first(stack: Stack, slots: int) -> None:
    """Let a run keep each of the first permits."""
    until = stack.clock.time + HOLDER_MS
    for slot in range(slots):
        free = stack.permits.holder(stack.made.key, slot)
        assert stack.permits.take(stack.made.key, free, "owner", stack.clock.time, until)
        kept = {"run": NOON + 10 * HOLDER_MS}
        assert stack.permits.enter(stack.made.key, slot, "owner", kept, releasing=True)
