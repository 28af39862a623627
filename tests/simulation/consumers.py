"""Consumers that fail in every way, and what they were sent."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from tests.simulation.chronicle import Chronicle
from tests.simulation.faults import Troubles, fraction, mixed
from tests.simulation.gate import Gate
from tests.simulation.overlapping import NONE, Overlapping
from tests.simulation.processes import Scheduler

from sweephand.instants import MINUTE_MS, SECOND_MS
from sweephand.ports import Answer, Attempt
from sweephand.wheel.trigger import Trigger

WHERE: Final = "consumers.deliver"

#: How long a consumer normally takes, and how long a connection to it.
_ANSWER_MS_MAX: Final = 120
_CONNECT_MS_MAX: Final = 30

#: A slow one takes up to its time-out; so does a slow connection.
_TIMEOUT_MS: Final = 15 * SECOND_MS

#: A consumer that asks for patience asks for so much at most.
_RETRY_AFTER_MS_MAX: Final = 20 * MINUTE_MS

#: The chance that an attempt fails, at level 1; it is never more than the other.
_FAILURES: Final = 0.2
_FAILURES_MAX: Final = 0.6

#: How many more fail where delivering has most of the trouble.
_IN_FOCUS: Final = 2.0

#: The chance of a later attempt, where consumers fail at all.
_AGAIN: Final = 0.7

#: The chance that a connection takes seconds, at level 1.
_SLOW_CONNECTIONS: Final = 0.05

#: A 5xx is the usual failure; the others come now and then.
_WAYS: Final = ("503", "503", "503", "404", "429", "silence", "silence", "slow", "400", "410")

#: The chance that a consumer which may report later does, and that one does whose answer gets lost.
_ACCEPTS: Final = 0.9
_ACCEPTS_IN_CALM: Final = 0.2
_UNHEARD: Final = 0.5


@dataclass(slots=True)
class Consumers:
    """ports.Targets: every request that leaves is written down, with the instant at which it does.

    `begin` is told of each attempt that a consumer accepts and will report on.
    """

    scheduler: Scheduler
    chronicle: Chronicle
    gate: Gate
    seed: int
    failures: float
    slow_connections: float
    overlapping: Overlapping = NONE
    crasher: str | None = None
    begin: Callable[[Attempt, int], None] = lambda *_: None
    accepts: float = _ACCEPTS
    is_settled: bool = False
    attempts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(
        cls, scheduler: Scheduler, chronicle: Chronicle, gate: Gate, troubles: Troubles, seed: int
    ) -> "Consumers":
        """The consumers of a seed."""
        # What is wrong with a retry shows in the attempts that follow a failure.
        factor = _IN_FOCUS if "deliver" in troubles.focus else 1.0
        failures = min(_FAILURES * factor * troubles["consumers"], _FAILURES_MAX)
        slow_connections = _SLOW_CONNECTIONS * troubles["slowness"]
        overlapping = Overlapping.of(seed)
        return cls(scheduler, chronicle, gate, seed, failures, slow_connections, overlapping)

    def deliver(self, attempt: Attempt) -> Answer:
        """As ports.Targets promises."""
        scheduler = self.scheduler
        strand = scheduler.strand
        kinds = self.gate.enter(WHERE, may_fail=False)
        trigger = attempt.trigger
        if attempt.ended_after is None and self._crashes(trigger):
            self.gate.kill(f"making a request of {trigger.id}")
        self.attempts[attempt.id] += 1
        code = mixed(self.seed, trigger.due_at, trigger.index, attempt.number, self.attempts[attempt.id])
        way = _WAYS[code % len(_WAYS)] if fraction(code, 1) < self._failures(attempt) else "200"
        is_slow = fraction(code, 5) < self.slow_connections
        scheduler.sleep(int(fraction(code, 2) * (_TIMEOUT_MS if is_slow else _CONNECT_MS_MAX)))
        strand.is_leaving = True
        try:
            is_wanted = attempt.is_wanted()
        finally:
            strand.is_leaving = False
        if not is_wanted:
            return Answer(succeeded=False, was_withdrawn=True)
        self.chronicle.figures["requests" if attempt.ended_after is None else "told"] += 1
        self.chronicle.requested(attempt._replace(sent_at=strand.process.machine.ahead_ms + scheduler.now))
        if work_ms := self.overlapping.work_ms(trigger.key.name, code):
            scheduler.sleep(work_ms)
        answer = self._answer(way, code)
        if attempt.run_token is not None:
            answer = self._accepted(attempt, answer, code)
        self.chronicle.concluded(attempt, answer if answer.code else None)
        if not answer.succeeded:
            self.chronicle.figures["failed answers"] += 1
        self.gate.leave(WHERE, kinds, may_fail=False)
        return answer

    def _crashes(self, trigger: Trigger) -> bool:
        """Whether the trigger kills whoever has claimed it, however often it is tried: one of a seed may.

        It is of a job whose runs take turns, so that it holds its job's line until it is a dead letter.
        """
        is_the_one = len(self.attempts) == self.overlapping.crashes_at
        if self.crasher is None and is_the_one and self.overlapping.takes_turns(trigger.key.name):
            self.crasher = trigger.id
        return trigger.id == self.crasher

    def _failures(self, attempt: Attempt) -> float:
        """The chance that an attempt fails: one that has failed before is likely to fail again."""
        return max(self.failures, _AGAIN) if attempt.number > 1 and self.failures else self.failures

    def settle(self) -> None:
        """Every request is answered from now on, and nobody reports later."""
        self.calm()
        self.is_settled, self.accepts = True, 0.0

    def calm(self) -> None:
        """Every request is answered from now on."""
        self.failures = self.slow_connections = 0.0
        self.accepts = 0.0 if self.is_settled else _ACCEPTS_IN_CALM
        self.overlapping = NONE

    def _accepted(self, attempt: Attempt, answer: Answer, code: int) -> Answer:
        """The answer of a consumer that may report later: as a rule it does."""
        chance = fraction(code, 6)
        is_accepted = answer.succeeded and chance < self.accepts
        if is_accepted or (answer.code is None and chance < _UNHEARD):
            self.begin(attempt, code)
        return answer._replace(code=202) if is_accepted else answer

    def _answer(self, way: str, code: int) -> Answer:
        scheduler = self.scheduler
        if way == "silence":
            scheduler.sleep(_TIMEOUT_MS)
            return Answer(succeeded=False, error="No answer in time")
        scheduler.sleep(int(fraction(code, 3) * (_TIMEOUT_MS if way == "slow" else _ANSWER_MS_MAX)))
        if way in ("200", "slow"):
            return Answer(succeeded=True, code=200, text="")
        retry_after_at = None
        if way == "429":
            clock_at = scheduler.now + scheduler.strand.process.machine.ahead_ms
            retry_after_at = clock_at + int(_RETRY_AFTER_MS_MAX * fraction(code, 4) ** 2)
        return Answer(
            succeeded=False,
            code=int(way),
            text="",
            retry_after_at=retry_after_at,
            is_final=way in ("400", "410"),
        )
