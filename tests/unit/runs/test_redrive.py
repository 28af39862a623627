"""A redrive gives a failed run one new round of attempts."""

from typing import Any

import pytest
from tests.fakes.deliveries import FAILED, answers, change, due, handle, run_of, waiting
from tests.fakes.faults import calls_of, failing, working
from tests.fakes.world import NOON, World

from sweephand.base.errors import ConflictError, NotFoundError, StoreError
from sweephand.base.limits import BULK_EXAMINED_MAX
from sweephand.model.attempt import Answer
from sweephand.model.timer import RetryTimer
from sweephand.model.trigger import Redrive
from sweephand.model.wire import decode, encode
from sweephand.runs.faults import FAULTS_MAX
from sweephand.runs.flagged_list import RunFilter
from sweephand.runs.received import Received

RUN = f"{NOON + 10_000}-0"
HOUR = 3_600_000


def given_up(world: World, **written: Any) -> None:
    """A job whose one trigger has failed twice and been given up, an hour ago."""
    message = due(world, **{"retry": {"maxAttempts": 2, "maxAge": "60s"}, **written})
    answers(world, FAILED, FAILED)
    handle(world, message)
    world.run_until(NOON + 60_000, ticking=False)
    assert run_of(world).state == "failed"
    world.clock.time = NOON + HOUR


def test_a_redriven_run_keeps_its_id_and_its_first_lateness(world: World) -> None:
    given_up(world)
    assert world.redrive(RUN).state == "failed"
    assert run_of(world).state == "failed"
    world.run_until(NOON + HOUR + 1, ticking=False)
    run = run_of(world)
    assert (run.state, run.attempts, run.round_from) == ("succeeded", 3, 3)
    assert (run.started_at, run.lateness_ms) == (NOON + 10_000, 0)
    assert [attempt.number for attempt in world.consumers.attempts] == [1, 2, 3]
    assert len(set(world.consumers.ids)) == 1


def test_a_redrive_by_a_clock_that_is_behind_is_not_early(world: World) -> None:
    message = due(world, retry={"maxAttempts": 1})
    answers(world, FAILED)
    handle(world, message)
    world.delivery_clock.ahead_ms = world.api_clock.ahead_ms = -30_000
    world.redrive(RUN)
    world.run_until(NOON + 39_000, ticking=False)
    assert run_of(world).state == "failed"
    world.run_until(NOON + 41_000, ticking=False)
    assert run_of(world).state == "succeeded"


def test_a_redrive_does_not_count_as_lateness_of_sweephand(world: World) -> None:
    given_up(world)
    world.redrive(RUN)
    ((_, message),) = waiting(world)
    delivered = handle(world, message)
    assert (delivered.name, delivered.lateness_ms) == ("succeeded", None)


def test_the_retry_policy_starts_again_with_a_redrive_and_ends_in_a_second_dead_letter(world: World) -> None:
    given_up(world)
    world.redrive(RUN)
    answers(world, FAILED, FAILED)
    world.run_until(NOON + 2 * HOUR, ticking=False)
    assert [attempt.number for attempt in world.consumers.attempts] == [1, 2, 3, 4]
    run = run_of(world)
    reason = "Attempt 4 failed, and the redrive allowed 2: Response 503."
    assert (run.state, run.attempts, run.reason) == ("failed", 4, reason)
    first, second = (letter for letter, _ in world.queue.buried)
    assert (first.attempts, second.attempts) == (2, 4)
    world.redrive(RUN)
    world.run_until(NOON + 3 * HOUR, ticking=False)
    assert (run_of(world).state, run_of(world).attempts) == ("succeeded", 5)


def test_a_redriven_retry_keeps_its_round_on_its_way_through_the_wheel(world: World) -> None:
    given_up(world, retry={"maxAttempts": 2, "maxAge": "2h", "initialDelay": "1s", "maxDelay": "1h"})
    world.redrive(RUN)
    answers(world, Answer(succeeded=False, retry_after_at=NOON + HOUR + 40 * 60_000))
    world.run_until(NOON + HOUR + 60_000)
    (timer,) = (each for each in world.timers.everything() if isinstance(each, RetryTimer))
    assert timer.message.redrive == Redrive(3, NOON + 10_000, (2,))
    world.run_until(NOON + 2 * HOUR)
    assert (run_of(world).state, run_of(world).attempts) == ("succeeded", 4)


