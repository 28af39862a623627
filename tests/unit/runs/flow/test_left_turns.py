"""One walk of a missing policy's line goes on at a time, and every request for a walk has its effect."""

from collections.abc import Callable

import pytest
from tests.fakes.faults import Killed
from tests.fakes.world import NOON, World, quiet
from tests.unit.runs.flow.leaving import (
    ANY,
    ONE,
    PLACE,
    delivered,
    jobs_in_line,
    leaves,
    second,
    together_in_entries,
    waiting_world,
)
from tests.unit.runs.flow.test_under_policies import KEY, MINUTE, waiting

from sweephand.base.errors import NewerError, StoreError
from sweephand.base.instants import SECOND_MS
from sweephand.base.timing import LEFT_AGAIN_MS, LINE_CLAIM_MS, NEWER_MS
from sweephand.model.policy import PARTITIONS_MAX
from sweephand.model.policy_line import LineClaim, LinePlace, entry_of
from sweephand.model.work_message import WorkMessage

#: Where walks take turns.
TURN = LinePlace(KEY, "high", PARTITIONS_MAX)


def during_last_page(world: World, act: Callable[[], object]) -> None:
    """Act once, while a walk is behind everything that waits."""

    def announce(call: str) -> None:
        if call == "before policy_lines.page":
            seen.append(call)
            if len(seen) == 10:
                world.announce = quiet
                act()

    seen: list[str] = []
    world.announce = announce


def test_a_walk_that_is_asked_meanwhile_has_another_one_follow_at_once() -> None:
    world = waiting_world("job", "also")
    together_in_entries(world)
    taken: list[int] = []

    def act() -> None:
        leaves(world)
        world.work.waiting.clear()
        taken.extend(world.work_off(ONE).left for _ in range(3))

    during_last_page(world, act)
    taken.append(world.work_off(ANY).left)
    assert taken == [0, 0, 0, 0]
    assert [message for _, message in world.work.waiting] == [ANY]
    world.run_until(world.clock.time + SECOND_MS)
    assert delivered(world) == ["job"]
    assert not world.work.waiting, "nobody has asked the second walk"


def test_many_writes_in_a_row_have_the_line_read_a_few_times() -> None:
    names = [f"job{number:02d}" for number in range(20)]
    world = waiting_world("stays", *names)
    [stays] = [each for each in waiting(world) if each.trigger.key.name == "stays"]
    for number in range(500):
        world.policy_lines.put(PLACE, entry_of([second(stays, number)], NOON, str(number)))
    world.work.waiting.clear()
    for name in names:
        world.patch(name, without=["policy"])
    requests = [message for _, message in world.work.waiting]
    assert len(requests) == 40
    world.work.waiting.clear()
    pages: list[str] = []

    def announce(call: str) -> None:
        if call == "before policy_lines.page":
            pages.append(call)
            if len(pages) == 10:
                assert [world.work_off(each).left for each in requests[1:]] == [0] * 39

    world.announce = announce
    world.work_off(requests[0])
    world.run_until(world.clock.time + MINUTE)
    assert sorted(delivered(world)) == names
    assert len(pages) <= 3 * 50 + 40


@pytest.mark.parametrize("after_ms", [0, LINE_CLAIM_MS, 3 * LINE_CLAIM_MS])
def test_the_message_of_a_walk_that_crashed_comes_again_for_all_that_have_asked_it(after_ms: int) -> None:
    world = waiting_world("job", "also")

    def act() -> None:
        leaves(world)
        world.work.waiting.clear()
        assert world.work_off(ONE).left == 0
        # A function that has ended gives nothing back.
        world.announce = killing
        killing("")

    def killing(_: str) -> None:
        raise Killed

    during_last_page(world, act)
    first = ANY._replace(left_by="also")
    with pytest.raises(Killed):
        world.work_off(first)
    world.announce = quiet
    world.clock.time += after_ms
    assert not world.work.waiting
    assert world.work_off(first, receives=2).left == 1
    world.run_until(world.clock.time + SECOND_MS)
    assert delivered(world) == ["job"]


