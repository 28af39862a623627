"""Errors in taking turns: holding a job's line, waiting in it, and being skipped."""

from collections.abc import Callable
from typing import Any
from unittest.mock import patch

from tests.simulation.mutations.registry import (
    Broken,
    Instead,
    Ports,
    built,
    everywhere,
    mutation,
    replacing,
    together,
    wrapping,
    wrapping_in,
)

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


def _arriving(
    change: Callable[[Line, TriggerMessage, OverlapRule, ArrivalDecision], ArrivalDecision],
) -> Broken:
    """Change the decision on a trigger that arrives at the line."""

    def changed(line: Line, message: TriggerMessage, rule: OverlapRule, **kwargs: Any) -> ArrivalDecision:
        return change(line, message, rule, decide_arrival(line, message, rule, **kwargs))

    return patch.object(overlap_queue, "decide_arrival", changed)


@mutation("A run that is over does not free its job's line")
def frees_no_line() -> Broken:
    return patch.object(OverlapQueue, "advance", lambda *_: None)


@mutation("A skipped trigger frees the line although another run holds it")
def frees_by_skipping() -> Broken:
    def freed(_: Line, __: TriggerMessage, ___: OverlapRule, arrival: ArrivalDecision) -> ArrivalDecision:
        return arrival._replace(line=Line()) if arrival.verdict == "skip" else arrival

    return _arriving(freed)


@mutation("A run that ends frees the line though another trigger holds it")
@wrapping(OverlapQueue, "advance")
def frees_anybody_s_line(advance: Callable[..., None], self: OverlapQueue, trigger: Any) -> None:
    stored = self._lines.get(trigger.key)
    if stored is None or stored.uid != trigger.uid or stored.line.holder is None:
        return
    if stored.line.holder.id == trigger.id:
        advance(self, trigger)
        return
    line = stored.line.advanced(self._clock.now())
    self._is_changed(stored.key, stored.uid, stored, line, line.holder.message if line.holder else None)


@mutation("The newest trigger that waits has the next turn")
@replacing(Line, "advanced")
def hands_on_to_the_last(line: Line, now: Instant) -> Line:
    return line.held_by(line.waiting[-1], now) if line.waiting else Line()


@mutation("A trigger that arrives when a run ends passes those that wait")
@replacing(overlap_queue, "decide_arrival")
def passes_those_that_wait(
    line: Line, message: TriggerMessage, rule: OverlapRule, *, has_ended: bool, now: Instant, **kwargs: Any
) -> ArrivalDecision:
    if line.holder is None or has_ended:
        return ArrivalDecision("go", line.held_by(message, now))
    return decide_arrival(line, message, rule, has_ended=has_ended, now=now, **kwargs)


@mutation("Any number of triggers may wait")
@replacing(overlap_queue, "decide_arrival")
def waits_without_limit(
    line: Line, message: TriggerMessage, rule: OverlapRule, **kwargs: Any
) -> ArrivalDecision:
    limit = _NO_LIMIT if rule.mode == "wait" else rule.wait_max
    return decide_arrival(line, message, rule._replace(wait_max=limit), **kwargs)


@mutation("Fewer triggers may wait than waitLimit says")
@replacing(overlap_queue, "decide_arrival")
def waits_for_less(line: Line, message: TriggerMessage, rule: OverlapRule, **kwargs: Any) -> ArrivalDecision:
    return decide_arrival(line, message, rule._replace(wait_max=rule.wait_max - 1), **kwargs)


@mutation("waitLatest keeps the oldest trigger")
def keeps_the_oldest() -> Broken:
    def oldest(
        line: Line, message: TriggerMessage, _: OverlapRule, arrival: ArrivalDecision
    ) -> ArrivalDecision:
        # A trigger that would take the place of others is skipped instead.
        return ArrivalDecision("skip", line) if arrival.replaced and not line.has(message) else arrival

    return _arriving(oldest)


@mutation("waitLatest replaces a trigger without a record of the skip")
def replaces_silently() -> Broken:
    def silent(_: Line, __: TriggerMessage, ___: OverlapRule, arrival: ArrivalDecision) -> ArrivalDecision:
        return arrival._replace(replaced=())

    return _arriving(silent)


@mutation("A write of a line has no condition on its version")
def takes_without_condition() -> Broken:
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

    return built(Handlers, change)


@mutation("A holder without any activity holds its line for ever")
def waits_for_the_dead() -> Broken:
    return everywhere("gives_up_at", lambda *_: INSTANT_MAX)


@mutation("A holder is given up after two minutes")
def gives_up_soon() -> Broken:
    return everywhere("ABANDONED_MS", 2 * MINUTE_MS)


