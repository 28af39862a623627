"""Triggers of jobs with a policy: into its line, through a worker to the consumer, and out of it."""

from dataclasses import replace
from typing import Any

import pytest
from tests.contract.builders import policy
from tests.fakes.acceptance import ACCEPTED
from tests.fakes.faults import failing, working
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import StoreError
from sweephand.base.timing import ATTEMPT_CLAIM_MS, DEADLINE_GRACE_MS
from sweephand.jobs.policies import PolicyLimits
from sweephand.model.attempt import Answer
from sweephand.model.policy import PermitHolder, PolicyKey, Rate
from sweephand.model.run import Run
from sweephand.model.run_id import Counts
from sweephand.model.trigger import TriggerMessage

KEY = PolicyKey("ns", "mailer")
MINUTE = 60_000
OK = Answer(succeeded=True, code=204)


def world_with(concurrent_max: int | None = 5, **changed: Any) -> World:
    """A world with the policy `mailer`."""
    world = World()
    world.flow_functions_max = 4
    assert world.policies.put(replace(policy(concurrent_max), key=KEY, **changed), None)
    return world


def waiting(world: World) -> list[TriggerMessage]:
    return [each for _, entry in world.policy_lines.everything() for each in entry.messages]


def away(world: World) -> list[str]:
    return [each for holder in holders(world) for each in holder.in_use(world.clock.time)]


def holders(world: World) -> list[PermitHolder]:
    return list(world.permits.holders(KEY, 0))


def run_of(world: World, name: str = "job") -> Run:
    [run] = world.runs.page(key_of(name), None, "", 10).items
    return run


def test_a_trigger_that_is_due_soon_goes_through_the_line_and_is_delivered_once_at_its_time() -> None:
    world = world_with()
    world.put(dueTime="20s", policy="mailer")
    world.run_until(NOON + 2 * MINUTE)
    assert world.consumers.times == [NOON + 20_000]
    assert not waiting(world)
    assert not world.queue.waiting
    assert all(each.owner is None and not each.away for each in holders(world))


def test_a_sweeper_puts_triggers_into_the_line_and_none_into_the_delivery_queue() -> None:
    world = world_with()
    for number in range(30):
        world.put(f"job{number}", dueTime="10m", policy="mailer", priority="high")
    world.put("other", dueTime="10m")
    world.run_until(NOON + 8 * MINUTE + 1)
    assert len(waiting(world)) == 30
    assert {place.priority for place, _ in world.policy_lines.everything()} == {"high"}
    assert [message.trigger.key.name for _, message in world.queue.waiting] == ["other"]  # type: ignore[union-attr]
    world.run_until(NOON + 12 * MINUTE)
    assert len(world.consumers.ids) == len(set(world.consumers.ids)) == 31
    assert set(world.consumers.times) == {NOON + 10 * MINUTE}
    assert not waiting(world)


def test_the_sweeper_repeats_a_turn_into_the_same_entries() -> None:
    world = world_with()
    for number in range(5):
        world.put(f"job{number}", dueTime="10m", policy="mailer")
    world.clock.time = NOON + 8 * MINUTE

    def failing(call: str) -> None:
        if call == "before leases.release":
            raise StoreError("the test asks")

    world.announce = failing
    with pytest.raises(ExceptionGroup):
        world.sweep()
    before = world.policy_lines.everything()
    world.announce = lambda _: None
    world.clock.time += MINUTE
    world.sweep()
    assert world.policy_lines.everything() == before
    assert len(waiting(world)) == 5


def test_triggers_of_a_policy_that_was_deleted_wait_until_it_is_there_again() -> None:
    world = world_with(deleted_at=NOON)
    world.put(dueTime="5s")
    stored = world.stored()
    written = {**stored.definition.written, "policy": "mailer"}
    changed = replace(stored, definition=replace(stored.definition, written=written), version="v2")
    assert world.jobs.put(changed, stored.version)
    world.run_until(NOON + MINUTE)
    assert not world.consumers.times
    assert len(waiting(world)) == 1
    again = replace(policy(5), key=KEY, version="version000000002")
    assert world.policies.put(again, "version000000001")
    world.line_up().wake(KEY, world.clock.time)
    world.run_until(NOON + 2 * MINUTE)
    assert len(world.consumers.times) == 1


def test_a_failed_attempt_frees_its_permit_and_its_retry_goes_through_the_line() -> None:
    world = world_with(1)
    answers = [Answer(succeeded=False, code=500), OK]
    world.consumers.answering = lambda _: answers.pop(0)
    world.put(dueTime="5s", policy="mailer")
    world.run_until(NOON + 5 * MINUTE)
    assert [each.number for each in world.consumers.attempts] == [1, 2]
    assert run_of(world).state == "succeeded"
    assert not waiting(world)
    assert not world.queue.waiting


def test_a_job_that_leaves_its_policy_is_delivered_without_it() -> None:
    world = world_with(1, deleted_at=None)
    world.put(dueTime="10m", policy="mailer")
    world.run_until(NOON + 8 * MINUTE + 1)
    assert waiting(world)
    stored = world.stored()
    definition = replace(stored.definition, written={"target": stored.definition.written["target"]})
    assert world.jobs.put(replace(stored, definition=definition, version="v2"), stored.version)
    world.run_until(NOON + 11 * MINUTE)
    assert len(world.consumers.times) == 1
    assert not waiting(world)