@pytest.mark.parametrize("error", [StoreError("asked"), NewerError("asked")])
def test_a_walk_that_fails_passes_on_what_it_was_asked_for(error: Exception) -> None:
    world = waiting_world("job", "also")

    def act() -> None:
        leaves(world)
        world.work.waiting.clear()
        world.work_off(ONE)
        raise error

    during_last_page(world, act)
    world.work_off(ANY._replace(left_by="also"))
    world.run_until(world.clock.time + SECOND_MS)
    assert delivered(world) == ["job"]


def test_a_repeated_walk_that_meets_a_newer_entry_is_followed_by_one_for_any_job() -> None:
    world = waiting_world("job")

    def newer(call: str) -> None:
        if call == "before policy_lines.page":
            raise NewerError(call)

    world.announce = newer
    world.work_off(ANY._replace(left_by="also"), receives=2)
    world.announce = quiet
    assert (world.clock.time + NEWER_MS, ANY) in world.work.waiting


def test_the_rest_of_a_walk_waits_for_its_turn_and_keeps_its_place() -> None:
    world = waiting_world("job")
    leaves(world)
    world.work.waiting.clear()
    claim = world.policy_lines.claim(TURN, None, "other", world.clock.time + LINE_CLAIM_MS)
    rest = ANY._replace(hint=(1, 2), after="there")
    world.work_off(rest)
    assert world.work.waiting == [(world.clock.time + LEFT_AGAIN_MS, rest)]
    assert world.policy_lines.top(TURN, 0, 1).claim == claim


def test_a_long_walk_keeps_its_turn_and_remembers_that_it_was_asked() -> None:
    world = waiting_world("job", "also")
    world.work.waiting.clear()
    asked: list[int] = []

    def slow(call: str) -> None:
        if call == "before policy_lines.page":
            world.clock.time += 4 * SECOND_MS
            world.announce = quiet
            asked.append(world.work_off(ONE).left)
            world.announce = slow

    world.announce = slow
    world.work_off(ANY)
    world.announce = quiet
    assert len(asked) > 8
    assert not any(asked)
    assert [message for _, message in world.work.waiting] == [ANY]


@pytest.mark.parametrize("is_asked", [False, True])
@pytest.mark.parametrize("late_ms", [0, LINE_CLAIM_MS + 1])
def test_walks_that_go_on_at_once_come_to_an_end(late_ms: int, *, is_asked: bool) -> None:
    world = waiting_world("job", "also")
    world.work.waiting.clear()

    def first() -> None:
        world.clock.time += late_ms
        during_last_page(world, second_one)
        # Its turn is over, or its message came twice.
        world.work_off(ONE, receives=1 if late_ms else 2)

    def second_one() -> None:
        if is_asked:
            world.work_off(ONE)

    during_last_page(world, first)
    world.work_off(ANY)
    assert [message for _, message in world.work.waiting][-1] == ANY
    world.run_until(world.clock.time + SECOND_MS)
    assert not world.work.waiting
    claim = world.policy_lines.top(TURN, 0, 1).claim
    assert isinstance(claim, LineClaim)
    assert claim.owner is None
    assert jobs_in_line(world) == ["also", "job"]


def test_a_walk_leaves_the_turn_to_the_one_that_has_taken_it() -> None:
    world = waiting_world("job", "also")
    taken: list[LineClaim | None] = []

    def act() -> None:
        world.clock.time += LINE_CLAIM_MS + 1
        seen = world.policy_lines.top(TURN, 0, 1).claim
        taken.append(world.policy_lines.claim(TURN, seen, "other", world.clock.time + LINE_CLAIM_MS))

    during_last_page(world, act)
    world.work_off(ANY)
    assert [world.policy_lines.top(TURN, 0, 1).claim] == taken


def test_a_repeated_walk_that_cannot_take_its_turn_comes_again() -> None:
    world = waiting_world("job")
    fences = iter(range(1, 100))

    def changing(call: str) -> None:
        if call == "before policy_lines.claim":
            world.policy_lines._claims[TURN] = LineClaim("other", NOON, next(fences))

    world.announce = changing
    worked = world.work_off(ONE, receives=2)
    assert isinstance(worked.error, StoreError)
    world.work_off(WorkMessage("ns", "mailer", NOON, left_by="job"))
    world.announce = quiet
    assert (world.clock.time + LEFT_AGAIN_MS, ONE) in world.work.waiting
