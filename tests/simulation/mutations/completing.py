"""Errors with the end of runs: reports, deadlines, redrives and notifications."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from tests.fakes import memory
from tests.simulation.mutations.registry import (
    Broken,
    Deferred,
    Instead,
    Ports,
    built,
    built_with,
    everywhere,
    mutation,
    replacing,
    together,
    wrapping,
    wrapping_in,
)

from sweephand.base.instants import HOUR_MS, Instant
from sweephand.model import run as run_model
from sweephand.model.attempt import Answer
from sweephand.model.definition import Definition
from sweephand.model.job import JobKey
from sweephand.model.policy_names import Lane
from sweephand.model.run import TRANSITIONS, Guard, Run, State, WriteCondition
from sweephand.model.trigger import DeadlineMessage, Message, Trigger, TriggerMessage
from sweephand.runs import callbacks, deadlines, follow_up
from sweephand.runs.callbacks import Callbacks
from sweephand.runs.deadlines import Deadlines
from sweephand.runs.follow_up import FollowUp
from sweephand.runs.received import Outcome
from sweephand.runs.redrive import Redriver

#: All states of a run.
_ANY: frozenset[State] = frozenset(TRANSITIONS)


@mutation("A heartbeat is acknowledged and changes nothing")
@replacing(Callbacks, "heartbeat")
def ignores_heartbeats(reporter: Callbacks, key: JobKey, run_id: str, token: str | None) -> Run:
    return reporter._read_for_callback(key, run_id, token, "heartbeat", lambda _: False)


@mutation("The first deadline message ends its run, even if heartbeats came")
def ends_at_first_deadline_message() -> Broken:
    return patch.object(deadlines, "DEADLINE_GRACE_MS", -HOUR_MS)


@mutation("A run whose consumer accepted it has no deadline")
@wrapping_in(FollowUp, "requeue", "send_at")
def arms_no_deadline(send_at: Callable[..., None], message: Message, shard: int) -> None:
    if not isinstance(message, DeadlineMessage):
        send_at(message, shard)


@mutation("A deadline message that finds a newer heartbeat sends no message for the next deadline")
def checks_once() -> Broken:
    return built_with(Deadlines, "requeue", send_at=lambda *_: None)


@mutation(
    "Every copy of a deadline message sends a message for the next deadline",
    shown_by="tests/unit/runs/test_async_kills.py::test_deadline_messages_do_not_multiply_when_the_answers_of_the_queue_are_lost",
)
@wrapping_in(Deadlines, "runs", "of")
def multiplies_deadline_messages(of: Callable[..., Run | None], trigger: Trigger) -> Run | None:
    run: Run | None = of(trigger)
    return None if run is None else replace(run, next_check_at=None)


@mutation(
    "The acceptance of a run is recorded before its deadline message is sent",
    shown_by="tests/unit/runs/test_async_kills.py::test_a_run_comes_to_its_end_wherever_a_function_is_killed",
)
def records_before_its_deadline() -> Broken:
    put_off = Deferred()

    def change(ports: Ports) -> None:
        whole, runs = ports["requeue"], ports["runs"]

        def send_at(message: Message, shard: int) -> None:
            is_late = isinstance(message, DeadlineMessage)
            (put_off.of(whole.send_at) if is_late else whole.send_at)(message, shard)

        def record(*args: Any) -> bool:
            is_written: bool = runs.record(*args)
            put_off.make()
            return is_written

        ports["requeue"] = Instead(whole, send_at=send_at)
        ports["runs"] = Instead(runs, record=record)

    return built(FollowUp, change)


@mutation("A deadline of one attempt ends a later attempt")
@wrapping(Deadlines, "_check")
def ends_later_attempts(looked: Callable[..., Outcome], self: Deadlines, message: DeadlineMessage) -> Outcome:
    run = self._runs.of(message.trigger)
    if run is not None and run.state == "running" and run.attempts != message.attempt:
        return self._fail(run, Answer(succeeded=False, error="Silence")) or Outcome("watched")
    return looked(self, message)


@mutation("A heartbeat also extends maxRunTime")
def runs_for_ever() -> Broken:
    beats = patch.object(Run, "deadline_at", property(lambda run: run.heartbeat_by))
    return together(beats, patch.object(callbacks, "_has_run_too_long", lambda *_: False))


@mutation(
    "A report is taken after maxRunTime while the check of the deadline is late",
    shown_by="tests/unit/runs/test_callbacks.py::test_a_callback_after_the_longest_run_time_is_refused_though_the_check_of_the_deadline_is_late",
)
def takes_reports_after_the_run_time() -> Broken:
    return patch.object(callbacks, "_has_run_too_long", lambda *_: False)


@mutation("A report is accepted with the token of any attempt")
def takes_any_token() -> Broken:
    return patch.object(callbacks, "_is_of", lambda run, _: run.token is not None)


def _moves_anything() -> Broken:
    def anything(run: Run, seen: Run) -> WriteCondition:
        del run, seen
        return WriteCondition(may_begin=False, guards=(Guard(_ANY, {}),))

    stack = ExitStack()
    stack.enter_context(everywhere("move_condition", anything))
    stack.enter_context(patch.object(memory, "move_condition", anything))
    return stack


@mutation("A report is accepted whatever state its run is in")
def takes_late_reports() -> Broken:
    return together(_moves_anything(), patch.object(callbacks, "_refuse", lambda *_: None))


@mutation("A run is overwritten though it has changed since it was read")
def moves_in_spite() -> Broken:
    return _moves_anything()


@mutation("The outcome of an attempt is recorded whatever state its run is in")
def records_in_spite() -> Broken:
    def anything(_: Run) -> WriteCondition:
        return WriteCondition(may_begin=True, guards=(Guard(_ANY, {}),))

    return together(
        everywhere("record_condition", anything), patch.object(memory, "record_condition", anything)
    )


@mutation("An attempt whose holder died is claimed again with another token")
def changes_tokens() -> Broken:
    claim_condition = run_model.claim_condition

    def careless(run: Run, now: int) -> WriteCondition:
        asked = claim_condition(run, now)
        some = (
            each._replace(same={k: v for k, v in each.same.items() if k != "token"}) for each in asked.guards
        )
        return asked._replace(guards=tuple(some))

    return together(
        everywhere("claim_condition", careless), patch.object(memory, "claim_condition", careless)
    )


@mutation(
    "A failure that a consumer reports is forgotten",
    masked_by="its deadline: the attempt counts as failed when that has passed",
)
def forgets_failures() -> Broken:
    return patch.object(Deadlines, "fail", lambda *_: Outcome("repeated"))


@mutation(
    "A retry begins although its trigger is not due yet by the clock of the function",
    shown_by="tests/unit/runs/test_async.py::test_a_retry_decided_by_a_clock_that_is_behind_is_not_early",
)
def retries_early() -> Broken:
    def careless(at: Instant, due_at: Instant) -> Instant:
        # The comparisons of how long a run is kept are days apart. They stay as they are.
        return at if due_at - at < HOUR_MS else due_at

    return patch.object(follow_up, "max", careless, create=True)


def _redriving(change: Callable[[TriggerMessage], TriggerMessage]) -> Broken:
    def careless(ports: Ports) -> None:
        queue = ports["queue"]

        def send(messages: Sequence[tuple[TriggerMessage, int]]) -> None:
            queue.send([(change(message), delay_ms) for message, delay_ms in messages])

        ports["queue"] = Instead(queue, send=send)

    return built(Redriver, careless)


@mutation("The message of a redrive does not say that it is one")
def redrives_without_round() -> Broken:
    return _redriving(lambda message: message._replace(redrive=None))


@mutation("A redrive forgets the data of a trigger by hand")
def redrives_without_payload() -> Broken:
    return _redriving(lambda message: message._replace(payload=None))


@mutation("A redrive claims its run before it sends its message")
@wrapping(Redriver, "_send")
def redrives_before_sending(
    send: Callable[..., None], self: Redriver, runs: Sequence[tuple[Run, Lane]]
) -> None:
    for run, _ in runs:
        claimed = replace(
            run,
            state="claimed",
            attempts=run.attempts + 1,
            round_from=run.attempts + 1,
            owner="redrive",
            token=None,
            claimed_until=0,
        )
        self._runs.claim(claimed, self._clock.now())
    send(self, runs)


@mutation("A reported failure is recorded only when the delivery function handles it")
@wrapping(memory.MemoryRuns, "move")
def records_failures_late(move: Callable[..., bool], self: memory.MemoryRuns, run: Run, seen: Run) -> bool:
    is_report = run.is_ending and not seen.is_ending and run.response_code == seen.response_code
    return is_report or move(self, run, seen)


@mutation("A run is given up though its consumer has completed it meanwhile")
@wrapping(FollowUp, "fail")
def gives_up_what_was_completed(fail: Callable[..., Run | None], *args: Any) -> Run | None:
    return fail(*args[:-1], lambda _: True)


@mutation("A job with `onError: pause` is not paused when a trigger of it is given up")
def ignores_on_error() -> Broken:
    return patch.object(Definition, "pauses_on_error", property(lambda _: False))


@mutation(
    "A run that is given up stays open to its consumer's callbacks",
    shown_by="tests/unit/runs/test_crashes.py::test_a_callback_that_comes_before_its_run_is_given_up_rules",
)
@replacing(FollowUp, "close")
def leaves_given_up_runs_open(_: FollowUp, run: Run, reason: str) -> Run:
    del reason
    return run
