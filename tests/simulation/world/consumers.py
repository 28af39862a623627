"""Consumers that fail in every way, and a record of every request that reached them."""

from collections import Counter
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, NamedTuple

from botocore.exceptions import EndpointConnectionError, ReadTimeoutError
from tests.simulation.traces.chronicle import Chronicle
from tests.simulation.workload.bundling import NO_BUNDLES, Bundling
from tests.simulation.workload.lanes import NO_LANES, Lanes
from tests.simulation.workload.modes import Modes
from tests.simulation.workload.overlapping import NONE, Overlapping
from tests.simulation.world.faults import Troubles, fraction, mixed
from tests.simulation.world.gate import Gate
from tests.simulation.world.network import Network
from tests.simulation.world.processes import Scheduler

from sweephand.base.instants import MINUTE_MS, SECOND_MS
from sweephand.delivery.adapter import WITHDRAWN
from sweephand.delivery.checked_clients import _check as ask_once_connected
from sweephand.delivery.sqs import SqsTargets
from sweephand.model.attempt import Answer, Attempt
from sweephand.model.trigger import Trigger
from sweephand.targets.reach import EVERY_QUEUE, Reach
from sweephand_engine.wire import refusal

WHERE: Final = "consumers.deliver"

#: How long a consumer normally takes to answer, at most.
_ANSWER_MS_MAX: Final = 120

#: How long a slow consumer takes to answer, at most: the target's time-out.
_TIMEOUT_MS: Final = 15 * SECOND_MS

#: The longest `Retry-After` that a consumer sends.
_RETRY_AFTER_MS_MAX: Final = 20 * MINUTE_MS

#: The chance that an attempt fails at level 1, and the bound of this chance at any level.
_FAILURES: Final = 0.2
_FAILURES_MAX: Final = 0.6

#: How many times more attempts fail if most of the seed's trouble is in delivering.
_IN_FOCUS: Final = 2.0

#: The chance that a later attempt fails, in a seed in which consumers fail at all.
_AGAIN: Final = 0.7

#: The chance that a connection takes seconds: at level 1, and in a seed whose trouble is slow connections.
_SLOW_CONNECTIONS: Final = 0.05
_SLOW_WHERE_IT_IS_THE_TROUBLE: Final = 0.5

#: The chance that a consumer reports before it answers, and the chance that the answer is then lost. An SQS
#: target does not answer, so its consumer reports early just as often.
_EARLY: Final = 0.3
_LOST: Final = 0.5

#: Each number picks one of the independent chances of an attempt.
_IS_EARLY: Final = 7
_IS_LOST: Final = 8

#: 202 Accepted: the consumer will report later.
_ACCEPTED_CODE: Final = 202

#: A failing consumer mostly answers 5xx. The other statuses come now and then.
_WAYS: Final = ("503", "503", "503", "404", "429", "silence", "silence", "slow", "400", "410")

#: The chance that a consumer accepts with 202 if it may, and the same chance if its answer gets lost.
_ACCEPTS: Final = 0.9
_ACCEPTS_IN_CALM: Final = 0.2
_UNHEARD: Final = 0.5


class _Queues(NamedTuple):
    """The clients of SQS, with and without a role. The only one sends with `send`."""

    send: Callable[[Mapping[str, Any]], None]

    def client(self, _: object) -> "_Queues":
        """Return the client, which is the same for every region, role and number of tries."""
        return self

    def send_message(self, **message: Any) -> None:
        """Send as boto3's client does, with the arguments that production uses."""
        self.send(message)


