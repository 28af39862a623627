"""Jobs that leave a policy which is missing: what waits in its line goes with them, and nothing is lost."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count

import pytest
from tests.contract.builders import policy
from tests.fakes.faults import calls_of, kill_everywhere
from tests.fakes.world import NOON, World, definition, key_of, quiet
from tests.unit.runs.flow.test_under_policies import KEY, MINUTE, waiting

from sweephand.base.errors import StoreError
from sweephand.base.instants import SECOND_MS
from sweephand.base.timing import LEFT_AGAIN_MS, LEFT_DELAY_MS, LINE_CLAIM_MS, UNKNOWN_GRACE_MS
from sweephand.jobs.bulk_write import JobToWrite
from sweephand.jobs.policies import PolicyLimits
from sweephand.model.policy import PARTITIONS_MAX, PolicyKey
from sweephand.model.policy_line import LinePlace, entry_of
from sweephand.model.run import Run
from sweephand.model.trigger import TriggerMessage
from sweephand.model.work_message import WorkMessage

#: Its first instant is past, and its second one far ahead.
LIST = ["2026-11-21T12:00:05Z", "2027-11-21T12:10:00Z"]

OTHER = PolicyKey("ns", "other")
PLACE = LinePlace(KEY, "normal", 1)

#: A walk for any job, and one for the job `job`.
ANY = WorkMessage("ns", "mailer", NOON, left_by="")
ONE = ANY._replace(left_by="job")


def delete_policy(world: World) -> None:
    """Delete the policy as the API does, and forget the work messages of that."""
    writer = world.app(world.api_clock).policies.policy_writer
    writer.delete(KEY, who="me", requested_at=world.api_clock.now())
    world.work.waiting.clear()


def fill(world: World, *names: str) -> None:
    """Let a trigger of each job wait in the line of a missing policy."""
    world.flow_functions_max = 4
    for key in (KEY, OTHER):
        assert world.policies.put(replace(policy(1), key=key), None)
    for name in names:
        world.put(name, schedule=LIST, policy="mailer")
    delete_policy(world)
    world.run_until(NOON + MINUTE)
    assert len(waiting(world)) == len(names)


def waiting_world(*names: str) -> World:
    world = World()
    fill(world, *names)
    return world


def leave_before_deletion(world: World) -> None:
    """Let a policy have a backlog, and one of the jobs leave it. Nobody walks it now."""
    fill(world, "job", "stays")
    stored = world.policies.get(KEY)
    assert stored is not None
    assert world.policies.put(replace(stored, version="again", deleted_at=None), stored.version)
    world.work.waiting.clear()
    leaves(world)
    assert not world.work.waiting


def pack(world: World) -> LinePlace:
    """Let all triggers that wait stand in one entry."""
    messages = waiting(world)
    world.policy_lines.clear()
    world.policy_lines.put(PLACE, entry_of(messages, NOON, "source"))
    return PLACE


def together_in_entries(world: World) -> LinePlace:
    """Let all triggers that wait stand in one partition, each in an entry of its own."""
    messages = waiting(world)
    world.policy_lines.clear()
    for each in messages:
        world.policy_lines.put(PLACE, entry_of([each], NOON, "source"))
    return PLACE


def second(message: TriggerMessage, number: int = 0) -> TriggerMessage:
    """Another trigger of the same revision."""
    trigger = message.trigger
    return message._replace(trigger=replace(trigger, due_at=trigger.due_at - 1 - number))


def job_run(world: World, message: TriggerMessage) -> Run:
    """The run of a trigger, as a function claims it."""
    app = world.app(world.delivery_clock)
    return app.handlers.triggers._claims.run_of(message, world.clock.time)


def check_job_is_where_it_belongs(world: World, within_ms: int) -> None:
    """The trigger of `job` was delivered once if the job has left, and else it waits; `stays` waits."""
    world.run_until(world.clock.time + within_ms)
    has_left = world.stored().definition.policy is None
    assert delivered(world) == (["job"] if has_left else [])
    assert jobs_in_line(world) == ([] if has_left else ["job"]) + ["stays"] * world.has_job("stays")


def jobs_in_line(world: World, key: PolicyKey = KEY) -> list[str]:
    return sorted(
        each.trigger.key.name
        for place, entry in world.policy_lines.everything()
        for each in entry.messages
        if place.policy == key
    )


def delivered(world: World) -> list[str]:
    return [each.trigger.key.name for each in world.consumers.attempts]


def leaves(world: World) -> None:
    world.patch(without=["policy"])


def moves(world: World) -> None:
    world.patch(policy="other")


def is_replaced(world: World) -> None:
    world.put(schedule=LIST, labels={"a": "b"}, policy="other")


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
    wanted = [JobToWrite(key_of(name), definition(schedule=LIST)) for name in names]
    now = world.api_clock.now()
    world.app(world.api_clock).bulk_writer.put(wanted, caller="me", requested_at=now)
    world.run_until(world.clock.time + 5 * SECOND_MS)
    assert sorted(delivered(world)) == names


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
    world.app(world.delivery_clock).flow.line_up.put(KEY, "normal", [second(message)], "source")
    world.run_until(world.clock.time + LEFT_DELAY_MS)
    assert delivered(world) == ["job", "job"]
    assert not waiting(world)


def test_a_job_that_left_a_policy_before_its_deletion_takes_what_waits_with_it() -> None:
    world = World()
    leave_before_deletion(world)
    writer = world.app(world.api_clock).policies.policy_writer
    writer.delete(KEY, who="me", requested_at=world.api_clock.now())
    world.run_until(world.clock.time + 5 * SECOND_MS)
    assert delivered(world) == ["job"]
    assert jobs_in_line(world) == ["stays"]


def test_a_deletion_of_the_policy_that_crashes_anywhere_forgets_nothing() -> None:
    def delete(world: World) -> None:
        writer = world.app(world.api_clock).policies.policy_writer
        writer.delete(KEY, who="me", requested_at=world.api_clock.now())

    def check(world: World) -> None:
        stored = world.policies.get(KEY)
        assert stored is not None
        if stored.deleted_at is not None:
            check_job_is_where_it_belongs(world, LEFT_DELAY_MS + 5 * SECOND_MS)

    kill_everywhere(leave_before_deletion, delete, check)


def test_a_walk_that_crashes_anywhere_is_repeated_and_nothing_is_lost() -> None:
    def prepare(world: World) -> None:
        fill(world, "job", "stays", "moved")
        pack(world)
        world.patch("job", without=["policy"])
        world.patch("moved", policy="other")
        world.work.waiting.clear()

    def check(world: World) -> None:
        before = len(world.consumers.attempts)
        # SQS shows the message again when the function has ended for certain.
        world.work.send(ANY, 180 * SECOND_MS)
        world.run_until(world.clock.time + 5 * MINUTE)
        assert set(delivered(world)) == {"job", "moved"}
        assert jobs_in_line(world) == ["stays"]
        assert not jobs_in_line(world, OTHER)
        assert before == 0

    kill_everywhere(prepare, lambda world: world.work_off(ANY), check)


def test_two_walks_of_one_entry_take_each_trigger_out_once() -> None:
    world = waiting_world("job", "also")
    pack(world)
    for name in ("job", "also"):
        world.patch(name, without=["policy"])
    taken: list[int] = []

    def during(call: str) -> None:
        if call == "before queue.send":
            world.announce = quiet
            taken.append(world.work_off(ONE._replace(left_by="also")).left)

    world.announce = during
    taken.append(world.work_off(ONE).left)
    assert taken == [0, 2]
    assert len(world.queue.waiting) == 2
    world.run_until(world.clock.time + LEFT_DELAY_MS + MINUTE)
    assert sorted(delivered(world)) == ["also", "job"]
    assert not waiting(world)


def test_a_partition_that_another_worker_walks_is_left_to_it_and_looked_at_again() -> None:
    world = waiting_world("job")
    [(place, _)] = world.policy_lines.everything()
    claim = world.policy_lines.claim(place, None, "other", world.clock.time + LINE_CLAIM_MS)
    assert claim is not None
    leaves(world)
    now = world.clock.time
    world.run_until(now + LINE_CLAIM_MS - 1)
    assert not delivered(world)
    assert world.policy_lines.renew(place, claim._replace(owner=None), 0)
    world.run_until(now + LINE_CLAIM_MS + LEFT_AGAIN_MS)
    assert delivered(world) == ["job"]


def test_a_claim_is_taken_only_where_a_job_has_left() -> None:
    world = waiting_world("job", "stays")
    calls = calls_of(world, lambda: world.work_off(ANY))
    assert "before policy_lines.claim" not in calls
    leaves(world)
    calls = calls_of(world, lambda: world.work_off(ONE))
    assert calls.count("after policy_lines.claim") == 1


def test_a_claim_that_was_lost_ends_the_walk_of_its_partition() -> None:
    world = waiting_world("job", "also")
    place = together_in_entries(world)
    for name in ("job", "also"):
        world.patch(name, without=["policy"])
    world.work.waiting.clear()

    def stands_still(call: str) -> None:
        if call == "before queue.send":
            world.announce = quiet
            world.clock.time += LINE_CLAIM_MS + 1
            seen = world.policy_lines.top(place, 0, 1).claim
            assert world.policy_lines.claim(place, seen, "other", world.clock.time + LINE_CLAIM_MS)

    world.announce = stands_still
    assert world.work_off(ANY).left == 1
    assert len(waiting(world)) == 1
    world.run_until(world.clock.time + LINE_CLAIM_MS + 2 * LEFT_AGAIN_MS)
    assert sorted(delivered(world)) == ["also", "job"]


def test_a_request_that_may_still_be_open_is_waited_for() -> None:
    world = waiting_world("job")
    [message] = waiting(world)
    world.policy_lines.clear()
    until = world.clock.time + 100 * SECOND_MS
    # A worker that had begun the trigger has left, since the policy is missing.
    opened = entry_of([message], until, "source")._replace(may_be_begun=True)
    world.policy_lines.put(PLACE, opened)
    leaves(world)
    world.run_until(until)
    assert not delivered(world)
    world.run_until(until + LEFT_DELAY_MS)
    assert delivered(world) == ["job"]


def test_what_a_crashed_worker_had_begun_says_so_outside_the_line() -> None:
    world = waiting_world("job")
    [message] = waiting(world)
    world.policy_lines.clear()
    world.policy_lines.put(PLACE, entry_of([message], message.not_before, "source"))
    assert world.policy_lines.claim(PLACE, None, "crashed", world.clock.time + 1)
    world.clock.time += 2
    world.runs.claim(job_run(world, message), world.clock.time)
    leaves(world)
    world.work_off(ONE)
    [(_, sent)] = world.queue.waiting
    assert isinstance(sent, TriggerMessage)
    assert sent.crashes == 1


def test_triggers_of_a_deleted_job_are_dropped_by_a_walk_that_meets_them() -> None:
    world = waiting_world("job", "stays")
    world.delete("job")
    world.clock.time += UNKNOWN_GRACE_MS
    assert world.work_off(ANY).left == 1
    assert jobs_in_line(world) == ["stays"]
    assert not world.queue.waiting


def test_a_deleted_job_that_may_be_committed_still_or_has_a_run_is_left_to_the_delivery() -> None:
    world = waiting_world("job")
    [message] = waiting(world)
    world.delete("job")
    world.policy_lines.clear()
    retry = message._replace(attempt=2, first_attempt_at=NOON)
    young = message._replace(trigger=replace(message.trigger, armed_at=world.clock.time))
    world.policy_lines.put(PLACE, entry_of([retry, young], NOON, "source"))
    assert world.work_off(ANY).left == 2
    assert len(world.queue.waiting) == 2


def test_a_policy_that_is_created_again_during_the_walk_is_walked_afterwards() -> None:
    world = waiting_world("job", "stays")
    pack(world)
    writer = world.app(world.api_clock).policies.policy_writer

    def recreate(call: str) -> None:
        if call == "before queue.send":
            world.announce = quiet
            writer.put(KEY, PolicyLimits(1, None), who="me", requested_at=world.api_clock.now())
            # Its workers find the partition claimed, and leave.
            while (message := world.work.take()) is not None:
                world.work_off(message)

    leaves(world)
    world.work.waiting.clear()
    world.announce = recreate
    world.work_off(ONE)
    waits = [message for at, message in world.work.waiting if at <= world.clock.time]
    assert WorkMessage("ns", "mailer", world.clock.time) in waits
    world.run_until(world.clock.time + MINUTE)
    assert sorted(delivered(world)) == ["job", "stays"]


def test_the_message_of_a_policy_that_exists_again_has_its_line_walked_with_permits() -> None:
    world = waiting_world("job")
    leaves(world)
    writer = world.app(world.api_clock).policies.policy_writer
    writer.put(KEY, PolicyLimits(1, None), who="me", requested_at=world.api_clock.now())
    assert world.work_off(ONE).outcome == "walked"
    world.run_until(world.clock.time + MINUTE)
    assert delivered(world) == ["job"]


def test_a_walk_reads_beyond_what_stays_and_goes_on_in_another_call_when_its_time_is_up() -> None:
    world = waiting_world("job", "stays")
    found = {each.trigger.key.name: each for each in waiting(world)}
    world.policy_lines.clear()
    staying = [second(found["stays"], number) for number in range(25)]
    for number, each in enumerate(staying):
        world.policy_lines.put(PLACE, entry_of([each], NOON + number, "source"))
    world.policy_lines.put(PLACE, entry_of([found["job"]], NOON + 100, "source"))
    leaves(world)
    world.work.waiting.clear()

    def slow(call: str) -> None:
        if call == "after policy_lines.page":
            world.clock.time += 40 * SECOND_MS

    world.announce = slow
    world.work_off(ANY._replace(hint=(1, PLACE.partition)))
    [(_, rest)] = world.work.waiting
    assert isinstance(rest, WorkMessage)
    assert (rest.left_by, rest.hint) == ("", (1, PLACE.partition))
    assert rest.after == [entry.sort_key for _, entry in world.policy_lines.everything()][9]
    world.announce = quiet
    world.run_until(world.clock.time + MINUTE)
    assert delivered(world) == ["job"]
    assert jobs_in_line(world) == ["stays"] * 25


def test_the_rest_of_a_walk_begins_behind_the_entry_that_was_reached() -> None:
    world = waiting_world("job")
    [message] = waiting(world)
    world.policy_lines.clear()
    early, late = (entry_of([second(message, number)], NOON + number, "source") for number in range(2))
    for each in (early, late):
        world.policy_lines.put(PLACE, each)
    leaves(world)
    assert world.work_off(ANY._replace(hint=(1, 1), after=early.sort_key)).left == 1
    assert [entry for _, entry in world.policy_lines.everything()] == [early]
    assert world.work_off(ANY._replace(hint=(1, 2))).left == 0
    assert world.work_off(ANY._replace(hint=(0, 3))).left == 1


def test_the_line_of_a_policy_without_a_record_is_walked_in_every_partition() -> None:
    world = waiting_world("job")
    [message] = waiting(world)
    world.policy_lines.clear()
    last = LinePlace(KEY, "low", PARTITIONS_MAX - 1)
    world.policy_lines.put(last, entry_of([message], NOON, "source"))
    world.policies._policies.pop(KEY)
    leaves(world)
    world.run_until(world.clock.time + 5 * SECOND_MS)
    assert delivered(world) == ["job"]