def test_a_run_keeps_how_its_earlier_rounds_ended_of_ten_redrives_at_most(world: World) -> None:
    given_up(world)
    answers(world, *[FAILED] * 22)
    kept = []
    for hour in range(2, 13):
        world.redrive(RUN)
        world.run_until(NOON + hour * HOUR, ticking=False)
        kept.append(run_of(world).round_ends)
    assert kept[:3] == [(2,), (2, 4), (2, 4, 6)]
    assert kept[9] == tuple(range(2, 21, 2))
    assert kept[10] is None


def test_a_paused_job_s_run_is_redriven_all_the_same_with_its_retries(world: World) -> None:
    given_up(world)
    change(world, paused_at=world.clock.time)
    world.redrive(RUN)
    answers(world, FAILED)
    world.run_until(NOON + 2 * HOUR, ticking=False)
    assert (run_of(world).state, run_of(world).attempts) == ("succeeded", 4)


def test_a_run_whose_revision_is_long_forgotten_is_redriven_by_the_job_as_it_is(world: World) -> None:
    given_up(world)
    for number in range(25):
        world.put(dueTime="9h", data=str(number))
    world.redrive(RUN)
    world.run_until(NOON + HOUR + 1, ticking=False)
    assert world.consumers.attempts[-1].body == b"24"


def test_two_redrives_of_one_failure_make_one_round(world: World) -> None:
    given_up(world)
    world.redrive(RUN)
    world.redrive(RUN)
    answers(world, FAILED)
    world.run_until(NOON + 2 * HOUR, ticking=False)
    assert [attempt.number for attempt in world.consumers.attempts] == [1, 2, 3, 4]
    assert not world.queue.waiting


def test_the_message_of_an_earlier_round_does_not_come_back_into_a_later_one(world: World) -> None:
    given_up(world)
    world.redrive(RUN)
    ((_, redriven),) = waiting(world)
    world.run_until(NOON + HOUR + 1, ticking=False)
    for stray in (redriven, redriven._replace(redrive=None), redriven._replace(attempt=2, redrive=None)):
        assert handle(world, stray).name == "repeated"
    assert [attempt.number for attempt in world.consumers.attempts] == [1, 2, 3]


def test_a_redrive_of_a_job_deleted_in_the_meantime_is_dropped(world: World) -> None:
    given_up(world)
    world.redrive(RUN)
    world.delete()
    world.put(dueTime="5h")
    world.run_until(NOON + HOUR + 60_000, ticking=False)
    assert [attempt.number for attempt in world.consumers.attempts] == [1, 2]


@pytest.mark.parametrize("answer", [Answer(succeeded=True, code=200), FAILED])
def test_only_a_failed_run_is_redriven(world: World, answer: Answer) -> None:
    message = due(world)
    answers(world, answer)
    handle(world, message)
    world.queue.waiting.clear()
    with pytest.raises(ConflictError, match=r"succeeded|retrying"):
        world.redrive(RUN)
    assert not world.queue.waiting


def test_a_run_that_does_not_exist_is_not_redriven(world: World) -> None:
    given_up(world)
    with pytest.raises(NotFoundError):
        world.redrive(f"{NOON}-0")
    world.delete()
    with pytest.raises(ConflictError, match="deleted"):
        world.redrive(RUN)
    world.put(dueTime="5h")
    with pytest.raises(ConflictError, match="deleted"):
        world.redrive(RUN)


def test_a_run_that_sweephand_gave_up_for_faults_can_be_redriven(world: World) -> None:
    message = due(world)
    failing(world, "consumers.deliver", times=1)
    received = Received("1", "1", 1, encode(message._replace(faults=FAULTS_MAX)))
    (handled,) = world.deliver([received])
    assert handled.outcome.name == "buried"
    working(world)
    run = run_of(world)
    assert (run.state, run.attempts, run.started_at) == ("failed", 1, None)
    assert "failed to handle it 61 times" in (run.reason or "")
    world.queue.waiting.clear()
    world.redrive(RUN)
    world.run_until(NOON + 20_000, ticking=False)
    run = run_of(world)
    assert (run.state, run.attempts, run.started_at) == ("succeeded", 2, NOON + 10_000)


def unreadable(call: str) -> None:
    """Jobs cannot be read."""
    if call.startswith("before jobs."):
        raise StoreError("throttled")


