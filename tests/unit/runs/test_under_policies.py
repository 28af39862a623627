"""Triggers of jobs with a policy: to a gate, through a function to the consumer, and out of the line."""

import pytest
from tests.fakes.acceptance import ACCEPTED
from tests.fakes.faults import failing, working
from tests.fakes.policies import (
    GATE,
    KEY,
    OTHER,
    add_policy,
    call,
    delete_policy,
    jobs_in_line,
    let_wait,
    nobody_serves,
    waiting,
    world_with,
)
from tests.fakes.world import NOON, World, key_of

from sweephand.base.timing import ATTEMPT_CLAIM_MS, DEADLINE_GRACE_MS, GUARD_MS
from sweephand.jobs.policy_fields import PolicyLimits
from sweephand.model.attempt import Answer
from sweephand.model.gate import Gate
from sweephand.model.policy import Rate
from sweephand.model.run import Run
from sweephand.model.run_id import Counts

MINUTE = 60_000
OK = Answer(succeeded=True, code=204)


def gate(world: World) -> Gate:
    return world.gates.get(GATE)


def run_of(world: World, name: str = "job") -> Run:
    [run] = world.runs.page(key_of(name), None, "", 10).items
    return run


def test_a_trigger_goes_through_the_line_and_is_delivered_once_at_its_time() -> None:
    world = world_with()
    world.put(dueTime="20s", policy="mailer")
    world.run_until(NOON + 2 * MINUTE)
    assert world.consumers.times == [NOON + 20_000]
    assert not waiting(world)
    assert not world.queue.waiting
    assert gate(world).used == 0
    world.run_until(NOON + 2 * MINUTE + GUARD_MS)
    assert not world.flow_queue.waiting
    assert gate(world) == Gate()


def test_a_sweeper_sends_triggers_with_a_policy_like_all_others() -> None:
    world = world_with()
    for number in range(30):
        world.put(f"job{number}", dueTime="10m", policy="mailer", priority="high")
    world.put("other", dueTime="10m")
    world.run_until(NOON + 8 * MINUTE + 1)
    assert len(world.queue.waiting) == 31
    assert not waiting(world)
    with nobody_serves(world):
        world.run_until(NOON + 10 * MINUTE + 1)
        assert {entry.priority for _, entry in world.gate_lines.everything()} == {"high"}
        assert len(waiting(world)) == 30
    world.run_until(NOON + 12 * MINUTE)
    assert len(world.consumers.ids) == len(set(world.consumers.ids)) == 31
    assert not waiting(world)


def test_a_policy_that_was_deleted_closes_and_its_limit_holds_for_its_jobs() -> None:
    world = world_with(1)
    for number in range(3):
        world.put(f"job{number}", dueTime="10s", policy="mailer")
    delete_policy(world)
    open_at_once: list[int] = []

    def answering(_: object) -> Answer:
        open_at_once.append(gate(world).used)
        return OK

    world.consumers.answering = answering
    world.run_until(NOON + MINUTE)
    assert open_at_once == [1, 1, 1]
    assert not waiting(world)


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
    world = world_with(1)
    world.put(dueTime="10s", policy="mailer")
    with nobody_serves(world):
        world.run_until(NOON + 11_000)
        assert waiting(world)
        world.patch(without=["policy"])
    world.run_until(NOON + MINUTE)
    assert len(world.consumers.times) == 1
    assert not waiting(world)


@pytest.mark.parametrize("was_deleted", [False, True])
def test_a_raised_rate_is_in_force_within_seconds_also_if_the_next_token_was_an_hour_away(
    *, was_deleted: bool
) -> None:
    world = world_with(None, rate=Rate(1, 60 * MINUTE))
    for number in range(3):
        world.put(f"job{number}", dueTime="5s", policy="mailer")
    world.run_until(NOON + MINUTE)
    assert len(world.consumers.times) == 1
    writer, asked = world.api().policy_writer, world.api_clock.now()
    if was_deleted:
        writer.delete(KEY, who="me", requested_at=asked)
    writer.put(KEY, PolicyLimits(None, Rate(10, 1_000)), who="me", requested_at=asked)
    world.run_until(NOON + MINUTE + 5_000)
    assert len(world.consumers.times) == 3
    assert not waiting(world)


def test_the_trigger_of_a_deleted_job_leaves_the_line() -> None:
    world = world_with()
    world.put(dueTime="10s", policy="mailer")
    with nobody_serves(world):
        world.run_until(NOON + 11_000)
        world.delete()
        assert waiting(world)
    world.run_until(NOON + MINUTE)
    assert not world.consumers.times
    assert not waiting(world)


def test_a_trigger_of_a_paused_job_goes_from_its_line_to_the_delivery_queue_until_the_resume() -> None:
    world = world_with()
    world.put(dueTime="10s", policy="mailer", schedule="@every 9000h")
    with nobody_serves(world):
        world.run_until(NOON + 11_000)
        assert waiting(world)
        world.pause()
    world.run_until(NOON + MINUTE)
    assert not waiting(world)
    assert len(world.queue.waiting) == 1
    world.run_until(NOON + 10 * MINUTE)
    assert not world.consumers.times
    world.resume()
    world.run_until(NOON + 60 * MINUTE)
    assert len(world.consumers.times) == 1
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


def test_an_asynchronous_run_holds_its_slot_until_it_is_completed_and_calls_for_what_waits() -> None:
    world = asynchronous(jobs=2)
    assert len(world.consumers.times) == 1
    assert gate(world).used == 1
    assert len(waiting(world)) == 1
    first = next(run for name in ("job", "job1") for run in world.runs.page(key_of(name), None, "", 9).items)
    world.callbacks().complete(first.key, first.run_id, first.token)
    assert gate(world).used == 0
    world.run_until(world.clock.time + 1_000)
    assert len(world.consumers.times) == 2
    assert not waiting(world)