@pytest.mark.parametrize("is_created_again", [False, True])
def test_a_raised_rate_is_in_force_within_seconds_also_if_the_next_token_was_an_hour_away(
    *, is_created_again: bool
) -> None:
    world = world_with(None, rate=Rate(1, 60 * MINUTE))
    for number in range(3):
        world.put(f"job{number}", dueTime="5s", policy="mailer")
    world.run_until(NOON + MINUTE)
    assert len(world.consumers.times) == 1
    writer, asked = world.api().policy_writer, world.api_clock.now()
    if is_created_again:
        writer.delete(KEY, who="me", requested_at=asked)
    writer.put(KEY, PolicyLimits(None, Rate(10, 1_000)), who="me", requested_at=asked)
    world.run_until(NOON + MINUTE + 5_000)
    assert len(world.consumers.times) == 3
    assert not waiting(world)


def test_a_deleted_job_s_trigger_leaves_the_line() -> None:
    world = world_with()
    world.put(dueTime="10m", policy="mailer")
    world.run_until(NOON + 9 * MINUTE)
    world.delete()
    world.run_until(NOON + 11 * MINUTE)
    assert not world.consumers.times
    assert not waiting(world)


def test_a_request_whose_slot_has_passed_does_not_leave_and_the_trigger_is_the_next_one() -> None:
    world = world_with(None, rate=Rate(10, 1_000))
    delays = [60, 0, 0]

    def connecting() -> None:
        world.clock.time += delays.pop(0) + 100 if delays else 0

    world.consumers.connecting = connecting
    world.put(dueTime="5s", policy="mailer")
    world.run_until(NOON + MINUTE)
    assert len(world.consumers.times) == 1
    assert len(delays) < 2, "the first connection was made too late for its slot"


def asynchronous(concurrent_max: int = 1, jobs: int = 1) -> World:
    world = world_with(concurrent_max)
    world.consumers.answering = lambda _: ACCEPTED
    for number in range(jobs):
        world.put(f"job{number}" if number else "job", dueTime="5s", policy="mailer", completion="async")
    world.run_until(NOON + 30_000)
    return world


def test_triggers_count_as_waiting_until_all_that_came_into_the_line_with_them_are_over() -> None:
    world = world_with(1)
    world.put(dueTime="10m", batch={"count": 3}, policy="mailer")
    seen: list[tuple[int, int]] = []

    def looking(_: object) -> Answer:
        use = world.api().policy_reader.get(KEY, world.clock.time).use
        assert use is not None
        seen.append((use.in_use, use.waiting))
        return OK

    world.consumers.answering = looking
    world.run_until(NOON + 11 * MINUTE)
    assert seen == [(1, 3)] * 3
    looking(None)
    assert seen[-1] == (0, 0)


def test_an_asynchronous_run_holds_its_permit_until_it_is_completed() -> None:
    world = asynchronous(jobs=2)
    assert len(world.consumers.times) == 1
    assert len(away(world)) == 1
    assert len(waiting(world)) == 1
    first = next(run for name in ("job", "job1") for run in world.runs.page(key_of(name), None, "", 9).items)
    world.callbacks().complete(first.key, first.run_id, first.token)
    assert not away(world)
    world.run_until(NOON + MINUTE)
    assert len(world.consumers.times) == 2
    assert not waiting(world)


def test_asynchronous_runs_use_more_permits_than_the_functions_of_the_stack_can_hold() -> None:
    world = world_with(40)
    world.flow_functions_max = 1
    world.consumers.answering = lambda _: ACCEPTED
    world.put(dueTime="5s", policy="mailer", completion="async", batch={"count": 40})
    world.run_until(NOON + 30_000)
    view = world.api().policy_reader.get(KEY, world.clock.time)
    assert view.use is not None
    assert (view.effective_max, view.use.in_use) == (10, 40)


@pytest.mark.parametrize("how", ["fail", "cancel", "silence"])
def test_a_run_that_ends_in_another_way_frees_its_permit(how: str) -> None:
    world = asynchronous()
    run = run_of(world)
    assert len(away(world)) == 1
    if how == "fail":
        world.callbacks().fail(run.key, run.run_id, run.token, reason="no", is_final=True)
    elif how == "cancel":
        world.callbacks().cancel(run.key, run.run_id, "me")
    world.run_until(NOON + 6 * MINUTE if how == "silence" else NOON + MINUTE)
    if how == "silence":
        assert len(world.consumers.times) == 2, "the retry holds a permit of its own"
        assert len(away(world)) == 1
    else:
        assert not away(world)


def test_any_answer_but_202_frees_the_permit_at_once() -> None:
    world = world_with(1)
    world.put(dueTime="5s", policy="mailer", completion="async")
    world.run_until(NOON + 10_000)
    assert run_of(world).state == "succeeded"
    assert not away(world)
    world.run_until(NOON + 10 * MINUTE)
    assert not world.queue.waiting


