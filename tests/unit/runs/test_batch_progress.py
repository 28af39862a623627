"""The progress of batches: each run counts once, as it ended, and the end of a batch is told."""

from typing import Any

import pytest
from tests.fakes.faults import Killed, failing, working
from tests.fakes.notified import TOLD, told
from tests.fakes.world import NOON, World, key_of

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.batch_progress import BatchHead
from sweephand.model.run_id import Counts
from sweephand.runs.batch_progress import counts_of

DUE = NOON + 10 * SECOND_MS
FAILED = Answer(succeeded=False, code=422, is_final=True)
ACCEPTED = Answer(succeeded=True, code=202)


def begun(count: int = 3, world: World | None = None, **written: Any) -> World:
    """A world in which a job's batch is due in ten seconds, all at once."""
    made = world or World()
    made.put(dueTime="10s", batch={"count": count}, **written)
    return made


def head_of(world: World) -> BatchHead:
    head = world.batches.find(key_of(), DUE, None)
    assert head is not None, "no run of the batch is over"
    return head


def counts_in(world: World) -> Counts:
    return counts_of(world.batches, head_of(world))


def failing_for(*indexes: int) -> Any:
    """A consumer that refuses the triggers of those indexes."""

    def answer(attempt: Attempt) -> Answer:
        is_refused = attempt.ended_after is None and attempt.trigger.index in indexes
        return FAILED if is_refused else Answer(succeeded=True, code=200)

    return answer


def test_the_progress_shows_how_many_runs_succeeded_and_failed() -> None:
    world = begun(7)
    world.consumers.answering = failing_for(2, 5)
    world.run_until(DUE + MINUTE_MS)
    assert counts_in(world) == Counts(5, 2)
    assert head_of(world).ended_at == DUE
    assert head_of(world).counts == Counts(5, 2)


def test_a_run_that_is_retried_counts_when_it_is_over() -> None:
    world = begun(2, retry={"initialDelay": "30s", "maxAttempts": 2})
    world.consumers.answering = lambda each: Answer(each.trigger.index == 1 or each.number == 2, code=500)
    world.run_until(DUE + 10 * SECOND_MS)
    assert counts_in(world) == Counts(1)
    assert head_of(world).ended_at is None
    world.run_until(DUE + 2 * MINUTE_MS)
    assert counts_in(world) == Counts(2)
    assert head_of(world).ended_at is not None


def test_a_message_that_comes_twice_counts_once() -> None:
    world = begun(5)
    world.queue.copy()
    world.run_until(DUE + MINUTE_MS)
    assert counts_in(world) == Counts(5)


def test_a_redrive_turns_a_failure_into_a_success_and_tells_nobody_again() -> None:
    world = begun(3, onComplete=TOLD)
    world.consumers.answering = failing_for(1)
    world.run_until(DUE + MINUTE_MS)
    assert counts_in(world) == Counts(2, 1)
    world.consumers.answering = failing_for()
    for _ in range(2):
        world.redrive(f"{DUE}-1")
    world.run_until(DUE + 2 * MINUTE_MS)
    assert counts_in(world) == Counts(3)
    assert len(told(world)) == 1
    assert told(world)[0]["failed"] == 1


def test_the_progress_is_kept_in_as_many_writes_as_there_are_received_batches_and_pages() -> None:
    world, calls = begun(1_200, history="failures", onComplete=TOLD), list[str]()
    world.bundle_span_ms = SECOND_MS
    world.announce = calls.append
    world.run_until(DUE + MINUTE_MS)
    assert counts_in(world) == Counts(1_200)
    # The delivery function receives ten triggers at a time, and some of these lie on two pages.
    assert 120 <= calls.count("before batches.mark") <= 125


def test_a_batch_of_many_pages_ends_with_its_last_page() -> None:
    world = begun(2_345, onComplete=TOLD)
    world.run_until(DUE + MINUTE_MS)
    assert counts_in(world) == Counts(2_345)
    assert [each["total"] for each in told(world)] == [2_345]


