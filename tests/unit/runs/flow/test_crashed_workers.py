"""What a worker of a line has begun is not forgotten when it crashes, also if its job is deleted then."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import pytest
from tests.contract.builders import NOON, policy, trigger_message
from tests.fakes.acceptance import ACCEPTED
from tests.fakes.faults import Killed
from tests.fakes.world import World, key_of, quiet
from tests.unit.runs.flow import test_line_share
from tests.unit.runs.flow.test_line_worker import Flow

from sweephand.base.instants import HOUR_MS, MINUTE_MS, SECOND_MS, Instant
from sweephand.base.timing import ATTEMPT_CLAIM_MS, LINE_AHEAD_MS, LINE_CLAIM_MS
from sweephand.model.line import Holder, Line, StoredLine
from sweephand.model.policy import PolicyKey
from sweephand.model.policy_line import LineEntry, LinePlace, entry_of
from sweephand.model.run import Run
from sweephand.model.trigger import TriggerMessage
from sweephand.runs.flow.permit import Permit

KEY = PolicyKey("ns", "mailer")
PLACE = LinePlace(KEY, "normal", 1)
DEFAULT_PLACE = LinePlace(policy().key, "normal", 1)

#: Long after the claims of a worker that crashes at the beginning have ended, and its request's claim too.
LATER = NOON + 2 * ATTEMPT_CLAIM_MS


def entries(world: World) -> list[LineEntry]:
    return [entry for _, entry in world.policy_lines.everything()]


def wake(world: World) -> None:
    world.line_up().wake(KEY, world.clock.time)


def run_of(world: World, name: str = "job") -> Run:
    [run] = world.runs.page(key_of(name), None, "", 10).items
    return run


def begun(jobs: Sequence[str] = ("job",), limit: int = 1) -> World:
    """A worker has sent the request of the first of these jobs and crashed. Each has an entry of its own.

    An entry of a trigger that nobody owes has come in front of them since.
    """
    world = World()
    world.flow_functions_max = 4
    made = replace(policy(limit), key=KEY)
    assert world.policies.put(made, None)
    for name in jobs:
        world.put(name, dueTime="5s", policy="mailer", completion="async")
    # Triggers of a policy that was deleted wait in its line.
    deleted = replace(made, deleted_at=NOON, version="version000000002")
    assert world.policies.put(deleted, made.version)
    world.run_until(NOON + 6 * SECOND_MS, ticking=False)
    found = {each.trigger.key.name: each for entry in entries(world) for each in entry.messages}
    world.policy_lines.clear()
    for number, name in enumerate(jobs):
        world.policy_lines.put(PLACE, entry_of([found[name]], NOON + 5_000 + number, "message"))
    assert world.policies.put(replace(made, version="version000000003"), deleted.version)
    world.consumers.answering = lambda _: ACCEPTED

    def crashing(call: str) -> None:
        if call == "after consumers.deliver":
            raise Killed(call)

    world.announce = crashing
    wake(world)
    with pytest.raises(Killed):
        world.run_until(NOON + 10 * SECOND_MS, ticking=False)
    world.announce = quiet
    world.work.waiting.clear()
    stray = trigger_message(NOON, key_of("nobody"))
    world.policy_lines.put(PLACE, entry_of([stray], NOON, "stray"))
    # The holder of a worker that crashed lasts longer than the claim of the partition does.
    world.clock.time = LATER
    return world


def take_over_and_release(world: World) -> None:
    """Another worker takes the claim over and counts the crash for the entry in front. It goes no further."""
    top = world.policy_lines.top(PLACE, LATER, 1)
    claim = world.policy_lines.claim(PLACE, top.claim, "second", LATER + LINE_CLAIM_MS)
    assert claim is not None
    world.policy_lines.delete(PLACE, top.entries[0])
    assert world.policy_lines.renew(PLACE, claim._replace(owner=None), 0)


def test_the_run_that_a_crashed_worker_began_ends_after_its_job_was_deleted() -> None:
    world = begun()
    take_over_and_release(world)
    world.delete()
    wake(world)
    world.run_until(LATER + 5 * MINUTE_MS)
    assert run_of(world).state == "cancelled"
    assert not entries(world)
    assert len(world.consumers.attempts) == 1


def test_the_run_ends_though_its_entry_was_moved_into_a_partition_without_a_crash() -> None:
    world = begun()
    take_over_and_release(world)
    world.delete()
    [entry] = entries(world)
    world.policy_lines.delete(PLACE, entry)
    world.policy_lines.put(PLACE._replace(partition=2), entry._replace(may_be_begun=True))
    wake(world)
    world.run_until(LATER + 5 * MINUTE_MS)
    assert run_of(world).state == "cancelled"


def test_a_trigger_that_leaves_the_line_counts_a_crash_if_its_attempt_was_begun() -> None:
    world = begun(["job", "other"])
    take_over_and_release(world)
    for name in ("job", "other"):
        world.patch(name, without=["policy"])
    wake(world)
    world.run_until(LATER + 1, ticking=False)
    crashes = {
        message.trigger.key.name: message.crashes
        for _, message in world.queue.waiting
        if isinstance(message, TriggerMessage)
    }
    assert crashes == {"job": 1, "other": 0}
    world.delete()
    world.run_until(LATER + 5 * MINUTE_MS)
    assert run_of(world).state == "cancelled"
    assert run_of(world, "other").state == "running"


def refuse(world: World) -> None:
    """The claim of the run has not ended yet."""
    world.clock.time = NOON + 10 * SECOND_MS + LINE_CLAIM_MS


def hold_turn(world: World) -> None:
    """The job lets runs take turns since the crash, and another run has the turn."""
    world.patch(overlap="wait")
    job, other = world.stored(), trigger_message(NOON + 1)
    holder = Holder(other._replace(trigger=replace(other.trigger, key=job.key, uid=job.uid)), LATER)
    assert world.lines.put(StoredLine(job.key, job.uid, "version000000001", Line(holder)), None)


def use_up_limit(world: World) -> None:
    """The stack has a limit since the crash, and another trigger has used it up."""
    world.triggers_per_minute_max = 1
    # The message that frees the permit of the run would call a worker before that.
    world.queue.waiting.clear()
    world.put("other", dueTime="1s")
    world.run_until(LATER + 2 * SECOND_MS, ticking=False)
    assert world.consumers.attempts[-1].trigger.key == key_of("other")


def change(world: World) -> None:
    """The job has another policy once the run is claimed again, and its permit is of no use."""

    def changing(call: str) -> None:
        if call == "after runs.claim":
            world.announce = quiet
            world.clock.time += 2 * SECOND_MS
            world.patch(without=["policy"])

    world.announce = changing


@pytest.mark.parametrize("happen", [refuse, hold_turn, use_up_limit, change])
def test_a_trigger_whose_attempt_was_begun_counts_a_crash_when_it_has_to_wait_elsewhere(
    happen: Callable[[World], None],
) -> None:
    world = begun(limit=5)
    happen(world)
    take_over_and_release(world)
    wake(world)
    world.run_until(world.clock.time + 1, ticking=False)
    assert [
        message.crashes
        for _, message in world.queue.waiting
        if isinstance(message, TriggerMessage) and message.trigger.key == key_of()
    ] == [1]
    assert not entries(world)


def test_the_run_ends_if_its_job_is_deleted_during_a_pause_that_holds_its_trigger() -> None:
    world = begun()
    take_over_and_release(world)
    world.pause()
    wake(world)
    world.run_until(LATER + MINUTE_MS)
    assert [message.crashes for entry in entries(world) for message in entry.messages] == [1]
    world.delete()
    world.run_until(LATER + HOUR_MS)
    assert run_of(world).state == "cancelled"
    assert not entries(world)


def reads_of(due_before: int, due_after: int) -> int:
    """How often runs are read when jobs are deleted, of which so many were due before the crash ended."""
    names = [f"job-{number}" for number in range(due_before + due_after)]
    world = begun(names)
    take_over_and_release(world)
    claim = world.policy_lines.top(PLACE, LATER, 1).claim
    assert claim is not None
    for entry in entries(world)[due_before:]:
        world.policy_lines.delete(PLACE, entry)
        world.policy_lines.put(PLACE, entry._replace(at=claim.crashed_until + LINE_AHEAD_MS))
    for name in names:
        world.delete(name)
    calls: list[str] = []
    world.announce = calls.append
    wake(world)
    world.run_until(LATER + 5 * MINUTE_MS)
    assert not entries(world)
    assert run_of(world, names[0]).state == "cancelled"
    return calls.count("before runs.of")


def test_only_what_was_due_before_the_crash_costs_a_read_when_its_job_is_deleted() -> None:
    assert reads_of(5, 0) == reads_of(5, 4) == reads_of(2, 4) + 3


@dataclass
class Watched(Flow):
    """A line. It notes of which triggers the permits say that a worker that has ended may have begun them."""

    may_be_begun: dict[Instant, bool] = field(default_factory=dict)

    def deliver(self, message: TriggerMessage, permit: Permit, deadline: Instant) -> bool:
        self.may_be_begun[message.not_before - NOON] = permit.may_be_begun
        return super().deliver(message, permit, deadline)


def watched(*dues: Instant) -> Watched:
    """A line of one partition, with an entry for each of these due times after noon."""
    scene = Watched()
    assert scene.policies.put(policy(1), None)
    for due_at in dues:
        scene.lines.put(
            DEFAULT_PLACE, entry_of([trigger_message(NOON + due_at)], NOON + due_at, f"source{due_at}")
        )
    return scene


def test_every_entry_that_a_crashed_worker_may_have_taken_up_says_so() -> None:
    scene = watched(-5, 0, 7, LINE_AHEAD_MS - 1, LINE_AHEAD_MS, LINE_AHEAD_MS + 9)
    assert scene.lines.claim(DEFAULT_PLACE, None, "crashed", NOON)
    scene.clock.time = NOON + 2 * LINE_AHEAD_MS
    scene.work()
    assert scene.may_be_begun == {
        -5: True, 0: True, 7: True, LINE_AHEAD_MS - 1: True, LINE_AHEAD_MS: False, LINE_AHEAD_MS + 9: False
    }  # fmt: skip


def test_a_crash_is_remembered_by_those_who_claim_the_partition_after_the_next_one() -> None:
    scene = watched(-5, 7)
    assert scene.lines.claim(DEFAULT_PLACE, None, "crashed", NOON)
    scene.clock.time = NOON + 2 * LINE_AHEAD_MS
    scene.work()
    top = scene.lines.top(DEFAULT_PLACE, NOON, 1)
    assert top.claim is not None
    assert top.claim.owner is None
    scene.may_be_begun.clear()
    scene.lines.put(DEFAULT_PLACE, entry_of([trigger_message(NOON + 7)], NOON + 7, "again"))
    scene.lines.put(DEFAULT_PLACE, entry_of([trigger_message(NOON + 2_000)], NOON + 2_000, "new"))
    scene.work()
    assert scene.may_be_begun == {7: True, 2_000: False}


@pytest.mark.parametrize("may_be_begun", [False, True])
def test_a_worker_that_leaves_notes_what_it_has_begun_and_says_of_the_rest_what_the_entry_said(
    *, may_be_begun: bool
) -> None:
    scene = watched()
    messages = [trigger_message(NOON + after) for after in (0, 1, 5_000)]
    entry = entry_of(messages, NOON, "message")._replace(may_be_begun=may_be_begun)
    scene.lines.put(DEFAULT_PLACE, entry)
    scene.clock.time = NOON + 10
    scene.work_in_vain()
    found = {
        message.not_before - NOON: entry.may_be_begun
        for _, entry in scene.lines.everything()
        for message in entry.messages
    }
    assert found == {0: True, 1: may_be_begun, 5_000: may_be_begun}


@pytest.mark.parametrize("wanted", [6, 90], ids=["not taken up", "waiting in the worker"])
@pytest.mark.parametrize("has_crashed", [False, True])
def test_what_a_crashed_worker_may_have_begun_still_says_so_in_other_partitions(
    wanted: int, *, has_crashed: bool
) -> None:
    crashed_until = NOON + MINUTE_MS if has_crashed else None
    packs = [test_line_share.triggers(first, 10) for first in range(0, 90, 10)]
    scene = test_line_share.Scene(packs, wanted, crashed_until)
    # The entry of the crash became one of each trigger. The worker learns how large the others are.
    for _ in range(3):
        scene.walk.read_ahead(test_line_share.POLICY, wanted, lambda: True)
    assert scene.walk.share(test_line_share.POLICY, 2, enough=12) == 2
    moved = [
        entry
        for place, entry in scene.lines.everything()
        if place.partition != test_line_share.PLACE.partition
    ]
    assert moved
    assert {each.may_be_begun for each in moved} == {has_crashed}
