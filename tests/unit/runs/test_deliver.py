"""A message is delivered on time, if its trigger is owed, by the present definition of its job."""

from dataclasses import replace

import pytest
from tests.fakes.acceptance import ACCEPTED, due_async
from tests.fakes.deliveries import LARGE, answers, change, due, handle, waiting
from tests.fakes.faults import calls_of, meanwhile
from tests.fakes.world import NOON, World, key_of

from sweephand.base.errors import StoreError
from sweephand.base.instants import MINUTE_MS
from sweephand.base.timing import COMMIT_WAIT_MS, UNKNOWN_DELAY_MS, UNKNOWN_GRACE_MS
from sweephand.model.trigger import TriggerMessage
from sweephand.runs.attempt import READS_MAX
from sweephand.runs.delivery import JobRead
from sweephand.runs.received import Outcome


@pytest.mark.parametrize("early_ms", [1_000, 1_001, 5_500, 240_000, 900_000, 5_000_000])
def test_a_message_a_second_early_or_more_is_sent_again_with_the_rest_of_its_delay(early_ms: int) -> None:
    world = World()
    message = due(world)
    world.clock.time -= early_ms
    assert handle(world, message).name == "early"
    assert waiting(world) == [(10_000 - early_ms + min(early_ms, 900_000) // 1_000 * 1_000, message)]
    assert not world.consumers.attempts


@pytest.mark.parametrize("early_ms", [1, 500, 999])
def test_a_function_waits_for_a_trigger_that_is_less_than_a_second_early(world: World, early_ms: int) -> None:
    message = due(world)
    world.clock.time -= early_ms
    assert handle(world, message) == Outcome("succeeded", 0)
    assert world.clock.time == NOON + 10_000


def test_a_wait_that_returns_too_soon_is_continued(world: World) -> None:
    message = due(world)
    world.clock.time -= 800
    waits: list[int] = []

    def sleepless(_: int) -> None:
        waits.append(world.clock.time)
        world.clock.time += 300

    world.delivery_clock.wait_until = sleepless  # type: ignore[assignment, method-assign]
    assert handle(world, message) == Outcome("succeeded", 100)
    assert len(waits) == 3


def test_no_request_leaves_after_the_clock_has_stepped_back_before_its_due_time(world: World) -> None:
    message = due(world)

    def stepping_back() -> None:
        world.clock.time = message.not_before - 29_000

    world.consumers.connecting = stepping_back
    assert handle(world, message).name == "postponed"
    assert not world.consumers.attempts
    world.consumers.connecting = lambda: None
    world.run_until(NOON + MINUTE_MS)
    (attempt,) = world.consumers.attempts
    assert attempt.sent_at == NOON + 10_000


def test_an_attempt_carries_the_jobs_present_definition_and_is_signed_for_its_namespace(world: World) -> None:
    message = due(world, data='{"a": 1}')
    world.put(dueTime="10s", data='{"a": 2}', target={"type": "http", "url": "https://consumer.example/new"})
    assert handle(world, message).name == "succeeded"
    (attempt,) = world.consumers.attempts
    assert attempt.body == b'{"a": 2}'
    assert attempt.spec["url"].endswith("/new")
    assert attempt.secrets == ("whsec_ns",)
    assert (attempt.number, attempt.sent_at) == (1, NOON + 10_000)
    assert attempt.trigger == message.trigger


def test_a_job_without_data_sends_null_and_a_job_with_large_data_sends_all_of_it(world: World) -> None:
    handle(world, due(world))
    world.put(dueTime="0s", data=LARGE)
    world.run_until(world.clock.time + 10)
    assert [attempt.body for attempt in world.consumers.attempts] == [b"null", LARGE.encode()]


def test_data_that_is_gone_fails_the_run_at_once_and_nothing_is_sent(world: World) -> None:
    message = due(world, data=LARGE)
    job = world.stored()
    assert job.definition.payload is not None
    assert job.definition.payload.ref is not None
    world.payloads.discard(job.uid, job.definition.payload.ref)
    world.payloads.expire()
    payload = job.definition.payload._replace(text=None)
    change(world, definition=replace(job.definition, payload=payload))
    assert handle(world, message).name == "failed"
    assert not world.consumers.attempts
    run = world.runs.of(message.trigger)
    assert run is not None
    assert (run.state, run.attempts) == ("failed", 1)
    ((letter, _),) = world.queue.buried
    assert "is not in the payload store any more" in letter.reason
    world.payloads.put(job.uid, payload.ref or "", LARGE)
    world.api().redriver.redrive(key_of(), message.trigger.run_id)
    world.run_until(world.clock.time + 1_000)
    assert [each.body for each in world.consumers.attempts] == [LARGE.encode()]


def test_an_unknown_revision_is_put_back_until_its_grace_is_over(world: World) -> None:
    message = due(world)
    world.delete()
    world.clock.time = NOON + UNKNOWN_GRACE_MS - 1
    assert handle(world, message).name == "unknown"
    assert len(waiting(world)) == 1
    world.queue.waiting.clear()
    world.clock.time += 1
    assert handle(world, message).name == "dropped"
    assert not world.queue.waiting


def due_at_once(world: World) -> TriggerMessage:
    """Put a job that is due when it is written; its message, which can be there before its job."""
    world.put(dueTime="0s")
    ((_, message),) = waiting(world)
    world.queue.waiting.clear()
    return message


def test_the_delivery_function_waits_a_moment_for_a_commit_that_is_about_to_come(world: World) -> None:
    message = due_at_once(world)
    seen_too_early = JobRead(None, world.clock.time)
    assert handle(world, message, seen_too_early) == Outcome("succeeded", COMMIT_WAIT_MS)
    assert not world.queue.waiting


def test_a_commit_that_does_not_come_in_that_moment_is_left_to_the_queue(world: World) -> None:
    message = due_at_once(world)
    world.delete()
    assert handle(world, message).name == "unknown"
    assert waiting(world) == [(COMMIT_WAIT_MS + UNKNOWN_DELAY_MS, message)]


def test_the_delivery_function_does_not_wait_for_a_commit_that_is_a_second_late(world: World) -> None:
    message = due_at_once(world)
    world.delete()
    world.clock.time += 1_000
    assert handle(world, message).name == "unknown"
    assert world.clock.time == NOON + 1_000


def test_a_commit_that_comes_late_finds_its_triggers_still_there(world: World) -> None:
    def overtaken() -> None:
        # The delivery function meets the message over and over before the job is there.
        world.announce = lambda _: None
        world.run_until(NOON + 19_000, ticking=False)
        assert not world.consumers.attempts

    meanwhile(world, "before jobs.put", overtaken)
    world.put(dueTime="0s")
    world.run_until(NOON + 30_000, ticking=False)
    assert world.consumers.dues == {NOON}


def test_a_dead_trigger_is_dropped(world: World) -> None:
    message = due(world)
    change(
        world,
        current=world.put(dueTime="10s", data="1").job.current._replace(
            rev=message.trigger.rev, since=NOON + 10_000
        ),
    )
    world.queue.waiting.clear()
    assert handle(world, message).name == "dropped"
    assert not world.queue.waiting


@pytest.mark.parametrize(
    ("lasted_ms", "delay_ms"),
    [(-5_000, 1_000), (0, 1_000), (30_000, 30_000), (900_000, 900_000), (90_000_000, 900_000)],
)
@pytest.mark.parametrize("attempt", [1, 2])
def test_a_trigger_of_a_paused_job_is_held_for_as_long_as_the_pause_has_lasted(
    world: World, lasted_ms: int, delay_ms: int, attempt: int
) -> None:
    message = due(world)._replace(attempt=attempt)
    change(world, paused_at=world.clock.time - lasted_ms)
    assert handle(world, message).name == "held"
    assert waiting(world) == [(10_000 + delay_ms, message._replace(is_owed=lasted_ms <= 0))]
    assert not world.consumers.attempts


def test_a_held_trigger_is_delivered_when_the_job_goes_on(world: World) -> None:
    world.put(dueTime="10s")
    change(world, paused_at=NOON + 5_000)
    world.run_until(NOON + 60_000)
    assert not world.consumers.attempts
    change(world, paused_at=None)
    world.run_until(NOON + 180_000)
    assert world.consumers.dues == {NOON + 10_000}


def test_a_job_that_was_read_over_a_second_ago_is_read_again(world: World) -> None:
    message = due(world)
    read = JobRead(world.jobs.get(key_of()), NOON + 9_000)
    assert "before jobs.get" not in calls_of(world, lambda: handle(world, message, read))
    world.clock.time += 1
    assert "before jobs.get" in calls_of(world, lambda: handle(world, message, read))


@pytest.mark.parametrize("slow", ["after jobs.get", "after payloads.get", "after runs.claim"])
@pytest.mark.parametrize("attempt", [1, 2])
def test_no_request_is_sent_for_a_job_that_was_deleted_before(world: World, slow: str, attempt: int) -> None:
    message = due(world, data=LARGE)._replace(attempt=attempt)
    job = world.stored()
    payload = job.definition.payload
    assert payload is not None
    change(world, definition=replace(job.definition, payload=payload._replace(text=None)))

    def deleted() -> None:
        world.delete()
        world.clock.time += 1_001

    meanwhile(world, slow, deleted)
    world.clock.time = NOON + UNKNOWN_GRACE_MS
    handle(world, message)
    assert (len(world.consumers.attempts) == 0) == (slow != "after runs.claim" or attempt == 2)


def test_a_pause_during_a_slow_step_is_found_before_the_request(world: World) -> None:
    message = due(world)._replace(attempt=2)

    def paused() -> None:
        change(world, paused_at=world.clock.time)
        world.clock.time += 1_001

    meanwhile(world, "after runs.claim", paused)
    assert handle(world, message).name == "held"
    assert not world.consumers.attempts


def test_a_pause_is_found_though_the_clock_has_stepped_back_since_the_read(world: World) -> None:
    message = due(world)._replace(attempt=2)
    world.clock.time += 60_000

    def paused_and_stepped() -> None:
        change(world, paused_at=world.clock.time)
        world.clock.time -= 30_000

    meanwhile(world, "after runs.claim", paused_and_stepped)
    assert handle(world, message).name == "held"
    assert not world.consumers.attempts


@pytest.mark.parametrize(
    "kept",
    [
        # As in a job whose item is full: no revision stays in which nothing fell due.
        pytest.param(slice(1), id="left out"),
        # As in a job that has had many updates since.
        pytest.param(slice(2, None), id="forgotten"),
    ],
)
def test_a_trigger_that_waited_is_judged_again_if_an_update_takes_back_its_revision(
    world: World, kept: slice
) -> None:
    world.put(schedule="@every 10s", overlap="wait")
    world.clock.time += 5_000
    world.patch(labels={"team": "red"})
    message = next(each for _, each in waiting(world) if each.trigger.rev.startswith("2-"))
    world.clock.time = message.trigger.due_at

    def updated_by_a_clock_that_is_behind() -> None:
        world.api_clock.ahead_ms = -30_000
        world.patch(schedule="@every 7s")
        world.patch(schedule="@every 11s")
        change(world, earlier=world.stored().earlier[kept])
        world.clock.time += 1_001

    meanwhile(world, "after runs.claim", updated_by_a_clock_that_is_behind)
    handle(world, message._replace(is_owed=True))
    assert not world.consumers.attempts


def test_a_change_of_the_job_during_a_slow_step_is_delivered(world: World) -> None:
    message = due(world, data="1")._replace(attempt=2)

    def changed() -> None:
        world.put(dueTime="10s", data="2")
        world.clock.time += 1_001

    meanwhile(world, "after runs.claim", changed)
    # At its due time the one-off is completed, so the change begins it again.
    handle(world, message)
    assert [attempt.body for attempt in world.consumers.attempts] == [b"2"]


def test_a_change_of_the_job_during_a_slow_connection_is_delivered(world: World) -> None:
    message = due(world, data="1")._replace(attempt=2)
    connections = iter((14_000, 0))

    def connecting() -> None:
        if slowness_ms := next(connections):
            world.put(dueTime="10s", data="2")
            world.clock.time += slowness_ms

    world.consumers.connecting = connecting
    handle(world, message)
    assert [attempt.body for attempt in world.consumers.attempts] == [b"2"]
    assert world.consumers.attempts[0].sent_at == world.clock.time


def changing_when_it_connects(world: World, completion: str) -> None:
    def connecting() -> None:
        world.consumers.connecting = lambda: None
        world.patch(completion=completion)
        world.clock.time += 1_001

    world.consumers.connecting = connecting


def test_a_job_that_becomes_asynchronous_under_way_is_delivered_with_a_token_to_report_with() -> None:
    world = World()
    message = due(world)
    changing_when_it_connects(world, "async")
    assert handle(world, message).name == "postponed"
    assert not world.consumers.attempts
    assert [each for _, each in waiting(world)] == [message]
    answers(world, ACCEPTED)
    assert handle(world, message).name == "running"
    (attempt,) = world.consumers.attempts
    assert attempt.run_token is not None


def test_a_consumer_that_has_a_token_may_report_though_its_job_asks_for_no_more_reports(world: World) -> None:
    worker, message = due_async(world)
    changing_when_it_connects(world, "sync")
    assert handle(world, message).name == "running"
    assert worker.complete().state == "succeeded"


def test_a_job_that_changes_with_each_slow_connection_is_put_off_to_another_time(world: World) -> None:
    message = due(world)._replace(attempt=2)

    def connecting() -> None:
        world.put(dueTime="10s", data=str(world.clock.time))
        world.clock.time += 2_000
        assert world.clock.time < NOON + 60_000, "it connects for ever"

    world.consumers.connecting = connecting
    assert handle(world, message).name == "postponed"
    assert not world.consumers.attempts
    ((_, copy),) = [each for each in waiting(world) if each[1].attempt == 2]
    assert copy == message


def test_a_store_that_is_too_slow_is_a_fault_and_no_attempt(world: World) -> None:
    message = due(world)

    def slowly(announced: str) -> None:
        if announced == "after jobs.get":
            world.clock.time += 1_001
            assert world.clock.time < NOON + 60_000, "it reads for ever"

    world.announce = slowly
    with pytest.raises(StoreError):
        handle(world, message)
    assert not world.consumers.attempts
    assert world.clock.time <= NOON + 10_000 + (READS_MAX + 2) * 1_001


@pytest.mark.parametrize("attempt", [1, 2])
def test_a_job_that_is_deleted_during_a_slow_connection_sends_nothing(world: World, attempt: int) -> None:
    message = due(world)._replace(attempt=attempt)
    world.clock.time += UNKNOWN_GRACE_MS

    def connecting() -> None:
        world.clock.time += 20_000
        world.api().writer.delete(key_of(), who="test", requested_at=world.clock.time)

    world.consumers.connecting = connecting
    assert handle(world, message).name == "dropped"
    assert not world.consumers.attempts
    assert not waiting(world)


def test_a_job_that_is_unchanged_after_a_slow_connection_is_delivered(world: World) -> None:
    message = due(world)
    world.consumers.connecting = lambda: world.clock.wait_until(world.clock.time + 20_000)
    assert handle(world, message).name == "succeeded"
    assert len(world.consumers.attempts) == 1