def test_the_pages_of_a_large_batch_are_counted_on_pages_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With three marks to a page, 20 triggers need three levels, as a million and one do."""
    monkeypatch.setattr("sweephand.runs.batch_progress.PAGE_SIZE", 3)
    world = begun(20, onComplete=TOLD)
    world.run_until(DUE + MINUTE_MS)
    assert {name.level for name in world.batches._pages} == {0, 1, 2}
    assert counts_in(world) == Counts(20)
    assert [each["succeeded"] for each in told(world)] == [20]


def test_the_end_is_told_once_with_its_counts_and_whether_it_overran(world: World) -> None:
    world.put(dueTime="10s", batch={"count": 4, "window": "2s"}, onComplete=TOLD)
    world.consumers.answering = failing_for(3)
    world.run_until(DUE + MINUTE_MS)
    (attempt,) = (each for each in world.consumers.attempts if each.ended_after is not None)
    assert attempt.id == f"{world.stored().uid}-{DUE}-batch-end"
    assert told(world) == [
        {
            "namespace": "ns",
            "job": "job",
            "batchId": str(DUE),
            "state": "failed",
            "dueAt": "2026-11-21T12:00:10.000Z",
            "endedAt": "2026-11-21T12:00:11.500Z",
            "total": 4,
            "succeeded": 3,
            "failed": 1,
            "cancelled": 0,
            "overran": False,
        }
    ]


def test_a_job_that_follows_is_triggered_once_when_the_batch_has_ended() -> None:
    world = begun(3, onComplete={"type": "job", "name": "next"})
    world.put("next")
    world.run_until(DUE + MINUTE_MS)
    follows = [each for each in world.consumers.attempts if each.trigger.key.name == "next"]
    assert [each.trigger.due_at for each in follows] == [head_of(world).ended_at]


def test_a_failed_batch_triggers_no_job_that_follows_a_success() -> None:
    world = begun(3, onComplete={"type": "job", "name": "next"})
    world.put("next")
    world.consumers.answering = failing_for(0)
    world.run_until(DUE + MINUTE_MS)
    assert {each.trigger.key.name for each in world.consumers.attempts} == {"job"}


def test_a_job_without_records_of_successes_keeps_no_progress_unless_the_end_is_told() -> None:
    world = begun(3, history="failures")
    world.run_until(DUE + MINUTE_MS)
    assert world.batches.find(key_of(), DUE, None) is None
    world = begun(3, history="failures", onComplete=TOLD)
    world.run_until(DUE + MINUTE_MS)
    assert [each["succeeded"] for each in told(world)] == [3]


def test_an_update_of_history_in_the_middle_of_a_batch_counts_it_to_its_end(world: World) -> None:
    world.put(dueTime="10s", batch={"count": 4, "window": "20s"})
    world.run_until(DUE + 6 * SECOND_MS)
    world.patch(history="failures")
    world.run_until(DUE + MINUTE_MS)
    assert counts_in(world) == Counts(4)


def test_a_trigger_that_sweephand_gives_up_counts_as_failed_though_its_run_has_no_record() -> None:
    world = begun(2, history="full")
    world.clock.time = DUE
    failing(world, "runs.claim")
    while not world.queue.buried:
        world.deliver(world.queue.take(2))
        world.clock.time = max([world.clock.time, *(at for at, _ in world.queue.waiting)])
    working(world)
    world.run_until(world.clock.time + MINUTE_MS)
    assert counts_in(world) == Counts(0, 2)


@pytest.mark.parametrize("is_paused", [False, True])
def test_a_function_that_dies_while_it_cancels_a_run_leaves_no_batch_open(*, is_paused: bool) -> None:
    world = begun(2, retry={"initialDelay": "9h"})
    world.consumers.answering = lambda each: Answer(succeeded=each.trigger.index > 0, code=503)
    world.run_until(DUE + SECOND_MS)
    if is_paused:
        world.pause()

    def announce(call: str) -> None:
        if call == "before batches.mark":
            raise Killed(call)

    world.announce = announce
    with pytest.raises(Killed):
        world.callbacks().cancel(key_of(), f"{DUE}-0", "somebody")
    working(world)
    assert counts_in(world) == Counts(succeeded=1)
    world.run_until(world.clock.time + MINUTE_MS)
    assert counts_in(world) == Counts(succeeded=1, cancelled=1)


def test_a_cancelled_run_counts_as_cancelled() -> None:
    world = begun(2, retry={"initialDelay": "30s"})
    world.consumers.answering = lambda each: Answer(each.trigger.index == 1, code=503)
    world.run_until(DUE + SECOND_MS)
    world.callbacks().cancel(key_of(), f"{DUE}-0", "somebody")
    assert counts_in(world) == Counts(1, 0, 1)
    assert head_of(world).ended_at is not None


def test_a_callback_that_completes_the_last_run_ends_the_batch() -> None:
    world, tokens = begun(2, completion="async", onComplete=TOLD), list[str]()

    def accept(attempt: Attempt) -> Answer:
        if attempt.run_token is None:
            return Answer(succeeded=True, code=200)
        tokens.append(attempt.run_token)
        return ACCEPTED

    world.consumers.answering = accept
    world.run_until(DUE + SECOND_MS)
    assert len(tokens) == 2
    for index, token in enumerate(tokens):
        assert world.batches.find(key_of(), DUE, None) is None or counts_in(world).over == index
        world.callbacks().complete(key_of(), f"{DUE}-{index}", token)
    world.run_until(DUE + 2 * SECOND_MS)
    assert [each["succeeded"] for each in told(world)] == [2]


def test_nobody_is_told_of_the_end_of_a_deleted_job(world: World) -> None:
    world.put(dueTime="10s", batch={"count": 4, "window": "20s"}, onComplete=TOLD)
    world.run_until(DUE + 6 * SECOND_MS)
    world.delete()
    world.run_until(DUE + MINUTE_MS)
    assert counts_in(world) == Counts(2)
    assert not told(world)


def test_a_message_whose_mark_was_not_written_is_not_done_and_marks_when_it_comes_again() -> None:
    world = begun(1)
    world.clock.time = DUE
    failing(world, "batches.mark")
    (handled,) = world.deliver(world.queue.take())
    assert not handled.is_done
    assert handled.error is not None
    working(world)
    world.queue.reappear()
    world.deliver(world.queue.take(receives=2))
    assert counts_in(world) == Counts(1)
    assert len(world.consumers.attempts) == 1


def test_a_batch_ends_whose_last_run_left_no_record_and_is_owed_no_more() -> None:
    world = begun(1, history="failures", onComplete=TOLD)
    world.clock.time = DUE
    failing(world, "batches.get")
    (handled,) = world.deliver(world.queue.take())
    assert not handled.is_done
    working(world)
    # By a clock that is behind, the job changes before the batch is due.
    world.clock.time = DUE - 5 * SECOND_MS
    world.put(dueTime="1h")
    world.clock.time = DUE + 5 * SECOND_MS
    world.queue.reappear()
    world.deliver(world.queue.take(receives=2))
    assert len(world.consumers.attempts) == 1
    assert head_of(world).ended_at is not None


def test_a_trigger_that_is_owed_no_more_leaves_no_batch_that_never_began() -> None:
    world = begun(1, onComplete=TOLD)
    world.put(dueTime="1h")
    world.clock.time = DUE
    world.deliver(world.queue.take(receives=2))
    assert not world.consumers.attempts
    assert world.batches.find(key_of(), DUE, None) is None


@pytest.mark.parametrize("is_stored_as_success", [True, False])
def test_a_batch_shows_the_end_that_another_copy_of_the_message_has_stored(
    *, is_stored_as_success: bool
) -> None:
    world = begun(1, retry={"maxAttempts": 1})
    world.clock.time = DUE
    world.queue.copy()
    answers = [is_stored_as_success, not is_stored_as_success]

    def answer(_: Attempt) -> Answer:
        if len(world.consumers.attempts) == 1:
            # Meanwhile another function makes the attempt, and dies before it marks the batch.
            failing(world, "batches.mark")
            world.deliver(world.queue.take())
            working(world)
            return Answer(answers[1], code=200 if answers[1] else 503)
        return Answer(answers[0], code=200 if answers[0] else 503)

    world.consumers.answering = answer
    first = world.queue.take()
    world.queue.waiting += [(DUE, each) for each in list(world.queue.in_flight.values())[1:]]
    world.deliver(first[:1])
    assert len(world.consumers.attempts) == 2
    stored = world.runs.get(key_of(), f"{DUE}-0")
    assert stored is not None
    assert (stored.state == "succeeded") == is_stored_as_success
    assert counts_in(world) == (Counts(1) if is_stored_as_success else Counts(0, 1))