def test_asynchronous_runs_use_more_slots_than_the_functions_of_the_stack_can_hold() -> None:
    world = world_with(32)
    world.flow_functions_max = 1
    world.consumers.answering = lambda _: ACCEPTED
    world.put(dueTime="5s", policy="mailer", completion="async", batch={"count": 32})
    world.run_until(NOON + 30_000)
    view = world.api().policy_reader.get(KEY, world.clock.time)
    assert view.use is not None
    assert (view.effective_max, view.use.in_use) == (8, 32)


@pytest.mark.parametrize("how", ["fail", "cancel", "silence"])
def test_a_run_that_ends_in_another_way_gives_its_slot_back(how: str) -> None:
    world = asynchronous()
    run = run_of(world)
    assert gate(world).used == 1
    if how == "fail":
        world.callbacks().fail(run.key, run.run_id, run.token, reason="no", is_final=True)
    elif how == "cancel":
        world.callbacks().cancel(run.key, run.run_id, "me")
    world.run_until(NOON + 6 * MINUTE if how == "silence" else NOON + MINUTE)
    if how == "silence":
        assert len(world.consumers.times) == 2
    assert gate(world).used == (how == "silence"), "a retry holds a slot of its own"


def test_any_answer_but_202_gives_the_slot_back_at_once() -> None:
    world = world_with(1)
    world.put(dueTime="5s", policy="mailer", completion="async")
    world.run_until(NOON + 10_000)
    assert run_of(world).state == "succeeded"
    assert gate(world).used == 0
    world.run_until(NOON + 10 * MINUTE)
    assert not world.queue.waiting


@pytest.mark.parametrize("at", ["after gates.change", "before consumers.deliver", "after consumers.deliver"])
def test_the_slot_of_a_function_that_crashed_is_free_when_its_claim_has_ended(at: str) -> None:
    world = world_with(1)
    world.consumers.answering = lambda _: ACCEPTED
    world.put(dueTime="5s", policy="mailer", completion="async")
    let_wait(world, NOON + 6_000)

    class Crashed(BaseException):
        pass

    def crashing(announced: str) -> None:
        if announced == at and gate(world).used:
            world.announce = lambda _: None
            raise Crashed

    world.announce = crashing
    with pytest.raises(Crashed):
        world.run_until(NOON + 30_000)
    assert gate(world).used == 1
    # The guard comes after that, and nothing else need come.
    world.run_until(NOON + ATTEMPT_CLAIM_MS + GUARD_MS + DEADLINE_GRACE_MS + 3 * MINUTE)
    assert run_of(world).state == "running"
    assert gate(world).used == 1, "only the second attempt at the request holds one"


def claimed_by_a_crashed_function(world: World) -> None:
    """Let a function end between the claim of a run and its request. Nobody serves for four minutes."""
    world.put(schedule=["2026-11-21T12:00:05Z", "2028-11-21T12:00:00Z"], policy="mailer", history="full")
    let_wait(world, NOON + 6_000)

    def crashing(announced: str) -> None:
        if announced == "before consumers.deliver":
            world.announce = lambda _: None
            raise KeyboardInterrupt

    world.announce = crashing
    with pytest.raises(KeyboardInterrupt):
        world.run_until(NOON + 30_000)
    assert run_of(world).state == "claimed"
    let_wait(world, world.clock.time + ATTEMPT_CLAIM_MS)


@pytest.mark.parametrize("leaves", ["delete", "patch", "pause"])
def test_a_run_that_a_crashed_function_began_ends_whatever_becomes_of_its_job(leaves: str) -> None:
    world = world_with(1)
    claimed_by_a_crashed_function(world)
    if leaves == "delete":
        world.delete()
    elif leaves == "patch":
        world.patch(without=["policy"])
    else:
        world.pause()
        world.run_until(world.clock.time + MINUTE)
        world.resume()
    world.run_until(world.clock.time + 20 * MINUTE)
    assert run_of(world).is_over
    assert not waiting(world)
    assert gate(world).used == 0


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
    world = world_with(1)
    world.put(dueTime="10s", batch={"count": 3}, policy="mailer")
    failing(world, "batches.mark")
    with pytest.raises(AssertionError, match="not done"):
        world.run_until(NOON + MINUTE)
    assert len(waiting(world)) == 3
    working(world)
    world.run_until(NOON + 5 * MINUTE)
    call(world)
    world.run_until(NOON + 10 * MINUTE)
    head = world.batches.find(key_of(), NOON + 10_000, None)
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
    assert gate(world).used == 0


def test_triggers_of_a_job_that_moves_to_another_policy_obey_that_one() -> None:
    world = world_with(1)
    add_policy(world, 2, OTHER)
    for number in range(5):
        world.put(f"job-{number}", dueTime="5s", policy="mailer")
    with nobody_serves(world):
        world.run_until(NOON + MINUTE)
        for number in range(5):
            world.patch(f"job-{number}", policy="other")
        assert len(jobs_in_line(world)) == 5
    world.run_until(NOON + 10 * MINUTE)
    assert len({each.trigger.id for each in world.consumers.attempts}) == 5
    assert not waiting(world)
    assert not waiting(world, OTHER)
    assert not world.queue.waiting


@pytest.mark.parametrize("rate", [Rate(1, MINUTE), None])
def test_a_request_under_a_rate_is_sent_once_whatever_becomes_of_its_connection(rate: Rate | None) -> None:
    world = world_with(rate=rate)
    world.put(schedule=["2026-11-21T12:10:00Z"], policy="mailer")
    world.run_until(NOON + 11 * MINUTE)
    assert [each.sends_once for each in world.consumers.attempts] == [rate is not None]
