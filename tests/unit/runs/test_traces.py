"""The trace context of a request reaches every attempt of the triggers that it asked for."""

from typing import Any

import pytest
from tests.fakes.acceptance import running
from tests.fakes.deliveries import FAILED, answers, due, handle, run_of, waiting
from tests.fakes.notified import TOLD, by_target
from tests.fakes.world import NOON, World, definition, key_of

from sweephand.jobs.bulk import JobToWrite
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.run import Run
from sweephand.model.trace import trace_id_of
from sweephand.model.wire import encode
from sweephand.storage import jobs as job_items
from sweephand.storage import runs as run_items

MINUTE = 60_000
HOUR = 60 * MINUTE

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SENT = f"00-{TRACE}-00f067aa0ba902b7-01"
OTHER = f"00-{'a' * 32}-{'b' * 16}-00"

#: Each way to say that a job fires once.
ONCE: list[dict[str, Any]] = [
    {"dueTime": "10s"},
    {"schedule": "@every 10s", "repeats": 1},
    {"schedule": ["2026-11-21T12:00:10Z"]},
    {"schedule": "at(2026-11-21T12:00:10)"},
]


def is_child(attempt: Attempt) -> bool:
    """Whether an attempt continues the trace of SENT. Asserts that it links to it otherwise."""
    assert attempt.context.traceparent is not None
    assert attempt.context.traceparent != SENT
    continues = trace_id_of(attempt.context.traceparent) == TRACE
    assert attempt.context.link == (None if continues else SENT)
    return continues


def children(world: World) -> list[bool]:
    """Of each attempt, whether it is a child."""
    return [is_child(each) for each in world.consumers.attempts]


def runs(world: World, name: str = "job") -> list[Run]:
    return list(world.runs.page(key_of(name), None, "", 100).items)


@pytest.mark.parametrize("times", ONCE)
def test_the_first_attempt_of_a_job_that_fires_once_is_a_child_and_later_ones_link(
    world: World, times: dict[str, Any]
) -> None:
    world.put(**times, traceparent=SENT)
    answers(world, FAILED, FAILED)
    world.run_until(NOON + HOUR)
    assert children(world) == [True, False, False]
    assert len({each.context.traceparent for each in world.consumers.attempts}) == 3
    (run,) = runs(world)
    assert run.context.traceparent == world.consumers.attempts[-1].context.traceparent
    assert run.context.link == SENT


def test_every_fire_of_a_recurring_job_links(world: World) -> None:
    world.put(schedule="@every 20s", traceparent=SENT)
    world.run_until(NOON + MINUTE + 1)
    assert children(world) == [False] * 3
    assert len({trace_id_of(str(each.context.traceparent)) for each in world.consumers.attempts}) == 3


def test_a_job_that_was_written_without_a_context_sends_none(world: World) -> None:
    world.put(dueTime="10s", onComplete=TOLD)
    answers(world, FAILED)
    world.run_until(NOON + HOUR)
    attempts = world.consumers.attempts
    assert [(each.context.traceparent, each.context.link) for each in attempts] == [(None, None)] * 3
    assert (run_of(world).context.traceparent, run_of(world).context.link) == (None, None)


def test_both_copies_of_an_attempt_have_the_same_context(world: World) -> None:
    message = due(world, traceparent=SENT)
    handle(world, message)
    handle(world, message)
    first, second = world.consumers.attempts
    assert first.context.traceparent == second.context.traceparent


def test_an_equal_definition_keeps_the_origin_and_the_revision(world: World) -> None:
    job = world.put(schedule="@daily", traceparent=SENT).job
    for traceparent in (OTHER, None):
        again = world.put(schedule="@daily", traceparent=traceparent)
        assert (again.outcome, again.job) == ("unchanged", job)
        patched = world.patch(schedule="@daily", traceparent=traceparent)
        assert (patched.outcome, patched.job) == ("unchanged", job)


def test_the_latest_write_of_the_definition_is_the_origin(world: World) -> None:
    def origin() -> str | None:
        found = world.stored().origin
        return None if found is None else found.traceparent

    world.put(schedule="@daily", traceparent=SENT)
    world.patch(description="a")
    assert origin() is None
    world.patch(description="b", traceparent=OTHER)
    assert origin() == OTHER
    world.put(schedule="@hourly", traceparent=SENT)
    world.pause()
    world.resume()
    assert origin() == SENT
    world.put(schedule="@daily")
    assert origin() is None


def test_jobs_of_a_bulk_write_have_the_context_of_the_call(world: World) -> None:
    world.put("old", schedule="@daily")
    written = [JobToWrite(key_of(name), definition(dueTime="10s"), SENT) for name in ("a", "b", "old")]
    world.api().bulk_writer.put(written, caller="test", requested_at=NOON)
    world.run_until(NOON + MINUTE)
    assert children(world) == [True] * 3


def test_a_trigger_by_hand_has_the_context_of_its_own_request(world: World) -> None:
    world.put(schedule="@daily", traceparent=OTHER)
    world.trigger(traceparent=SENT)
    answers(world, FAILED)
    world.run_until(NOON + MINUTE)
    assert children(world) == [True, False]
    (run,) = runs(world)
    assert run.context.traceparent == world.consumers.attempts[-1].context.traceparent


def test_a_trigger_by_hand_without_a_context_has_none_of_its_job(world: World) -> None:
    world.put(schedule="@daily", traceparent=SENT)
    world.trigger()
    world.run_until(NOON + MINUTE)
    assert [each.context.traceparent for each in world.consumers.attempts] == [None]