@dataclass(slots=True)
class Consumers:
    """ports.Targets that record every request at the instant at which it leaves.

    `begin` is called for each attempt that a consumer accepts and will report on.
    """

    scheduler: Scheduler
    chronicle: Chronicle
    gate: Gate
    seed: int
    failures: float
    network: Network
    early: float
    overlapping: Overlapping = NONE
    bundling: Bundling = NO_BUNDLES
    lanes: Lanes = NO_LANES
    bundled: AbstractSet[str] = frozenset()
    crasher: str | None = None
    poison: str | None = None
    begin: Callable[[Attempt, int], None] = lambda *_: None
    accepts: float = _ACCEPTS
    is_winding_down: bool = False
    is_calm: bool = False
    attempts: Counter[str] = field(default_factory=Counter)

    @classmethod
    def of(
        cls, scheduler: Scheduler, chronicle: Chronicle, gate: Gate, troubles: Troubles, seed: int
    ) -> "Consumers":
        """Return the consumers of a seed."""
        # An error in retries shows only in attempts that follow a failure, so more attempts fail in such a
        # seed.
        factor = _IN_FOCUS if "deliver" in troubles.focus else 1.0
        failures = min(_FAILURES * factor * troubles["consumers"], _FAILURES_MAX)
        modes = Modes.of(seed)
        slow = _SLOW_WHERE_IT_IS_THE_TROUBLE if modes.is_slow else _SLOW_CONNECTIONS * troubles["slowness"]
        network = Network(scheduler, modes, slow)
        early = _EARLY * bool(troubles["consumers"])
        return cls(
            scheduler,
            chronicle,
            gate,
            seed,
            failures,
            network,
            early,
            Overlapping.of(seed),
            Bundling.of(seed),
            Lanes.of(seed),
        )

    def deliver(self, attempt: Attempt) -> Answer:
        """Deliver as ports.Targets promises."""
        kinds = self.gate.enter(WHERE, may_fail=False)
        if attempt.ended_after is None and self._crashes(attempt.trigger):
            self.gate.kill(f"making a request of {attempt.trigger.id}")
        self.attempts[attempt.id] += 1
        code = mixed(
            self.seed,
            attempt.trigger.due_at,
            attempt.trigger.index,
            attempt.number,
            self.attempts[attempt.id],
        )
        answer = (self._queued if attempt.spec["type"] == "sqs" else self._called)(attempt, code)
        if answer.was_withdrawn:
            return answer
        self.chronicle.flow.watch.ends(attempt)
        self.chronicle.concluded(attempt, answer if answer.succeeded or answer.code else None)
        if not answer.succeeded:
            self.chronicle.figures["failed answers"] += 1
        self.gate.leave(WHERE, kinds, may_fail=False)
        return answer

    def _called(self, attempt: Attempt, code: int) -> Answer:
        """Return the answer of an HTTP endpoint."""
        left_ms = self.network.connect(attempt, code)
        if left_ms is None:
            return Answer(succeeded=False, error="No connection in time")
        if not self._is_wanted(attempt):
            self.network.keep(attempt)
            return WITHDRAWN
        self._leaves(attempt)
        if is_early := attempt.run_token is not None and fraction(code, _IS_EARLY) < self.early:
            # The consumer reports before it answers, and the answer may then be lost.
            self.begin(attempt, code)
        name = attempt.trigger.key.name
        if work_ms := self.overlapping.work_ms(name, code) or self.lanes.work_ms(name):
            self.scheduler.sleep(min(work_ms, left_ms))
            left_ms -= min(work_ms, left_ms)
        way = self._way(attempt, code)
        if is_early and fraction(code, _IS_LOST) < _LOST:
            way = "silence"
        answer = self._answer(way, code, min(left_ms, _TIMEOUT_MS))
        if attempt.run_token is None or is_early:
            return answer._replace(code=_ACCEPTED_CODE) if is_early and answer.succeeded else answer
        return self._accepted(attempt, answer, code)

    def _queued(self, attempt: Attempt, code: int) -> Answer:
        """Return what production's SQS adapter makes of sending to a FIFO queue."""

        def send(message: Mapping[str, Any]) -> None:
            if self.network.connect(attempt, code) is None:
                raise EndpointConnectionError(endpoint_url=attempt.spec["queueUrl"])
            ask_once_connected()
            self._leaves(attempt)
            way = self._way(attempt, code)
            answer = self._answer("200" if way == "slow" else way, code, _TIMEOUT_MS)
            if not answer.succeeded and not (way == "silence" and fraction(code, _IS_LOST) < _LOST):
                raise refusal("ServiceUnavailable", "SendMessage")
            if self.network.drops(message["MessageDeduplicationId"]):
                self.chronicle.dropped(attempt)
            elif attempt.run_token is not None and (self.is_calm or fraction(code, 6) < self.accepts):
                self.begin(attempt, code)
            if not answer.succeeded:
                raise ReadTimeoutError(endpoint_url=attempt.spec["queueUrl"])

        queues: Any = _Queues(send)
        targets = SqsTargets(queues, queues, Reach(queues=EVERY_QUEUE))
        return targets.deliver(attempt._replace(may_send=partial(self._is_wanted, attempt)))

    def _is_wanted(self, attempt: Attempt) -> bool:
        strand = self.scheduler.strand
        strand.is_leaving = True
        try:
            return attempt.may_send()
        finally:
            strand.is_leaving = False

    def _leaves(self, attempt: Attempt) -> None:
        self.chronicle.figures["requests" if attempt.ended_after is None else "notified"] += 1
        ahead_ms = self.scheduler.strand.process.machine.ahead_ms
        self.chronicle.requested(attempt._replace(sent_at=ahead_ms + self.scheduler.now))
        self.chronicle.flow.watch.leaves(attempt)

    def _way(self, attempt: Attempt, code: int) -> str:
        """Decide how the consumer answers."""
        return _WAYS[code % len(_WAYS)] if fraction(code, 1) < self._failures(attempt) else "200"

    def _crashes(self, trigger: Trigger) -> bool:
        """Whether the trigger kills every function that has claimed it.

        At most one trigger of a seed does. Its job's runs take turns, so that it holds the line until it is a
        dead letter. A trigger of a bundle may do so as well, in some seeds and even in the calm. Then the
        other triggers of the bundle must be delivered.
        """
        is_the_one = len(self.attempts) == self.overlapping.crashes_at
        if self.crasher is None and is_the_one and self.overlapping.takes_turns(trigger.key.name):
            self.crasher = trigger.id
        is_due = self.bundling.poison_at is not None and len(self.attempts) >= self.bundling.poison_at
        if self.poison is None and is_due and trigger.id in self.bundled:
            self.poison = trigger.id
        return trigger.id in (self.crasher, self.poison)

    def _failures(self, attempt: Attempt) -> float:
        """Return the chance that an attempt fails. A trigger that has failed is likely to fail again."""
        return max(self.failures, _AGAIN) if attempt.number > 1 and self.failures else self.failures

    def wind_down(self) -> None:
        """Answer every request from now on, and never accept one with 202."""
        self.calm()
        self.is_winding_down, self.accepts = True, 0.0

    def calm(self) -> None:
        """Answer every request from now on."""
        self.is_calm = True
        self.failures = self.network.slow = self.early = 0.0
        self.accepts = 0.0 if self.is_winding_down else _ACCEPTS_IN_CALM
        self.overlapping = NONE

    def _accepted(self, attempt: Attempt, answer: Answer, code: int) -> Answer:
        """Return the answer of a consumer that may report later. It mostly accepts with 202."""
        chance = fraction(code, 6)
        is_accepted = answer.succeeded and chance < self.accepts
        if is_accepted or (answer.code is None and chance < _UNHEARD):
            self.begin(attempt, code)
        return answer._replace(code=_ACCEPTED_CODE) if is_accepted else answer

    def _answer(self, way: str, code: int, timeout_ms: int) -> Answer:
        scheduler = self.scheduler
        if way == "silence":
            scheduler.sleep(timeout_ms)
            return Answer(succeeded=False, error="No answer in time")
        scheduler.sleep(int(fraction(code, 3) * (timeout_ms if way == "slow" else _ANSWER_MS_MAX)))
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
