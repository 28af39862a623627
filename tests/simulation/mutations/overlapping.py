"""Errors in taking turns: holding a job's line, waiting in it, and being skipped."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any
from unittest.mock import patch

from tests.simulation.mutations.registry import Instead, Ports, built, everywhere, mutation

from sweephand.base.instants import INSTANT_MAX, MINUTE_MS, Instant
from sweephand.model.definition import OverlapRule
from sweephand.model.job import Job, JobKey
from sweephand.model.line import Holder, Line, StoredLine
from sweephand.model.run import Run, is_over
from sweephand.model.trigger import TriggerMessage
from sweephand.runs import overlap, overlap_queue
from sweephand.runs.deliver import Deliverer
from sweephand.runs.delivery import Wait
from sweephand.runs.handlers import Handlers
from sweephand.runs.overlap import (
    ArrivalDecision,
    decide_arrival,
    gives_up_at,
)
from sweephand.runs.overlap_queue import OverlapQueue
from sweephand.runs.received import Outcome

#: More triggers than ever wait.
_NO_LIMIT = 10**9


def _arriving(change: Callable[[Line, TriggerMessage, OverlapRule, ArrivalDecision], ArrivalDecision]) -> Any:
    """Change the decision on a trigger that arrives at the line."""

    def changed(line: Line, message: TriggerMessage, rule: OverlapRule, **kwargs: Any) -> ArrivalDecision:
        return change(line, message, rule, decide_arrival(line, message, rule, **kwargs))

    return patch.object(overlap_queue, "decide_arrival", changed)


@mutation("A run that is over does not free its job's line")
def frees_no_line() -> Iterator[None]:
    with patch.object(OverlapQueue, "advance", lambda *_: None):
        yield


@mutation("A skipped trigger frees the line although another run holds it")
def frees_by_skipping() -> Iterator[None]:
    def freed(_: Line, __: TriggerMessage, ___: OverlapRule, arrival: ArrivalDecision) -> ArrivalDecision:
        return arrival._replace(line=Line()) if arrival.verdict == "skip" else arrival

    with _arriving(freed):
        yield


@mutation("A run that ends frees the line though another trigger holds it")
def frees_anybody_s_line() -> Iterator[None]:
    advance = OverlapQueue.advance

    def freed(self: OverlapQueue, trigger: Any) -> None:
        stored = self._lines.get(trigger.key)
        if stored is None or stored.uid != trigger.uid or stored.line.holder is None:
            return
        if stored.line.holder.id == trigger.id:
            advance(self, trigger)
            return
        line = stored.line.advanced(self._clock.now())
        self._is_changed(stored.key, stored.uid, stored, line, line.holder.message if line.holder else None)

    with patch.object(OverlapQueue, "advance", freed):
        yield


@mutation("The newest trigger that waits has the next turn")
def hands_on_to_the_last() -> Iterator[None]:
    def advanced(line: Line, now: Instant) -> Line:
        return line.held_by(line.waiting[-1], now) if line.waiting else Line()

    with patch.object(Line, "advanced", advanced):
        yield


@mutation("A trigger that arrives when a run ends passes those that wait")
def passes_those_that_wait() -> Iterator[None]:
    def passed(
        line: Line,
        message: TriggerMessage,
        rule: OverlapRule,
        *,
        has_ended: bool,
        now: Instant,
        **kwargs: Any,
    ) -> ArrivalDecision:
        if line.holder is None or has_ended:
            return ArrivalDecision("go", line.held_by(message, now))
        return decide_arrival(line, message, rule, has_ended=has_ended, now=now, **kwargs)

    with patch.object(overlap_queue, "decide_arrival", passed):
        yield


@mutation("Any number of triggers may wait")
def waits_without_limit() -> Iterator[None]:
    def unbounded(line: Line, message: TriggerMessage, rule: OverlapRule, **kwargs: Any) -> ArrivalDecision:
        limit = _NO_LIMIT if rule.mode == "wait" else rule.wait_max
        return decide_arrival(line, message, rule._replace(wait_max=limit), **kwargs)

    with patch.object(overlap_queue, "decide_arrival", unbounded):
        yield


@mutation("Fewer triggers may wait than waitLimit says")
def waits_for_less() -> Iterator[None]:
    def bounded(line: Line, message: TriggerMessage, rule: OverlapRule, **kwargs: Any) -> ArrivalDecision:
        return decide_arrival(line, message, rule._replace(wait_max=rule.wait_max - 1), **kwargs)

    with patch.object(overlap_queue, "decide_arrival", bounded):
        yield


@mutation("waitLatest keeps the oldest trigger")
def keeps_the_oldest() -> Iterator[None]:
    def oldest(
        line: Line, message: TriggerMessage, _: OverlapRule, arrival: ArrivalDecision
    ) -> ArrivalDecision:
        # A trigger that would take the place of others is skipped instead.
        return ArrivalDecision("skip", line) if arrival.replaced and not line.has(message) else arrival

    with _arriving(oldest):
        yield


@mutation("waitLatest replaces a trigger without a record of the skip")
def replaces_silently() -> Iterator[None]:
    def silent(_: Line, __: TriggerMessage, ___: OverlapRule, arrival: ArrivalDecision) -> ArrivalDecision:
        return arrival._replace(replaced=())

    with _arriving(silent):
        yield


@mutation("A write of a line has no condition on its version")
def takes_without_condition() -> Iterator[None]:
    def change(ports: Ports) -> None:
        lines = ports["lines"]

        def stored(key: JobKey) -> str | None:
            line = lines.get(key)
            return line.version if line is not None else None

        def put(line: StoredLine, replacing: str | None) -> bool:
            del replacing
            while not lines.put(line, stored(line.key)):
                pass
            return True

        def delete(line: StoredLine) -> bool:
            while not lines.delete(line._replace(version=stored(line.key) or line.version)):
                pass
            return True

        ports["lines"] = Instead(lines, put=put, delete=delete)

    with built(Handlers, change):
        yield


@mutation("A holder without any activity holds its line for ever")
def waits_for_the_dead() -> Iterator[None]:
    with everywhere("gives_up_at", lambda *_: INSTANT_MAX):
        yield


@mutation("A holder is given up after two minutes")
def gives_up_soon() -> Iterator[None]:
    with everywhere("ABANDONED_MS", 2 * MINUTE_MS):
        yield


@mutation("A run that will be tried again counts as over")
def lets_retries_overlap() -> Iterator[None]:
    def over(message: TriggerMessage, run: Run | None) -> bool:
        return is_over(message, run) or (run is not None and run.state == "retrying")

    with patch.object(overlap_queue, "is_over", over):
        yield


@mutation("A run whose claim has ended counts as over")
def takes_claims_for_turns() -> Iterator[None]:
    def given_up(holder: Holder, run: Run | None, job: Job) -> Instant:
        if run is not None and run.state == "claimed" and run.claimed_until is not None:
            return run.claimed_until
        return gives_up_at(holder, run, job)

    with everywhere("gives_up_at", given_up):
        yield


def _waits_in_line_alone() -> Any:
    """Do not put a trigger that waits back into the queue."""
    waits = Deliverer._waits

    def dropped(deliverer: Deliverer, wait: Wait) -> Outcome:
        return Outcome(wait.why) if wait.why == "waiting" else waits(deliverer, wait)

    return patch.object(Deliverer, "_waits", dropped)


@mutation("A trigger that waits is in the line and not in the queue")
def waits_in_line_alone() -> Iterator[None]:
    with _waits_in_line_alone():
        yield


def _written_first() -> Any:
    """Send the trigger to which a write gives the line after that write, not before."""
    is_changed: Any = OverlapQueue._is_changed

    def changed(self: OverlapQueue, *args: Any) -> bool:
        *others, new_holder = args
        is_written: bool = is_changed(self, *others, None)
        if is_written and new_holder is not None:
            self._queue.send([(new_holder, 0)])
        return is_written

    return patch.object(OverlapQueue, "_is_changed", changed)


@mutation("A trigger that waits is only in the line, and is sent after the write that gives it the line")
def sends_after_handing_on() -> Iterator[None]:
    with _waits_in_line_alone(), _written_first():
        yield


@mutation(
    "The line is given to the next trigger before that trigger is sent",
    masked_by="the message of the trigger that waits",
)
def hands_on_before_sending() -> Iterator[None]:
    with _written_first():
        yield


@mutation("The line is given to the next trigger, and that trigger is not sent")
def wakes_nobody() -> Iterator[None]:
    is_changed: Any = OverlapQueue._is_changed

    def silent(self: OverlapQueue, *args: Any) -> bool:
        *others, _ = args
        is_written: bool = is_changed(self, *others, None)
        return is_written

    with patch.object(OverlapQueue, "_is_changed", silent):
        yield


@mutation("A skipped trigger leaves no record")
def skips_silently() -> Iterator[None]:
    with patch.object(OverlapQueue, "_skip", lambda *_: True):
        yield


@mutation("A trigger on demand is skipped like any other")
def skips_what_was_asked_for() -> Iterator[None]:
    def plain(line: Line, message: TriggerMessage, rule: OverlapRule, **kwargs: Any) -> ArrivalDecision:
        fresh = message._replace(trigger=replace(message.trigger, demand=None))
        arrival = decide_arrival(line, fresh, rule, **kwargs)
        return arrival if arrival.verdict == "skip" else decide_arrival(line, message, rule, **kwargs)

    with patch.object(overlap_queue, "decide_arrival", plain):
        yield


@mutation(
    "During a pause, a trigger by hand does not pass those that wait",
    shown_by="tests/unit/runs/test_overlap_holders.py::test_a_trigger_by_hand_goes_before_a_retry_that_a_pause_holds",
)
def yields_to_nobody() -> Iterator[None]:
    with everywhere("yields_at", lambda *_: None):
        yield


@mutation(
    "A pause lets a trigger by hand pass another one that was asked for by hand",
    shown_by="tests/unit/runs/test_overlap_holders.py::test_a_holder_that_a_pause_does_not_hold_back_keeps_the_line_after_a_crash",
)
def yields_what_was_asked_for() -> Iterator[None]:
    def yields_at(holder: Holder, run: Run | None, job: Job) -> Instant | None:
        message = holder.message
        trigger = replace(message.trigger, demand=None)
        return overlap.yields_at(
            holder._replace(message=message._replace(trigger=trigger, redrive=None)), run, job
        )

    with patch.object(overlap_queue, "yields_at", yields_at):
        yield


@mutation(
    "A copy of an earlier attempt takes the place of the retry in its job's line",
    shown_by="tests/unit/runs/test_overlap_holders.py::test_a_copy_of_an_earlier_attempt_does_not_take_the_place_of_the_retry",
)
def takes_the_place_of_a_retry() -> Iterator[None]:
    with patch.object(overlap_queue, "is_superseded", lambda *_: False):
        yield


@mutation("The line of a deleted job holds up the next job of its name")
def keeps_lines_of_the_deleted() -> Iterator[None]:
    def change(ports: Ports) -> None:
        lines = ports["lines"]

        def get(key: JobKey) -> StoredLine | None:
            line: StoredLine | None = lines.get(key)
            return line and line._replace(uid=_Any(line.uid))

        ports["lines"] = Instead(lines, get=get)

    with built(Handlers, change):
        yield


@mutation("A trigger that is owed no more keeps its place in the line")
def keeps_places() -> Iterator[None]:
    with patch.object(OverlapQueue, "withdraw", lambda *_: None):
        yield


class _Any(str):
    """A uid that is equal to every other."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str)

    def __ne__(self, other: object) -> bool:
        return not isinstance(other, str)

    def __hash__(self) -> int:
        return super().__hash__()