def test_a_store_that_fails_to_the_last_prevents_the_record_and_not_the_dead_letter(world: World) -> None:
    message = due(world)

    def unwritable(call: str) -> None:
        unreadable(call)
        if call.startswith("before runs."):
            raise StoreError("throttled")

    world.announce = unwritable
    (handled,) = world.deliver([Received("1", "1", 1, encode(message._replace(faults=FAULTS_MAX)))])
    assert (handled.outcome.name, handled.is_done) == ("buried", True)
    assert len(world.queue.buried) == 1


def test_the_message_in_a_dead_letter_holds_its_round(world: World) -> None:
    given_up(world)
    world.redrive(RUN)
    answers(world, FAILED._replace(is_final=True))
    world.run_until(NOON + HOUR + 1, ticking=False)
    message = decode(world.queue.buried[-1][0].body)
    assert getattr(message, "redrive", None) == Redrive(3, NOON + 10_000, (2,))


def failed_jobs(world: World, numbers: range, *, triggers: int = 10, **written: Any) -> None:
    """So many jobs, of each of which so many triggers have failed."""
    world.consumers.answering = lambda _: FAILED
    for number in numbers:
        job = {"schedule": "@every 1s", "retry": {"maxAttempts": 1}, "repeats": triggers}
        world.put(f"job-{number:02d}", **{**job, **written})
    world.run_until(world.clock.time + (triggers + 1) * 1_000)
    world.consumers.attempts.clear()
    world.consumers.answering = lambda _: Answer(succeeded=True, code=200)


def redrive_all(world: World, prefix: str = "", labels: dict[str, str] | None = None) -> list[int]:
    """The counts of each call until all is redriven."""
    counts: list[int] = []
    after: str | None = ""
    while after is not None:
        wanted = RunFilter("ns", prefix=prefix, labels=labels or {})
        redriven = world.api().bulk_runs.redrive(wanted, after)
        counts.append(redriven.count)
        after = redriven.reached
        assert len(counts) < 50, "it never ends"
    return counts


def test_a_bulk_redrive_examines_a_thousand_runs_in_each_call(world: World) -> None:
    failed_jobs(world, range(3), triggers=450)
    counts = redrive_all(world)
    assert counts == [1_000, 350]
    world.run_until(world.clock.time + 1_000, ticking=False)
    assert len(set(world.consumers.ids)) == len(world.consumers.ids) == 1_350


def test_a_bulk_redrive_examines_no_more_runs_than_its_limit(world: World) -> None:
    failed_jobs(world, range(1), triggers=BULK_EXAMINED_MAX + 100)
    counts = redrive_all(world)
    assert counts == [BULK_EXAMINED_MAX, 100]


def test_a_bulk_redrive_redrives_the_runs_of_former_batches(world: World) -> None:
    failed_jobs(world, range(1), triggers=2, batch={"count": 3})
    world.put("job-00", dueTime="1h")
    assert redrive_all(world) == [6]


def test_a_bulk_redrive_chooses_jobs_by_prefix_and_by_every_label(world: World) -> None:
    failed_jobs(world, range(2), labels={"team": "ops", "tier": "1"})
    failed_jobs(world, range(2, 4), labels={"team": "ops"})
    failed_jobs(world, range(4, 6))
    for given, names in (
        ({"prefix": "job-05"}, {"job-05"}),
        ({"prefix": "none"}, set()),
        ({"labels": {"team": "ops"}}, {"job-00", "job-01", "job-02", "job-03"}),
        ({"labels": {"team": "ops", "tier": "1"}}, {"job-00", "job-01"}),
        ({"labels": {"tier": "1"}, "prefix": "job-01"}, {"job-01"}),
    ):
        world.queue.waiting.clear()
        assert sum(redrive_all(world, **given)) == 10 * len(names)
        assert {message.trigger.key.name for _, message in waiting(world)} == names


def test_a_bulk_redrive_redrives_only_failed_runs_of_existing_jobs(world: World) -> None:
    failed_jobs(world, range(2))
    world.put("fine", dueTime="0s")
    world.run_until(world.clock.time + 1_000, ticking=False)
    world.delete("job-00")
    world.put("job-00", dueTime="5h")
    assert redrive_all(world) == [10]
    world.run_until(world.clock.time + 1_000, ticking=False)
    assert redrive_all(world) == [0]


def test_a_bulk_redrive_that_finds_no_run_sends_nothing(world: World) -> None:
    world.put(dueTime="1h")
    calls = calls_of(world, lambda: redrive_all(world))
    assert "before queue.send" not in calls