def test_a_redriven_run_keeps_the_origin_of_its_trigger(world: World) -> None:
    world.put(retry={"maxAttempts": 1})
    world.trigger(traceparent=SENT)
    answers(world, FAILED)
    world.run_until(NOON + MINUTE)
    (run,) = runs(world)
    world.redrive(run.run_id)
    world.run_until(NOON + 2 * MINUTE)
    assert children(world) == [True, False]


def test_the_triggers_of_a_backfill_link(world: World) -> None:
    world.put(schedule="@hourly")
    world.backfill(since=NOON - 3 * HOUR, until=NOON, traceparent=SENT)
    world.run_until(NOON + MINUTE)
    assert children(world) == [False] * 3


def test_the_triggers_of_a_batch_and_its_end_link(world: World) -> None:
    world.put(dueTime="10s", batch={"count": 3, "window": "3s"}, onComplete=TOLD, traceparent=SENT)
    world.trigger(traceparent=SENT)
    world.run_until(NOON + 2 * MINUTE)
    assert children(world) == [False] * 8
    assert [each.event for each in world.consumers.attempts].count("batch-end") == 2


def test_the_notification_of_an_end_continues_the_trace_of_the_last_attempt(world: World) -> None:
    world.put(schedule="@every 10s", repeats=1, onComplete=TOLD, traceparent=SENT)
    answers(world, FAILED, Answer(succeeded=True, code=200), FAILED)
    world.run_until(NOON + 10 * MINUTE)
    _, last, told, again = world.consumers.attempts
    assert [told.event, again.event] == ["end", "end"]
    assert trace_id_of(str(told.context.traceparent)) == trace_id_of(str(last.context.traceparent)) != TRACE
    assert told.context.traceparent != last.context.traceparent
    assert told.context.link is None
    assert again.context.link == last.context.traceparent


def test_a_chain_of_single_triggers_is_one_trace(world: World) -> None:
    world.put("third")
    world.put("second", onComplete={"type": "job", "name": "third"})
    world.put("first", dueTime="10s", onComplete={"type": "job", "name": "second"}, traceparent=SENT)
    world.run_until(NOON + MINUTE)
    assert [each.trigger.key.name for each in world.consumers.attempts] == ["first", "second", "third"]
    assert children(world) == [True] * 3


def test_a_batch_in_a_chain_links_to_the_attempt_before(world: World) -> None:
    world.put("second", batch={"count": 2})
    world.put("first", dueTime="10s", onComplete={"type": "job", "name": "second"}, traceparent=SENT)
    world.run_until(NOON + MINUTE)
    first, *batch = world.consumers.attempts
    assert is_child(first)
    assert [each.context.link for each in batch] == [first.context.traceparent] * 2


def test_an_alert_has_the_origin_of_the_job(world: World) -> None:
    told = {"type": "http", "url": "https://ops.example/alert"}
    world.put(schedule="0 * * * *", alertAfter="10m", onAlert=told, traceparent=SENT)
    by_target(world, lambda _: FAILED)
    world.run_until(NOON + HOUR + 20 * MINUTE)
    (alert,) = (each for each in world.consumers.attempts if each.event == "alert")
    assert not is_child(alert)


def test_an_accepted_run_shows_its_context_until_it_is_over(world: World) -> None:
    worker = running(world, traceparent=SENT, onComplete=TOLD)
    (attempt,) = world.consumers.attempts
    assert run_of(world).context.traceparent == attempt.context.traceparent
    worker.complete()
    assert run_of(world).context.traceparent == attempt.context.traceparent
    answers(world)
    world.run_until(NOON + MINUTE)
    assert children(world) == [True, True]


def test_the_outcome_of_an_attempt_has_its_context_for_the_log(world: World) -> None:
    message = due(world, traceparent=SENT)
    answers(world, FAILED)
    outcome = handle(world, message)
    assert (outcome.name, outcome.traceparent) == (
        "retrying",
        world.consumers.attempts[0].context.traceparent,
    )


def test_only_the_items_of_a_job_with_a_context_are_longer_and_its_messages_are_not() -> None:
    plain, traced = World(), World()
    sent, stored = [], []
    for world, traceparent in ((plain, None), (traced, SENT)):
        message = due(world, traceparent=traceparent)
        sent.append(encode(message))
        answers(world, FAILED)
        handle(world, message)
        ((_, following),) = waiting(world)
        sent.append(encode(following))
        stored.append(
            [job_items._item(world.stored()).serialize(), run_items._item(run_of(world)).serialize()]
        )
    assert sent[:2] == sent[2:]
    assert "trace" not in sent[0]
    for without, item in zip(*stored, strict=True):
        assert item.keys() - without.keys() == {"origin"}
        assert {name: item[name] for name in without} == without


def test_a_trigger_by_hand_without_a_context_travels_as_before(world: World) -> None:
    world.put()
    world.trigger()
    ((_, message),) = waiting(world)
    assert message.trigger.demand is not None
    assert f'"demand":{{"k":"manual","t":"{message.trigger.demand.token}"}}' in encode(message)


def test_the_labels_of_the_job_travel_with_triggers_and_notifications(world: World) -> None:
    world.put(dueTime="10s", onComplete=TOLD, labels={"team": "ops"})
    world.put("bare", dueTime="20s")
    world.run_until(NOON + MINUTE)
    assert [each.labels for each in world.consumers.attempts] == [{"team": "ops"}] * 2 + [None]
