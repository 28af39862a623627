"""Writes that let jobs leave a missing policy: what waits in its line goes with them."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest
from tests.contract.builders import policy
from tests.fakes.faults import calls_of, failing, kill_everywhere, working
from tests.fakes.world import NOON, World, quiet
from tests.unit.runs.flow.leaving import (
    LIST,
    OTHER,
    PLACE,
    check_job_is_where_it_belongs,
    delivered,
    fill,
    is_replaced,
    jobs_in_line,
    leave_before_deletion,
    leave_together,
    leaves,
    moves,
    second,
    waiting_world,
)
from tests.unit.runs.flow.test_under_policies import KEY, MINUTE, waiting

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS
from sweephand.base.timing import LEFT_DELAY_MS
from sweephand.model.policy import PolicyKey
from sweephand.model.policy_line import entry_of
from sweephand.model.work_message import WorkMessage


@pytest.mark.parametrize("write", [leaves, moves, is_replaced])
def test_what_waits_goes_with_its_job_within_seconds_and_the_rest_stays(
    write: Callable[[World], None],
) -> None:
    world = waiting_world("job", "stays")
    write(world)
    world.run_until(world.clock.time + 5 * SECOND_MS)
    assert delivered(world) == ["job"]
    assert jobs_in_line(world) == ["stays"]
    world.run_until(world.clock.time + 10 * MINUTE)
    assert delivered(world) == ["job"]
    assert jobs_in_line(world) == ["stays"]


def test_jobs_of_a_bulk_write_take_what_waits_with_them() -> None:
    names = [f"job{number}" for number in range(3)]
    world = waiting_world(*names)
    leave_together(world, *names)
    world.run_until(world.clock.time + 5 * SECOND_MS)
    assert sorted(delivered(world)) == names


def test_jobs_that_leave_together_have_the_line_read_twice_and_not_for_each_of_them() -> None:
    names = [f"job{number:02d}" for number in range(20)]
    world = waiting_world("stays", *names)
    [stays] = [each for each in waiting(world) if each.trigger.key.name == "stays"]
    for number in range(1_000):
        world.policy_lines.put(PLACE, entry_of([second(stays, number)], NOON, str(number)))
    world.work.sent.clear()
    leave_together(world, *names)
    assert asked_walks(world) == [("mailer", "")] * 2
    calls = calls_of(world, lambda: world.run_until(world.clock.time + 5 * MINUTE))
    assert sorted(delivered(world)) == names
    assert calls.count("before policy_lines.page") <= 3 * 100


def test_jobs_that_leave_two_policies_together_send_messages_for_each_of_these() -> None:
    world = waiting_world("job", "also")
    world.put("moved", schedule=LIST, policy="other")
    stored = world.policies.get(OTHER)
    assert stored is not None
    assert world.policies.put(replace(stored, version="deleted", deleted_at=NOON), stored.version)
    world.work.sent.clear()
    leave_together(world, "job", "also", "moved")
    assert asked_walks(world) == [("mailer", "")] * 2 + [("other", "")] * 2


def test_a_bulk_write_that_crashes_anywhere_leaves_a_message_that_comes_past_its_commits() -> None:
    def check(world: World) -> None:
        world.run_until(world.clock.time + LEFT_DELAY_MS + 5 * SECOND_MS)
        left = [name for name in ("also", "job") if world.stored(name).definition.policy is None]
        assert sorted(delivered(world)) == left
        assert jobs_in_line(world) == sorted({"also", "job", "stays"} - set(left))

    kill_everywhere(
        lambda world: fill(world, "job", "also", "stays"),
        lambda world: leave_together(world, "job", "also"),
        check,
    )


def test_a_message_that_cannot_be_sent_refuses_one_job_of_a_bulk_write_and_the_next_one_sends_it() -> None:
    world = waiting_world("job", "also")
    world.work.sent.clear()
    failing(world, "work.send", times=1)
    leave_together(world, "job", "also")
    working(world)
    assert len(world.work.sent) == 2
    left = [name for name in ("also", "job") if world.stored(name).definition.policy is None]
    assert len(left) == 1
    world.run_until(world.clock.time + 5 * SECOND_MS)
    assert delivered(world) == left


def test_what_moves_to_another_policy_never_exceeds_its_limit() -> None:
    names = [f"job{number}" for number in range(4)]
    world = waiting_world(*names)
    taken: list[str] = []

    def note(call: str) -> None:
        if call in ("after permits.take", "before consumers.deliver"):
            taken.append(call)

    for name in names:
        world.patch(name, policy="other")
    world.announce = note
    world.run_until(world.clock.time + MINUTE)
    assert sorted(delivered(world)) == names
    assert taken[0] == "after permits.take", "a worker of the other policy delivers them"
    assert not jobs_in_line(world, OTHER)


def test_what_moves_to_another_missing_policy_waits_for_that_one() -> None:
    world = waiting_world("job")
    world.patch(policy="other")
    stored = world.policies.get(OTHER)
    assert stored is not None
    assert world.policies.put(replace(stored, version="deleted", deleted_at=NOON), stored.version)
    world.run_until(world.clock.time + 5 * MINUTE)
    assert (jobs_in_line(world), jobs_in_line(world, OTHER)) == ([], ["job"])
    world.patch(without=["policy"])
    world.run_until(world.clock.time + 5 * SECOND_MS)
    assert delivered(world) == ["job"]


def test_a_write_that_leaves_no_missing_policy_sends_no_work_message() -> None:
    world = waiting_world("job", "stays")
    assert world.policies.put(replace(policy(1), key=PolicyKey("ns", "third")), None)
    world.put("of-other", schedule=LIST, policy="other")
    world.work.sent.clear()
    world.patch("stays", labels={"a": "b"})
    world.patch("of-other", policy="third")
    world.patch("of-other", without=["policy"])
    assert not world.work.sent


def test_a_stack_without_flow_policies_sends_no_work_message() -> None:
    world = waiting_world("job")
    world.flow_functions_max = 0
    world.work.sent.clear()
    world.patch(without=["policy"])
    assert not world.work.sent


def test_an_api_function_that_crashes_anywhere_leaves_a_message_that_comes_past_its_commit() -> None:
    kill_everywhere(
        lambda world: fill(world, "job", "stays"),
        leaves,
        lambda world: check_job_is_where_it_belongs(world, LEFT_DELAY_MS + 5 * SECOND_MS),
    )


def test_a_message_that_cannot_be_sent_after_the_commit_does_not_fail_the_write() -> None:
    world = waiting_world("job")
    sent = count()

    def failing_second(call: str) -> None:
        if call == "before work.send" and next(sent) == 1:
            raise StoreError(call)

    world.announce = failing_second
    leaves(world)
    world.announce = quiet
    check_job_is_where_it_belongs(world, LEFT_DELAY_MS + 5 * SECOND_MS)
    assert delivered(world) == ["job"]


def test_a_trigger_that_comes_into_the_line_after_its_job_has_left_is_taken_out_too() -> None:
    world = waiting_world("job")
    [message] = waiting(world)
    leaves(world)
    world.run_until(world.clock.time + 60 * SECOND_MS)
    # A function had read the job before it left, and was slow.
    world.line_up().put(KEY, "normal", [second(message)], "source")
    world.run_until(world.clock.time + LEFT_DELAY_MS)
    assert delivered(world) == ["job", "job"]
    assert not waiting(world)


def test_a_job_that_left_a_policy_before_its_deletion_takes_what_waits_with_it() -> None:
    world = World()
    leave_before_deletion(world)
    writer = world.api().policy_writer
    writer.delete(KEY, who="me", requested_at=world.api_clock.now())
    world.run_until(world.clock.time + 5 * SECOND_MS)
    assert delivered(world) == ["job"]
    assert jobs_in_line(world) == ["stays"]


def test_a_deletion_of_the_policy_that_crashes_anywhere_forgets_nothing() -> None:
    def delete(world: World) -> None:
        writer = world.api().policy_writer
        writer.delete(KEY, who="me", requested_at=world.api_clock.now())

    def check(world: World) -> None:
        stored = world.policies.get(KEY)
        assert stored is not None
        if stored.deleted_at is not None:
            check_job_is_where_it_belongs(world, LEFT_DELAY_MS + 5 * SECOND_MS)

    kill_everywhere(leave_before_deletion, delete, check)


def asked_walks(world: World) -> list[tuple[str, str | None]]:
    """The policies and jobs of the work messages that were sent."""
    sent = [message for message, _ in world.work.sent]
    return sorted((each.policy, each.left_by) for each in sent if isinstance(each, WorkMessage))