@pytest.mark.parametrize(
    "call", ["after permits.enter", "before consumers.deliver", "after consumers.deliver"]
)
def test_a_permit_of_a_function_that_crashed_is_freed_when_its_claim_has_ended(call: str) -> None:
    world = world_with(1)
    world.consumers.answering = lambda _: ACCEPTED
    world.put(dueTime="5s", policy="mailer", completion="async")

    class Crashed(BaseException):
        pass

    def crashing(announced: str) -> None:
        if announced == call:
            world.announce = lambda _: None
            raise Crashed

    world.announce = crashing
    with pytest.raises(Crashed):
        world.run_until(NOON + 30_000)
    assert len(away(world)) == 1
    # SQS shows the work message again.
    world.line_up().wake(KEY, NOON + 180_000)
    world.run_until(NOON + 5_000 + ATTEMPT_CLAIM_MS + DEADLINE_GRACE_MS + 3 * MINUTE)
    assert run_of(world).state == "running"
    assert len(away(world)) == 1, "only the second attempt at the request holds one"


def test_a_batch_under_a_policy_has_exact_progress_and_marks_the_runs_of_an_entry_together() -> None:
    world, calls = world_with(), list[str]()
    told = {"type": "http", "url": "https://told.example/end"}
    world.put(dueTime="10m", batch={"count": 40}, policy="mailer", onComplete=told)
    world.consumers.answering = lambda each: Answer(each.trigger.index != 7, code=422, is_final=True)
    world.announce = calls.append
    world.run_until(NOON + 15 * MINUTE)
    head = world.batches.find(key_of(), NOON + 10 * MINUTE, None)
    assert head is not None
    assert head.counts == Counts(39, 1)
    assert [each.ends_batch for each in world.consumers.attempts if each.ended_after is not None] == [True]
    assert calls.count("before batches.mark") <= 10
    assert not waiting(world)


def test_a_trigger_whose_mark_was_not_written_stays_in_the_line_and_is_marked_later() -> None:
    world = world_with()
    world.put(dueTime="10m", batch={"count": 3}, policy="mailer")
    world.run_until(NOON + 8 * MINUTE + 1)
    assert len(waiting(world)) == 3
    failing(world, "batches.mark")
    with pytest.raises(AssertionError, match="not done"):
        world.run_until(NOON + 10 * MINUTE + 1)
    assert len(waiting(world)) == 3
    working(world)
    world.run_until(NOON + 14 * MINUTE)
    world.line_up().wake(KEY, world.clock.time)
    world.run_until(NOON + 20 * MINUTE)
    head = world.batches.find(key_of(), NOON + 10 * MINUTE, None)
    assert head is not None
    assert head.counts == Counts(3)
    assert not waiting(world)


@pytest.mark.parametrize("concurrent_max", [1, 5])
def test_the_valve_counts_each_trigger_of_a_policy_once_and_none_is_lost(concurrent_max: int) -> None:
    world = world_with(concurrent_max)
    world.triggers_per_minute_max = 10
    for number in range(25):
        world.put(f"job-{number:02d}", dueTime="5s", policy="mailer")
    world.run_until(NOON + 10 * MINUTE)
    minutes = [(each.sent_at - NOON) // MINUTE for each in world.consumers.attempts]
    assert [minutes.count(each) for each in range(4)] == [10, 10, 5, 0]
    assert len({each.trigger.id for each in world.consumers.attempts}) == len(minutes) == 25
    assert not waiting(world)
    assert not world.queue.waiting
    assert not away(world)


def test_triggers_of_a_job_that_moves_to_another_policy_obey_that_one() -> None:
    world = world_with(1)
    other = PolicyKey("ns", "other")
    assert world.policies.put(replace(policy(2), key=other), None)
    # All permits of the first policy are in use, so its triggers wait.
    [held] = [each for each in world.permits.holders(KEY, 0) if each.slot == 0]
    assert world.permits.take(KEY, held, "somebody", NOON, NOON + 5 * MINUTE)
    for number in range(5):
        world.put(f"job-{number}", dueTime="5s", policy="mailer")
    world.run_until(NOON + MINUTE)
    assert not world.consumers.attempts
    for number in range(5):
        world.patch(f"job-{number}", policy="other")
    assert world.permits.enter(KEY, 0, "somebody", {}, releasing=True)
    world.run_until(NOON + 10 * MINUTE)
    assert len({each.trigger.id for each in world.consumers.attempts}) == 5
    assert not waiting(world)
    assert not world.queue.waiting
    assert all(each.owner is None and not each.away for each in world.permits.holders(other, 0))


@pytest.mark.parametrize("rate", [Rate(1, MINUTE), None])
def test_a_request_under_a_rate_is_sent_once_whatever_becomes_of_its_connection(rate: Rate | None) -> None:
    world = world_with(rate=rate)
    world.put(schedule=["2026-11-21T12:10:00Z"], policy="mailer")
    world.run_until(NOON + 11 * MINUTE)
    assert [each.sends_once for each in world.consumers.attempts] == [rate is not None]