@mutation("A run that will be tried again counts as over")
@replacing(overlap_queue, "is_over")
def lets_retries_overlap(message: TriggerMessage, run: Run | None) -> bool:
    return is_over(message, run) or (run is not None and run.state == "retrying")


@mutation("A run whose claim has ended counts as over")
def takes_claims_for_turns() -> Broken:
    def given_up(holder: Holder, run: Run | None, job: Job) -> Instant:
        if run is not None and run.state == "claimed" and run.claimed_until is not None:
            return run.claimed_until
        return gives_up_at(holder, run, job)

    return everywhere("gives_up_at", given_up)


def _waits_in_line_alone() -> Broken:
    """Do not put a trigger that waits back into the queue."""
    waits = Deliverer._waits

    def dropped(deliverer: Deliverer, wait: Wait) -> Outcome:
        return Outcome(wait.why) if wait.why == "waiting" else waits(deliverer, wait)

    return patch.object(Deliverer, "_waits", dropped)


@mutation("A trigger that waits is in the line and not in the queue")
def waits_in_line_alone() -> Broken:
    return _waits_in_line_alone()


def _written_first() -> Broken:
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
def sends_after_handing_on() -> Broken:
    return together(_waits_in_line_alone(), _written_first())


@mutation(
    "The line is given to the next trigger before that trigger is sent",
    masked_by="the message of the trigger that waits",
)
def hands_on_before_sending() -> Broken:
    return _written_first()


@mutation("The line is given to the next trigger, and that trigger is not sent")
def wakes_nobody() -> Broken:
    is_changed: Any = OverlapQueue._is_changed

    def silent(self: OverlapQueue, *args: Any) -> bool:
        *others, _ = args
        is_written: bool = is_changed(self, *others, None)
        return is_written

    return patch.object(OverlapQueue, "_is_changed", silent)


@mutation("A skipped trigger leaves no record")
def skips_silently() -> Broken:
    return patch.object(OverlapQueue, "skip", lambda *_: True)


@mutation("A trigger on demand is skipped like any other")
@replacing(overlap_queue, "decide_arrival")
def skips_what_was_asked_for(
    line: Line, message: TriggerMessage, rule: OverlapRule, **kwargs: Any
) -> ArrivalDecision:
    fresh = message._replace(trigger=message.trigger._replace(demand=None))
    arrival = decide_arrival(line, fresh, rule, **kwargs)
    return arrival if arrival.verdict == "skip" else decide_arrival(line, message, rule, **kwargs)


@mutation(
    "During a pause, a trigger by hand does not pass those that wait",
    shown_by="tests/unit/runs/test_overlap_holders.py::test_a_trigger_by_hand_goes_before_a_retry_that_a_pause_holds",
)
def yields_to_nobody() -> Broken:
    return everywhere("yields_at", lambda *_: None)


@mutation(
    "A pause lets a trigger by hand pass another one that was asked for by hand",
    shown_by="tests/unit/runs/test_overlap_holders.py::test_a_holder_that_a_pause_does_not_hold_back_keeps_the_line_after_a_crash",
)
@replacing(overlap_queue, "yields_at")
def yields_what_was_asked_for(holder: Holder, run: Run | None, job: Job) -> Instant | None:
    message = holder.message
    trigger = message.trigger._replace(demand=None)
    return overlap.yields_at(
        holder._replace(message=message._replace(trigger=trigger, redrive=None)), run, job
    )


@mutation(
    "A copy of an earlier attempt takes the place of the retry in its job's line",
    shown_by="tests/unit/runs/test_overlap_holders.py::test_a_copy_of_an_earlier_attempt_does_not_take_the_place_of_the_retry",
)
def takes_the_place_of_a_retry() -> Broken:
    return patch.object(overlap_queue, "is_superseded", lambda *_: False)


@mutation("The line of a deleted job holds up the next job of its name")
@wrapping_in(Handlers, "lines", "get")
def keeps_lines_of_the_deleted(get: Callable[..., StoredLine | None], key: JobKey) -> StoredLine | None:
    line: StoredLine | None = get(key)
    return line and line._replace(uid=_Any(line.uid))


@mutation("A trigger that is owed no more keeps its place in the line")
def keeps_places() -> Broken:
    return patch.object(OverlapQueue, "withdraw", lambda *_: None)


class _Any(str):
    """A uid that is equal to every other."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, str)

    def __ne__(self, other: object) -> bool:
        return not isinstance(other, str)

    def __hash__(self) -> int:
        return super().__hash__()
