"""Walks of the line of a missing policy, for triggers whose jobs have left: none is lost or taken twice."""

from dataclasses import replace

from tests.fakes.faults import kill_everywhere
from tests.fakes.world import NOON, World, quiet
from tests.unit.runs.flow.leaving import (
    ANY,
    ONE,
    OTHER,
    PLACE,
    claimed,
    delivered,
    fill,
    job_run,
    jobs_in_line,
    leaves,
    pack,
    second,
    together_in_entries,
    waiting_world,
)
from tests.unit.runs.flow.test_under_policies import KEY, MINUTE, waiting

from sweephand.base.instants import SECOND_MS
from sweephand.base.timing import LEFT_AGAIN_MS, LEFT_DELAY_MS, LINE_CLAIM_MS, UNKNOWN_GRACE_MS
from sweephand.jobs.policies import PolicyLimits
from sweephand.model.policy import PARTITIONS_MAX, PARTITIONS_MIN
from sweephand.model.policy_line import LinePlace, entry_of
from sweephand.model.trigger import TriggerMessage
from sweephand.model.work_message import WorkMessage


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
            # A message that comes again does not wait for its turn.
            taken.append(world.work_off(ONE._replace(left_by="also"), receives=2).left)

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
    [place] = [
        place
        for place, entry in world.policy_lines.everything()
        if entry.messages[0].trigger.key.name == "job"
    ]
    world.work_off(ANY)
    assert not claimed(world)
    leaves(world)
    world.work_off(ONE)
    assert claimed(world) == [place]


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
    writer = world.api().policy_writer

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
    writer = world.api().policy_writer
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
    assert rest.after == [entry.sort_key for _, entry in world.policy_lines.everything()][19]
    world.announce = quiet
    world.run_until(world.clock.time + MINUTE)
    assert delivered(world) == ["job"]
    assert jobs_in_line(world) == ["stays"] * 25


def test_a_walk_of_empty_partitions_ends_in_time_and_goes_on_in_another_call() -> None:
    world = waiting_world("job")
    world.policy_lines.clear()
    world.work.waiting.clear()
    calls: list[int] = []

    def slow(call: str) -> None:
        if call == "after policy_lines.page":
            world.clock.time += 11 * SECOND_MS
            calls.append(world.clock.time)

    world.announce = slow
    begun_at = world.clock.time
    world.work_off(ANY)
    assert calls[-1] <= begun_at + 66 * SECOND_MS
    [(_, rest)] = world.work.waiting
    assert isinstance(rest, WorkMessage)
    assert (rest.hint, rest.after) == ((6 // PARTITIONS_MIN, 6 % PARTITIONS_MIN), "")


def test_a_walk_goes_on_behind_the_last_entry_that_it_has_taken_out() -> None:
    world = waiting_world("job", "stays")
    found = {each.trigger.key.name: each for each in waiting(world)}
    world.policy_lines.clear()
    for number in range(8):
        gone = second(found["job"], number)
        world.policy_lines.put(PLACE, entry_of([gone, second(found["stays"], number)], NOON + number, "s"))
    leaves(world)
    world.work.waiting.clear()

    def slow(call: str) -> None:
        if call == "after policy_lines.delete":
            world.clock.time += 21 * SECOND_MS

    world.announce = slow
    assert world.work_off(ANY._replace(hint=(1, PLACE.partition))).left == 3
    [(_, rest)] = world.work.waiting
    assert isinstance(rest, WorkMessage)
    world.announce = quiet
    assert world.work_off(rest).left == 5
    assert jobs_in_line(world) == ["stays"] * 8


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
